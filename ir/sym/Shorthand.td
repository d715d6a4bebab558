// Ops, and uses of ops, that stand for others. The answers of ops that are always written out (ComposedOps.td) are in rules/Written*.cpp,
// the others in rules/Shorthand.cpp, which attaches them.

#ifndef LSTMC_IR_SYM_SHORTHAND
#define LSTMC_IR_SYM_SHORTHAND

include "mlir/IR/OpBase.td"

def Sym_ShorthandRule : OpInterface<"ShorthandRule"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    An op of which some uses (a dtype, an order, a shape) have no gradient and no kernel of their own: other ops say the same. They
    are written out before any pass looks at the net, so that only shapes have to be known of them.
  }];
  let methods = [
    InterfaceMethod<"Adds the ops, and gives what the result is; null, and nothing added, where the op is carried out as it is.",
      "::mlir::Value", "writtenOut", (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

#endif // LSTMC_IR_SYM_SHORTHAND
