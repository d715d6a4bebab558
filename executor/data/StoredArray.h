// An array in memory, or in a file that is read where its elements are needed.
#pragma once

#include <functional>

#include "executor/data/Array.h"
#include "executor/data/StoredBytes.h"

namespace lstmc::data {

/// How the elements of a file are laid out.
struct ElementOrder {
  bool bigEndian = false;
  bool fortran = false; ///< the first axis is the fastest
};

class StoredArray {
public:
  explicit StoredArray(Array array) : array_(std::move(array)) {}
  /// The array of these elements, in memory if they are. Elements of a file stay there; if they
  /// have to be converted, then a scratch file has them. In memory are then a MiB, or the elements
  /// that have one index of the first axis.
  static Result<StoredArray> of(DType dtype, std::vector<int64_t> shape, StoredBytes elements,
                                ElementOrder order);

  DType dtype() const { return array_.dtype; }
  std::span<const int64_t> shape() const { return array_.shape; }
  /// The product of the extents.
  int64_t elements() const;
  bool inFile() const { return elements_.has_value(); }

  /// `count` elements from number `first` on; `buffer` keeps them if they come from a file. Errors
  /// are those of StoredBytes::readTo.
  Result<const uint8_t *> read(int64_t first, int64_t count, Bytes &buffer) const;
  /// Calls `take(elements, first, count)` for all elements, so many at a time that they fit into a
  /// cache, until it fails.
  Status
  eachPart(const std::function<Status(const uint8_t *, int64_t first, int64_t count)> &take) const;
  /// The array in memory.
  Result<Array> held() &&;

private:
  Array array_;                         ///< without bytes if they are in a file
  std::optional<StoredBytes> elements_; ///< dense, in host byte order
};

struct NamedStoredArray {
  std::string name;
  StoredArray array;
};

} // namespace lstmc::data
