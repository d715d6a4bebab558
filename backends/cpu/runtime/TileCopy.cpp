#include "backends/cpu/runtime/TileCopy.h"

#include <cstring>

#include "executor/base/Numeric.h"

namespace lstmc::cpu {

namespace {

/// The type in a tile of an element stored as Stored; a bool is an f32 of 0 or 1.
template <typename Stored> struct InTile {
  using Type = Stored;
  static Type read(Stored value) { return value; }
  static Stored write(Type value) { return value; }
};
template <> struct InTile<Half> {
  using Type = float;
  static Type read(Half value) { return widen(value); }
  static Half write(Type value) { return toHalf(value); }
};
template <> struct InTile<BFloat> {
  using Type = float;
  static Type read(BFloat value) { return widen(value); }
  static BFloat write(Type value) { return toBFloat(value); }
};
template <> struct InTile<int8_t> {
  using Type = int32_t;
  static Type read(int8_t value) { return value; }
  static int8_t write(Type value) { return int8_t(value); }
};
template <> struct InTile<uint8_t> {
  using Type = int32_t;
  static Type read(uint8_t value) { return value; }
  static uint8_t write(Type value) { return uint8_t(value); }
};
template <> struct InTile<bool> {
  using Type = float;
  static Type read(bool value) { return value ? 1.0f : 0.0f; }
  static bool write(Type value) { return value != 0.0f; }
};

template <typename Stored>
void read(void *tile, const void *stored, int64_t stride, int64_t count) {
  using Tile = InTile<Stored>;
  auto *to = static_cast<typename Tile::Type *>(tile);
  auto *from = static_cast<const Stored *>(stored);
  if (stride == 1) {
    if constexpr (std::is_same_v<Stored, typename Tile::Type>)
      std::memcpy(to, from, size_t(count) * sizeof(Stored));
    else
      for (int64_t i = 0; i < count; ++i)
        to[i] = Tile::read(from[i]);
  } else if (stride == 0) {
    typename Tile::Type value = Tile::read(*from);
    for (int64_t i = 0; i < count; ++i)
      to[i] = value;
  } else {
    for (int64_t i = 0; i < count; ++i)
      to[i] = Tile::read(from[i * stride]);
  }
}

template <typename Stored>
void write(void *stored, int64_t stride, const void *tile, int64_t step, int64_t count) {
  using Tile = InTile<Stored>;
  auto *to = static_cast<Stored *>(stored);
  auto *from = static_cast<const typename Tile::Type *>(tile);
  if (stride == 1 && step == 1) {
    if constexpr (std::is_same_v<Stored, typename Tile::Type>)
      std::memcpy(to, from, size_t(count) * sizeof(Stored));
    else
      for (int64_t i = 0; i < count; ++i)
        to[i] = Tile::write(from[i]);
  } else {
    for (int64_t i = 0; i < count; ++i)
      to[i * stride] = Tile::write(from[i * step]);
  }
}

template <typename Stored> int64_t index(const void *stored, int64_t offset) {
  return convert<int64_t>(static_cast<const Stored *>(stored)[offset]);
}

template <typename Stored> double number(const void *stored, int64_t offset) {
  return convert<double>(static_cast<const Stored *>(stored)[offset]);
}

} // namespace

ReadRow readRow(DType stored) {
  return withType(stored, [](auto type) -> ReadRow { return read<decltype(type)>; });
}

WriteRow writeRow(DType stored) {
  return withType(stored, [](auto type) -> WriteRow { return write<decltype(type)>; });
}

ReadIndex readIndex(DType stored) {
  return withType(stored, [](auto type) -> ReadIndex { return index<decltype(type)>; });
}

ReadNumber readNumber(DType stored) {
  return withType(stored, [](auto type) -> ReadNumber { return number<decltype(type)>; });
}

int64_t toIndex(double value) { return convert<int64_t>(value); }

void writeConstant(DType type, double value, void *element) {
  writeElement(element, type, 0, value);
}

} // namespace lstmc::cpu
