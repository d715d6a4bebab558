// 2 bit compression of a worker's gradients: what it has kept back of them.
#pragma once

#include <memory>
#include <vector>

#include "executor/session/SplitStep.h"

namespace lstmc::stores {

/// Of each element of a gradient a worker gives t, -t or 0, and adds what it has kept back to the
/// next one; as between the ranks of dist_sync (passes/GradientCompression.h).
class Residuals {
public:
  /// `step`, which outlives it, is where gradients are. E0402 where a parameter's gradient is not
  /// told from other values.
  static Result<std::unique_ptr<Residuals>> create(const session::SplitStep &step, int workers,
                                                   double threshold);

  /// After SplitStep::gradients() of that worker: gradients become what is given.
  void compress(int worker);
  /// All of a worker's, by key; for others to set, too.
  std::span<float> of(int worker) { return kept_[size_t(worker)]; }
  /// Those of a key.
  std::span<float> of(int worker, size_t key);

private:
  explicit Residuals(const session::SplitStep &step, double threshold)
      : step_(step), threshold_(float(threshold)) {}

  const session::SplitStep &step_;
  const float threshold_;
  std::vector<MemoryRange> gradients_;   ///< by key
  std::vector<size_t> begins_;           ///< of keys, in elements
  std::vector<std::vector<float>> kept_; ///< by worker
  std::vector<float> room_;
};

} // namespace lstmc::stores
