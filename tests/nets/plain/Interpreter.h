// Computes a net's outputs from the ops as they were written.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "tests/nets/plain/Array.h"
#include "tests/nets/plain/Noise.h"

namespace lstmc::nets::plain {

/// Values of inputs, parameters and states, by name. A missing state is 0.
using Given = std::map<std::string, Array>;

struct Outcome {
  std::vector<Array> outputs;
  /// Final states of recurrent layers, by the names of their begin states.
  Given states;
};

/// `module` holds one net of sym with known shapes. Every number that was rounded is disturbed by
/// the noise, relatively; a result that is an integer is taken to be exact. Throws if an op has no
/// rule, or reads an input that is not given.
Outcome interpret(mlir::ModuleOp module, const Given &given, const Noise &noise = {});

/// Why a net cannot be interpreted: the op that has no rule; empty if all have one.
std::string withoutRule(mlir::ModuleOp module);

} // namespace lstmc::nets::plain
