// Data that nothing is held in memory of, and their batches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "executor/data/Array.h"
#include "executor/data/DataSet.h"
#include "tests/executor/data/Files.h"

namespace lstmc::data {

/// Nothing is held in memory.
inline Limits nothingHeld() {
  Limits limits;
  limits.dataMemory = 0;
  return limits;
}

inline std::unique_ptr<DataSet> load(const std::string &spec, const Limits &limits) {
  auto parsed = DataSpec::parse(spec);
  EXPECT_TRUE(parsed.ok()) << parsed.error().text();
  auto data = DataSet::load(*parsed, nullptr, limits);
  EXPECT_TRUE(data.ok()) << data.error().text();
  return std::move(*data);
}

/// An input and its memory.
struct Input {
  Input(const std::string &name, DType dtype, std::vector<int64_t> shape, int batchAxis = 0)
      : memory(1 << 12),
        slot{name, name == "label", denseTensor(memory.data(), dtype, shape), batchAxis} {}
  std::vector<uint64_t> memory;
  InputSlot slot;
};

/// The contents of the inputs after each of these batches was filled.
inline std::vector<std::vector<uint64_t>> contents(const DataSet &data,
                                                   std::vector<Position> positions,
                                                   std::vector<Input *> inputs,
                                                   Part part = Part::Train) {
  std::vector<InputSlot> slots;
  for (Input *input : inputs)
    slots.push_back(input->slot);
  auto feed = data.feed(part, slots, /*seed=*/5);
  EXPECT_TRUE(feed.ok()) << feed.error().text();
  std::vector<std::vector<uint64_t>> all;
  for (Position position : positions) {
    position.batch %= (*feed)->batches();
    EXPECT_TRUE((*feed)->fill(position).ok());
    for (Input *input : inputs)
      all.push_back(input->memory);
  }
  return all;
}

/// In order, again, and where another batch was read ahead.
inline const std::vector<Position> kPositions = {{0, 0}, {0, 1},  {0, 2}, {0, 2},    {3, 1},
                                                 {3, 2}, {0, 77}, {1, 0}, {1, 5000}, {2, 0}};

/// Expects the same error from both ways to read, with this code and text.
#define EXPECT_REFUSED_ALIKE(spec, wantCode, wantText)                                             \
  do {                                                                                             \
    auto parsed_ = DataSpec::parse(spec);                                                          \
    ASSERT_OK(parsed_);                                                                            \
    Status held_ = DataSet::load(*parsed_).status();                                               \
    Status read_ = DataSet::load(*parsed_, nullptr, nothingHeld()).status();                       \
    EXPECT_REFUSED(read_, wantCode, wantText);                                                     \
    EXPECT_EQ(read_.error().text(), held_.error().text());                                         \
  } while (false)

} // namespace lstmc::data
