// Ops, and uses of ops, that other ops can express. Ops that are always written out (ComposedOps.td)
// implement the interface in rules/Written.cpp and rules/Einsum.cpp; rules/Shorthand.cpp attaches it
// to the others.

#ifndef LSTMC_IR_SYM_SHORTHAND
#define LSTMC_IR_SYM_SHORTHAND

include "mlir/IR/OpBase.td"

def Sym_ShorthandRule : OpInterface<"ShorthandRule"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    An op of which some uses (a dtype, an order, a shape) have no gradient and no kernel of their
    own, because other ops can express them. These uses are replaced by the pass expand-shorthands, so
    that they need no rule but the one for shapes.
  }];
  let methods = [
    InterfaceMethod<"Adds the ops that replace the op and returns their result. Null, with nothing added, if the op needs no replacement.",
      "::mlir::Value", "writtenOut", (ins "::mlir::OpBuilder &":$builder)>,
    InterfaceMethod<"The same for an op with several results: one value for each of them; none if the op needs no replacement.",
      "::llvm::SmallVector<::mlir::Value>", "writtenOutAll", (ins "::mlir::OpBuilder &":$builder), [{}], [{
        ::mlir::Value value = $_op.writtenOut(builder);
        return value ? ::llvm::SmallVector<::mlir::Value>{value} : ::llvm::SmallVector<::mlir::Value>();
      }]>,
  ];
}

#endif // LSTMC_IR_SYM_SHORTHAND
