// The 64 bytes before a value that goes to another process.
#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "executor/ranks/Header.h"

namespace lstmc::test {
namespace {

using ranks::Header;

std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The check value of CRC-32C in the catalogue of parametrised CRC algorithms.
TEST(Header, ChecksumIsCastagnolis) {
  EXPECT_EQ(ranks::checksum(bytesOf("123456789")), 0xe3069283u);
  EXPECT_EQ(ranks::checksum({}), 0u);
}

struct Written {
  Written() {
    header.op = 0x01020304;
    header.from = 5;
    header.to = 6;
    header.sequence = 7;
    header.count = 3;
    header.dtype = DType::F64;
    header.program = ranks::firstHalf("000102030405060708090a0b0c0d0e0fff");
    header.write(bytes, payload);
  }
  Header header;
  std::vector<std::byte> bytes = std::vector<std::byte>(Header::kBytes);
  std::vector<std::byte> payload = std::vector<std::byte>(24, std::byte(9));
};

/// Bit by bit, as the polynomial says.
uint32_t slowly(std::span<const std::byte> bytes) {
  uint32_t sum = 0xffffffffu;
  for (std::byte byte : bytes) {
    sum ^= uint32_t(byte);
    for (int bit = 0; bit < 8; ++bit)
      sum = sum >> 1 ^ (sum & 1 ? 0x82f63b78u : 0);
  }
  return ~sum;
}

TEST(Header, ChecksumOfLongMessagesIsTheSame) {
  std::vector<std::byte> bytes(20'000);
  uint32_t number = 1;
  for (std::byte &byte : bytes)
    byte = std::byte((number = number * 1664525 + 1013904223) >> 24);
  for (size_t size : {0, 1, 6'143, 6'144, 6'145, 6'151, 12'288, 19'999}) {
    const auto some = std::span<const std::byte>(bytes).first(size);
    const std::byte mark{0x5a};
    std::vector<std::byte> copy(size + 1, mark);
    EXPECT_EQ(ranks::checksum(some), slowly(some)) << size;
    EXPECT_EQ(ranks::copyWithChecksum(some, std::span(copy).first(size)), slowly(some)) << size;
    EXPECT_TRUE(std::ranges::equal(std::span(copy).first(size), some)) << size;
    EXPECT_EQ(copy.back(), mark);
  }
}

TEST(Header, StandsAtItsPlaces) {
  Written w;
  auto at = [&](size_t offset) { return int(w.bytes[offset]); };
  EXPECT_EQ(std::memcmp(w.bytes.data(), "lstm", 4), 0);
  EXPECT_EQ(at(4), 1);
  EXPECT_EQ(at(6), 1);
  EXPECT_EQ(at(7), int(DType::F64));
  EXPECT_EQ(at(8), 0);
  EXPECT_EQ(at(23), 15);
  EXPECT_EQ(at(24), 4);
  EXPECT_EQ(at(27), 1);
  EXPECT_EQ(at(28), 5);
  EXPECT_EQ(at(32), 6);
  EXPECT_EQ(at(40), 7);
  EXPECT_EQ(at(48), 3);
  EXPECT_EQ(w.header.differs(w.bytes, w.payload), std::nullopt);
}

TEST(Header, NamesTheFieldThatDiffers) {
  using Change = void (*)(Header &);
  const std::pair<Change, const char *> changes[] = {
      {[](Header &h) { h.op = 8; }, "op: found 8, want 16909060"},
      {[](Header &h) { h.from = 8; }, "source device: found 8, want 5"},
      {[](Header &h) { h.to = 8; }, "destination device: found 8, want 6"},
      {[](Header &h) { h.sequence = 8; }, "sequence: found 8, want 7"},
      {[](Header &h) { h.count = 8; }, "count: found 8, want 3"},
      {[](Header &h) { h.program[15] = 1; },
       "program: found another digest, want that of this rank's package"},
  };
  for (const auto &[change, text] : changes) {
    Written w;
    Header other = w.header;
    change(other);
    other.write(w.bytes, w.payload);
    EXPECT_EQ(w.header.differs(w.bytes, w.payload), text);
  }
}

TEST(Header, EveryFlippedBitIsFound) {
  Written w;
  for (std::vector<std::byte> *part : {&w.bytes, &w.payload})
    for (std::byte &byte : *part)
      for (int bit = 0; bit < 8; ++bit) {
        byte ^= std::byte(1 << bit);
        EXPECT_NE(w.header.differs(w.bytes, w.payload), std::nullopt);
        byte ^= std::byte(1 << bit);
      }
}

} // namespace
} // namespace lstmc::test
