#include "executor/ranks/Header.h"

#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <nmmintrin.h>

namespace lstmc::ranks {

namespace {

constexpr char kMagic[4] = {'l', 's', 't', 'm'};
constexpr uint8_t kData = 1;

/// Where each field begins.
enum Offset : size_t {
  kVersionAt = 4,
  kKindAt = 6,
  kDTypeAt = 7,
  kProgramAt = 8,
  kOpAt = 24,
  kFromAt = 28,
  kToAt = 32,
  kSequenceAt = 40,
  kCountAt = 48,
  kPayloadSumAt = 56,
  kSumAt = 60,
};

template <typename T> void put(std::span<std::byte> into, size_t at, T value) {
  std::memcpy(into.data() + at, &value, sizeof(value));
}

template <typename T> T get(std::span<const std::byte> from, size_t at) {
  T value;
  std::memcpy(&value, from.data() + at, sizeof(value));
  return value;
}

/// What a sum becomes by more bytes, without the inversions at its begin and end.
__attribute__((target("sse4.2"))) uint32_t through(uint32_t before,
                                                   std::span<const std::byte> bytes) {
  uint64_t sum = before;
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8)
    sum = _mm_crc32_u64(sum, get<uint64_t>(bytes, i));
  for (; i < bytes.size(); ++i)
    sum = _mm_crc32_u8(uint32_t(sum), uint8_t(bytes[i]));
  return uint32_t(sum);
}

// A processor begins one of these instructions each cycle, and has its result after three: so three
// lanes of bytes are summed side by side.
constexpr size_t kLane = 2048;
using Lanes = std::array<uint32_t, 3>;

/// The first lane's sum goes on from `before`, the others' from 0. Copies what it reads, unless
/// `into` is empty.
template <bool kCopies>
__attribute__((target("sse4.2"))) Lanes throughLanes(uint32_t before,
                                                     std::span<const std::byte, 3 * kLane> bytes,
                                                     std::span<std::byte> into) {
  std::array<uint64_t, 3> sums{before, 0, 0};
  for (size_t i = 0; i < kLane; i += 8)
    for (size_t lane = 0; lane < 3; ++lane) {
      const auto word = get<uint64_t>(bytes, lane * kLane + i);
      sums[lane] = _mm_crc32_u64(sums[lane], word);
      if constexpr (kCopies)
        put(into, lane * kLane + i, word);
    }
  return {uint32_t(sums[0]), uint32_t(sums[1]), uint32_t(sums[2])};
}

/// What a sum becomes by a lane of zeros. It is linear: the exclusive or of what its four bytes
/// become. And the sum of two lanes is that of the second, from 0, or'ed so with this of the first.
class ThroughZeros {
public:
  ThroughZeros() {
    const std::vector<std::byte> zeros(kLane);
    for (size_t bit = 0; bit < 32; ++bit) {
      const uint32_t becomes = through(1u << bit, zeros);
      for (size_t value = 0; value < 256; ++value)
        if (value >> (bit % 8) & 1)
          becomes_[bit / 8][value] ^= becomes;
    }
  }
  uint32_t operator()(uint32_t sum) const {
    return becomes_[0][sum & 255] ^ becomes_[1][sum >> 8 & 255] ^ becomes_[2][sum >> 16 & 255] ^
           becomes_[3][sum >> 24];
  }

private:
  std::array<std::array<uint32_t, 256>, 4> becomes_{}; ///< by byte of the sum, and its value
};

/// The checksum; copies the bytes too where that is asked for.
template <bool kCopies>
uint32_t checksumOf(std::span<const std::byte> bytes, std::span<std::byte> into) {
  static const ThroughZeros throughZeros;
  uint32_t sum = 0xffffffffu;
  size_t at = 0;
  for (; at + 3 * kLane <= bytes.size(); at += 3 * kLane) {
    const Lanes lanes = throughLanes<kCopies>(sum, bytes.subspan(at).first<3 * kLane>(),
                                              kCopies ? into.subspan(at) : into);
    sum = throughZeros(throughZeros(lanes[0]) ^ lanes[1]) ^ lanes[2];
  }
  const std::span rest = bytes.subspan(at);
  if (kCopies && !rest.empty())
    std::memcpy(into.data() + at, rest.data(), rest.size());
  return ~through(sum, rest);
}

} // namespace

uint32_t checksum(std::span<const std::byte> bytes) { return checksumOf<false>(bytes, {}); }

uint32_t copyWithChecksum(std::span<const std::byte> from, std::span<std::byte> to) {
  return checksumOf<true>(from, to);
}

void Header::write(std::span<std::byte> into, uint32_t payloadSum) const {
  std::memset(into.data(), 0, kBytes);
  std::memcpy(into.data(), kMagic, sizeof(kMagic));
  put(into, kVersionAt, kVersion);
  put(into, kKindAt, kData);
  put(into, kDTypeAt, uint8_t(dtype));
  std::memcpy(into.data() + kProgramAt, program.data(), program.size());
  put(into, kOpAt, op);
  put(into, kFromAt, from);
  put(into, kToAt, to);
  put(into, kSequenceAt, sequence);
  put(into, kCountAt, count);
  put(into, kPayloadSumAt, payloadSum);
  put(into, kSumAt, checksum(into.first(kSumAt)));
}

void Header::write(std::span<std::byte> into, std::span<const std::byte> payload) const {
  write(into, checksum(payload));
}

std::optional<std::string> Header::differs(std::span<const std::byte> found) const {
  std::array<std::byte, kBytes> want;
  write(want, 0);
  auto different = [&](const char *field, auto is, auto wanted) {
    return is == wanted ? std::nullopt
                        : std::optional(fmt::format("{}: found {}, want {}", field, is, wanted));
  };
  if (found.size() < kBytes || std::memcmp(found.data(), kMagic, sizeof(kMagic)) != 0)
    return "header: found other bytes, want \"lstm\"";
  if (get<uint32_t>(found, kSumAt) != checksum(found.first(kSumAt)))
    return "header: its checksum is wrong";
  auto field = [&]<typename T>(const char *name, size_t at, T) {
    return different(name, get<T>(found, at), get<T>(want, at));
  };
  if (auto text = field("version", kVersionAt, uint16_t()))
    return text;
  if (auto text = field("kind", kKindAt, uint8_t()))
    return text;
  if (std::memcmp(found.data() + kProgramAt, program.data(), program.size()) != 0)
    return "program: found another digest, want that of this rank's package";
  if (auto text = field("op", kOpAt, uint32_t()))
    return text;
  if (auto text = field("source device", kFromAt, uint32_t()))
    return text;
  if (auto text = field("destination device", kToAt, uint32_t()))
    return text;
  if (auto text = field("sequence", kSequenceAt, uint64_t()))
    return text;
  if (auto text = field("dtype", kDTypeAt, uint8_t()))
    return text;
  return field("count", kCountAt, uint64_t());
}

std::optional<std::string> Header::differs(std::span<const std::byte> found,
                                           std::span<const std::byte> payload) const {
  auto text = differs(found);
  return text ? text : payloadDiffers(found, checksum(payload));
}

std::optional<std::string> payloadDiffers(std::span<const std::byte> header, uint32_t payloadSum) {
  if (get<uint32_t>(header, kPayloadSumAt) == payloadSum)
    return std::nullopt;
  return "payload: its checksum is wrong";
}

uint32_t opOf(std::span<const std::byte> header) { return get<uint32_t>(header, kOpAt); }

std::array<uint8_t, 16> firstHalf(const std::string &hexDigest) {
  std::array<uint8_t, 16> bytes{};
  for (size_t i = 0; i < bytes.size() && 2 * i + 1 < hexDigest.size(); ++i)
    bytes[i] = uint8_t(std::stoi(hexDigest.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

} // namespace lstmc::ranks
