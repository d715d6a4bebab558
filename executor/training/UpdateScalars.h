// What an update is given beside its tensors.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lstmc {
struct Optimizer;
}

namespace lstmc::training {

/// Values of keys of fit(..), of the row or of others.
using OptimizerValues = std::map<std::string, double, std::less<>>;

/// The optimizer's scalars of one update: `learning_rate`, and `optimizer.NAME` of each input of
/// its row.
struct UpdateScalars {
  double learningRate = 0;
  std::vector<std::pair<std::string, double>> inputs;
};

/// The names of the scalars that a row's update is given beside `learning_rate`.
std::vector<std::string> inputNames(const Optimizer &row);

/// Computes `perUpdate` of a row (abi/Optimizers.h) in f64. Powers with a whole exponent are
/// products, by squaring, so that they are the same with every C library; others are libm's.
///
/// A function of the row, its keys, rate and update alone. Of a row that reads `product` all
/// updates before are gone through again, but where each call is for the update after the last
/// one's.
class UpdateFormula {
public:
  UpdateFormula(const Optimizer &row, const OptimizerValues &values);

  /// Of update `t`, from 1, for which the schedule says `rate`.
  UpdateScalars at(double rate, int64_t t);

private:
  void compute(double rate, int64_t t);

  const Optimizer &row_;
  OptimizerValues keys_;   ///< of the row, all of them
  OptimizerValues values_; ///< what the formula has made last
  bool keepsProduct_ = false;
  double product_ = 1;
  int64_t last_ = 0; ///< the update that `product_` is of
};

} // namespace lstmc::training
