// MXNet's format of named arrays (.params), for weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/base/Limits.h"
#include "executor/data/Array.h"
#include "executor/data/SymbolTable.h"

namespace lstmc::data {

/// A checked .params file in memory, as mx.nd.save has written it since 0.7: u64 0x112, u64 0, u64
/// count, the arrays, u64 count of names (0 or as many), each a u64 length and bytes. All is
/// little-endian. Each array has its own version, by its first u32:
///   V0  ndim itself (0: no array), then u32 extents
///   V1  0xF993FAC8, i32 ndim (0: no array), i64 extents
///   V2  0xF993FAC9, i32 storage type, as V1
///   V3  0xF993FACA, i32 storage type, i32 ndim (-1: no array, 0: one element), i64 extents
/// then i32 device type and i32 device, both ignored, i32 element type, and the elements row by
/// row. The prefixes `arg:` and `aux:` of names are dropped.
///
/// Refused: a count or extent that the file has no room for (E0602), more axes or a longer name
/// than `limits` (E0606), negative extents, an unknown storage or element type, a name that is
/// empty or not UTF-8, a bool that is neither 0 nor 1 (E0604), sparse arrays, i16, u16, u32, u64
/// (E0613), names that are neither none nor one per array, and bytes after the last (E0605), two
/// names that are equal without their prefixes (E0612), another file (E0603).
///
/// Costs time linear in the file, and 8 bytes per array and about 31 per name besides the file.
///
/// Source: MXNet 1.9.1, src/ndarray/ndarray.cc (NDArray::Save, Load, LegacyLoad).
class MxnetParams {
public:
  static Result<MxnetParams> parse(Bytes bytes, std::string file, const Limits &limits = {});

  const std::string &file() const { return file_; }
  /// Entries of the list: arrays, and places without an array.
  size_t size() const { return begins_.size(); }
  /// Entry `number`: a copy with the alignment that kernels need; nullopt for no array.
  std::optional<Array> array(size_t number) const;
  /// Without prefix; empty where the file has no names.
  std::string name(size_t number) const;
  /// With it.
  std::string writtenName(size_t number) const;
  std::optional<size_t> find(std::string_view name) const;

private:
  std::string file_;
  Bytes bytes_;
  std::vector<uint64_t> begins_;  ///< position of each array's first byte
  SymbolTable names_;             ///< numbered as the arrays are
  std::vector<uint8_t> prefixes_; ///< of each name: a number of kPrefixes
};

/// Whether a file begins as a .params file does: the magic number and 8 zeros.
bool isMxnetParams(std::span<const uint8_t> begin);

} // namespace lstmc::data
