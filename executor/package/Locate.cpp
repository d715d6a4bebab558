#include "executor/package/Locate.h"

#include <charconv>
#include <cstring>
#include <optional>

#include "executor/abi/Package_generated.h"
#include "executor/base/Hash.h"
#include "flatbuffers/minireflect.h"

namespace lstmc::package {

namespace {

using flatbuffers::ElementaryType;
using flatbuffers::TypeTable;

constexpr int kMaxDepth = 16;

/// Reads a package by the field names of its schema, believing no offset.
class Walker {
public:
  explicit Walker(std::span<const uint8_t> bytes) : bytes(bytes) {}

  size_t root() const { return read<uint32_t>(0); }

  /// The first field, in the order of the schema, that cannot be read.
  std::optional<Error> fault() {
    if (root() < 8 || root() >= bytes.size())
      return outside("root", 0, root(), 4);
    return table("", root(), abi::fb::PackageTypeTable(), 0);
  }

  int64_t locate(std::string_view path) const;

private:
  std::span<const uint8_t> bytes;
  size_t tables = 0;

  template <typename T> T read(size_t at) const {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    return value;
  }
  bool fits(size_t at, size_t count) const {
    return at <= bytes.size() && count <= bytes.size() - at;
  }
  Error outside(std::string field, size_t byte, size_t at, size_t count) const {
    Place place;
    place.byte = int64_t(byte);
    return failAt(place, ErrorCode::E0602, "{}: found {} bytes at offset {}, want them within {}",
                  field, count, at, bytes.size());
  }
  static bool isOffset(const TypeTable &type, size_t field) {
    const flatbuffers::TypeCode &code = type.type_codes[field];
    return code.is_repeating || code.base_type == flatbuffers::ET_STRING ||
           (code.base_type == flatbuffers::ET_SEQUENCE &&
            type.type_refs[code.sequence_ref]()->st == flatbuffers::ST_TABLE);
  }
  static const TypeTable *sequence(const TypeTable &type, size_t field) {
    int16_t ref = type.type_codes[field].sequence_ref;
    return ref < 0 ? nullptr : type.type_refs[ref]();
  }
  static size_t inlineBytes(const TypeTable &type, size_t field) {
    return flatbuffers::InlineSize(ElementaryType(type.type_codes[field].base_type),
                                   sequence(type, field));
  }
  /// Offset of a field in a table that begins at `at`; 0 when it is not there.
  size_t fieldAt(size_t at, size_t field) const {
    size_t vtable = at - size_t(int64_t(read<int32_t>(at)));
    size_t slot = 4 + 2 * field;
    if (!fits(vtable, 2) || slot + 2 > read<uint16_t>(vtable) || !fits(vtable + slot, 2))
      return 0;
    uint16_t offset = read<uint16_t>(vtable + slot);
    return offset ? at + offset : 0;
  }

  std::optional<Error> table(const std::string &path, size_t at, const TypeTable *type, int depth);
  std::optional<Error> vector(const std::string &path, size_t at, const TypeTable &type,
                              size_t field, int depth);
};

std::optional<Error> Walker::table(const std::string &path, size_t at, const TypeTable *type,
                                   int depth) {
  if (!fits(at, 4) || at % 4)
    return outside(path, at, at, 4);
  size_t vtable = at - size_t(int64_t(read<int32_t>(at)));
  if (!fits(vtable, 2) || vtable % 2 || read<uint16_t>(vtable) % 2 ||
      !fits(vtable, read<uint16_t>(vtable)))
    return outside(path + " (its field table)", at, vtable, 2);
  if (++tables > bytes.size() / 8 + 1 || depth > kMaxDepth) {
    Place place;
    place.byte = int64_t(at);
    return failAt(place, ErrorCode::E0604, "{}: found tables that contain one another, want a tree",
                  path);
  }
  for (size_t field = 0; field < type->num_elems; ++field) {
    size_t slot = fieldAt(at, field);
    if (!slot)
      continue;
    std::string name = path.empty() ? type->names[field] : path + "." + type->names[field];
    if (!isOffset(*type, field)) {
      size_t size = inlineBytes(*type, field);
      if (!fits(slot, size) || slot % size)
        return outside(name, slot, slot, size);
      continue;
    }
    if (!fits(slot, 4) || slot % 4)
      return outside(name, slot, slot, 4);
    size_t target = slot + read<uint32_t>(slot);
    if (target == slot || !fits(target, 4) || target % 4)
      return outside(name, slot, target, 4);
    std::optional<Error> error;
    if (type->type_codes[field].is_repeating) {
      error = vector(name, target, *type, field, depth);
    } else if (type->type_codes[field].base_type == flatbuffers::ET_STRING) {
      size_t size = read<uint32_t>(target);
      if (!fits(target + 4, size + 1))
        error = outside(name, target, target + 4, size + 1);
      else if (bytes[target + 4 + size] != 0)
        error = outside(name + " (its final zero)", target + 4 + size, target + 4 + size, 1);
    } else {
      error = table(name, target, sequence(*type, field), depth + 1);
    }
    if (error)
      return error;
  }
  return std::nullopt;
}

std::optional<Error> Walker::vector(const std::string &path, size_t at, const TypeTable &type,
                                    size_t field, int depth) {
  size_t count = read<uint32_t>(at), size = inlineBytes(type, field);
  if (!fits(at + 4, count * size))
    return outside(path, at, at + 4, count * size);
  const TypeTable *element = sequence(type, field);
  if (!element || element->st != flatbuffers::ST_TABLE)
    return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    size_t slot = at + 4 + 4 * i;
    std::string name = path + "[" + std::to_string(i) + "]";
    if (auto error = table(name, slot + read<uint32_t>(slot), element, depth + 1))
      return error;
  }
  return std::nullopt;
}

int64_t Walker::locate(std::string_view path) const {
  const TypeTable *type = abi::fb::PackageTypeTable();
  size_t at = root();
  while (!path.empty()) {
    std::string_view step = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(path.size(), step.size() + 1));
    std::string_view name = step.substr(0, step.find('['));
    size_t field = 0;
    while (field < type->num_elems && name != type->names[field])
      ++field;
    size_t slot = field < type->num_elems ? fieldAt(at, field) : 0;
    if (!slot)
      return int64_t(at);
    if (!isOffset(*type, field))
      return int64_t(slot);
    size_t target = slot + read<uint32_t>(slot);
    const TypeTable *next = sequence(*type, field);
    if (name.size() != step.size()) {
      size_t index = 0;
      std::from_chars(step.data() + name.size() + 1, step.data() + step.size(), index);
      if (index >= read<uint32_t>(target))
        return int64_t(target);
      size_t element = target + 4 + index * inlineBytes(*type, field);
      if (!next || next->st != flatbuffers::ST_TABLE)
        return int64_t(element);
      target = element + read<uint32_t>(element);
    } else if (!next || next->st != flatbuffers::ST_TABLE || type->type_codes[field].is_repeating) {
      return int64_t(target);
    }
    at = target;
    type = next;
  }
  return int64_t(at);
}

} // namespace

int64_t locate(std::span<const uint8_t> bytes, std::string_view path) {
  return Walker(bytes).locate(path);
}

uint64_t contentDigest(std::span<const uint8_t> bytes) {
  size_t at = size_t(locate(bytes, "digest")), after = at + sizeof(uint64_t);
  const uint64_t parts[] = {hashBytes(bytes.data(), at),
                            hashBytes(bytes.data() + after, bytes.size() - after)};
  return combineHashes(parts);
}

Error explainMalformed(std::span<const uint8_t> bytes) {
  if (std::optional<Error> error = Walker(bytes).fault())
    return *error;
  return fail(ErrorCode::E0602, "package: its tables do not form a package");
}

} // namespace lstmc::package
