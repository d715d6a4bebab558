// NumPy's npy format: one array per file.
#pragma once

#include "executor/base/Limits.h"
#include "executor/base/OutputFile.h"
#include "executor/data/StoredArray.h"

namespace lstmc::data {

/// Reads an npy file of version 1.0, 2.0 or 3.0. Big-endian elements and Fortran order are
/// converted. `base` is added to the byte positions of messages, for a file inside an npz.
///
/// The header has to be the literal that NumPy writes, `{'descr': '<f4', 'fortran_order': False,
/// 'shape': (3, 4), }`; any other Python is refused (E0603). Object arrays are pickles and always
/// refused, as are structured, string and date types (E0613). E0602 or E0605 if there are fewer or
/// more bytes than the shape needs, E0606 for a header above the limit record.
///
/// Source: NumPy Enhancement Proposal 1, and numpy.lib.format.
///
/// The array is in memory if the bytes are; it takes over memory that they own.
Result<StoredArray> readNpy(StoredBytes bytes, const std::string &file, const Limits &limits = {},
                            uint64_t base = 0);
/// The same, in memory.
Result<Array> parseNpy(std::span<const uint8_t> bytes, const std::string &file,
                       const Limits &limits = {});
Result<Array> loadNpy(const std::string &path, const Limits &limits = {});

/// The bytes of an npy file before the first element; the bytes of `tensor`, which is dense, come
/// after them. E0613 for bf16, which NumPy does not have.
Result<std::string> npyHeader(const Tensor &tensor);
Status writeNpy(const std::string &path, const Tensor &tensor, OutputFile::Existing existing);

} // namespace lstmc::data
