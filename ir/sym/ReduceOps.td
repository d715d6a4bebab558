// Ops that reduce many numbers to one: 16 lanes, then the tree over lanes (docs/numerics.md rule
// 9).

#ifndef LSTMC_IR_SYM_REDUCEOPS
#define LSTMC_IR_SYM_REDUCEOPS

include "ir/sym/SymBase.td"

class Sym_Reduction<string mnemonic, string mxnet, string what, list<string> aliases = [],
    list<Trait> gradient = [Sym_Gradient]>
    : Sym_Op<mnemonic, mxnet, !listconcat([Sym_Kernel, Sym_Flops], gradient)> {
  let mxnetAliases = aliases;
  let summary = what # " over axes";
  let results = (outs Sym_Tensor:$output);
}

/// A reduction over several axes.
class Sym_AxesReduction<string mnemonic, string mxnet, string what, list<string> aliases = []>
    : Sym_Reduction<mnemonic, mxnet, what, aliases> {
  let difference = "Integers of up to 32 bits are reduced in float64 and saturate, where MXNet wraps.";
  let description = [{
    Reduces the axes in `axis` (with `exclude`: all others). Without `axis`, all axes, with result
    shape `[1]`. Integers of up to 32 bits are reduced in float64 and the result is converted back,
    a mean rounded towards 0. int64 is exact, except that sums and products wrap around, and a mean
    is the wrapped sum divided, rounded towards 0.
      * axis: each is an axis of `data`, and no axis is named twice.
      * output-shape: the extents of `data` without those axes; with `keepdims`, with 1 in their
        place.

    ```mlir
    %y = sym.}] # mnemonic # [{ %x {axis = array<i64: 1>} : (tensor<8x5xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, OptionalAttr<Sym_Tuple>:$axis, Sym_Flag<>:$keepdims,
                       Sym_Flag<>:$exclude);
}

def Sym_SumOp : Sym_AxesReduction<"sum", "sum", "sum", ["sum_axis"]>;
def Sym_MeanOp : Sym_AxesReduction<"mean", "mean", "mean">;
def Sym_MaxOp : Sym_AxesReduction<"max", "max", "largest element", ["max_axis"]>;
def Sym_MinOp : Sym_AxesReduction<"min", "min", "smallest element", ["min_axis"]>;
def Sym_ProdOp : Sym_AxesReduction<"prod", "prod", "product">;

def Sym_NormOp : Sym_Reduction<"norm", "norm", "norm"> {
  let description = [{
    The square root of the sum of squares, or with `ord` 1 the sum of absolute values, over the axes
    in `axis`. Without `axis`, over all axes, with result shape `[1]`.
      * ord: 1 or 2.
      * axis: each is an axis of `data`, and no axis is named twice.
      * output-shape: the extents of `data` without those axes; with `keepdims`, with 1 in their
        place.

    ```mlir
    %y = sym.norm %x {axis = array<i64: 1>} : (tensor<8x5xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Integer<2>:$ord, OptionalAttr<Sym_Tuple>:$axis,
                       Sym_Flag<>:$keepdims);
}

def Sym_ArgmaxOp
    : Sym_Reduction<"argmax", "argmax", "index of the largest element", [], [Sym_NoGradient]> {
  let description = [{
    The first one if several are equal, as a float of the type of `data`; NaN counts as larger than
    all numbers. Without `axis`, `data` is read as one row.
      * axis: `axis` is an axis of `data`.
      * output-shape: the extents of `data` without `axis`; with `keepdims`, with 1 in its place.

    ```mlir
    %y = sym.argmax %x {axis = 1 : i64} : (tensor<8x5xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, OptionalAttr<I64Attr>:$axis, Sym_Flag<>:$keepdims);
}

//===---- normalisation -----------------------------------------------------------------------===//

class Sym_SoftmaxFamily<string mnemonic, string mxnet, string what>
    : Sym_Op<mnemonic, mxnet, [Sym_Kernel, Sym_Flops, Sym_Gradient]> {
  let summary = what # " over an axis";
  let description = [{
    The maximum is subtracted first. With `use_length`, entries at or beyond the `length` of their
    row are 0 and are left out of the sum. `dtype` is the type of the result, if given; the
    computation then runs in the wider of the two types.
      * axis: `axis` is an axis of `data`.
      * length-shape: `length` has the extents of `data` without `axis`.
      * length: a length that is known while the graph is built is at most the extent of `axis`.
      * same-shape: `output` has the shape of `data`.

    ```mlir
    %y = sym.}] # mnemonic # [{ %x : (tensor<8x5xf32>) -> tensor<8x5xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Optional<Sym_Tensor>:$length, Sym_Integer<-1>:$axis,
                       OptionalAttr<F64Attr>:$temperature,
                   OptionalAttr<Sym_DType>:$dtype, Sym_Flag<>:$use_length);
  let results = (outs Sym_Tensor:$output);
  let inputConditions = ["length: use_length=true"];
}
def Sym_SoftmaxOp : Sym_SoftmaxFamily<"softmax", "softmax", "exp(x) / sum(exp(x))">;
def Sym_LogSoftmaxOp : Sym_SoftmaxFamily<"log_softmax", "log_softmax", "x - log(sum(exp(x)))">;

def Sym_LayerNormOp : Sym_Op<"layer_norm", "LayerNorm", [Sym_Kernel, Sym_Flops, Sym_Gradient]> {
  let fileOutputs = 3;
  let summary = "an axis normalised to mean 0 and variance 1, then scaled";
  let description = [{
    `(x - mean) / sqrt(variance + eps) * gamma + beta`, with the biased variance. The gradient needs
    `mean` and `rstd` = 1 / sqrt(variance + eps); users see only `output`. With `output_mean_var`
    they see three outputs: `output`, the mean and the standard deviation sqrt(variance + eps), both
    with extent 1 at `axis`. As in MXNet, gradients flow only through `output`.
      * axis: `axis` is an axis of `data`.
      * parameter-shape: `gamma` and `beta` are `[extent of axis]`.
      * same-shape: `output` has the shape and type of `data`; `mean` and `rstd` have its extents
        without `axis`, or with 1 there.

    ```mlir
    %y, %mean, %rstd = sym.layer_norm %x, %g, %b
      
          : (tensor<8x5xf32>, tensor<5xf32>, tensor<5xf32>) -> (tensor<8x5xf32>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Parameter:$gamma, Sym_Parameter:$beta,
                       Sym_Integer<-1>:$axis, Sym_Float<"1e-05">:$eps,
                   Sym_Flag<>:$output_mean_var);
  let results = (outs Sym_Tensor:$output, Sym_Tensor:$mean, Sym_Tensor:$rstd);
  let visibleOutputs = 1;
  let outputNames = ["output", "mean", "std"];
}

#endif // LSTMC_IR_SYM_REDUCEOPS
