#include "executor/data/Npz.h"

#include "executor/base/NoMemory.h"
#include "executor/base/Quote.h"
#include "executor/data/ForeignFile.h"
#include "executor/data/Npy.h"
#include "executor/data/Zip.h"

namespace lstmc::data {

constexpr std::string_view kEnding = ".npy";

/// Memory for all arrays: together with the file itself at most 64 MiB and 4 times the file,
/// however well each array is packed.
static Status checkMemory(const std::vector<ZipEntry> &entries, uint64_t fileBytes,
                          const std::string &file) {
  constexpr uint64_t kFree = 64ull << 20;
  uint64_t most = kFree + 3 * fileBytes, all = 0;
  for (const ZipEntry &entry : entries) {
    if (entry.bytes > most - all)
      return failAt({file, 0, 0, int64_t(entry.headerByte)}, ErrorCode::E0606,
                    "entry {}: found {} bytes unpacked, want at most {} in all (64 MiB and 3 times "
                    "the file)",
                    inQuotes(entry.name), entry.bytes, most);
    all += entry.bytes;
  }
  return {};
}

Result<std::vector<NamedStoredArray>> readNpz(const StoredBytes &archive, const std::string &file,
                                              const Limits &limits) try {
  LSTMC_ASSIGN(std::vector<ZipEntry> entries, readZip(archive, file, limits));
  LSTMC_TRY(checkMemory(entries, archive.size(), file));
  uint64_t all = 0; // within checkMemory's bound
  for (const ZipEntry &entry : entries)
    all += entry.bytes;
  const uint64_t held = archive.inMemory() && all <= limits.dataMemory ? UINT64_MAX : 0;
  std::vector<NamedStoredArray> arrays;
  for (const ZipEntry &entry : entries) {
    if (!entry.name.ends_with(kEnding) || entry.name.size() == kEnding.size())
      return failAt({file, 0, 0, int64_t(entry.headerByte)}, ErrorCode::E0613,
                    "entry {}: found no npy file, want NAME.npy", inQuotes(entry.name));
    std::string name = entry.name.substr(0, entry.name.size() - kEnding.size());
    LSTMC_ASSIGN(StoredBytes npy, extract(archive, entry, file, limits, held));
    Result<StoredArray> array =
        readNpy(std::move(npy), file, limits, entry.deflated ? 0 : entry.dataBegin);
    if (!array.ok()) {
      Error error = array.error();
      // The file has no positions inside packed data, so messages name that of the entry.
      if (entry.deflated)
        error.place.byte = int64_t(entry.dataBegin);
      error.message = fmt::format("array {} {}", inQuotes(name), error.message);
      return error;
    }
    arrays.push_back({std::move(name), std::move(*array)});
  }
  return arrays;
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

Result<std::vector<NamedArray>> parseNpz(std::span<const uint8_t> bytes, const std::string &file,
                                         const Limits &limits) try {
  if (std::string_view kind = foreignToNpz(bytes); !kind.empty())
    return failAt({.file = file}, ErrorCode::E0603, "this is {}", kind);
  Limits held = limits;
  held.dataMemory = UINT64_MAX;
  LSTMC_ASSIGN(std::vector<NamedStoredArray> stored, readNpz(bytes, file, held));
  std::vector<NamedArray> arrays;
  for (NamedStoredArray &named : stored) {
    LSTMC_ASSIGN(Array array, std::move(named.array).held());
    arrays.push_back({std::move(named.name), std::move(array)});
  }
  return arrays;
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

Result<std::vector<NamedArray>> loadNpz(const std::string &path, const Limits &limits) {
  LSTMC_ASSIGN(Bytes bytes, readFile(path));
  return parseNpz(bytes, path, limits);
}

/// Calls write(bytes) for the pieces of the archive, in order.
template <typename Write>
static Status eachPiece(std::span<const NamedTensor> tensors, Write write) {
  std::vector<std::string> headers;
  for (const NamedTensor &named : tensors) {
    LSTMC_ASSIGN(std::string header, npyHeader(named.tensor));
    headers.push_back(std::move(header));
  }
  std::vector<ZipPart> parts;
  for (size_t i = 0; i < tensors.size(); ++i)
    parts.push_back({tensors[i].name + std::string(kEnding),
                     {asBytes(headers[i]), bytesOf(tensors[i].tensor)}});
  LSTMC_ASSIGN(ZipFraming framing, frameZip(parts));
  for (size_t i = 0; i < parts.size(); ++i) {
    LSTMC_TRY(write(asBytes(framing.localHeaders[i])));
    for (std::span<const uint8_t> piece : parts[i].pieces)
      LSTMC_TRY(write(piece));
  }
  return write(asBytes(framing.directory));
}

Result<Bytes> npzBytes(std::span<const NamedTensor> tensors) {
  Bytes bytes;
  LSTMC_TRY(eachPiece(tensors, [&](std::span<const uint8_t> piece) -> Status {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return {};
  }));
  return bytes;
}

Status writeNpz(const std::string &path, std::span<const NamedTensor> tensors,
                OutputFile::Existing existing) {
  LSTMC_ASSIGN(OutputFile file, OutputFile::create(path, existing));
  LSTMC_TRY(eachPiece(tensors, [&](std::span<const uint8_t> piece) { return file.write(piece); }));
  return file.commit();
}

Status writeArrays(const std::string &path, std::span<const NamedTensor> tensors,
                   OutputFile::Existing existing) {
  if (!path.ends_with(".npy"))
    return writeNpz(path, tensors, existing);
  if (tensors.size() != 1)
    return fail(ErrorCode::E0001, "an npy file holds one array, and there are {}: want F.npz",
                tensors.size());
  return writeNpy(path, tensors[0].tensor, existing);
}

} // namespace lstmc::data
