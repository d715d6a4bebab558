// An array in memory, or in a file that is read where its elements are needed.
#pragma once

#include <functional>
#include <optional>

#include "executor/data/Array.h"

namespace lstmc::data {

class StoredArray {
public:
  explicit StoredArray(Array array) : array_(std::move(array)) {}
  /// Dense elements of `file` from byte `begin` on, in host byte order.
  StoredArray(DType dtype, std::vector<int64_t> shape, InputFile file, uint64_t begin)
      : array_{dtype, std::move(shape), {}}, file_(std::move(file)), begin_(begin) {}

  DType dtype() const { return array_.dtype; }
  std::span<const int64_t> shape() const { return array_.shape; }
  /// The product of the extents.
  int64_t elements() const;
  bool inFile() const { return file_.has_value(); }

  /// `count` elements from number `first` on; `buffer` keeps them if they come from a file. Errors
  /// are those of InputFile::read.
  Result<const uint8_t *> read(int64_t first, int64_t count, Bytes &buffer) const;
  /// Calls `take(elements, first, count)` for all elements, so many at a time that they fit into a
  /// cache, until it fails.
  Status
  eachPart(const std::function<Status(const uint8_t *, int64_t first, int64_t count)> &take) const;

private:
  Array array_; ///< without bytes if they are in the file
  std::optional<InputFile> file_;
  uint64_t begin_ = 0;
};

} // namespace lstmc::data
