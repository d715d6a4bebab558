// The rule of each op: its results from its operands.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "ir/sym/SymOps.h"
#include "tests/nets/plain/Array.h"
#include "tests/nets/plain/Noise.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace lstmc::nets::plain {

/// Values computed so far.
class Values {
public:
  const Array &operator()(mlir::Value value) const;
  /// Null if the operand is absent.
  const Array *maybe(mlir::Value value) const { return value ? &(*this)(value) : nullptr; }
  void set(mlir::Value value, Array array) { arrays_[value] = std::move(array); }

  /// A number that is rounded on the way to a result; disturbed as results are.
  Number rounded(Number number) const {
    return noise_.size == 0 ? double(number) : double(number) * (1 + Number(noise_.next()));
  }
  explicit Values(Noise noise) : noise_(noise) {}

private:
  llvm::DenseMap<mlir::Value, Array> arrays_;
  mutable Noise noise_;
};

using Results = std::vector<Array>;

struct Rule {
  std::function<Results(mlir::Operation *, const Values &)> results;
  bool exact = false; ///< only moves or counts: nothing is rounded
};
using Rules = llvm::StringMap<Rule>;

inline Results asResults(Array one) {
  Results all;
  all.push_back(std::move(one));
  return all;
}
inline Results asResults(Results all) { return all; }

/// `f(op, values)` gives the result of an op, or all of them.
template <typename Op, typename F> void on(Rules &rules, F f, bool exact = false) {
  rules[Op::getOperationName()] = {
      [f](mlir::Operation *op, const Values &at) { return asResults(f(llvm::cast<Op>(op), at)); },
      exact};
}
template <typename Op, typename F> void onExact(Rules &rules, F f) { on<Op>(rules, f, true); }

void addElementwise(Rules &rules);
void addMoves(Rules &rules);
void addIndices(Rules &rules);
void addSorts(Rules &rules);
void addReductions(Rules &rules);
void addProducts(Rules &rules);
void addRecurrences(Rules &rules);
void addSources(Rules &rules);
void addHeads(Rules &rules);
void addWindows(Rules &rules);
void addImported(Rules &rules);
void addWritten(Rules &rules);

/// Rules of all ops that have one.
const Rules &allRules();

} // namespace lstmc::nets::plain
