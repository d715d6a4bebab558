// What an update of the weights is given beside its tensors: computed here, once, for all who run
// the entry `step`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "executor/abi/Optimizers.h"
#include "executor/base/Status.h"
#include "executor/package/PackageData.h"

namespace lstmc::session {

/// Values of keys of an optimizer's row.
using OptimizerValues = std::map<std::string, double, std::less<>>;

/// A scalar of `step` that its optimizer's `perUpdate` computes: `optimizer.NAME`.
inline constexpr std::string_view kOptimizerPrefix = "optimizer.";

/// What the program of one update reads: `learning_rate`, and `optimizer.NAME` of each input of the
/// row, in the row's order.
struct UpdateScalars {
  double learningRate = 0;
  std::array<double, kMostInputs> inputs = {};
  bool operator==(const UpdateScalars &) const = default;
};

/// Computes `perUpdate` of a row (abi/Optimizers.h) in f64. Powers with a whole exponent are
/// products, by squaring, so that they are the same with every C library; others are libm's.
///
/// A function of the row, its keys, rate and update alone. For a row that reads `product`, all
/// updates before are gone through again, unless a call is for the update of the last one or the
/// next. Allocates nothing after it is made.
class UpdateFormula {
public:
  UpdateFormula(const Optimizer &row, const OptimizerValues &values);
  /// Builds the formula from a package's fit(..) settings. E0001 for an invalid value.
  static Result<UpdateFormula> of(const std::vector<package::Setting> &fit);

  const Optimizer &row() const { return *row_; }
  /// Whether the number of the update changes what is computed.
  bool readsUpdate() const { return readsUpdate_; }

  /// Computes the scalars of update `t`, counted from 1, at the schedule's `rate`.
  UpdateScalars at(double rate, int64_t t);

private:
  struct Named {
    std::string_view name;
    double value = 0;
  };
  struct Numbers; ///< the calculus (abi/Formula.h)

  void compute(double rate, int64_t t);
  double value(std::string_view name) const;

  const Optimizer *row_;
  std::array<double, kMostKeys> keys_ = {}; ///< in the row's order
  std::array<Named, 16> values_ = {};       ///< what the formula was given and has assigned
  size_t count_ = 0;
  bool readsProduct_ = false, readsUpdate_ = false;
  double product_ = 1, before_ = 1; ///< after update `last_`, and before it
  int64_t last_ = 0;
};

/// A value of an optimizer's key: a number, a bool (True, False, yes, no), or None for the default.
/// E0001 with the range, for what is none of these or lies outside it.
Result<double> parseOptimizerKey(const OptimizerKey &key, std::string_view text);

/// The names of all rows of Optimizers.def.
std::vector<std::string_view> optimizerNames();

} // namespace lstmc::session
