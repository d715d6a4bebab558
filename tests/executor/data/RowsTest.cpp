// Feeds of which only some rows of a batch are wanted: these are as in a whole batch, and no others
// are written.
#include <functional>

#include "executor/data/Elements.h"
#include "executor/data/Npy.h"
#include "tests/executor/data/LargeData.h"

namespace lstmc::data {
namespace {

constexpr uint64_t kUntouched = 0x5a5a5a5a5a5a5a5a;

/// Where each row of the slot has its elements, as bytes of its memory.
std::vector<std::vector<std::string>> rowsOf(const Input &input) {
  const Tensor &tensor = input.slot.tensor;
  const size_t width = dtypeBytes(tensor.dtype), axis = size_t(input.slot.batchAxis);
  std::vector<std::vector<std::string>> rows;
  for (int64_t n = 0; n < tensor.shape[axis]; ++n) {
    auto &row = rows.emplace_back();
    eachIndexBut(tensor, int(axis), [&](int64_t, int64_t offset) {
      const char *from = tensor.as<char>() + size_t(n * tensor.strides[axis] + offset) * width;
      row.emplace_back(from, width);
    });
  }
  return rows;
}

void expectOnlyTheseRows(const DataSet &data, std::vector<Input *> inputs) {
  constexpr RowWindow kWanted = {1, 3};
  auto forget = [&] {
    for (Input *input : inputs)
      std::ranges::fill(input->memory, kUntouched);
  };
  for (const Position position : {Position{0, 0}, {0, 1}, {1, 0}}) {
    std::vector<std::vector<std::vector<std::string>>> whole;
    forget();
    for (Input *input : inputs)
      input->slot.rows = {};
    (void)contents(data, {position}, inputs);
    for (Input *input : inputs)
      whole.push_back(rowsOf(*input));
    forget();
    for (Input *input : inputs)
      input->slot.rows = kWanted;
    (void)contents(data, {position}, inputs);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto rows = rowsOf(*inputs[i]);
      for (int64_t n = 0; n < int64_t(rows.size()); ++n) {
        const bool wanted = n >= kWanted.begin && n < kWanted.end;
        const std::string untouched(rows[0][0].size(), '\x5a');
        for (size_t e = 0; e < rows[size_t(n)].size(); ++e)
          EXPECT_EQ(rows[size_t(n)][e], wanted ? whole[i][size_t(n)][e] : untouched)
              << inputs[i]->slot.name << " row " << n;
      }
    }
  }
}

/// Of data in memory, and read ahead from a file.
void expectOnlyTheseRows(const std::string &spec, std::vector<Input *> inputs) {
  for (const Limits &limits : {Limits(), nothingHeld()})
    expectOnlyTheseRows(*load(spec, limits), inputs);
}

std::string letters(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i)
    text += std::string(size_t(2 + i % 5), char('a' + i % 26)) + "\n";
  return text;
}

TEST(WantedRows, OfStreamsOfText) {
  test::TemporaryFolder folder;
  Input x("data", DType::I32, {4, 3}), y("label", DType::F32, {3, 4}, 1);
  expectOnlyTheseRows("text:" + test::writeText(folder / "t", letters(40)), {&x, &y});
}

TEST(WantedRows, OfLines) {
  test::TemporaryFolder folder;
  Input x("data", DType::I32, {4, 8}), y("label", DType::I32, {4, 8}),
      length("length", DType::I32, {4});
  y.slot.range.emplace() = {0, 27, -1};
  expectOnlyTheseRows("text:" + test::writeText(folder / "t", letters(40)) + ",lines=yes",
                      {&x, &y, &length});
}

TEST(WantedRows, OfArrays) {
  test::TemporaryFolder folder;
  std::vector<int32_t> values(40 * 6);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = int32_t(i);
  auto write = [&](const std::string &name, std::vector<int64_t> shape) {
    EXPECT_TRUE(writeNpy(folder / name, denseTensor(values.data(), DType::I32, shape),
                         OutputFile::Existing::Replace)
                    .ok());
    return folder / name;
  };
  const std::string spec =
      "npy:data=" + write("x", {40, 6}) + ",label=" + write("y", {6, 40}) + ",shuffle=yes";
  Input x("data", DType::F32, {4, 6}), y("label", DType::I32, {6, 4}, 1);
  expectOnlyTheseRows(spec, {&x, &y});
}

TEST(WantedRows, OfTables) {
  test::TemporaryFolder folder;
  std::string text = "id,x,y\n";
  for (int i = 0; i < 90; ++i)
    text += fmt::format("{},{},{}\n", i / 5, i, i * i);
  const std::string table = "csv:" + test::writeText(folder / "t", text) + ",inputs=x,target=y";
  Input x("data", DType::F32, {4, 5, 1}), y("label", DType::F32, {4, 1});
  expectOnlyTheseRows(table + ",window=5", {&x, &y});
  Input length("length", DType::I32, {4}), last("label", DType::F32, {4});
  expectOnlyTheseRows(table + ",sequence=id", {&x, &last, &length});
}

TEST(WantedRows, OfOneInputMayBeNone) {
  test::TemporaryFolder folder;
  const auto data = load("text:" + test::writeText(folder / "t", letters(40)), Limits());
  Input x("data", DType::I32, {4, 3}), y("label", DType::I32, {4, 3});
  x.slot.rows = RowWindow::none(); // of a rank that has the last stage
  std::ranges::fill(x.memory, kUntouched);
  std::ranges::fill(y.memory, kUntouched);
  (void)contents(*data, {{0, 0}}, {&x, &y});
  EXPECT_EQ(x.memory, std::vector<uint64_t>(x.memory.size(), kUntouched));
  for (int32_t value : std::span(y.slot.tensor.as<int32_t>(), 12))
    EXPECT_NE(value, int32_t(kUntouched));
}

} // namespace
} // namespace lstmc::data
