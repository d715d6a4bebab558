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

/// The first lane's sum goes on from `before`, the others' from 0.
__attribute__((target("sse4.2"))) Lanes throughLanes(uint32_t before,
                                                     std::span<const std::byte, 3 * kLane> bytes) {
  uint64_t first = before, second = 0, third = 0;
  for (size_t i = 0; i < kLane; i += 8) {
    first = _mm_crc32_u64(first, get<uint64_t>(bytes, i));
    second = _mm_crc32_u64(second, get<uint64_t>(bytes, kLane + i));
    third = _mm_crc32_u64(third, get<uint64_t>(bytes, 2 * kLane + i));
  }
  return {uint32_t(first), uint32_t(second), uint32_t(third)};
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

} // namespace

uint32_t checksum(std::span<const std::byte> bytes) {
  static const ThroughZeros throughZeros;
  uint32_t sum = 0xffffffffu;
  for (; bytes.size() >= 3 * kLane; bytes = bytes.subspan(3 * kLane)) {
    const Lanes lanes = throughLanes(sum, bytes.first<3 * kLane>());
    sum = throughZeros(throughZeros(lanes[0]) ^ lanes[1]) ^ lanes[2];
  }
  return ~through(sum, bytes);
}

void Header::write(std::span<std::byte> into, std::span<const std::byte> payload) const {
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
  put(into, kPayloadSumAt, checksum(payload));
  put(into, kSumAt, checksum(into.first(kSumAt)));
}

std::optional<std::string> Header::differs(std::span<const std::byte> found,
                                           std::span<const std::byte> payload) const {
  std::array<std::byte, kBytes> want;
  write(want, payload);
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
  if (auto text = field("count", kCountAt, uint64_t()))
    return text;
  return get<uint32_t>(found, kPayloadSumAt) == get<uint32_t>(want, kPayloadSumAt)
             ? std::nullopt
             : std::optional<std::string>("payload: its checksum is wrong");
}

uint32_t opOf(std::span<const std::byte> header) { return get<uint32_t>(header, kOpAt); }

std::array<uint8_t, 16> firstHalf(const std::string &hexDigest) {
  std::array<uint8_t, 16> bytes{};
  for (size_t i = 0; i < bytes.size() && 2 * i + 1 < hexDigest.size(); ++i)
    bytes[i] = uint8_t(std::stoi(hexDigest.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

} // namespace lstmc::ranks
