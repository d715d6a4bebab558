// Loops whose body is a region. Few files name them, so they have a header of their own (LoopOps.h).

#ifndef LSTMC_IR_SYM_LOOPOPS
#define LSTMC_IR_SYM_LOOPOPS

include "ir/sym/SymBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sym_ForeachOp
    : Op<Sym_Dialect, "foreach", [Pure, Sym_ShapesHold, SingleBlock, AttrSizedOperandSegments,
                                  DeclareOpInterfaceMethods<Sym_ShapeRule>]> {
  let summary = "a body that runs for each slice of axis 0";
  let description = [{
    The region's arguments are a slice of each of `data`, without axis 0, and the states. `sym.next`
    gives the outputs of the step and the next states. The results are the outputs, stacked on axis
    0, and the states after the last step. The body reads values from outside as they are. The pass
    unroll-foreach writes out the steps.
      * data: at least one.
      * steps: all of `data`, and all outputs, have one extent on axis 0.
      * arguments: the region has an argument for each of `data` and `states`.
      * next: `sym.next` has a value for each result.
      * slice: an argument has the shape of its `data` without axis 0, and an output that of its
        value with it; they have one type.
      * state: a state, its argument, its next value and its result have one shape and type.
      * outside: parameters and begin states stand outside of the body.

    ```mlir
    %sums, %last = sym.foreach data(%x) states(%s) {
    ^bb0(%slice: tensor<2x3xf32>, %sum: tensor<2x3xf32>):
      %next = sym.elemwise_add %sum, %slice : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      sym.next %next, %next : tensor<2x3xf32>, tensor<2x3xf32>
    } : (tensor<5x2x3xf32>, tensor<2x3xf32>) -> (tensor<5x2x3xf32>, tensor<2x3xf32>)
    ```
  }];
  let arguments = (ins Variadic<Sym_Tensor>:$data, Variadic<Sym_Tensor>:$states);
  let results = (outs Variadic<Sym_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `data` `(` $data `)` (`states` `(` $states^ `)`)? $body attr-dict `:`
    functional-type(operands, results)
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// How many of the results are stacked outputs; the others are states.
    size_t outputCount() { return getNumResults() - getStates().size(); }
    /// The last op of the body; null while there is none.
    NextOp next();
  }];
}

def Sym_NextOp
    : Op<Sym_Dialect, "next", [Pure, Terminator, HasParent<"ForeachOp">,
                               DeclareOpInterfaceMethods<Sym_ShapeRule>]> {
  let summary = "the outputs of a step of a loop, and the next states";
  let description = [{
    ```mlir
    sym.next %y, %h : tensor<2x3xf32>, tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Sym_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // LSTMC_IR_SYM_LOOPOPS
