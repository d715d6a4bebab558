// One array a file: NumPy's npy format.
#pragma once

#include "executor/base/Limits.h"
#include "executor/base/OutputFile.h"
#include "executor/data/Array.h"

namespace lstmc::data {

/// Reads an npy file of version 1.0, 2.0 or 3.0. Big-endian elements and Fortran order are
/// converted. `base` is added to the byte positions of messages, for a file inside an npz.
///
/// The header is read as the one literal that NumPy writes, `{'descr': '<f4', 'fortran_order':
/// False, 'shape': (3, 4), }`; any other Python is refused (E0603). Object arrays are pickles and
/// always refused, as are structured, string and date types (E0613). E0602, E0605 for more or fewer
/// bytes than the shape asks for.
///
/// Source: NumPy Enhancement Proposal 1, and numpy.lib.format.
Result<Array> parseNpy(std::span<const uint8_t> bytes, const std::string &file,
                       const Limits &limits = {}, uint64_t base = 0);
/// The same, in the memory of `bytes`.
Result<Array> parseNpy(Bytes &&bytes, const std::string &file, const Limits &limits, uint64_t base);
Result<Array> loadNpy(const std::string &path, const Limits &limits = {});

/// The bytes of an npy file up to the first element; those of `tensor`, which is dense, follow.
/// E0613 for bf16, which NumPy does not have.
Result<std::string> npyHeader(const Tensor &tensor);
Status writeNpy(const std::string &path, const Tensor &tensor, OutputFile::Existing existing);

} // namespace lstmc::data
