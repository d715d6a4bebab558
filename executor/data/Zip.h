// The part of the zip format that npz files use.
#pragma once

#include <string>
#include <vector>

#include "executor/base/Limits.h"
#include "executor/data/StoredBytes.h"

namespace lstmc::data {

/// A file in an archive, checked against its local header.
struct ZipEntry {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;
  uint64_t packedBytes = 0;
  uint64_t bytes = 0;
  uint64_t dataBegin = 0;  ///< position of the packed bytes in the archive
  uint64_t headerByte = 0; ///< position of the local header
  uint64_t regionEnd = 0;  ///< end of the packed bytes and their data descriptor
};

/// The entries of an archive in the order of its central directory.
///
/// Refused: no end record, several disks, encryption, methods other than stored and deflate (E0603,
/// E0613); names that are absolute or contain `..`, a backslash, NUL or control characters (E0604);
/// names that occur twice (E0612); local headers that differ from the directory, zip64 sizes
/// without need, overlapping regions, bytes that belong to no entry (E0605); sizes beyond the file
/// (E0602) or the ratio limit (E0606).
///
/// Source: PKWARE APPNOTE 6.3.10.
Result<std::vector<ZipEntry>> readZip(const StoredBytes &archive, const std::string &file,
                                      const Limits &limits);

/// The unpacked bytes of an entry, after a check of its CRC (E0609). Stored ones are a part of
/// `archive`; of packed ones `held` bytes are kept in memory at most.
Result<StoredBytes> extract(const StoredBytes &archive, const ZipEntry &entry,
                            const std::string &file, const Limits &limits, uint64_t held);

/// A file to be stored in an archive: its bytes in pieces.
struct ZipPart {
  std::string name;
  std::vector<std::span<const uint8_t>> pieces;
};

/// The bytes before part i of an archive, and after the last part.
struct ZipFraming {
  std::vector<std::string> localHeaders;
  std::string directory;
};

/// Makes headers for stored parts. All times are the first that zip can express, so that equal
/// contents give equal bytes. E0613 for an archive of 4 GiB or more, which would need zip64.
Result<ZipFraming> frameZip(std::span<const ZipPart> parts);

} // namespace lstmc::data
