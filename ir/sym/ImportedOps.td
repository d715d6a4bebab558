// Ops that networks of MXNet have and that no other file of the compiler names: the pass expand-shorthands writes them out by
// convolutions, movements and reductions (rules/Imported.cpp). Their header is ImportedOps.h, not SymOps.h.

#ifndef LSTMC_IR_SYM_IMPORTEDOPS
#define LSTMC_IR_SYM_IMPORTEDOPS

include "ir/sym/ComposedOp.td"

def Sym_DeconvolutionOp : Sym_Composed<"deconvolution", "Deconvolution", ["deconvolution"]> {
  let summary = "a convolution backwards: every element of data times a kernel, added up";
  let description = [{
    `data` is `[N, C, extents...]` with one to three extents, which `kernel` counts. Element
    `[n, f, p...]` of `output` is the sum over the channels of f's group and the positions k of the
    kernel and i of `data` for which `i * stride - pad + k * dilate` is p, of `weight[c, f, k...]`
    times `data[n, c, i...]`, plus `bias[f]`. It is computed as a convolution of `data` with
    `stride` - 1 zeros between its elements, and is the gradient of a convolution by its data.
      * kernel: one to three extents, at least 1; `stride`, `dilate`, `pad`, `adj` and
        `target_shape` are empty or as long.
      * adj: at least 0 and below the stride: elements that are added at the end.
      * groups: `num_group` divides C and `num_filter`.
      * weight-shape: `weight` is `[C, num_filter / num_group, kernel...]`.
      * bias-shape: `bias` is `[num_filter]`; with `no_bias`, the default, there is none.
      * output-shape: `output` is `[N, num_filter, ...]`, each extent
        stride (extent - 1) + dilate (kernel - 1) + 1 - 2 pad + adj, at least 1.
      * target: with a `target_shape` other than 0 that is the extents of `output`, and pad and adj
        follow from it; none is larger than without padding.
      * type: all have one float type.

    ```mlir
    %y = sym.deconvolution %x, %w {kernel = array<i64: 4>, num_filter = 3 : i64, pad = array<i64: 1>, stride = array<i64: 2>}
       : (tensor<2x5x6xf32>, tensor<5x3x4xf32>) -> tensor<2x3x12xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Parameter:$weight, Optional<Sym_Parameter>:$bias,
                       Sym_Tuple:$kernel, Sym_DefaultTuple:$stride, Sym_DefaultTuple:$dilate,
                       Sym_DefaultTuple:$pad, Sym_DefaultTuple:$adj,
                       Sym_DefaultTuple:$target_shape, I64Attr:$num_filter,
                       Sym_Integer<1>:$num_group, Sym_Integer<512>:$workspace,
                       Sym_Flag<"true">:$no_bias,
                       Sym_DefaultChoice<"None", ["None", "off", "limited_workspace",
                           "fastest"]>:$cudnn_tune,
                       Sym_Flag<>:$cudnn_off,
                       Sym_DefaultChoice<"None", ["None", "NCW", "NCHW", "NCDHW"]>:$layout);
  let inputConditions = ["bias: no_bias=false"];
}

def Sym_UpSamplingOp : Sym_Composed<"up_sampling", "UpSampling"> {
  let countAttribute = "num_args";
  let summary = "images with every element repeated";
  let description = [{
    Each input is `[N, C, height, width]`. The extents of the first one are multiplied by `scale`,
    those of others so that they become as large. `multi_input_mode` concat joins the channels, sum
    adds the images. Only `sample_type` nearest.
      * count: at least one input, one type, a float.
      * rank: 4 axes each.
      * scale: at least 1, and the extents of `output` are multiples of those of every input.
      * sum: all have as many channels.

    ```mlir
    %y = sym.up_sampling %a, %b {sample_type = "nearest", scale = 2 : i64}
       : (tensor<1x2x3x4xf32>, tensor<1x1x6x8xf32>) -> tensor<1x3x6x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Sym_Tensor>:$args, I64Attr:$scale, Sym_Integer<0>:$num_filter,
                       Sym_Choice<["nearest", "bilinear"]>:$sample_type,
                       Sym_DefaultChoice<"concat", ["concat", "sum"]>:$multi_input_mode,
                       Sym_Integer<512>:$workspace);
  let difference = "`sample_type` bilinear is refused: a Deconvolution with that kernel does it";
}

def Sym_LRNOp : Sym_Composed<"lrn", "LRN"> {
  let fileOutputs = 2;
  let summary = "each element divided by the size of those of the channels beside it";
  let description = [{
    `x / (knorm + alpha / nsize * s) ^ beta` for `data` `[N, C, ...]`, where s is the sum of the
    squares of `nsize` channels with that of x in the middle; those outside of `data` count 0.
      * rank: `data` has at least 2 axes.
      * nsize: an odd number.
      * same-shape: `output` has the shape and type of `data`, a float.

    ```mlir
    %y = sym.lrn %x {nsize = 3 : i64} : (tensor<2x5x4x4xf32>) -> tensor<2x5x4x4xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Float<"1e-4">:$alpha, Sym_Float<"0.75">:$beta,
                       Sym_Float<"2.0">:$knorm, I64Attr:$nsize);
}

def Sym_GroupNormOp
    : Sym_Op<"group_norm", "GroupNorm",
          [DeclareOpInterfaceMethods<Sym_ShorthandRule, ["writtenOutAll"]>]> {
  let fileOutputs = 3;
  let summary = "each group of channels of each sample normalised";
  let description = [{
    `gamma * (x - mean) / sqrt(variance + eps) + beta` for `data` `[N, C, ...]`, with mean and
    variance over the C / `num_groups` channels of a group and all extents, in training and
    otherwise. With `output_mean_var` there are three outputs: `output`, the mean and
    sqrt(variance + eps), through which no gradient flows.
      * rank: `data` has at least 3 axes.
      * groups: `num_groups` divides C.
      * parameter-shape: `gamma` and `beta` have a number for each group.
      * same-shape: `output` has the shape and type of `data`, a float; `mean` and `std` are
        `[N, num_groups]`.

    ```mlir
    %y, %mean, %std = sym.group_norm %x, %g, %b {num_groups = 2 : i64}
       : (tensor<2x6x8xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x6x8xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Parameter:$gamma, Sym_Parameter:$beta,
                       Sym_Integer<1>:$num_groups, Sym_Float<"1e-5">:$eps,
                       Sym_Flag<>:$output_mean_var);
  let results = (outs Sym_Tensor:$output, Sym_Tensor:$mean, Sym_Tensor:$std);
  let visibleOutputs = 1;
  let outputNames = ["output", "mean", "std"];
  let extraClassDefinition = [{
    ::lstmc::sym::BatchPosition $cppClass::batchOfResult(
        unsigned, ::llvm::ArrayRef<::lstmc::sym::BatchPosition>) {
      return ::lstmc::sym::BatchPosition::none();
    }
  }];
}

def Sym_SplitV2Op
    : Sym_Op<"split_v2", "_split_v2",
          [DeclareOpInterfaceMethods<Sym_ShorthandRule, ["writtenOutAll"]>, Sym_ResultCount]> {
  let fileRequires = ["indices"];
  let summary = "parts of an axis that begin at given places";
  let description = [{
    Part i has the elements from `indices[i]` to before the next index, the last one those to the
    end. With `sections` the axis is cut into so many equal parts, and `indices` say nothing.
      * axis: `axis` is an axis of `data`.
      * sections: not below 0, and divides the extent.
      * indices: ascending from 0 on, and below the extent; one at least without `sections`.
      * squeeze: with `squeeze_axis`, each part has extent 1 on that axis, and the axis is removed.
      * parts: a result for each part, with the extents of `data` but for that axis.

    ```mlir
    %a, %b = sym.split_v2 %x {indices = array<i64: 0, 2>}
       : (tensor<2x6xf32>) -> (tensor<2x2xf32>, tensor<2x4xf32>)
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_DefaultTuple:$indices, Sym_Integer<1>:$axis,
                       Sym_Flag<>:$squeeze_axis, Sym_Integer<0>:$sections);
  let results = (outs Variadic<Sym_Tensor>:$outputs);
  let extraClassDefinition = [{
    ::lstmc::sym::BatchPosition $cppClass::batchOfResult(
        unsigned, ::llvm::ArrayRef<::lstmc::sym::BatchPosition>) {
      return ::lstmc::sym::BatchPosition::none();
    }
  }];
}

#endif // LSTMC_IR_SYM_IMPORTEDOPS
