// Several named arrays in a file: NumPy's npz, a zip archive of npy files.
#pragma once

#include "executor/base/Limits.h"
#include "executor/base/OutputFile.h"
#include "executor/data/Array.h"

namespace lstmc::data {

/// All arrays, in the order of the archive, named without ".npy". Refusals: those of Zip.h and
/// Npy.h; an entry with another ending is E0613.
Result<std::vector<NamedArray>> parseNpz(std::span<const uint8_t> bytes, const std::string &file,
                                         const Limits &limits = {});
Result<std::vector<NamedArray>> loadNpz(const std::string &path, const Limits &limits = {});

/// Stored without packing, as numpy.savez does. Equal arrays give equal bytes.
Result<Bytes> npzBytes(std::span<const NamedTensor> tensors);
Status writeNpz(const std::string &path, std::span<const NamedTensor> tensors,
                OutputFile::Existing existing);

/// As npy where the name ends in ".npy", else as npz. E0001 for several tensors and one npy.
Status writeArrays(const std::string &path, std::span<const NamedTensor> tensors,
                   OutputFile::Existing existing);

} // namespace lstmc::data
