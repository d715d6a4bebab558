// Ops on windows of images and sequences [N, C, extents...]: padding, convolution, pooling. The pass expand-shorthands replaces them by
// slices, products and reductions (rules/Convolution.cpp), which have kernels, gradients and rules for the batch.

#ifndef LSTMC_IR_SYM_CONVOLUTIONOPS
#define LSTMC_IR_SYM_CONVOLUTIONOPS

include "ir/sym/ComposedOp.td"

def Sym_ChannelsFirst : Sym_DefaultChoice<"None", ["None", "NCW", "NCHW", "NCDHW"]>;

def Sym_PadOp : Sym_Composed<"pad", "Pad", ["pad"]> {
  let summary = "data with padding";
  let description = [{
    `pad_width` has two numbers for each axis: what is added before and after. `mode` constant adds
    `constant_value`, edge the nearest element, reflect the elements beside the edge in reverse
    order.
      * pad-width: twice as many numbers as `data` has axes, none below 0.
      * reflect: what is added on a side is less than the extent of its axis.
      * extents: an extent of `output` is that of `data` plus its two numbers.

    ```mlir
    %y = sym.pad %x {mode = "edge", pad_width = array<i64: 0, 0, 1, 2>}
       : (tensor<2x3xf32>) -> tensor<2x6xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Choice<["constant", "edge", "reflect"]>:$mode,
                       Sym_Tuple:$pad_width, Sym_Float<"0.0">:$constant_value);
}

def Sym_ConvolutionOp : Sym_Composed<"convolution", "Convolution", ["convolution", "Convolution_v1"]> {
  let summary = "products of a kernel with every window of data";
  let description = [{
    `data` is `[N, C, extents...]` with one to three extents, which `kernel` counts. Element
    `[n, f, p...]` of `output` is the sum over the channels of f's group and the positions of the
    kernel, in this order and both ascending, of `weight[f, c, k...]` times
    `data[n, c, p * stride - pad + k * dilate]`, plus `bias[f]`; outside of `data` are zeros. The
    product is that of FullyConnected over the rows `[n, p...]`.
      * kernel: one to three extents, at least 1; `stride`, `dilate` and `pad` are empty (1, 1, 0) or
        as long.
      * groups: `num_group` divides C and `num_filter`.
      * weight-shape: `weight` is `[num_filter, C / num_group, kernel...]`.
      * bias-shape: `bias` is `[num_filter]`; with `no_bias` there is no bias.
      * output-shape: `output` is `[N, num_filter, ...]`, each extent
        floor((extent + 2 pad - dilate (kernel - 1) - 1) / stride) + 1, which is at least 1.
      * type: all have one float type.

    ```mlir
    %y = sym.convolution %x, %w, %b {kernel = array<i64: 3, 3>, num_filter = 8 : i64}
       : (tensor<2x4x6x5xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>) -> tensor<2x8x4x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Parameter:$weight, Optional<Sym_Parameter>:$bias,
                       Sym_Tuple:$kernel, Sym_DefaultTuple:$stride, Sym_DefaultTuple:$dilate,
                       Sym_DefaultTuple:$pad, I64Attr:$num_filter, Sym_Integer<1>:$num_group,
                       Sym_Integer<1024>:$workspace, Sym_Flag<>:$no_bias,
                       Sym_DefaultChoice<"None", ["None", "off", "limited_workspace",
                           "fastest"]>:$cudnn_tune,
                       Sym_Flag<>:$cudnn_off, Sym_ChannelsFirst:$layout);
  let inputConditions = ["bias: no_bias=false"];
}

def Sym_PoolingOp : Sym_Composed<"pooling", "Pooling", ["pooling", "Pooling_v1"]> {
  let summary = "the maximum, mean or sum of every window of data";
  let description = [{
    `data` is `[N, C, extents...]` with one to three extents. With `global_pool` the window is all of
    them, and `kernel`, `stride` and `pad` are ignored. Outside of `data` are numbers that no maximum
    finds, and zeros for sums; a mean counts those of `pad` unless `count_include_pad` is False. The
    convention full rounds the number of windows up, so that the last one may reach beyond `pad`,
    where nothing is counted. Of equal maxima the first gets the gradient.
      * kernel: as many extents as `data` has after C, at least 1; `stride` and `pad` are empty (1,
        0) or as long, and a pad is smaller than its kernel.
      * output-shape: `output` is `[N, C, ...]`, each extent (extent + 2 pad - kernel) / stride,
        rounded down (valid) or up (full), plus 1, which is at least 1; 1 with `global_pool`.
      * type: `output` has the type of `data`, a float.

    ```mlir
    %y = sym.pooling %x {kernel = array<i64: 2, 2>, pool_type = "avg", stride = array<i64: 2, 2>}
       : (tensor<2x4x6x6xf32>) -> tensor<2x4x3x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_DefaultTuple:$kernel,
                       Sym_DefaultChoice<"max", ["max", "avg", "sum"]>:$pool_type,
                       Sym_Flag<>:$global_pool, Sym_Flag<>:$cudnn_off,
                       Sym_DefaultChoice<"valid", ["valid", "full"]>:$pooling_convention,
                       Sym_DefaultTuple:$stride, Sym_DefaultTuple:$pad,
                       Sym_Flag<"true">:$count_include_pad, Sym_ChannelsFirst:$layout);
}

#endif // LSTMC_IR_SYM_CONVOLUTIONOPS
