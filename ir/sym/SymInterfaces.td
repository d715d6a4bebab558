// The questions that passes ask of ops. An op that answers them needs no mention in any pass.

#ifndef LSTMC_IR_SYM_INTERFACES
#define LSTMC_IR_SYM_INTERFACES

include "mlir/IR/OpBase.td"

def Sym_ShapeRule : OpInterface<"ShapeRule"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    How the shapes and dtypes around an op are related, in both directions. The method states
    relations. The solver (ir/sym/ShapeRelation.h) records where each extent came from and calls the
    method until nothing changes. The method never creates or erases ops.
  }];
  let methods = [
    InterfaceMethod<"States the relations; fails after reporting a contradiction.",
      "::llvm::LogicalResult", "relateShapes", (ins "::lstmc::sym::ShapeRelation &":$relation)>,
  ];
}

def Sym_GradientRule : OpInterface<"GradientRule"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    Reverse mode. Called once the gradients of an op's results are complete; adds the ops that
    compute the gradients of the operands, through ir/sym/GradientBuilder.h. If a gradient reaches
    an op without this interface, the op is refused with E0403, unless it has the trait NoGradient,
    which stops the gradient.
  }];
  let methods = [
    InterfaceMethod<"Contributes to the gradients of the operands.",
      "::llvm::LogicalResult", "buildGradient", (ins "::lstmc::sym::GradientBuilder &":$builder)>,
    InterfaceMethod<"Whether the op itself sums the gradient of that operand over all rows of the others, instead of "
      "calling it a use of a weight (GradientBuilder): sums of some of the rows, added, are in another order.",
      "bool", "sumsRows", (ins "unsigned":$operand), "", "return false;">,
  ];
}

def Sym_BatchRule : OpInterface<"BatchRule"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    Where the batch axis of the results is, given where it is in the operands
    (ir/sym/BatchPosition.h). A weight gradient is summed over shards of the batch, so this decides
    the order of that sum.

    A position is a promise about each operand by itself. If only that operand has rows, at that
    position, then row r of the result is computed from its row r and from all of the other
    operands, in the same way for every r. If no operand has rows, all rows of the result are alike.
    `none`: the result has no rows, mixes them, or the op does not know. This promise lets a part of
    the batch run the op on its own rows (passes/BatchPositions.h: rowByRow).
  }];
  let methods = [
    InterfaceMethod<"Position of the batch in result `index`.",
      "::lstmc::sym::BatchPosition", "batchOfResult",
      (ins "unsigned":$index, "::llvm::ArrayRef<::lstmc::sym::BatchPosition>":$operands)>,
  ];
}

def Sym_ExtentsRule : OpInterface<"ExtentsRule"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    An op with an attribute that only repeats the extents of its results, and so differs between a
    batch and a part of it.
  }];
  let methods = [
    InterfaceMethod<"Name of the attribute that holds the extents of the result, if the op has one.", "::llvm::StringRef", "extentsAttribute">,
  ];
}

def Sym_ScalarRule : OpInterface<"ScalarRule"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    An element-wise op expressed in scalar operations (executor/abi/ScalarOps.def). Operand and
    result shapes are equal up to broadcasting. Every op with this rule can be part of a fused
    program, and has no other kernel.
  }];
  let methods = [
    InterfaceMethod<"Emits sym.scalar ops on scalars; `element` are the operands' scalars.",
      "::mlir::Value", "emitScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$element)>,
  ];
}

def Sym_CostRule : OpInterface<"CostRule"> {
  let cppNamespace = "::lstmc::sym";
  let methods = [
    InterfaceMethod<"Floating-point operations; an fma counts two.",
      "int64_t", "flops", (ins), [{}], [{ return ::lstmc::sym::defaultFlops($_op.getOperation()); }]>,
    InterfaceMethod<"Bytes read and written, each tensor once.",
      "int64_t", "movedBytes", (ins), [{}], [{ return ::lstmc::sym::defaultMovedBytes($_op.getOperation()); }]>,
  ];
}

def Sym_KernelRule : OpInterface<"KernelRule"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    The launches of library kernels (executor/abi/Kernels.def) that compute the op, given to
    ir/sym/KernelBuilder.h with their views, packed operands and scratch. An op with neither this
    rule nor a ScalarRule has to be replaced before lowering.
  }];
  let methods = [
    InterfaceMethod<"Emits the launches; fails after reporting what the kernels lack.",
      "::llvm::LogicalResult", "emitKernels", (ins "::lstmc::sym::KernelBuilder &":$builder)>,
  ];
}

def Sym_ShardSum : OpInterface<"ShardSum"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    A sum over the batch: by shards, then over the tree. An op may sum only the shards `first` to
    `first + count - 1` (ShardRange of executor/abi/Packing.h); its operands then hold the rows of
    these shards only. `batch` is the rows of the whole batch; `count` 0 means all shards. Parts
    that are subtrees, added in the order of the tree, give the bits of the whole.
  }];
  let methods = [
    InterfaceMethod<"Rows of the whole batch.", "uint64_t", "getBatch">,
    InterfaceMethod<"Shards that the whole batch is cut into.", "uint64_t", "getShards">,
    InterfaceMethod<"The first shard that is summed.", "uint64_t", "getFirst">,
    InterfaceMethod<"Shards that are summed; 0 for all.", "uint64_t", "getCount">,
    InterfaceMethod<"The same four, with a count of 0 resolved.", "::lstmc::ShardRange", "range", (ins), [{}], [{
      auto shards = int64_t($_op.getShards()), count = int64_t($_op.getCount());
      return {int64_t($_op.getBatch()), shards, int64_t($_op.getFirst()), count == 0 ? shards : count};
    }]>,
    InterfaceMethod<"Distance in elements from one row of the batch to the next in an operand.",
      "int64_t", "rowStride", (ins "unsigned":$operand)>,
    InterfaceMethod<"Restricts the sum to a part of the shards.", "void", "setPart", (ins "int64_t":$first, "int64_t":$count), [{}], [{
      $_op.setFirst(uint64_t(first));
      $_op.setCount(uint64_t(count));
    }]>,
  ];
  let verify = [{ return ::lstmc::sym::verifyShardSum($_op, ::llvm::cast<ShardSum>($_op).range()); }];
}

def Sym_LossHead : OpInterface<"LossHead"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    A loss head: SoftmaxOutput, the regression outputs, SVMOutput, MakeLoss, softmax_cross_entropy.
  }];
  let methods = [
    InterfaceMethod<"Adds the op that measures this head, with f64 [measure.fields] as the metric kernels define it.",
      "::mlir::Value", "buildMetric",
      (ins "::mlir::OpBuilder &":$builder, "const ::lstmc::sym::HeadMeasure &":$measure)>,
    InterfaceMethod<"Adds ops that compute the score of the second of two classes, and whether the label is that class: "
      "f64 [2, outer, batch, inner] as executor/abi/Package.fbs defines scores. Null for heads of other than two classes.",
      "::mlir::Value", "buildScores",
      (ins "::mlir::OpBuilder &":$builder, "const ::lstmc::sym::HeadMeasure &":$measure)>,
    InterfaceMethod<"Adds ops that compute the head's value without a label, with the same bits; null if the value needs a label.",
      "::mlir::Value", "buildValue", (ins "::mlir::OpBuilder &":$builder)>,
    InterfaceMethod<"Kind of the metric: softmax, linear, mae, logistic, loss.",
      "::llvm::StringRef", "metricKind", (ins)>,
    InterfaceMethod<"Number of classes: those of a softmax, 2 for a logistic regression; 0 for other heads.",
      "int64_t", "classCount", (ins)>,
    InterfaceMethod<"Whether the gradient always starts at this op and the incoming gradient is ignored; else it starts here only if the net returns the result.",
      "bool", "ignoresGradient", (ins)>,
    InterfaceMethod<"Whether the gradient is a mean already and need not be divided by the batch.",
      "bool", "normalises", (ins)>,
  ];
}

def Sym_ResultCountRule : OpInterface<"ResultCountRule"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    For ops whose number of results follows from their attributes.
  }];
  let methods = [
    StaticInterfaceMethod<"Number of results of a call with these attributes; attributes that are left out have their defaults.",
      "int64_t", "resultCount", (ins "::mlir::DictionaryAttr":$attributes)>,
  ];
}

#endif // LSTMC_IR_SYM_INTERFACES
