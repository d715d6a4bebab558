// Weights on disk: the safetensors format.
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
  uint64_t byte = 0; ///< of its entry in the header, for messages
};

/// A safetensors file in memory, checked: little-endian u64 length of the header, a JSON object of
/// tensors, then their bytes without gap or overlap.
///
/// Refused: a header that is empty, above the limit, beyond the file, or does not begin with `{`
/// (E0602, E0603, E0606); a tensor, key or data_offsets twice (E0612); offsets that are reversed,
/// overlap, leave a gap or bytes at the end, or shapes whose product is not the byte count (E0605);
/// element types that lstmc does not have (E0613); metadata that are no strings (E0604); a digest
/// among them, as our own files have one, that is not that of the tensors (E0609).
///
/// Source: safetensors format, version 0.4 (github.com/huggingface/safetensors, README "Format").
class SafeTensors {
public:
  static Result<SafeTensors> parse(Bytes bytes, std::string file, const Limits &limits = {});
  static Result<SafeTensors> load(const std::string &path, const Limits &limits = {});

  /// In the order of their bytes, which is the order they were declared in.
  const std::vector<TensorRecord> &records() const { return records_; }
  const std::map<std::string, std::string> &metadata() const { return metadata_; }
  const std::string &file() const { return file_; }
  const TensorRecord *find(std::string_view name) const;
  std::span<const uint8_t> data(const TensorRecord &record) const;
  /// A copy with the alignment that kernels want.
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

/// The key of the digest in the metadata: a hash of all names, types, shapes and bytes.
inline constexpr std::string_view kDigestKey = "lstmc_digest";

/// Length and header of a file that holds `tensors` (dense, names unique) in this order, padded
/// with blanks so that the data start at a multiple of 64. For the digest their bytes are
/// read, or `hashes` are those of the bytes (base/Hash.h).
std::string safetensorsHeader(std::span<const NamedTensor> tensors,
                              std::map<std::string, std::string> metadata = {},
                              std::span<const uint64_t> hashes = {});

Status writeSafeTensors(const std::string &path, std::span<const NamedTensor> tensors,
                        OutputFile::Existing existing,
                        const std::map<std::string, std::string> &metadata = {});

} // namespace lstmc::data
