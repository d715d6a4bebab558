// Interfaces for single values: which ones are valid indices of an operand, and where an op moves them.
// rules/ValueUse.cpp implements and attaches both.

#ifndef LSTMC_IR_SYM_VALUEUSE
#define LSTMC_IR_SYM_VALUEUSE

include "mlir/IR/OpBase.td"

def Sym_IndexRule : OpInterface<"IndexRule"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    An op that reads values of an operand as positions: rows of a table, classes, steps. A value out
    of range that the caller gives is refused before the run; one that the net computes is treated
    as the op's record says (mostly clipped; refused when the net runs).
  }];
  let methods = [
    InterfaceMethod<"Valid positions for values of operand `index`; none if they are not positions, or if all values are valid.",
      "::std::optional<::lstmc::ValueRange>", "positionsOf", (ins "unsigned":$index)>,
  ];
}

def Sym_MovementRule : OpInterface<"MovementRule"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    An op whose results are unchanged elements of its operands, so that a condition on result values
    is one on operand values.
  }];
  let methods = [
    InterfaceMethod<"The elements of operand `index` that are in result `result`; none if they are not a simple part of the operand.",
      "::std::optional<::lstmc::sym::MovedPart>", "movedPart", (ins "unsigned":$index, "unsigned":$result)>,
  ];
}

#endif // LSTMC_IR_SYM_VALUEUSE
