// What passes may ask of ops about single values: which ones they have a place for, and where they go. The answers are all in
// rules/ValueUse.cpp, which attaches them.

#ifndef LSTMC_IR_SYM_VALUEUSE
#define LSTMC_IR_SYM_VALUEUSE

include "mlir/IR/OpBase.td"

def Sym_IndexRule : OpInterface<"IndexRule"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    An op that reads values of an operand as positions: rows of a table, classes, steps. What a caller gives outside of the
    range is refused before it runs; what the net itself computes is treated as the op's record says (clipped, as a rule).
  }];
  let methods = [
    InterfaceMethod<"Positions that there are for values of operand `index`; none where they are no positions, or any will do.",
      "::std::optional<::lstmc::ValueRange>", "positionsOf", (ins "unsigned":$index)>,
  ];
}

def Sym_MovementRule : OpInterface<"MovementRule"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    An op whose results are elements of its operands, unchanged, so that what must hold of their values must hold of the operands'.
  }];
  let methods = [
    InterfaceMethod<"The elements of operand `index` that are in result `result`; none where they are no plain part of it.",
      "::std::optional<::lstmc::sym::MovedPart>", "movedPart", (ins "unsigned":$index, "unsigned":$result)>,
  ];
}

#endif // LSTMC_IR_SYM_VALUEUSE
