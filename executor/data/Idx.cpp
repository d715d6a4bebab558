#include "executor/data/Idx.h"

#include "executor/base/NoMemory.h"
#include "executor/data/ByteCursor.h"
#include "executor/data/Inflate.h"

namespace lstmc::data {
namespace {

std::optional<DType> typeOf(uint8_t code) {
  switch (code) {
  case 0x08:
    return DType::U8;
  case 0x09:
    return DType::I8;
  case 0x0c:
    return DType::I32;
  case 0x0d:
    return DType::F32;
  case 0x0e:
    return DType::F64;
  default:
    return std::nullopt;
  }
}

Result<StoredArray> readUnpacked(StoredBytes bytes, const std::string &file, const Limits &limits) {
  ByteCursor cursor(bytes, file);
  LSTMC_ASSIGN(uint16_t zero, cursor.big<uint16_t>("magic"));
  LSTMC_ASSIGN(uint8_t code, cursor.big<uint8_t>("element type"));
  LSTMC_ASSIGN(uint8_t axes, cursor.big<uint8_t>("axes"));
  if (zero != 0)
    return failAt(cursor.placeAt(0), ErrorCode::E0603, "magic: found {:#06x}, want 0x0000", zero);
  std::optional<DType> dtype = typeOf(code);
  if (!dtype && code == 0x0b)
    return failAt(cursor.placeAt(2), ErrorCode::E0613,
                  "element type: found 0x0b (16-bit integers), want u8, i8, i32, f32 or f64");
  if (!dtype)
    return failAt(cursor.placeAt(2), ErrorCode::E0604,
                  "element type: found {:#04x}, want 0x08, 0x09, 0x0c, 0x0d or 0x0e", code);
  if (axes == 0)
    return failAt(cursor.placeAt(3), ErrorCode::E0604, "axes: found 0, want at least 1");
  if (axes > limits.rank)
    return failAt(cursor.placeAt(3), ErrorCode::E0606,
                  "axes: found {}, want at most {} (limit rank)", axes, limits.rank);
  std::vector<int64_t> shape;
  for (int axis = 0; axis < axes; ++axis) {
    LSTMC_ASSIGN(uint32_t extent, cursor.big<uint32_t>("extent"));
    shape.push_back(extent);
  }
  std::optional<uint64_t> want = arrayBytes(shape, *dtype).value();
  if (!want)
    return failAt(cursor.placeAt(4), ErrorCode::E0605,
                  "extents: found {}, want fewer than 2^63 bytes", shapeText(shape));
  if (*want != cursor.left())
    return failAt(cursor.place(), *want > cursor.left() ? ErrorCode::E0602 : ErrorCode::E0605,
                  "data: found {} bytes, want {} for {} {}", cursor.left(), *want,
                  dtypeName(*dtype), shapeText(shape));
  bytes = bytes.part(cursor.position(), *want);
  cursor = ByteCursor(std::span<const uint8_t>(), file); // shares the bytes no longer
  return StoredArray::of(*dtype, std::move(shape), std::move(bytes), {.bigEndian = true});
}

} // namespace

Result<StoredArray> readIdx(StoredBytes bytes, const std::string &file, const Limits &limits) try {
  LSTMC_ASSIGN(bool packed, isGzip(bytes));
  if (packed) {
    StoredBytesWriter unpacked(limits.dataMemory);
    LSTMC_TRY(gunzip(bytes, file, limits,
                     [&](std::span<const uint8_t> block) { return unpacked.append(block); }));
    LSTMC_ASSIGN(bytes, std::move(unpacked).finish());
  }
  return readUnpacked(std::move(bytes), file, limits);
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

Result<Array> parseIdx(std::span<const uint8_t> bytes, const std::string &file,
                       const Limits &limits) try {
  LSTMC_ASSIGN(StoredArray array, readIdx(bytes, file, limits));
  return std::move(array).held();
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

Result<Array> loadIdx(const std::string &path, const Limits &limits) {
  LSTMC_ASSIGN(Bytes bytes, readFile(path));
  return parseIdx(bytes, path, limits);
}

} // namespace lstmc::data
