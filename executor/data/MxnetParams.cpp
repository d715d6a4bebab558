#include "executor/data/MxnetParams.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "executor/base/NoMemory.h"
#include "executor/base/Quote.h"
#include "executor/base/Utf8.h"
#include "executor/data/ForeignFile.h"

namespace lstmc::data {
namespace {

constexpr uint64_t kListMagic = 0x112;
constexpr uint32_t kV1 = 0xF993FAC8, kV2 = 0xF993FAC9, kV3 = 0xF993FACA;
constexpr uint32_t kMostAxes = 32; ///< of MXNet: a first word above it is no count of axes
constexpr uint64_t kLeastArray = sizeof(uint32_t);
constexpr uint64_t kDeviceBytes = 8;

/// Element types by MXNet's number.
struct ElementType {
  std::string_view name;
  std::optional<DType> dtype; ///< none: lstmc does not have it
};
constexpr ElementType kTypes[] = {
    {"float32", DType::F32},  {"float64", DType::F64}, {"float16", DType::F16},
    {"uint8", DType::U8},     {"int32", DType::I32},   {"int8", DType::I8},
    {"int64", DType::I64},    {"bool", DType::Bool},   {"int16", {}},
    {"uint16", {}},           {"uint32", {}},          {"uint64", {}},
    {"bfloat16", DType::BF16}};

/// Storage types by MXNet's number; -1 is that of no array.
constexpr int32_t kNoStorage = -1, kDense = 0;
constexpr std::string_view kSparse[] = {"", "row_sparse", "csr"};

constexpr std::string_view kPrefixes[] = {"", "arg:", "aux:"};

/// One array of the list as its header describes it.
struct Header {
  DType dtype = DType::F32;
  std::array<int64_t, kMaxRank> shape{};
  size_t rank = 0;
  bool none = false;
  uint64_t dataBegin = 0, dataBytes = 0;

  std::span<const int64_t> extents() const { return {shape.data(), rank}; }
};

/// Reads a list from its first byte to its last. A reader of its own, not ByteCursor: a list may
/// have millions of arrays of a few bytes each.
class Reader {
public:
  Reader(std::span<const uint8_t> bytes, const std::string &file, const Limits &limits)
      : bytes_(bytes), file_(file), limits_(limits) {}

  Status list(std::vector<uint64_t> &begins, SymbolTable &names, std::vector<uint8_t> &prefixes) {
    uint64_t magic = 0, reserved = 0, count = 0;
    LSTMC_TRY(number(magic, "magic number"));
    if (magic != kListMagic)
      return refuse(0, ErrorCode::E0603, "magic number: found {:#x}, want {:#x}", magic,
                    kListMagic);
    LSTMC_TRY(number(reserved, "reserved"));
    if (reserved != 0)
      return refuse(sizeof(magic), ErrorCode::E0603, "reserved: found {:#x}, want 0", reserved);
    LSTMC_TRY(number(count, "count of arrays"));
    if (count > left() / kLeastArray || count > uint64_t(INT32_MAX))
      return refuse(position_ - sizeof(count), ErrorCode::E0602,
                    "count of arrays: found {}, want at most {}, for which the file has room",
                    count, std::min(left() / kLeastArray, uint64_t(INT32_MAX)));
    begins.reserve(count);
    for (array_ = 0; array_ < count; ++array_) {
      begins.push_back(position_);
      LSTMC_TRY(array());
    }
    LSTMC_TRY(readNames(count, names, prefixes));
    if (left() != 0)
      return refuse(position_, ErrorCode::E0605,
                    "end: found {} bytes after the last name, want none", left());
    return {};
  }

  /// The header of the array that begins at `begin`, in bytes that list() has accepted.
  Header accepted(uint64_t begin) {
    position_ = begin;
    return *header();
  }

private:
  uint64_t left() const { return bytes_.size() - position_; }

  template <typename... Args>
  Error refuse(uint64_t at, ErrorCode code, fmt::format_string<Args...> format,
               Args &&...args) const {
    return failAt({file_, 0, 0, int64_t(at)}, code, format, std::forward<Args>(args)...);
  }
  /// The same for a field of the array that is read.
  template <typename... Args>
  Error refuseArray(uint64_t at, ErrorCode code, fmt::format_string<Args...> format,
                    Args &&...args) const {
    return refuse(at, code, "array {} {}", array_,
                  fmt::format(format, std::forward<Args>(args)...));
  }
  Error cutShort(std::string_view field, uint64_t want) const {
    return refuse(position_, ErrorCode::E0602, "{}: found {} bytes left, want {}", field, left(),
                  want);
  }

  /// The next number, little-endian as the machine is.
  template <typename T> Status number(T &value, std::string_view field) {
    if (left() < sizeof(T))
      return cutShort(field, sizeof(T));
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return {};
  }
  template <typename T> bool next(T &value) {
    if (left() < sizeof(T))
      return false;
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return true;
  }
  Error arrayCutShort(std::string_view field, uint64_t want) const {
    return refuseArray(position_, ErrorCode::E0602, "{}: found {} bytes left, want {}", field,
                       left(), want);
  }

  Status array() {
    Result<Header> header = this->header();
    if (!header.ok())
      return header.error();
    if (header->none || header->dtype != DType::Bool)
      return {};
    std::span<const uint8_t> flags = bytes_.subspan(header->dataBegin, header->dataBytes);
    if (std::optional<size_t> bad = firstNoBool(flags))
      return refuseArray(header->dataBegin + *bad, ErrorCode::E0604,
                         "elements: found {} for a bool, want 0 or 1", flags[*bad]);
    return {};
  }

  /// Reads a header and passes over the elements.
  Result<Header> header() {
    Header header;
    uint32_t first = 0;
    if (!next(first))
      return arrayCutShort("version", sizeof(first));
    const bool versioned = first == kV1 || first == kV2 || first == kV3;
    if (!versioned && first > kMostAxes)
      return refuseArray(position_ - sizeof(first), ErrorCode::E0604,
                         "version: found {:#x}, want a number of axes or {:#x} to {:#x}", first,
                         kV1, kV3);
    int32_t storage = kDense;
    if (first == kV2 || first == kV3) {
      if (!next(storage))
        return arrayCutShort("storage type", sizeof(storage));
      LSTMC_TRY(checkStorage(storage));
    }
    LSTMC_TRY(readShape(first, header));
    if (header.none)
      return header;
    if (storage == kNoStorage)
      return refuseArray(position_, ErrorCode::E0604,
                         "storage type: found -1 for an array of {} axes, want {}", header.rank,
                         kDense);
    if (left() < kDeviceBytes)
      return arrayCutShort("device", kDeviceBytes);
    position_ += kDeviceBytes;
    LSTMC_TRY(readType(header));
    std::optional<uint64_t> bytes = arrayBytes(header.extents(), header.dtype).value();
    if (!bytes || *bytes > left())
      return refuseArray(position_, ErrorCode::E0602,
                         "elements: found {} bytes left, want {} of {}{}", left(),
                         bytes ? std::to_string(*bytes) : "more than 2^63", dtypeName(header.dtype),
                         shapeText(header.extents()));
    header.dataBegin = position_;
    header.dataBytes = *bytes;
    position_ += *bytes;
    return header;
  }

  Status checkStorage(int32_t storage) const {
    const uint64_t at = position_ - sizeof(storage);
    if (storage > kDense && size_t(storage) < std::size(kSparse))
      return refuseArray(at, ErrorCode::E0613, "storage type: found {} ({}), want dense (0)",
                         storage, kSparse[storage]);
    if (storage != kDense && storage != kNoStorage)
      return refuseArray(at, ErrorCode::E0604, "storage type: found {}, want {}", storage, kDense);
    return {};
  }

  /// `first`: the version, or in V0 the number of axes.
  Status readShape(uint32_t first, Header &header) {
    int64_t axes = first;
    if (first > kMostAxes) {
      int32_t ndim = 0;
      if (!next(ndim))
        return arrayCutShort("axes", sizeof(ndim));
      axes = ndim;
    }
    const int64_t none = first == kV3 ? -1 : 0;
    header.none = axes == none;
    if (header.none)
      return {};
    const uint64_t at = position_ - sizeof(first);
    if (axes < 0)
      return refuseArray(at, ErrorCode::E0604, "axes: found {}, want a number from 0", axes);
    if (uint64_t(axes) > std::min<uint64_t>(limits_.rank, kMaxRank))
      return refuseArray(at, ErrorCode::E0606, "axes: found {}, want at most {} (limit rank)", axes,
                         limits_.rank);
    header.rank = size_t(axes);
    for (int64_t &extent : std::span(header.shape).first(header.rank)) {
      uint32_t narrow = 0;
      const bool wide = first > kMostAxes;
      if (wide ? !next(extent) : !next(narrow))
        return arrayCutShort("extent", wide ? sizeof(extent) : sizeof(narrow));
      if (!wide)
        extent = narrow;
      if (extent < 0)
        return refuseArray(position_ - sizeof(extent), ErrorCode::E0604,
                           "extent: found {}, want a number from 0", extent);
    }
    return {};
  }

  Status readType(Header &header) {
    int32_t type = 0;
    if (!next(type))
      return arrayCutShort("element type", sizeof(type));
    const uint64_t at = position_ - sizeof(type);
    if (type < 0 || size_t(type) >= std::size(kTypes))
      return refuseArray(at, ErrorCode::E0604, "element type: found {}, want 0 to {}", type,
                         std::size(kTypes) - 1);
    const ElementType &known = kTypes[type];
    if (!known.dtype)
      return refuseArray(at, ErrorCode::E0613,
                         "element type: found {} ({}), which lstmc does not have", type,
                         known.name);
    header.dtype = *known.dtype;
    return {};
  }

  Status readNames(uint64_t arrays, SymbolTable &names, std::vector<uint8_t> &prefixes) {
    uint64_t count = 0;
    LSTMC_TRY(number(count, "count of names"));
    if (count != 0 && count != arrays)
      return refuse(position_ - sizeof(count), ErrorCode::E0605,
                    "count of names: found {}, want 0 or {}, one per array", count, arrays);
    if (count > left() / sizeof(uint64_t))
      return cutShort("names", count * sizeof(uint64_t));
    names.reserve(count, left() - count * sizeof(uint64_t));
    prefixes.reserve(count);
    for (uint64_t i = 0; i < count; ++i)
      LSTMC_TRY(readName(i, names, prefixes));
    return {};
  }

  Status readName(uint64_t number, SymbolTable &names, std::vector<uint8_t> &prefixes) {
    const uint64_t at = position_;
    uint64_t length = 0;
    if (!next(length) || length > left())
      return refuse(at, ErrorCode::E0602, "name {}: found {} bytes left, want {}", number, left(),
                    length);
    if (length > limits_.name)
      return refuse(at, ErrorCode::E0606, "name {}: found {} bytes, want at most {} (limit name)",
                    number, length, limits_.name);
    const std::string_view written = asText(bytes_.subspan(position_, length));
    position_ += length;
    prefixes.push_back(prefixOf(written));
    const std::string_view name = written.substr(kPrefixes[prefixes.back()].size());
    if (name.empty())
      return refuse(at, ErrorCode::E0604, "name {}: found {}, want a name", number,
                    inQuotes(written));
    if (!isUtf8(name))
      return refuse(at, ErrorCode::E0604, "name {}: found {}, want UTF-8", number,
                    inQuotes(written));
    if (auto [earlier, isNew] = names.add(name); !isNew)
      return refuse(at, ErrorCode::E0612,
                    "name {}: found {}, which names array {} too, want each name once without "
                    "arg: and aux:",
                    number, inQuotes(written), earlier);
    return {};
  }

  static uint8_t prefixOf(std::string_view name) {
    for (uint8_t i = 1; i < std::size(kPrefixes); ++i)
      if (name.starts_with(kPrefixes[i]))
        return i;
    return 0;
  }

  static bool isUtf8(std::string_view text) {
    char32_t character = 0;
    for (int bytes = 0; !text.empty(); text.remove_prefix(size_t(bytes)))
      if ((bytes = decodeUtf8(text, character)) == 0)
        return false;
    return true;
  }

  std::span<const uint8_t> bytes_;
  const std::string &file_;
  const Limits &limits_;
  uint64_t position_ = 0;
  uint64_t array_ = 0; ///< number of the array that is read, for messages
};

} // namespace

bool isMxnetParams(std::span<const uint8_t> begin) {
  constexpr uint8_t kBegin[16] = {0x12, 0x01};
  return begin.size() >= sizeof(kBegin) && std::ranges::equal(begin.first(sizeof(kBegin)), kBegin);
}

Result<MxnetParams> MxnetParams::parse(Bytes bytes, std::string file, const Limits &limits) try {
  if (std::string_view kind = foreignKind(bytes); !kind.empty() && !isMxnetParams(bytes))
    return failAt({.file = file}, ErrorCode::E0603, "this is {}", kind);
  MxnetParams params;
  LSTMC_TRY(Reader(bytes, file, limits).list(params.begins_, params.names_, params.prefixes_));
  params.bytes_ = std::move(bytes);
  params.file_ = std::move(file);
  return params;
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

std::optional<Array> MxnetParams::array(size_t number) const {
  const Limits limits; // list() has compared the file with those in force
  const Header header = Reader(bytes_, file_, limits).accepted(begins_[number]);
  if (header.none)
    return std::nullopt;
  std::span<const int64_t> extents = header.extents();
  std::span<const uint8_t> data = std::span(bytes_).subspan(header.dataBegin, header.dataBytes);
  return Array{header.dtype, {extents.begin(), extents.end()}, Bytes(data.begin(), data.end())};
}

std::string MxnetParams::name(size_t number) const {
  return names_.size() == 0 ? std::string() : std::string(names_[number]);
}

std::string MxnetParams::writtenName(size_t number) const {
  return names_.size() == 0 ? std::string()
                            : std::string(kPrefixes[prefixes_[number]]) + name(number);
}

std::optional<size_t> MxnetParams::find(std::string_view name) const {
  std::optional<int32_t> number = names_.find(name);
  return number ? std::optional(size_t(*number)) : std::nullopt;
}

} // namespace lstmc::data
