#include "executor/stores/PackedValues.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

namespace lstmc::test {
namespace {

using namespace stores;

std::vector<std::byte> bytesOf(const std::vector<float> &values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<float> compressed(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = i % 3 == 0 ? 0.0f : i % 3 == 1 ? 0.5f : -0.5f;
  return values;
}

TEST(PackedValues, AreThoseThatWerePacked) {
  std::vector<float> values = compressed(101);
  values.insert(values.end(), {0.25f, 3, -1, NAN}); // a factor, and others that were not compressed
  const std::vector<uint64_t> sizes{404, 4, 12};
  const std::vector<std::byte> bytes = bytesOf(values), packed = packValues(bytes, sizes);
  EXPECT_LT(packed.size(), 60u);
  std::vector<std::byte> back(bytes.size());
  ASSERT_TRUE(unpackValues(packed, sizes, back));
  EXPECT_EQ(back, bytes);
}

TEST(PackedValues, OfAnotherLengthAreRefused) {
  const std::vector<uint64_t> sizes{404, 8};
  std::vector<float> values = compressed(101);
  values.insert(values.end(), {1, 2});
  const std::vector<std::byte> packed = packValues(bytesOf(values), sizes);
  std::vector<std::byte> back(412);
  for (size_t size = 0; size < packed.size(); ++size)
    EXPECT_FALSE(unpackValues(std::span(packed).first(size), sizes, back)) << size;
  std::vector<std::byte> more = packed;
  more.push_back(std::byte(0));
  EXPECT_FALSE(unpackValues(more, sizes, back));
  more = packed;
  more[0] = std::byte(2);
  EXPECT_FALSE(unpackValues(more, sizes, back));
}

} // namespace
} // namespace lstmc::test
