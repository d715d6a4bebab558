#include "executor/data/Npy.h"

#include <algorithm>
#include <charconv>

#include "executor/base/NoMemory.h"
#include "executor/base/Quote.h"
#include "executor/data/ByteCursor.h"

namespace lstmc::data {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct TypeName {
  std::string_view name; ///< without the byte order
  DType dtype;
};
constexpr TypeName kTypes[] = {{"f4", DType::F32}, {"f8", DType::F64}, {"f2", DType::F16},
                               {"i1", DType::I8},  {"u1", DType::U8},  {"i4", DType::I32},
                               {"i8", DType::I64}, {"b1", DType::Bool}};

struct Header {
  DType dtype = DType::F32;
  ElementOrder order;
  std::vector<int64_t> shape;
};

/// Parses the literal in the header, character by character.
class LiteralReader {
public:
  LiteralReader(std::string_view text, std::string file, uint64_t base, const Limits &limits)
      : text_(text), file_(std::move(file)), base_(base), limits_(limits) {}

  Result<Header> read() {
    Header header;
    bool haveType = false, haveOrder = false, haveShape = false;
    LSTMC_TRY(want("{", "header"));
    while (!accept("}")) {
      LSTMC_ASSIGN(std::string_view key, string("header key"));
      bool known = key == "descr" || key == "fortran_order" || key == "shape";
      if (!known)
        return refuse(ErrorCode::E0603, "header key: found {}, want descr, fortran_order or shape",
                      inQuotes(key));
      bool &have = key == "descr" ? haveType : key == "shape" ? haveShape : haveOrder;
      if (std::exchange(have, true))
        return refuse(ErrorCode::E0612, "header key {}: found twice, want once", key);
      LSTMC_TRY(want(":", "header"));
      LSTMC_TRY(key == "descr" ? type(header) : key == "shape" ? shape(header) : order(header));
      if (!accept(",")) {
        LSTMC_TRY(want("}", "header"));
        break;
      }
    }
    if (!haveType || !haveOrder || !haveShape)
      return refuse(ErrorCode::E0603, "header: found no {}, want descr, fortran_order and shape",
                    !haveType    ? "descr"
                    : !haveOrder ? "fortran_order"
                                 : "shape");
    skipBlanks();
    if (position_ != text_.size())
      return refuse(ErrorCode::E0603, "header: found text after the literal, want blanks");
    return header;
  }

private:
  template <typename... Args>
  Error refuse(ErrorCode code, fmt::format_string<Args...> format, Args &&...args) const {
    return failAt({file_, 0, 0, int64_t(base_ + position_)}, code, format,
                  std::forward<Args>(args)...);
  }
  void skipBlanks() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n'))
      ++position_;
  }
  bool accept(std::string_view token) {
    skipBlanks();
    if (!text_.substr(position_).starts_with(token))
      return false;
    position_ += token.size();
    return true;
  }
  Status want(std::string_view token, std::string_view field) {
    if (accept(token))
      return {};
    return refuse(ErrorCode::E0603, "{}: found {}, want \"{}\"", field,
                  inQuotes(text_.substr(position_, 16)), token);
  }
  Result<std::string_view> string(std::string_view field) {
    skipBlanks();
    char quote = position_ < text_.size() ? text_[position_] : '\0';
    size_t end = quote == '\'' || quote == '"' ? text_.find(quote, position_ + 1) : text_.npos;
    if (end == text_.npos)
      return refuse(ErrorCode::E0603, "{}: found {}, want a string", field,
                    inQuotes(text_.substr(position_, 16)));
    std::string_view inside = text_.substr(position_ + 1, end - position_ - 1);
    if (inside.find('\\') != inside.npos)
      return refuse(ErrorCode::E0603, "{}: found an escape, want plain text", field);
    position_ = end + 1;
    return inside;
  }
  Status type(Header &header) {
    skipBlanks();
    if (position_ < text_.size() && text_[position_] == '[')
      return refuse(ErrorCode::E0613, "descr: found a structured type, want one number an element");
    LSTMC_ASSIGN(std::string_view name, string("descr"));
    std::string_view kind = name;
    if (!kind.empty() && std::string_view("<>|=").find(kind[0]) != kind.npos)
      kind.remove_prefix(1);
    if (kind.starts_with("O"))
      return refuse(ErrorCode::E0613,
                    "descr: found {}, Python objects in a pickle, which is never read",
                    inQuotes(name));
    for (const TypeName &known : kTypes) {
      if (known.name != kind)
        continue;
      header.dtype = known.dtype;
      header.order.bigEndian = name[0] == '>';
      return {};
    }
    return refuse(ErrorCode::E0613, "descr: found {}, want one of f4 f8 f2 i1 u1 i4 i8 b1",
                  inQuotes(name));
  }
  Status order(Header &header) {
    if (accept("True")) {
      header.order.fortran = true;
      return {};
    }
    if (accept("False"))
      return {};
    return refuse(ErrorCode::E0603, "fortran_order: found {}, want True or False",
                  inQuotes(text_.substr(position_, 16)));
  }
  Status shape(Header &header) {
    LSTMC_TRY(want("(", "shape"));
    while (!accept(")")) {
      if (header.shape.size() >= limits_.rank)
        return refuse(ErrorCode::E0606, "shape: found more than {} axes (limit rank)",
                      limits_.rank);
      skipBlanks();
      uint64_t extent = 0;
      const char *from = text_.data() + position_;
      auto [to, fault] = std::from_chars(from, text_.data() + text_.size(), extent);
      if (fault == std::errc::invalid_argument)
        return refuse(ErrorCode::E0604, "shape: found {}, want extents from 0",
                      inQuotes(text_.substr(position_, 16)));
      if (fault != std::errc() || extent > uint64_t(INT64_MAX))
        return refuse(ErrorCode::E0604, "shape: found an extent above 2^63-1");
      position_ += size_t(to - from);
      header.shape.push_back(int64_t(extent));
      bool comma = accept(",");
      if (!comma && header.shape.size() == 1)
        return refuse(ErrorCode::E0603, "shape: found a number in brackets, want a tuple");
      if (!comma) {
        LSTMC_TRY(want(")", "shape"));
        break;
      }
    }
    return {};
  }

  std::string_view text_;
  std::string file_;
  uint64_t base_;
  const Limits &limits_;
  size_t position_ = 0;
};

} // namespace

static Error noBool(const std::string &file, uint64_t byte, uint8_t found) {
  return failAt({file, 0, 0, int64_t(byte)}, ErrorCode::E0604,
                "data: found {} for a bool, want 0 or 1", found);
}

/// What comes before the elements.
struct Layout {
  Header header;
  uint64_t begin; ///< byte of the first element
};

static Result<Layout> readLayout(const StoredBytes &bytes, const std::string &file,
                                 const Limits &limits, uint64_t base) {
  auto at = [&](uint64_t byte) { return Place{file, 0, 0, int64_t(base + byte)}; };
  ByteCursor cursor(bytes, file);
  auto placed = [&](Error error) { // the cursor counts from the start of `bytes`
    error.place.byte += int64_t(base);
    return error;
  };
  auto magic = cursor.take(kMagic.size(), "magic");
  if (!magic.ok())
    return placed(magic.error());
  if (asText(*magic) != kMagic)
    return failAt(at(0), ErrorCode::E0603, "magic: found no \\x93NUMPY at the beginning");
  auto version = cursor.little<uint16_t>("version");
  if (!version.ok())
    return placed(version.error());
  int major = *version & 0xff, minor = *version >> 8;
  if (major < 1 || major > 3 || minor != 0)
    return failAt(at(6), ErrorCode::E0603, "version: found {}.{}, want 1.0, 2.0 or 3.0", major,
                  minor);
  Result<uint64_t> length = Error{};
  if (major == 1) {
    auto narrow = cursor.little<uint16_t>("header length");
    length = narrow.ok() ? Result<uint64_t>(*narrow) : Result<uint64_t>(narrow.error());
  } else {
    auto wide = cursor.little<uint32_t>("header length");
    length = wide.ok() ? Result<uint64_t>(*wide) : Result<uint64_t>(wide.error());
  }
  if (!length.ok())
    return placed(length.error());
  uint64_t headerBegin = cursor.position();
  if (*length <= cursor.left() && *length > limits.record)
    return failAt(at(headerBegin), ErrorCode::E0606,
                  "header: found {} bytes, want at most {} (limit record)", *length, limits.record);
  auto text = cursor.take(*length, "header");
  if (!text.ok())
    return placed(text.error());
  LSTMC_ASSIGN(Header header,
               LiteralReader(asText(*text), file, base + headerBegin, limits).read());

  std::optional<uint64_t> want = arrayBytes(header.shape, header.dtype).value();
  if (!want)
    return failAt(at(headerBegin), ErrorCode::E0605,
                  "shape: found {} of {}, want fewer than 2^63 bytes", shapeText(header.shape),
                  dtypeName(header.dtype));
  uint64_t left = cursor.left();
  if (*want != left)
    return failAt(at(cursor.position()), *want > left ? ErrorCode::E0602 : ErrorCode::E0605,
                  "data: found {} bytes, want {} for {} {}", left, *want, dtypeName(header.dtype),
                  shapeText(header.shape));
  return Layout{std::move(header), cursor.position()};
}

Result<StoredArray> readNpy(StoredBytes bytes, const std::string &file, const Limits &limits,
                            uint64_t base) try {
  LSTMC_ASSIGN(Layout layout, readLayout(bytes, file, limits, base));
  bytes = bytes.part(layout.begin, bytes.size() - layout.begin);
  Header &header = layout.header;
  LSTMC_ASSIGN(StoredArray array, StoredArray::of(header.dtype, std::move(header.shape),
                                                  std::move(bytes), header.order));
  if (array.dtype() == DType::Bool)
    LSTMC_TRY(array.eachPart([&](const uint8_t *values, int64_t first, int64_t count) -> Status {
      std::optional<size_t> bad = firstNoBool({values, size_t(count)});
      return bad ? noBool(file, base + layout.begin + uint64_t(first) + *bad, values[*bad])
                 : Status();
    }));
  return array;
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

Result<Array> parseNpy(std::span<const uint8_t> bytes, const std::string &file,
                       const Limits &limits) try {
  LSTMC_ASSIGN(StoredArray array, readNpy(bytes, file, limits));
  return std::move(array).held();
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

Result<Array> loadNpy(const std::string &path, const Limits &limits) try {
  LSTMC_ASSIGN(Bytes bytes, readFile(path));
  LSTMC_ASSIGN(StoredArray array, readNpy(StoredBytes::owned(std::move(bytes)), path, limits));
  return std::move(array).held();
} catch (const std::bad_alloc &) {
  return noMemory(path);
}

Result<std::string> npyHeader(const Tensor &tensor) {
  std::string_view type;
  for (const TypeName &known : kTypes)
    if (known.dtype == tensor.dtype)
      type = known.name;
  if (type.empty())
    return fail(ErrorCode::E0613, "npy has no type for {}; cast the output first",
                dtypeLongName(tensor.dtype));
  std::string shape = "(";
  for (int64_t extent : shapeOf(tensor))
    shape += fmt::format("{}, ", extent);
  if (tensor.rank > 1)
    shape.erase(shape.size() - 2);
  else if (tensor.rank == 1)
    shape.pop_back();
  shape += ")";
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': {}, }}",
                                   dtypeBytes(tensor.dtype) == 1 ? '|' : '<', type, shape);
  header.append(63 - (kMagic.size() + 4 + header.size()) % 64, ' ');
  header += '\n';
  std::string length = {char(header.size() & 0xff), char(header.size() >> 8)};
  return std::string(kMagic) + std::string("\x01\x00", 2) + length + header;
}

Status writeNpy(const std::string &path, const Tensor &tensor, OutputFile::Existing existing) {
  LSTMC_ASSIGN(std::string header, npyHeader(tensor));
  LSTMC_ASSIGN(OutputFile file, OutputFile::create(path, existing));
  LSTMC_TRY(file.write(header));
  LSTMC_TRY(file.write(bytesOf(tensor)));
  return file.commit();
}

} // namespace lstmc::data
