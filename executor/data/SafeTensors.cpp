#include "executor/data/SafeTensors.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "executor/base/Hash.h"
#include "executor/base/NoMemory.h"
#include "executor/base/Quote.h"
#include "executor/data/ByteCursor.h"
#include "executor/data/ForeignFile.h"
#include "executor/data/StrictJson.h"

namespace lstmc::data {
namespace {

using nlohmann::json;

struct TypeName {
  std::string_view name;
  DType dtype;
};
constexpr TypeName kTypes[] = {{"F32", DType::F32},   {"F64", DType::F64}, {"F16", DType::F16},
                               {"BF16", DType::BF16}, {"I8", DType::I8},   {"U8", DType::U8},
                               {"I32", DType::I32},   {"I64", DType::I64}, {"BOOL", DType::Bool}};
constexpr std::string_view kForeignTypes[] = {"I16", "U16", "U32", "U64", "F8_E4M3", "F8_E5M2"};

constexpr uint64_t kLengthBytes = 8;

/// Parses the header event by event and builds no tree, so that even a header of 100 MB takes no
/// more memory than its tensors' entries.
///
/// Nesting levels: 0 outside, 1 the object of tensors, 2 one tensor or the metadata, 3 an array in
/// a tensor.
class HeaderReader : public nlohmann::json_sax<json> {
public:
  HeaderReader(std::string_view header, const char *const *position, const std::string &file,
               const Limits &limits)
      : header_(header), position_(position), file_(file), limits_(limits) {}

  std::optional<Error> error;
  std::vector<TensorRecord> records;
  std::map<std::string, std::string> metadata;

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool number_float(number_float_t, const string_t &text) override {
    return unexpected("the number " + text.substr(0, 40));
  }
  bool number_integer(number_integer_t value) override {
    return refuse(ErrorCode::E0604, "{}: found {}, want a number from 0", field(), value);
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (level_ != 3)
      return unexpected("a number");
    if (value > uint64_t(INT64_MAX))
      return refuse(ErrorCode::E0604, "{}: found {}, want at most 2^63-1", field(), value);
    if (key_ == Key::Shape) {
      if (records.back().shape.size() >= limits_.rank)
        return refuse(ErrorCode::E0606, "{}: found more than {} axes (limit rank)", field(),
                      limits_.rank);
      records.back().shape.push_back(int64_t(value));
      return true;
    }
    if (offsets_ == 2)
      return refuse(ErrorCode::E0604, "{}: found more than 2 numbers, want 2", field());
    (offsets_++ == 0 ? records.back().begin : records.back().end) = value;
    return true;
  }
  bool string(string_t &value) override {
    if (inMetadata_ && level_ == 2) {
      metadata[metadataKey_] = value;
      return true;
    }
    if (level_ != 2 || key_ != Key::Dtype)
      return unexpected("a string");
    for (const TypeName &type : kTypes) {
      if (type.name == value) {
        records.back().dtype = type.dtype;
        return true;
      }
    }
    bool foreign = std::find(std::begin(kForeignTypes), std::end(kForeignTypes), value) !=
                   std::end(kForeignTypes);
    return refuse(foreign ? ErrorCode::E0613 : ErrorCode::E0604,
                  "{}: found {}, want one of F32 F64 F16 BF16 I8 U8 I32 I64 BOOL", field(),
                  inQuotes(value));
  }
  bool binary(binary_t &) override { return unexpected("binary data"); }

  bool start_object(std::size_t) override {
    if (level_ == 1 && !inMetadata_)
      have_ = {};
    if (level_ > 1)
      return unexpected("an object");
    ++level_;
    return true;
  }
  bool key(string_t &name) override {
    if (name.size() > limits_.name)
      return refuse(ErrorCode::E0606, "name: found {} bytes, want at most {} (limit name)",
                    name.size(), limits_.name);
    return level_ == 1 ? tensorKey(name) : inMetadata_ ? metadataKey(name) : fieldKey(name);
  }
  bool end_object() override {
    --level_;
    if (level_ != 1)
      return true;
    bool complete = inMetadata_ || (have_[0] && have_[1] && have_[2]);
    if (!complete)
      return refuse(ErrorCode::E0605, "tensor {}: found no {}, want dtype, shape and data_offsets",
                    inQuotes(records.back().name),
                    !have_[0]   ? "dtype"
                    : !have_[1] ? "shape"
                                : "data_offsets");
    inMetadata_ = false;
    return true;
  }
  bool start_array(std::size_t) override {
    if (level_ != 2 || inMetadata_ || (key_ != Key::Shape && key_ != Key::Offsets))
      return unexpected("an array");
    level_ = 3;
    offsets_ = 0;
    return true;
  }
  bool end_array() override {
    level_ = 2;
    if (key_ == Key::Offsets && offsets_ != 2)
      return refuse(ErrorCode::E0604, "{}: found {} numbers, want 2", field(), offsets_);
    return true;
  }
  bool parse_error(std::size_t byte, const std::string &, const json::exception &) override {
    uint64_t at = byte == 0 ? 0 : byte - 1;
    error = failAt({file_, 0, 0, int64_t(kLengthBytes + at)}, ErrorCode::E0603,
                   "header: found text that is no JSON");
    return false;
  }

private:
  enum class Key { Dtype, Shape, Offsets };

  uint64_t here() const { return kLengthBytes + uint64_t(*position_ - header_.data()); }

  template <typename... Args>
  bool refuse(ErrorCode code, fmt::format_string<Args...> format, Args &&...args) {
    error = failAt({file_, 0, 0, int64_t(here())}, code, format, std::forward<Args>(args)...);
    return false;
  }
  bool unexpected(std::string_view found) {
    if (level_ <= 1)
      return refuse(ErrorCode::E0604, "header: found {}, want an object of tensors", found);
    std::string_view want = inMetadata_          ? "a string"
                            : key_ == Key::Dtype ? "the name of a type"
                            : key_ == Key::Shape ? "an array of extents"
                                                 : "an array of two offsets";
    return refuse(ErrorCode::E0604, "{}: found {}, want {}", field(), found, want);
  }
  std::string field() const {
    if (level_ <= 1)
      return "header";
    if (inMetadata_)
      return "__metadata__ " + inQuotes(metadataKey_);
    std::string_view name = key_ == Key::Dtype   ? "dtype"
                            : key_ == Key::Shape ? "shape"
                                                 : "data_offsets";
    return fmt::format("tensor {} {}", inQuotes(records.back().name), name);
  }
  bool tensorKey(string_t &name) {
    if (name == "__metadata__") {
      if (seenMetadata_)
        return refuse(ErrorCode::E0612, "__metadata__: found twice, want once");
      seenMetadata_ = inMetadata_ = true;
      return true;
    }
    uint64_t byte = here() - std::min<uint64_t>(here(), name.size() + 2);
    records.push_back({});
    records.back().name = std::move(name);
    records.back().byte = byte;
    return true;
  }
  bool metadataKey(string_t &name) {
    metadataKey_ = name;
    if (metadata.contains(name))
      return refuse(ErrorCode::E0612, "{}: found twice, want once", field());
    return true;
  }
  bool fieldKey(const string_t &name) {
    if (name == "dtype")
      key_ = Key::Dtype;
    else if (name == "shape")
      key_ = Key::Shape;
    else if (name == "data_offsets")
      key_ = Key::Offsets;
    else
      return refuse(ErrorCode::E0604, "tensor {}: found key {}, want dtype, shape or data_offsets",
                    inQuotes(records.back().name), inQuotes(name));
    if (std::exchange(have_[size_t(key_)], true))
      return refuse(ErrorCode::E0612, "{}: found twice, want once", field());
    return true;
  }

  std::string_view header_;
  const char *const *position_;
  const std::string &file_;
  const Limits &limits_;
  int level_ = 0;
  bool inMetadata_ = false, seenMetadata_ = false;
  std::string metadataKey_;
  Key key_ = Key::Dtype;
  std::array<bool, 3> have_{};
  int offsets_ = 0;
};

/// Compares byte counts with shapes; then, in order of the bytes, refuses gaps and overlaps.
Status checkRegions(std::vector<TensorRecord> &records, uint64_t dataBytes, uint64_t headerEnd,
                    const std::string &file) {
  for (const TensorRecord &record : records) {
    Place place{file, 0, 0, int64_t(record.byte)};
    if (record.begin > record.end)
      return failAt(place, ErrorCode::E0605,
                    "tensor {} data_offsets: found {} before {}, want them ascending",
                    inQuotes(record.name), record.begin, record.end);
    SafeSize want = arrayBytes(record.shape, record.dtype);
    if (want.value() != record.end - record.begin)
      return failAt(place, ErrorCode::E0605,
                    "tensor {} data_offsets: found {} bytes, want {} for {} {}",
                    inQuotes(record.name), record.end - record.begin,
                    want.value() ? fmt::format("{}", *want.value()) : "more than 2^63",
                    dtypeName(record.dtype), shapeText(record.shape));
  }
  std::sort(records.begin(), records.end(), [](const auto &a, const auto &b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  uint64_t reached = 0;
  const TensorRecord *before = nullptr;
  for (const TensorRecord &record : records) {
    Place place{file, 0, 0, int64_t(record.byte)};
    if (record.begin != reached)
      return failAt(place, ErrorCode::E0605, "tensor {} data_offsets: found begin {}, want {} ({})",
                    inQuotes(record.name), record.begin, reached,
                    record.begin < reached ? "it overlaps the tensor before" : "there is a gap");
    if (before && before->begin == record.begin && before->end == record.end)
      return failAt(place, ErrorCode::E0605,
                    "tensor {} data_offsets: found the empty region of {}, want its own",
                    inQuotes(record.name), inQuotes(before->name));
    if (record.end > dataBytes)
      return failAt(place, ErrorCode::E0602,
                    "tensor {} data_offsets: found end {}, want at most the {} bytes of data",
                    inQuotes(record.name), record.end, dataBytes);
    reached = record.end;
    before = &record;
  }
  if (reached != dataBytes)
    return failAt({file, 0, 0, int64_t(headerEnd + reached)}, ErrorCode::E0605,
                  "data: found {} bytes after the last tensor, want none", dataBytes - reached);
  return {};
}

/// Hash of names, types, shapes, and the hashes of the bytes.
class Digest {
public:
  void add(std::string_view name, DType dtype, std::span<const int64_t> shape, uint64_t hash) {
    text_ += fmt::format("{}\n{} {} {:016x}\n", name, dtypeName(dtype), shapeText(shape), hash);
  }
  std::string text() const { return fmt::format("{:016x}", hashBytes(text_.data(), text_.size())); }

private:
  std::string text_;
};

} // namespace

Result<SafeTensors> SafeTensors::parse(Bytes bytes, std::string file, const Limits &limits) try {
  if (std::string_view kind = foreignKind(bytes); !kind.empty())
    return failAt({.file = file}, ErrorCode::E0603, "this is {}", kind);
  ByteCursor cursor(std::span<const uint8_t>(bytes), file);
  LSTMC_ASSIGN(uint64_t length, cursor.little<uint64_t>("header length"));
  if (length == 0)
    return failAt(cursor.placeAt(0), ErrorCode::E0604, "header length: found 0, want at least 2");
  if (length > limits.header)
    return failAt(cursor.placeAt(0), ErrorCode::E0606,
                  "header length: found {}, want at most {} (limit header)", length, limits.header);
  LSTMC_ASSIGN(std::span<const uint8_t> raw, cursor.take(length, "header"));
  std::string_view header = asText(raw);
  if (header[0] != '{')
    return failAt(cursor.placeAt(kLengthBytes), ErrorCode::E0603,
                  "header: found byte {:#04x}, want \"{{\"", raw[0]);

  const char *position = header.data();
  HeaderReader reader(header, &position, file, limits);
  CountingIterator begin{header.data(), &position};
  CountingIterator end{header.data() + header.size(), &position};
  bool parsed = json::sax_parse(begin, end, &reader);
  if (reader.error)
    return *reader.error;
  if (!parsed)
    return failAt(cursor.placeAt(kLengthBytes), ErrorCode::E0603, "header: is no JSON");

  SafeTensors result;
  result.records_ = std::move(reader.records);
  result.metadata_ = std::move(reader.metadata);
  result.dataBegin_ = cursor.position();
  LSTMC_TRY(checkRegions(result.records_, cursor.left(), cursor.position(), file));
  for (size_t i = 0; i < result.records_.size(); ++i) {
    const TensorRecord &record = result.records_[i];
    if (!result.byName_.emplace(record.name, i).second)
      return failAt(cursor.placeAt(record.byte), ErrorCode::E0612,
                    "tensor {}: found twice, want once", inQuotes(record.name));
    if (record.dtype != DType::Bool)
      continue;
    std::span<const uint8_t> flags(bytes.data() + result.dataBegin_ + record.begin,
                                   record.end - record.begin);
    if (std::optional<size_t> bad = firstNoBool(flags))
      return failAt(cursor.placeAt(result.dataBegin_ + record.begin + *bad), ErrorCode::E0604,
                    "tensor {} data: found {} for a bool, want 0 or 1", inQuotes(record.name),
                    flags[*bad]);
  }
  result.bytes_ = std::move(bytes);
  result.file_ = std::move(file);
  LSTMC_TRY(result.checkDigest());
  return result;
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

/// Files of other programs have no digest.
Status SafeTensors::checkDigest() const {
  auto want = metadata_.find(std::string(kDigestKey));
  if (want == metadata_.end())
    return {};
  Digest digest;
  for (const TensorRecord &record : records_)
    digest.add(record.name, record.dtype, record.shape,
               hashBytes(data(record).data(), data(record).size()));
  if (std::string found = digest.text(); found != want->second)
    return failAt({.file = file_, .byte = sizeof(uint64_t)}, ErrorCode::E0609,
                  "{}: found {}, want {} as in the metadata", kDigestKey, found,
                  inQuotes(want->second));
  return {};
}

Result<SafeTensors> SafeTensors::load(const std::string &path, const Limits &limits) try {
  LSTMC_ASSIGN(Bytes bytes, readFile(path));
  return parse(std::move(bytes), path, limits);
} catch (const std::bad_alloc &) {
  return noMemory(path);
}

const TensorRecord *SafeTensors::find(std::string_view name) const {
  auto found = byName_.find(name);
  return found == byName_.end() ? nullptr : &records_[found->second];
}

std::span<const uint8_t> SafeTensors::data(const TensorRecord &record) const {
  return std::span(bytes_).subspan(dataBegin_ + record.begin, record.end - record.begin);
}

Array SafeTensors::array(const TensorRecord &record) const {
  std::span<const uint8_t> from = data(record);
  return {record.dtype, record.shape, Bytes(from.begin(), from.end())};
}

std::string safetensorsHeader(std::span<const NamedTensor> tensors,
                              std::map<std::string, std::string> metadata,
                              std::span<const uint64_t> hashes) {
  Digest digest;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor &tensor = tensors[i].tensor;
    digest.add(tensors[i].name, tensor.dtype, shapeOf(tensor),
               i < hashes.size() ? hashes[i] : hashBytes(tensor.data, bytesOf(tensor).size()));
  }
  metadata.emplace(kDigestKey, digest.text());
  auto text = [](std::string_view s) {
    return json(s).dump(-1, ' ', false, json::error_handler_t::replace);
  };
  std::string header = "{";
  if (!metadata.empty()) {
    header += "\"__metadata__\":{";
    for (const auto &[key, value] : metadata)
      header += fmt::format("{}{}:{}", header.back() == '{' ? "" : ",", text(key), text(value));
    header += "}";
  }
  uint64_t offset = 0;
  for (const auto &[name, tensor] : tensors) {
    std::string_view type;
    for (const TypeName &known : kTypes)
      if (known.dtype == tensor.dtype)
        type = known.name;
    uint64_t bytes = bytesOf(tensor).size();
    header += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                          header.size() == 1 ? "" : ",", text(name), type,
                          fmt::join(shapeOf(tensor), ","), offset, offset + bytes);
    offset += bytes;
  }
  header += "}";
  header.append((64 - (kLengthBytes + header.size()) % 64) % 64, ' ');
  std::string length;
  for (size_t i = 0; i < kLengthBytes; ++i)
    length += char(header.size() >> (8 * i) & 0xff);
  return length + header;
}

Status writeSafeTensors(const std::string &path, std::span<const NamedTensor> tensors,
                        OutputFile::Existing existing,
                        const std::map<std::string, std::string> &metadata) {
  LSTMC_ASSIGN(OutputFile file, OutputFile::create(path, existing));
  LSTMC_TRY(file.write(safetensorsHeader(tensors, metadata)));
  for (const NamedTensor &named : tensors)
    LSTMC_TRY(file.write(bytesOf(named.tensor)));
  return file.commit();
}

} // namespace lstmc::data
