// Functions of two operands, either of which may be a number: the ops for each case, by the names
// of their records.
#pragma once

#include "frontend/symbol/Symbol.h"

namespace lstmc::symbol {

struct OperandForms {
  const OpSignature *tensors;     ///< of one shape: _maximum
  const OpSignature *stretching;  ///< with broadcasting: broadcast_maximum
  const OpSignature *number;      ///< of a tensor and a number: _maximum_scalar
  const OpSignature *numberFirst; ///< of a number and a tensor: _rminus_scalar, _lesser_scalar
};

/// All of them, in the order of the records.
const std::vector<OperandForms> &operandForms();

/// Those of a function by one of its ops for two tensors; null for another op.
const OperandForms *operandFormsOf(const OpSignature &op);

} // namespace lstmc::symbol
