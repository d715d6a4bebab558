// A worker's rows of the whole batch.
#pragma once

#include <cstddef>
#include <vector>

#include "executor/data/DataSet.h"

namespace lstmc::stores {

/// Memory for a batch of all workers, which a feed fills, beside the inputs of one.
class Rows {
public:
  /// `inputs`: of the session of worker `worker`, whose rows alone are wanted.
  Rows(std::vector<data::InputSlot> inputs, int workers, int worker);

  /// The same inputs with the rows of all workers.
  const std::vector<data::InputSlot> &all() const { return all_; }
  /// Copies the worker's rows to its inputs.
  void give() const;

private:
  int worker_;
  std::vector<data::InputSlot> inputs_, all_;
  std::vector<std::vector<std::byte>> memory_;
};

} // namespace lstmc::stores
