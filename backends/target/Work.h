// What a launch does, as far as its time depends on it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "executor/abi/FastRules.h"
#include "executor/abi/ScalarOps.h"
#include "executor/package/PackageData.h"

namespace lstmc::target {

/// The layer of a recurrence, in one direction.
struct Layer {
  int64_t batch = 0, inputs = 0, units = 0; ///< without inputs: backward, where a product has them
  int32_t mode = 0, gates = 0;              ///< RnnMode
  bool wide = false;                        ///< f64
  double real = 1;                          ///< of its steps
  bool light = false; ///< forward, keeps nothing for backward and reads no lengths

  bool operator==(const Layer &) const = default;
};

/// Floating-point operations, an fma counting two and one of f64 as two of f32, and bytes, each
/// tensor once.
struct Work {
  int64_t flops = 0, bytes = 0;

  int64_t functions = 0; ///< values of exp, tanh and the like, and random ones
  /// That are taken one after the other: of tensors, of all steps of a recurrence; the dense runs
  /// of a copy.
  int64_t rows = 0;
  int64_t depth = 0;        ///< of a product of f32: terms of each sum
  int64_t width = 0;        ///< of products: elements of a row of the result, which vectors divide
  int64_t instructions = 0; ///< of a fused program, which every launch looks at

  // Of a weight gradient of products: the shards' sums, and the bytes of each.
  int64_t sums = 0, sumBytes = 0;

  // Of recurrences: steps that wait for one another, what each of them reads, and its units.
  int64_t steps = 0, stepBytes = 0, stepUnits = 0;

  /// Steps that read `stepBytes` again: what the first one reads is among `bytes`.
  int64_t stepsAgain() const { return steps > 0 ? steps - 1 : 0; }

  Layer layer = {};
  FastRules fast = {}; ///< of the package, where it computes in f32

  bool operator==(const Work &) const = default;
};

/// An operand of a launch as its kernel sees it.
struct Window {
  std::vector<int64_t> shape, strides; ///< no shape: a single element, or none; no strides: dense
  DType dtype = DType::F32;
  bool present = false;
};

/// Whether a scalar operation takes as long as many of the others.
bool isFunction(ScalarOp op);

/// What a fused program does to an element.
struct ProgramWork {
  int64_t instructions = 0, functions = 0;
};

/// `program`: of `fused` only.
Work workOf(KernelId kernel, const std::vector<Window> &operands, std::span<const int64_t> ints,
            ProgramWork program = {});

/// The same of a launch in a package. `realSteps`: of the steps of all sequences, the part that is
/// real, where a recurrence reads lengths; it computes no others.
Work workOf(const package::PackageData &package, const package::Launch &launch,
            double realSteps = 1);

} // namespace lstmc::target
