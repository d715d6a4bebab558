// NumPy's npz format: several named arrays in a zip archive of npy files.
#pragma once

#include "executor/base/Limits.h"
#include "executor/base/OutputFile.h"
#include "executor/data/StoredArray.h"

namespace lstmc::data {

/// Reads all arrays in the order of the archive; their names have no ".npy". Errors are those of
/// Zip.h and Npy.h; E0613 for an entry with another ending.
///
/// The arrays are in memory if `archive` is and they need no more than the limit data-memory.
Result<std::vector<NamedStoredArray>> readNpz(const StoredBytes &archive, const std::string &file,
                                              const Limits &limits = {});
/// The same, in memory.
Result<std::vector<NamedArray>> parseNpz(std::span<const uint8_t> bytes, const std::string &file,
                                         const Limits &limits = {});
Result<std::vector<NamedArray>> loadNpz(const std::string &path, const Limits &limits = {});

/// Writes arrays without compression, as numpy.savez does. Equal arrays give equal bytes.
Result<Bytes> npzBytes(std::span<const NamedTensor> tensors);
Status writeNpz(const std::string &path, std::span<const NamedTensor> tensors,
                OutputFile::Existing existing);

/// Writes npy if the name ends in ".npy", else npz. E0001 for several tensors in one npy.
Status writeArrays(const std::string &path, std::span<const NamedTensor> tensors,
                   OutputFile::Existing existing);

} // namespace lstmc::data
