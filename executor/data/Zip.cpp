#include "executor/data/Zip.h"

#include <algorithm>
#include <set>

#include <zlib.h>

#include "executor/base/Quote.h"
#include "executor/base/SafeSize.h"
#include "executor/data/ByteCursor.h"
#include "executor/data/Inflate.h"

namespace lstmc::data {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50, kLocator64 = 0x07064b50, kDescriptor = 0x08074b50;
constexpr uint64_t kEndBytes = 22, kLocatorBytes = 20, kMostComment = 65535;
constexpr uint16_t kZip64Extra = 1;
constexpr uint32_t kSee64 = 0xffffffff;
constexpr uint16_t kEncrypted = 1, kHasDescriptor = 8, kUtf8 = 0x800, kLevelBits = 6;

/// Fields that a local header and a directory entry have in common.
struct CommonFields {
  uint16_t flags = 0, method = 0;
  uint32_t crc = 0;
  uint64_t packedBytes = 0, bytes = 0;
  uint16_t nameBytes = 0, extraBytes = 0;
};

Result<CommonFields> readCommon(ByteCursor &cursor) {
  CommonFields fields;
  LSTMC_ASSIGN(uint16_t needed, cursor.little<uint16_t>("version needed"));
  (void)needed;
  LSTMC_ASSIGN(fields.flags, cursor.little<uint16_t>("flags"));
  LSTMC_ASSIGN(fields.method, cursor.little<uint16_t>("method"));
  LSTMC_ASSIGN(uint32_t time, cursor.little<uint32_t>("time"));
  (void)time;
  LSTMC_ASSIGN(fields.crc, cursor.little<uint32_t>("crc"));
  LSTMC_ASSIGN(uint32_t packed, cursor.little<uint32_t>("packed size"));
  LSTMC_ASSIGN(uint32_t bytes, cursor.little<uint32_t>("size"));
  fields.packedBytes = packed;
  fields.bytes = bytes;
  LSTMC_ASSIGN(fields.nameBytes, cursor.little<uint16_t>("name length"));
  LSTMC_ASSIGN(fields.extraBytes, cursor.little<uint16_t>("extra length"));
  return fields;
}

/// Replaces sizes (and, in the directory, the offset) that say "see zip64" by the values in the
/// extra field.
Status resolveZip64(std::span<const uint8_t> extra, uint64_t extraBegin, const std::string &file,
                    CommonFields &fields, uint64_t *offset) {
  ByteCursor all(extra, file);
  bool wanted =
      fields.bytes == kSee64 || fields.packedBytes == kSee64 || (offset && *offset == kSee64);
  auto at = [&](uint64_t byte) { return Place{file, 0, 0, int64_t(extraBegin + byte)}; };
  while (all.left() > 0) {
    if (all.left() < 4)
      return failAt(at(all.position()), ErrorCode::E0605,
                    "extra field: found {} bytes left, want 4", all.left());
    LSTMC_ASSIGN(uint16_t id, all.little<uint16_t>("extra id"));
    LSTMC_ASSIGN(uint16_t size, all.little<uint16_t>("extra size"));
    if (size > all.left())
      return failAt(at(all.position()), ErrorCode::E0605,
                    "extra field: found {} bytes left, want {}", all.left(), size);
    LSTMC_ASSIGN(std::span<const uint8_t> body, all.take(size, "extra field"));
    if (id != kZip64Extra || !wanted)
      continue;
    ByteCursor fields64(body, file);
    wanted = false;
    for (uint64_t *value : {&fields.bytes, &fields.packedBytes, offset}) {
      if (!value || *value != kSee64)
        continue;
      if (fields64.left() < 8)
        return failAt(at(all.position()), ErrorCode::E0605,
                      "zip64 field: found {} bytes, want 8 for each size", body.size());
      LSTMC_ASSIGN(*value, fields64.little<uint64_t>("zip64 size"));
    }
  }
  if (wanted)
    return failAt(at(0), ErrorCode::E0605,
                  "zip64 field: found none, want the sizes it should hold");
  return {};
}

Status checkName(std::string_view name, const Place &place, const Limits &limits) {
  if (name.size() > limits.name)
    return failAt(place, ErrorCode::E0606,
                  "entry name: found {} bytes, want at most {} (limit name)", name.size(),
                  limits.name);
  bool outside =
      name.empty() || name[0] == '/' || name.find('\\') != name.npos || name.find(':') != name.npos;
  for (size_t begin = 0; begin <= name.size() && !outside;) {
    size_t end = std::min(name.find('/', begin), name.size());
    std::string_view part = name.substr(begin, end - begin);
    outside |= part == ".." || part == "." || part.empty();
    begin = end + 1;
  }
  bool control = std::any_of(name.begin(), name.end(), [](char c) { return uint8_t(c) < 0x20; });
  if (outside || control)
    return failAt(place, ErrorCode::E0604, "entry name: found {}, want a plain relative path",
                  inQuotes(name));
  return {};
}

struct Directory {
  uint64_t offset = 0, bytes = 0, entries = 0, end = 0;
};

/// Finds the end record, also that of zip64 if present, and the position of the central directory.
Result<Directory> findDirectory(const StoredBytes &bytes, const std::string &file) {
  uint64_t size = bytes.size();
  uint64_t found = UINT64_MAX;
  uint64_t lowest = size > kEndBytes + kMostComment ? size - kEndBytes - kMostComment : 0;
  Bytes buffer;
  LSTMC_ASSIGN(std::span<const uint8_t> tail, bytes.read(lowest, size - lowest, buffer));
  for (uint64_t at = size >= kEndBytes ? size - kEndBytes + 1 : 0; at-- > lowest;) {
    ByteCursor here(tail, file, at - lowest);
    LSTMC_ASSIGN(uint32_t magic, here.little<uint32_t>("end record"));
    uint64_t comment = tail[at - lowest + 20] | uint64_t(tail[at - lowest + 21]) << 8;
    if (magic == kEnd && at + kEndBytes + comment == size) {
      found = at;
      break;
    }
  }
  if (found == UINT64_MAX)
    return failAt({file, 0, 0, int64_t(size)}, ErrorCode::E0603,
                  "end record: found none, want one at the end of a zip archive");
  ByteCursor cursor(bytes, file, found + 4);
  Directory directory;
  LSTMC_ASSIGN(uint32_t disks, cursor.little<uint32_t>("disk numbers"));
  LSTMC_ASSIGN(uint16_t here, cursor.little<uint16_t>("entries on this disk"));
  LSTMC_ASSIGN(uint16_t entries, cursor.little<uint16_t>("entries"));
  LSTMC_ASSIGN(uint32_t directoryBytes, cursor.little<uint32_t>("directory size"));
  LSTMC_ASSIGN(uint32_t offset, cursor.little<uint32_t>("directory offset"));
  directory = {offset, directoryBytes, entries, found};
  if (disks != 0 || here != entries)
    return failAt(cursor.placeAt(found), ErrorCode::E0613,
                  "end record: found several disks, want one");
  bool see64 = entries == 0xffff || directoryBytes == kSee64 || offset == kSee64;
  if (see64) {
    if (found < kLocatorBytes)
      return failAt(cursor.placeAt(found), ErrorCode::E0605, "zip64 locator: found none, want one");
    ByteCursor locator(bytes, file, found - kLocatorBytes);
    LSTMC_ASSIGN(uint32_t magic, locator.little<uint32_t>("zip64 locator"));
    LSTMC_ASSIGN(uint32_t disk, locator.little<uint32_t>("zip64 disk"));
    LSTMC_ASSIGN(uint64_t at, locator.little<uint64_t>("zip64 end record offset"));
    if (magic != kLocator64 || disk != 0 || at >= found - kLocatorBytes)
      return failAt(locator.placeAt(found - kLocatorBytes), ErrorCode::E0605,
                    "zip64 locator: found none, want one");
    ByteCursor end64(bytes, file, at);
    LSTMC_ASSIGN(uint32_t magic64, end64.little<uint32_t>("zip64 end record"));
    if (magic64 != kEnd64)
      return failAt(end64.placeAt(at), ErrorCode::E0605,
                    "zip64 end record: found {:#010x}, want {:#010x}", magic64, kEnd64);
    LSTMC_TRY(end64.skip(12 + 8, "zip64 end record"));
    LSTMC_ASSIGN(uint64_t entriesHere, end64.little<uint64_t>("zip64 entries on this disk"));
    LSTMC_ASSIGN(directory.entries, end64.little<uint64_t>("zip64 entries"));
    LSTMC_ASSIGN(directory.bytes, end64.little<uint64_t>("zip64 directory size"));
    LSTMC_ASSIGN(directory.offset, end64.little<uint64_t>("zip64 directory offset"));
    directory.end = at;
    if (entriesHere != directory.entries)
      return failAt(end64.placeAt(at), ErrorCode::E0613,
                    "zip64 end record: found several disks, want one");
  }
  SafeSize end = SafeSize(directory.offset) + directory.bytes;
  if (end.value() != directory.end)
    return failAt(cursor.placeAt(found), ErrorCode::E0605,
                  "directory: found {} bytes at {}, want it to end at {}", directory.bytes,
                  directory.offset, directory.end);
  if (directory.entries > directory.bytes / 46)
    return failAt(cursor.placeAt(found), ErrorCode::E0605,
                  "entries: found {}, want what fits in {} bytes", directory.entries,
                  directory.bytes);
  return directory;
}

/// Compares an entry with its local header and locates its bytes.
Status checkLocal(const StoredBytes &archive, const std::string &file, uint64_t directoryBegin,
                  const CommonFields &central, ZipEntry &entry) {
  ByteCursor cursor(archive.part(0, directoryBegin), file,
                    std::min(entry.headerByte, directoryBegin));
  Place place = cursor.placeAt(entry.headerByte);
  LSTMC_ASSIGN(uint32_t magic, cursor.little<uint32_t>("local header"));
  if (magic != kLocal)
    return failAt(place, ErrorCode::E0605, "local header: found {:#010x}, want {:#010x}", magic,
                  kLocal);
  LSTMC_ASSIGN(CommonFields local, readCommon(cursor));
  LSTMC_ASSIGN(std::span<const uint8_t> nameBytes, cursor.take(local.nameBytes, "local name"));
  bool sameName = asText(nameBytes) == entry.name;
  uint64_t extraBegin = cursor.position();
  LSTMC_ASSIGN(std::span<const uint8_t> extra, cursor.take(local.extraBytes, "local extra field"));
  LSTMC_TRY(resolveZip64(extra, extraBegin, file, local, nullptr));
  bool later = local.flags & kHasDescriptor;
  bool sizesOpen = later && local.crc == 0 && local.packedBytes == 0 && local.bytes == 0;
  bool same = sameName && local.flags == central.flags && local.method == central.method &&
              (sizesOpen || (local.crc == entry.crc && local.packedBytes == entry.packedBytes &&
                             local.bytes == entry.bytes));
  if (!same)
    return failAt(place, ErrorCode::E0605,
                  "local header of {}: found other values than the directory's",
                  inQuotes(entry.name));
  entry.dataBegin = cursor.position();
  LSTMC_TRY(cursor.skip(entry.packedBytes, "packed data"));
  if (later) {
    // Signature, crc, and two sizes of 4 or 8 bytes each.
    LSTMC_ASSIGN(uint32_t signature, cursor.little<uint32_t>("data descriptor"));
    LSTMC_ASSIGN(uint32_t crc, cursor.little<uint32_t>("data descriptor crc"));
    if (signature != kDescriptor || crc != entry.crc)
      return failAt(place, ErrorCode::E0605,
                    "data descriptor of {}: found other values than the directory's",
                    inQuotes(entry.name));
    bool wide = local.extraBytes >= 4 && cursor.left() >= 16 && [&] {
      ByteCursor peek = cursor;
      auto packed = peek.little<uint64_t>("size"), bytes = peek.little<uint64_t>("size");
      return packed.ok() && bytes.ok() && *packed == entry.packedBytes && *bytes == entry.bytes;
    }();
    LSTMC_TRY(cursor.skip(wide ? 16 : 8, "data descriptor sizes"));
  }
  entry.regionEnd = cursor.position();
  return {};
}

Status checkRegions(const std::vector<ZipEntry> &entries, uint64_t directoryBegin,
                    const std::string &file) {
  std::vector<const ZipEntry *> order;
  for (const ZipEntry &entry : entries)
    order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const ZipEntry *a, const ZipEntry *b) { return a->headerByte < b->headerByte; });
  uint64_t reached = 0;
  for (const ZipEntry *entry : order) {
    if (entry->headerByte != reached)
      return failAt({file, 0, 0, int64_t(entry->headerByte)}, ErrorCode::E0605,
                    "entry {}: found it at {}, want {} (entries neither overlap nor leave gaps)",
                    inQuotes(entry->name), entry->headerByte, reached);
    reached = entry->regionEnd;
  }
  if (reached != directoryBegin)
    return failAt({file, 0, 0, int64_t(reached)}, ErrorCode::E0605,
                  "archive: found {} bytes that belong to no entry", directoryBegin - reached);
  return {};
}

void put(std::string &to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i)
    to += char(value >> (8 * i) & 0xff);
}

} // namespace

Result<std::vector<ZipEntry>> readZip(const StoredBytes &archive, const std::string &file,
                                      const Limits &limits) {
  LSTMC_ASSIGN(Directory directory, findDirectory(archive, file));
  ByteCursor cursor(archive.part(0, directory.end), file, directory.offset);
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    Place place = cursor.place();
    LSTMC_ASSIGN(uint32_t magic, cursor.little<uint32_t>("directory entry"));
    if (magic != kCentral)
      return failAt(place, ErrorCode::E0605, "directory entry {}: found {:#010x}, want {:#010x}", i,
                    magic, kCentral);
    LSTMC_TRY(cursor.skip(2, "version made by"));
    LSTMC_ASSIGN(CommonFields fields, readCommon(cursor));
    LSTMC_ASSIGN(uint16_t commentBytes, cursor.little<uint16_t>("comment length"));
    LSTMC_TRY(cursor.skip(8, "attributes"));
    LSTMC_ASSIGN(uint32_t offset, cursor.little<uint32_t>("local header offset"));
    ZipEntry entry;
    LSTMC_ASSIGN(std::span<const uint8_t> name, cursor.take(fields.nameBytes, "entry name"));
    entry.name = asText(name);
    uint64_t extraBegin = cursor.position();
    LSTMC_ASSIGN(std::span<const uint8_t> extraBytes,
                 cursor.take(fields.extraBytes, "extra field"));
    Bytes extra(extraBytes.begin(), extraBytes.end());
    LSTMC_TRY(cursor.skip(commentBytes, "comment"));
    LSTMC_TRY(checkName(entry.name, place, limits));

    uint64_t headerByte = offset;
    LSTMC_TRY(resolveZip64(extra, extraBegin, file, fields, &headerByte));
    entry.headerByte = headerByte;
    entry.crc = fields.crc;
    entry.packedBytes = fields.packedBytes;
    entry.bytes = fields.bytes;
    entry.deflated = fields.method == 8;
    if (fields.flags & ~(kHasDescriptor | kUtf8 | kLevelBits))
      return failAt(place, ErrorCode::E0613, "entry {} flags: found {:#06x}{}",
                    inQuotes(entry.name), fields.flags,
                    fields.flags & kEncrypted ? ", which is encryption" : "");
    if (fields.method != 0 && fields.method != 8)
      return failAt(place, ErrorCode::E0613,
                    "entry {} method: found {}, want 0 (stored) or 8 (deflate)",
                    inQuotes(entry.name), fields.method);
    if (!entry.deflated && entry.packedBytes != entry.bytes)
      return failAt(place, ErrorCode::E0605, "entry {}: found {} bytes stored for {}, want as many",
                    inQuotes(entry.name), entry.packedBytes, entry.bytes);
    if (!names.insert(entry.name).second)
      return failAt(place, ErrorCode::E0612, "entry {}: found twice, want once",
                    inQuotes(entry.name));
    LSTMC_TRY(checkLocal(archive, file, directory.offset, fields, entry));
    entries.push_back(std::move(entry));
  }
  if (cursor.left() != 0)
    return failAt(cursor.place(), ErrorCode::E0605,
                  "directory: found {} bytes after the last entry", cursor.left());
  LSTMC_TRY(checkRegions(entries, directory.offset, file));
  return entries;
}

Result<StoredBytes> extract(const StoredBytes &archive, const ZipEntry &entry,
                            const std::string &file, const Limits &limits, uint64_t held) {
  StoredBytes bytes = archive.part(entry.dataBegin, entry.packedBytes);
  Place place{file, 0, 0, int64_t(entry.dataBegin)};
  uint32_t crc = 0;
  auto add = [&](std::span<const uint8_t> block) -> Status {
    crc = uint32_t(::crc32_z(crc, block.data(), block.size()));
    return {};
  };
  if (entry.deflated) {
    StoredBytesWriter unpacked(held);
    SafeSize most = SafeSize(entry.packedBytes) * limits.ratio; // more is refused by inflateRaw
    if (entry.bytes <= most.value().value_or(0))
      unpacked.reserve(entry.bytes + 1);
    LSTMC_TRY(inflateRaw(bytes, entry.bytes, place, limits, [&](std::span<const uint8_t> block) {
      (void)add(block);
      return unpacked.append(block);
    }));
    LSTMC_ASSIGN(bytes, std::move(unpacked).finish());
  } else {
    LSTMC_TRY(bytes.eachBlock(add));
  }
  if (crc != entry.crc)
    return failAt(place, ErrorCode::E0609, "entry {} crc: found {:08x}, want {:08x}",
                  inQuotes(entry.name), crc, entry.crc);
  return bytes;
}

Result<ZipFraming> frameZip(std::span<const ZipPart> parts) {
  ZipFraming framing;
  uint64_t offset = 0;
  for (const ZipPart &part : parts) {
    uint64_t bytes = 0;
    uint32_t crc = 0;
    for (std::span<const uint8_t> piece : part.pieces) {
      bytes += piece.size();
      crc = uint32_t(::crc32_z(crc, piece.data(), piece.size()));
    }
    std::string common;
    put(common, 20, 2); // version needed: 2.0
    put(common, kUtf8, 2);
    put(common, 0, 2);    // stored
    put(common, 0, 2);    // 00:00:00
    put(common, 0x21, 2); // 1 January 1980
    put(common, crc, 4);
    put(common, bytes, 4);
    put(common, bytes, 4);
    put(common, part.name.size(), 2);
    put(common, 0, 2); // no extra field
    std::string local;
    put(local, kLocal, 4);
    local += common + part.name;
    put(framing.directory, kCentral, 4);
    put(framing.directory, 20, 2);
    framing.directory += common;
    put(framing.directory, 0, 2 + 2 + 2); // comment, disk, internal attributes
    put(framing.directory, 0, 4);
    put(framing.directory, offset, 4);
    framing.directory += part.name;
    offset += local.size() + bytes;
    framing.localHeaders.push_back(std::move(local));
  }
  uint64_t directoryBytes = framing.directory.size();
  if (offset + directoryBytes >= kSee64 || parts.size() >= 0xffff)
    return fail(ErrorCode::E0613,
                "archive of {} bytes and {} entries would need zip64; write safetensors",
                offset + directoryBytes, parts.size());
  put(framing.directory, kEnd, 4);
  put(framing.directory, 0, 4);
  put(framing.directory, parts.size(), 2);
  put(framing.directory, parts.size(), 2);
  put(framing.directory, directoryBytes, 4);
  put(framing.directory, offset, 4);
  put(framing.directory, 0, 2);
  return framing;
}

} // namespace lstmc::data
