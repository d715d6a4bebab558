// Ops with states of their own or over steps that the pass expand-shorthands writes out by ops that have kernels. Few files name
// them, so they have a header of their own (WrittenOps.h).

#ifndef LSTMC_IR_SYM_WRITTENOPS
#define LSTMC_IR_SYM_WRITTENOPS

include "ir/sym/ComposedOp.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===---- auxiliary states ----------------------------------------------------------------------===//

def Sym_AuxiliaryRule : OpInterface<"AuxiliaryRule"> {
  let cppNamespace = "::lstmc::sym";
  let description = [{
    An op with operands that are auxiliary states: Variables that the op itself renews in training
    (sym.moving_average), and that have no gradient. Frontends give them the role auxiliary.
  }];
  let methods = [
    StaticInterfaceMethod<"The initialiser of the auxiliary state that the input of this name is; empty for other inputs.",
      "::llvm::StringRef", "auxiliaryStart", (ins "::llvm::StringRef":$input)>,
  ];
}

def Sym_BatchNormOp
    : Sym_Op<"batch_norm", "BatchNorm",
          [DeclareOpInterfaceMethods<Sym_ShorthandRule, ["writtenOutAll"]>,
           DeclareOpInterfaceMethods<Sym_AuxiliaryRule>]> {
  let mxnetAliases = ["BatchNorm_v1"];
  let fileOutputs = 3;
  let summary = "each channel normalised over the batch";
  let description = [{
    `gamma * (x - mean) / sqrt(variance + eps) + beta` for each index of `axis`. In training, mean and
    variance (biased) are those of the whole batch, over all other axes, and each update sets
    `moving_mean` and `moving_var` to `momentum` times themselves plus 1 - `momentum` times these. In
    all other entries, and with `use_global_stats`, mean and variance are `moving_mean` and
    `moving_var`. With `fix_gamma` gamma is 1, whatever its value. With `output_mean_var` there are
    three outputs: `output`, the mean and 1 / sqrt(variance + eps), through which no gradient flows.
      * axis: `axis` is an axis of `data`.
      * parameter-shape: `gamma`, `beta`, `moving_mean` and `moving_var` are `[extent of axis]`; the
        last two are Variables.
      * same-shape: `output` has the shape and type of `data`, a float; `mean` and `inverse_std` are
        `[extent of axis]`.

    ```mlir
    %y, %mean, %inverse_std = sym.batch_norm %x, %g, %b, %mm, %mv
       : (tensor<2x3x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x8xf32>, tensor<3xf32>, tensor<3xf32>)
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Parameter:$gamma, Sym_Parameter:$beta,
                       Sym_Parameter:$moving_mean, Sym_Parameter:$moving_var,
                       Sym_Float<"1e-3">:$eps, Sym_Float<"0.9">:$momentum, Sym_Flag<"true">:$fix_gamma,
                       Sym_Flag<>:$use_global_stats, Sym_Flag<>:$output_mean_var, Sym_Integer<1>:$axis,
                       Sym_Flag<>:$cudnn_off);
  let results = (outs Sym_Tensor:$output, Sym_Tensor:$mean, Sym_Tensor:$inverse_std);
  let visibleOutputs = 1;
  let outputNames = ["output", "mean", "var"];
  let difference = "the statistics are those of the whole batch, not of each device's part; the moving averages are renewed by an update, not by a backward without one";
  let extraClassDefinition = [{
    ::lstmc::sym::BatchPosition $cppClass::batchOfResult(
        unsigned, ::llvm::ArrayRef<::lstmc::sym::BatchPosition>) {
      return ::lstmc::sym::BatchPosition::none();
    }
  }];
}

def Sym_ByModeOp : Op<Sym_Dialect, "by_mode", [Pure, AllTypesMatch<["training", "otherwise", "value"]>,
    DeclareOpInterfaceMethods<Sym_BatchRule>]> {
  let summary = "one value in the entry that trains, another one in the others";
  let description = [{
    The pass make-entries replaces it by one of its operands.
    ```mlir
    %m = sym.by_mode %batch, %moving : tensor<3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$training, Sym_Tensor:$otherwise);
  let results = (outs Sym_Tensor:$value);
  let assemblyFormat = "$training `,` $otherwise attr-dict `:` type($value)";
}

def Sym_MovingAverageOp
    : Op<Sym_Dialect, "moving_average", [AllTypesMatch<["state", "value"]>, MemoryEffects<[MemWrite]>]> {
  let summary = "renews an auxiliary state in training";
  let description = [{
    Its new value is `momentum` times its value plus 1 - `momentum` times `value`. The pass
    make-entries makes it one `sym.write` in the entry that trains; where several ops renew one state,
    each begins with the value of the one before. Other entries do without.
    ```mlir
    sym.moving_average %moving_mean, %mean {momentum = 9.0e-01} : tensor<3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$state, Sym_Tensor:$value, F64Attr:$momentum);
  let assemblyFormat = "$state `,` $value attr-dict `:` type($value)";
}

//===---- alignments ----------------------------------------------------------------------------===//

def Sym_CTCLossOp
    : Sym_Composed<"ctc_loss", "CTCLoss", ["ctc_loss", "_contrib_CTCLoss", "_contrib_ctc_loss"],
          [AttrSizedOperandSegments]> {
  let fileOutputs = 2;
  let summary = "connectionist temporal classification: -log of the probability of a label";
  let description = [{
    `data` `[T, N, C]` are scores of C classes at each step, before softmax. The probability of a
    label is the sum over all paths of classes through the steps that become the label when equal
    neighbours are merged and blanks are removed. The blank is class 0 (`blank_label` first) or
    class C - 1 (last). A row of `label` `[N, L]` has its classes from the left: `label_lengths` of
    them, with `use_label_lengths`, else those before the first 0 (first) or the first number below
    0 (last). `data_lengths` are the steps that count, with `use_data_lengths`. A label that no path
    becomes has loss 0 and no gradient. Classes out of range are moved to the nearest one. Computed in
    float64 from the logarithm of softmax on.
      * rank: `data` has 3 axes, `label` 2.
      * rows: `label`, `data_lengths` and `label_lengths` have N rows, and `output` is `[N]`.
      * classes: at least 2.
      * type: `output` has the type of `data`, a float.

    ```mlir
    %y = sym.ctc_loss %x, %l : (tensor<6x2x5xf32>, tensor<2x3xf32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Label:$label, Optional<Sym_Tensor>:$data_lengths,
                       Optional<Sym_Tensor>:$label_lengths, Sym_Flag<>:$use_data_lengths,
                       Sym_Flag<>:$use_label_lengths,
                       Sym_DefaultChoice<"first", ["first", "last"]>:$blank_label);
  let assemblyFormat = [{
    $data `,` $label (`steps` $data_lengths^)? (`labels` $label_lengths^)? attr-dict `:` functional-type(operands, results)
  }];
  let inputConditions = ["data_lengths: use_data_lengths=true",
                         "label_lengths: use_label_lengths=true"];
}

#endif // LSTMC_IR_SYM_WRITTENOPS
