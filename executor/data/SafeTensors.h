// The safetensors format, for weights.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "executor/base/Limits.h"
#include "executor/base/OutputFile.h"
#include "executor/data/Array.h"

namespace lstmc::data {

/// One tensor of the file. `begin` and `end` count from the first byte after the header.
struct TensorRecord {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;
  uint64_t byte = 0; ///< position of its entry in the header, for messages
};

/// A checked safetensors file in memory: the length of the header (little-endian u64), a JSON
/// object of tensors, then their bytes without gap or overlap.
///
/// Refused: a header that is empty, above the limit, longer than the file, or does not begin with
/// `{` (E0602, E0603, E0606); a tensor, key or data_offsets that occurs twice (E0612); offsets that
/// are reversed, overlap, or leave a gap or bytes at the end, or a shape whose product is not the
/// byte count (E0605); element types that lstmc does not have (E0613); metadata that are not
/// strings (E0604); a digest in the metadata, as our own files have, that does not match the
/// tensors (E0609).
///
/// Source: safetensors format, version 0.4 (github.com/huggingface/safetensors, README "Format").
class SafeTensors {
public:
  static Result<SafeTensors> parse(Bytes bytes, std::string file, const Limits &limits = {});
  static Result<SafeTensors> load(const std::string &path, const Limits &limits = {});

  /// In the order of their bytes, which is also the order of the declarations.
  const std::vector<TensorRecord> &records() const { return records_; }
  const std::map<std::string, std::string> &metadata() const { return metadata_; }
  const std::string &file() const { return file_; }
  const TensorRecord *find(std::string_view name) const;
  std::span<const uint8_t> data(const TensorRecord &record) const;
  /// A copy with the alignment that kernels need.
  Array array(const TensorRecord &record) const;

private:
  Status checkDigest() const;

  std::string file_;
  Bytes bytes_;
  uint64_t dataBegin_ = 0;
  std::vector<TensorRecord> records_;
  std::map<std::string, size_t, std::less<>> byName_;
  std::map<std::string, std::string> metadata_;
};

/// The metadata key of the digest, a hash of all names, types, shapes and bytes.
inline constexpr std::string_view kDigestKey = "lstmc_digest";

/// Length and header of a file that holds `tensors` (dense, names unique) in this order, padded
/// with blanks so that the data start at a multiple of 64. The digest is computed from the tensors'
/// bytes, or from `hashes`, the hashes of these bytes (base/Hash.h).
std::string safetensorsHeader(std::span<const NamedTensor> tensors,
                              std::map<std::string, std::string> metadata = {},
                              std::span<const uint64_t> hashes = {});

Status writeSafeTensors(const std::string &path, std::span<const NamedTensor> tensors,
                        OutputFile::Existing existing,
                        const std::map<std::string, std::string> &metadata = {});

} // namespace lstmc::data
