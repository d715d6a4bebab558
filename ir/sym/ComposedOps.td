// Ops that the pass expand-shorthands always replaces by others (Shorthand.td; rules/Written.cpp, rules/Einsum.cpp).
// The records are their user documentation.

#ifndef LSTMC_IR_SYM_COMPOSEDOPS
#define LSTMC_IR_SYM_COMPOSEDOPS

include "ir/sym/ComposedOp.td"

def Sym_AmpCastOp : Sym_Composed<"amp_cast", "amp_cast"> {
  let summary = "data as it is";
  let description = [{
    MXNet's automatic mixed precision casts to `dtype` here, which is ignored: such a net computes in
    the type of its parameters.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.amp_cast %x {dtype = "float16"} : (tensor<8x5xf32>) -> tensor<8x5xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_DType:$dtype);
}

//===---- shapes after another tensor ---------------------------------------------------------===//

def Sym_ReshapeLikeOp : Sym_Composed<"reshape_like", "reshape_like"> {
  let summary = "the elements of lhs in the shape of rhs";
  let description = [{
    Replaces axes `lhs_begin` to `lhs_end` of `lhs` by axes `rhs_begin` to `rhs_end` of `rhs`;
    without these attributes, all axes. Negative numbers count from the end. Only the extents of
    `rhs` are read, and no gradient flows to it.
      * window: 0 <= begin <= end <= rank, of both.
      * elements: the axes that go have as many elements as those that come.

    ```mlir
    %y = sym.reshape_like %a, %b : (tensor<6x4xf32>, tensor<2x12xf32>) -> tensor<2x12xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$lhs, Sym_Tensor:$rhs, OptionalAttr<I64Attr>:$lhs_begin,
                       OptionalAttr<I64Attr>:$lhs_end, OptionalAttr<I64Attr>:$rhs_begin,
                       OptionalAttr<I64Attr>:$rhs_end);
}

def Sym_BroadcastLikeOp : Sym_Composed<"broadcast_like", "broadcast_like"> {
  let summary = "lhs broadcast to the extents of rhs";
  let description = [{
    Broadcasts all axes of extent 1, or `lhs_axes` to the extents of `rhs_axes`. Only the extents of
    `rhs` are read, and no gradient flows to it.
      * axes: `lhs_axes` and `rhs_axes` are equally long; without them the ranks are equal.
      * stretch: an extent that changes was 1.

    ```mlir
    %y = sym.broadcast_like %a, %b : (tensor<1x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$lhs, Sym_Tensor:$rhs, OptionalAttr<Sym_Tuple>:$lhs_axes,
                       OptionalAttr<Sym_Tuple>:$rhs_axes);
}

def Sym_SliceLikeOp : Sym_Composed<"slice_like", "slice_like"> {
  let summary = "the first elements of data, up to the extents of another tensor";
  let description = [{
    Slices `axes`, or all axes. Only the extents of `shape_like` are read, and no gradient flows to
    it.
      * rank: without `axes`, `data` and `shape_like` have one rank.
      * window: no extent of `shape_like` is larger than that of `data`.

    ```mlir
    %y = sym.slice_like %a, %b {axes = array<i64: 0>}
       : (tensor<5x4xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Tensor:$shape_like, Sym_DefaultTuple:$axes);
}

def Sym_ArangeLikeOp
    : Sym_Composed<"arange_like", "arange_like", ["_contrib_arange_like"], [Sym_NoGradient]> {
  let fileName = "_contrib_arange_like";
  let summary = "a range from start on, with as many numbers as a tensor has elements";
  let description = [{
    start, start + step, ..., each `repeat` times: a vector with the extent of `axis` of `data`;
    without `axis`, a tensor of the shape of `data`. Only the extents of `data` are read. Integer
    types drop the fractions of start and step first, as in MXNet. `ctx` is ignored.
      * axis: `axis` is an axis of `data`.
      * step: not 0.
      * repeat: at least 1.

    ```mlir
    %i = sym.arange_like %x {axis = 1 : i64} : (tensor<2x5xf32>) -> tensor<5xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Float<"0.0">:$start, Sym_Float<"1.0">:$step,
                       Sym_Integer<1>:$repeat, DefaultValuedStrAttr<StrAttr, "">:$ctx,
                       OptionalAttr<I64Attr>:$axis);
}

//===---- the smallest ------------------------------------------------------------------------===//

def Sym_ArgminOp : Sym_Composed<"argmin", "argmin", [], [Sym_NoGradient]> {
  let summary = "index of the smallest element over an axis";
  let description = [{
    `argmax(-data)`: of equal elements the first, of NaNs the first NaN; a float of the type of
    `data`. Without `axis`, `data` is read as one row.
      * axis: `axis` is an axis of `data`.
      * output-shape: the extents of `data` without it; with `keepdims`, with 1 there.

    ```mlir
    %y = sym.argmin %x {axis = 1 : i64} : (tensor<8x5xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, OptionalAttr<I64Attr>:$axis, Sym_Flag<>:$keepdims);
}

def Sym_ArgmaxChannelOp
    : Sym_Composed<"argmax_channel", "argmax_channel", [], [Sym_NoGradient]> {
  let summary = "index of the largest element over axis 1";
  let description = [{
    `argmax(data, axis=1)`.
      * rank: `data` has at least 2 axes.
      * output-shape: the extents of `data` without axis 1.

    ```mlir
    %y = sym.argmax_channel %x : (tensor<8x5x3xf32>) -> tensor<8x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data);
}

def Sym_SoftminOp : Sym_Composed<"softmin", "softmin"> {
  let summary = "exp(-x) / sum(exp(-x)) over an axis";
  let description = [{
    `softmax(-data)`, with its attributes.
      * axis: `axis` is an axis of `data`.
      * length-shape: `length` has the extents of `data` without `axis`.
      * same-shape: `output` has the shape of `data`.

    ```mlir
    %y = sym.softmin %x : (tensor<8x5xf32>) -> tensor<8x5xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Optional<Sym_Tensor>:$length, Sym_Integer<-1>:$axis,
                       OptionalAttr<F64Attr>:$temperature, OptionalAttr<Sym_DType>:$dtype,
                       Sym_Flag<>:$use_length);
  let inputConditions = ["length: use_length=true"];
}

//===---- normalisation -----------------------------------------------------------------------===//

def Sym_L2NormalizationOp : Sym_Composed<"l2_normalization", "L2Normalization"> {
  let fileOutputs = 2;
  let summary = "x / sqrt(sum(x * x) + eps)";
  let description = [{
    The sum is over all axes but the first (`mode` instance), over axis 1 (channel), or over all axes
    from the third on (spatial).
      * rank: `data` has at least 2 axes; for spatial at least 3.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.l2_normalization %x : (tensor<8x5xf32>) -> tensor<8x5xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Float<"1e-10">:$eps,
                       Sym_DefaultChoice<"instance", ["instance", "channel", "spatial"]>:$mode);
}

def Sym_InstanceNormOp : Sym_Composed<"instance_norm", "InstanceNorm"> {
  let summary = "each channel of each sample normalised";
  let description = [{
    `gamma * (x - mean) / sqrt(variance + eps) + beta` for `data` `[N, C, extents...]`, with mean and
    variance over the extents, in training and otherwise.
      * rank: `data` has at least 3 axes.
      * parameter-shape: `gamma` and `beta` are `[C]`.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.instance_norm %x, %g, %b
       : (tensor<2x3x8xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x8xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Parameter:$gamma, Sym_Parameter:$beta,
                       Sym_Float<"1e-3">:$eps);
}

def Sym_DivSqrtDimOp
    : Sym_Composed<"div_sqrt_dim", "_contrib_div_sqrt_dim", ["contrib_div_sqrt_dim"]> {
  let summary = "data divided by the root of its last extent";
  let description = [{
    As attention scales its queries.
      * rank: `data` has at least 1 axis.
      * same-shape: `output` has the shape and type of `data`, a float.

    ```mlir
    %y = sym.div_sqrt_dim %x : (tensor<8x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data);
}

def Sym_SoftmaxActivationOp : Sym_Composed<"softmax_activation", "SoftmaxActivation"> {
  let summary = "softmax of rows or of channels";
  let description = [{
    Softmax over all axes but the first (`mode` instance), or over axis 1 (channel).
      * rank: `data` has at least 2 axes.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.softmax_activation %x : (tensor<8x5xf32>) -> tensor<8x5xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data,
                       Sym_DefaultChoice<"instance", ["instance", "channel"]>:$mode);
}

//===---- rectifiers --------------------------------------------------------------------------===//

def Sym_LeakyReluOp : Sym_Composed<"leaky_relu", "LeakyReLU"> {
  let summary = "rectifiers: x above 0, else a smaller slope";
  let description = [{
    For x <= 0, by `act_type`: leaky `slope * x`, prelu `gamma * x`, elu `slope * (exp(x) - 1)`. For
    all x: selu is elu of slope 1.6732632423543772 times 1.0507009873554805; gelu is `x / 2 * (1 +
    erf(x / sqrt(2)))`. gamma is a parameter, of one element or one for each index of axis 1. rrelu
    is leaky with a random slope for each element, between `lower_bound` and `upper_bound`, in
    training, and with their mean otherwise.
      * bounds: of rrelu, `lower_bound` is not above `upper_bound`.
      * gamma-shape: `gamma` is `[1]` or the extent of axis 1 of `data` (of axis 0 where that is the
        only one); prelu has it, the others do not.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.leaky_relu %x {act_type = "elu"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Optional<Sym_Parameter>:$gamma,
                       Sym_DefaultChoice<"leaky", ["leaky", "prelu", "elu", "selu", "gelu",
                           "rrelu"]>:$act_type,
                       Sym_Float<"0.25">:$slope, Sym_Float<"0.125">:$lower_bound,
                       Sym_Float<"0.334">:$upper_bound);
  let inputConditions = ["gamma: act_type=prelu"];
}

//===---- products ----------------------------------------------------------------------------===//

def Sym_LinalgGemm2Op : Sym_Composed<"linalg_gemm2", "linalg_gemm2", ["_linalg_gemm2"]> {
  let summary = "alpha times the products of matrices";
  let description = [{
    `alpha * op(A) * op(B)` for each pair of matrices in the last two axes; op transposes if its
    flag is set.
      * rank: `A` and `B` have one rank, at least 2; leading extents are equal.
      * inner: the columns of op(A) are as many as the rows of op(B).
      * axis: -2; matrices elsewhere are not built.

    ```mlir
    %y = sym.linalg_gemm2 %a, %b {alpha = 2.0}
       : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$A, Sym_Tensor:$B, Sym_Flag<>:$transpose_a,
                       Sym_Flag<>:$transpose_b, Sym_Float<"1.0">:$alpha, Sym_Integer<-2>:$axis);
}

def Sym_LinalgGemmOp : Sym_Composed<"linalg_gemm", "linalg_gemm", ["_linalg_gemm"]> {
  let summary = "alpha times the products of matrices, plus beta times a third matrix";
  let description = [{
    `alpha * op(A) * op(B) + beta * C`; see linalg_gemm2.
      * rank: `A` and `B` have one rank, at least 2; leading extents are equal.
      * inner: the columns of op(A) are as many as the rows of op(B).
      * same-shape: `C` and `output` have the shape of the product.
      * axis: -2; matrices elsewhere are not built.

    ```mlir
    %y = sym.linalg_gemm %a, %b, %c {beta = 0.5}
       : (tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$A, Sym_Tensor:$B, Sym_Tensor:$C, Sym_Flag<>:$transpose_a,
                       Sym_Flag<>:$transpose_b, Sym_Float<"1.0">:$alpha, Sym_Float<"1.0">:$beta,
                       Sym_Integer<-2>:$axis);
}

def Sym_EinsumOp : Sym_Composed<"einsum", "einsum", ["_npi_einsum"]> {
  let fileName = "_npi_einsum";
  let countAttribute = "num_args";
  let summary = "Einstein summation over one or two operands";
  let description = [{
    NumPy's einsum of one or two operands, with `->` in `subscripts`: one letter per axis, equal
    letters for axes with a common index; letters that the result lacks are summed over. `optimize`
    is ignored.
      * subscripts: letters only; each operand and the result name a letter once; the result's
        letters are among the operands'.
      * count: one or two operands, as many as `subscripts` has.
      * extents: axes of one letter have one extent.

    ```mlir
    %y = sym.einsum %a, %b {subscripts = "bij,bkj->bik"}
       : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
    ```
  }];
  let arguments = (ins Variadic<Sym_Tensor>:$args, StrAttr:$subscripts, Sym_Integer<0>:$optimize);
}

//===---- elements by index -------------------------------------------------------------------===//

def Sym_BatchTakeOp : Sym_Composed<"batch_take", "batch_take"> {
  let summary = "one element of each row";
  let description = [{
    `pick(a, indices, axis=1)`: `output[i] = a[i, indices[i]]`, with indices as there.
      * rank: `a` has 2 axes, `indices` one.
      * rows: `indices` and `output` have as many elements as `a` has rows.

    ```mlir
    %y = sym.batch_take %a, %i : (tensor<8x5xf32>, tensor<8xi32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$a, Sym_Tensor:$indices);
}

def Sym_GatherNdOp : Sym_Composed<"gather_nd", "gather_nd"> {
  let summary = "slices of data, selected by several indices";
  let description = [{
    With `indices` `[M, ...]`: `output[i..., rest...] = data[indices[0, i...], ..., indices[M-1,
    i...], rest...]`. An index outside of its axis is moved to the nearest valid one and counted
    (W0703); an input value that is outside of all axes is refused when it is set. Fractions are cut
    off. The gradients of an element that is selected twice are added.
      * depth: M is at least 1, at most the rank of `data`.
      * output-shape: the extents of `indices` without the first, then those of `data` without the
        first M; without any, `[1]`.

    ```mlir
    %y = sym.gather_nd %x, %i : (tensor<5x4x3xf32>, tensor<2x7xi32>) -> tensor<7x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Tensor:$indices);
}

def Sym_ScatterNdOp : Sym_Composed<"scatter_nd", "scatter_nd"> {
  let summary = "a tensor of zeros with data added at several indices";
  let description = [{
    The inverse of gather_nd: `output[indices[0, i...], ..., indices[M-1, i...], rest...] =
    data[i..., rest...]`. Indices outside of their axis are treated as in gather_nd. Values with
    equal indices are added. Computed as a product with a one-hot row for each index.
      * depth: M is at least 1, at most the length of `shape`.
      * data-shape: `data` has the extents of `indices` without the first, then those of `shape` without
        the first M.
      * shape: `output` has the extents of `shape`, at least 1 each, and the type of `data`, a float.

    ```mlir
    %y = sym.scatter_nd %x, %i {shape = array<i64: 5, 4, 3>}
       : (tensor<7x3xf32>, tensor<2x7xi32>) -> tensor<5x4x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Tensor:$indices, Sym_Tuple:$shape);
}

def Sym_DiagOp : Sym_Composed<"diag", "diag"> {
  let summary = "the diagonal of a matrix, or a matrix with a given diagonal";
  let description = [{
    For a vector: the square matrix with the vector on diagonal `k` and 0 elsewhere. For more axes:
    the elements of diagonal `k` of `axis1` and `axis2`, which become the last axis. Diagonal `k`
    begins `k` columns to the right, or `-k` rows down.
      * axes: `axis1` and `axis2` are two axes of `data`.
      * diagonal: has at least one element.

    ```mlir
    %y = sym.diag %x : (tensor<3x5xf32>) -> tensor<3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Integer<0>:$k, Sym_Integer<0>:$axis1,
                       Sym_Integer<1>:$axis2);
}

//===---- running sums ------------------------------------------------------------------------===//

def Sym_CumsumOp : Sym_Composed<"cumsum", "cumsum", ["_np_cumsum"]> {
  let summary = "cumulative sums";
  let description = [{
    Sums along `axis`; without it, of the tensor read as one row. Computed by doubling: in round r
    each element adds the one 2^r before it, so a sum of n elements is rounded log2(n) times.
      * axis: `axis` is an axis of `a`.
      * output-shape: that of `a`; without `axis`, its elements as a vector. Of type `dtype` where
        given.

    ```mlir
    %y = sym.cumsum %x {axis = 1 : i64} : (tensor<8x5xf32>) -> tensor<8x5xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$a, OptionalAttr<I64Attr>:$axis, OptionalAttr<Sym_DType>:$dtype);
}

#endif // LSTMC_IR_SYM_COMPOSEDOPS
