// One net, compiled and trained in as many ways as a test needs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "frontend/lnet/Load.h"
#include "frontend/symbol/View.h"
#include "tests/e2e/Net.h"

namespace lstmc::nets {

/// All results of a run, by name, as hashes of their bits.
struct Outcome {
  std::string notFinite; ///< where a value was not finite; then nothing else counts
  std::vector<std::pair<std::string, uint64_t>> bits;

  /// The first name whose bits differ; empty if all are equal.
  std::string differsFrom(const Outcome &other) const;
};

/// Values for the inputs of an entry, from name, element and `update`. Names that begin with
/// `length` get 0 to 5; with `index`, and for labels and integers, 0 to 2; others -1 to 1.
void feed(Session &session, std::string_view entry, int64_t update, uint64_t seed);

/// Runs forward, evaluate and three updates; a value that is not finite ends the run. Throws if an
/// entry fails otherwise or uses more memory than planned.
Outcome carryOut(Session &session, double learningRate, uint64_t seed);

class Bench {
public:
  /// Throws the errors of the language.
  explicit Bench(const std::string &text);

  const symbol::Network &net() const { return net_; }
  const symbol::GraphView &view() const { return view_; }
  const std::vector<std::string> &groups() const { return groups_; }
  const std::vector<std::string> &layers() const { return layers_; }
  double learningRate() const { return learningRate_; }
  /// The options of fit(..), on one device.
  const passes::CompileOptions &options() const { return options_; }

  Checked<passes::Compiled> compile(const passes::CompileOptions &options);

private:
  symbol::Network net_;
  symbol::GraphView view_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  passes::CompileOptions options_;
  std::vector<std::string> groups_, layers_;
  double learningRate_ = 0.01;
};

} // namespace lstmc::nets
