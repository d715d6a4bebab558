// Ops whose work is matrix products. Every sum runs over ascending k, one fused multiply-add a
// term.

#ifndef LSTMC_IR_SYM_PRODUCTOPS
#define LSTMC_IR_SYM_PRODUCTOPS

include "ir/sym/SymBase.td"

class Sym_Product<string mnemonic, string mxnet> : Sym_Op<mnemonic, mxnet, [Sym_Kernel, Sym_Flops,
    Sym_Gradient]> {
  let results = (outs Sym_Tensor:$output);
}

def Sym_FullyConnectedOp : Sym_Product<"fully_connected", "FullyConnected"> {
  let summary = "data * weight^T + bias";
  let description = [{
    With `flatten`, all axes of `data` but the first are taken as one. Without it, the last axis is
    multiplied and the others are kept.
      * rank: `data` has at least 1 axis; with `flatten`, a vector is read as a column.
      * weight-shape: `weight` is `[num_hidden, inputs]`; inputs is the extent that is multiplied.
      * bias-shape: `bias` is `[num_hidden]`; with `no_bias` there is no bias.
      * output-shape: `output` is `[N, num_hidden]`; without `flatten`, the leading extents of
        `data`, then `num_hidden`.
      * type: all have one float type.

    ```mlir
    %y = sym.fully_connected %x, %w, %b {flatten = false, num_hidden = 65 : i64}
       : (tensor<64x32x256xf32>, tensor<65x256xf32>, tensor<65xf32>) -> tensor<64x32x65xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Parameter:$weight, Optional<Sym_Parameter>:$bias,
                       I64Attr:$num_hidden,
                   Sym_Flag<>:$no_bias, Sym_Flag<"true">:$flatten);
  let inputConditions = ["bias: no_bias=false"];
}

def Sym_DotOp : Sym_Product<"dot", "dot"> {
  let summary = "last axis of lhs times first axis of rhs";
  let description = [{
    `transpose_a` moves the first axis of `lhs` to the end, `transpose_b` the last axis of `rhs` to
    the front. Two vectors give one element, shape `[1]`.
      * rank: both have at least 1 axis.
      * inner: the extents multiplied are equal.
      * output-shape: the other extents of `lhs`, then of `rhs`.
      * type: all have one float type.

    ```mlir
    %y = sym.dot %a, %b : (tensor<8x5xf32>, tensor<5x3xf32>) -> tensor<8x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$lhs, Sym_Tensor:$rhs, Sym_Flag<>:$transpose_a,
                       Sym_Flag<>:$transpose_b);
  let extraClassDeclaration = [{
    bool sumsRows(unsigned operand);
  }];
}

def Sym_BatchDotOp : Sym_Product<"batch_dot", "batch_dot"> {
  let summary = "a matrix product for each index of the leading axes";
  let description = [{
      * rank: both have the same number of axes, at least 3.
      * batch: the extents of all axes but the last two are equal.
      * inner: the extents multiplied are equal.
      * output-shape: `[batch..., rows, columns]`.
      * type: all have one float type.

    ```mlir
    %y = sym.batch_dot %a, %b : (tensor<4x8x5xf32>, tensor<4x5x3xf32>) -> tensor<4x8x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$lhs, Sym_Tensor:$rhs, Sym_Flag<>:$transpose_a,
                       Sym_Flag<>:$transpose_b);
}

#endif // LSTMC_IR_SYM_PRODUCTOPS
