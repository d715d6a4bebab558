// Loss heads: the ops at which training starts.

#ifndef LSTMC_IR_SYM_LOSSOPS
#define LSTMC_IR_SYM_LOSSOPS

include "ir/sym/SymBase.td"

class Sym_Head<string mnemonic, string mxnet, list<Trait> traits = [Sym_Kernel, Sym_Flops]>
    : Sym_Op<mnemonic, mxnet, !listconcat(traits, [Sym_Gradient, Sym_Loss])> {
  let results = (outs Sym_Tensor:$output);
}

def Sym_SoftmaxOutputOp : Sym_Head<"softmax_output", "SoftmaxOutput"> {
  let difference = "`out_grad` is refused. Labels out of range are refused in data (E0604); MXNet ignores them.";
  let mxnetAliases = ["Softmax"];
  let summary = "softmax, whose gradient is that of the cross entropy with the label";
  let description = [{
    Softmax over all axes but the first, taken as one; with `preserve_shape` over the last axis;
    with `multi_output`, which takes precedence, over axis 1. The incoming gradient is ignored. The
    gradient is p - onehot(label) times `grad_scale`, divided by the number of labels
    (`normalization` batch) or of labels other than `ignore_label` (valid); with `use_ignore` it is
    0 for `ignore_label`. A label with the shape of `data` holds probabilities.
      * rank: `data` has at least 2 axes.
      * label-shape: the extents of `data` without the class axis (one label per sample with neither
        flag), the shape of `data`, or with `multi_output` `[n, positions]` or `[n, 1, ...]`.
      * out-grad: false.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %p = sym.softmax_output %x, %l {normalization = "valid", preserve_shape = true}
       : (tensor<64x32x65xf32>, tensor<64x32xi32>) -> tensor<64x32x65xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Label:$label, Sym_Float<"1.0">:$grad_scale,
                       Sym_Float<"-1.0">:$ignore_label,
                   Sym_Flag<>:$multi_output, Sym_Flag<>:$use_ignore, Sym_Flag<>:$preserve_shape,
                   Sym_DefaultChoice<"null", ["null", "batch", "valid"]>:$normalization,
                   Sym_Flag<>:$out_grad,
                   Sym_Float<"0.0">:$smooth_alpha);
  let extraClassDeclaration = [{
    /// Whether the label holds a probability for each class.
    bool holdsProbabilities();
  }];
}

/// Forward and gradient are both element-wise.
class Sym_RegressionHead<string mnemonic, string mxnet, string forward, string backward>
    : Sym_Head<mnemonic, mxnet, [Sym_Scalar, Sym_Flops]> {
  let summary = forward # ", whose gradient is " # backward;
  let description = [{
    The gradient is multiplied by `grad_scale` and divided by the number of elements in a sample of
    the label.
      * label-shape: `label` has the shape of `data`, `[n]` if `data` is `[n, 1]`, or another shape
        with as many elements, which are matched in row-major order.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.}] # mnemonic # [{ %x, %l : (tensor<32x1xf32>, tensor<32x1xf32>) -> tensor<32x1xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Label:$label, Sym_Float<"1.0">:$grad_scale);
}
def Sym_LinearRegressionOutputOp
    : Sym_RegressionHead<"linear_regression_output", "LinearRegressionOutput", "the identity",
        "the difference from the label">;
def Sym_MaeRegressionOutputOp
    : Sym_RegressionHead<"mae_regression_output", "MAERegressionOutput", "the identity",
        "the sign of the difference"> {
  let difference = "Where output and label are equal the gradient is 0; in MXNet it is -1.";
}
def Sym_LogisticRegressionOutputOp
    : Sym_RegressionHead<"logistic_regression_output", "LogisticRegressionOutput", "sigmoid",
        "the difference from the label">;

def Sym_SvmOutputOp : Sym_Head<"svm_output", "SVMOutput", [Sym_Scalar, Sym_Flops]> {
  let difference = "`data` has two axes. Only the loss is measured: `accuracy` is of a SoftmaxOutput.";
  let summary = "the identity, with the gradient of a hinge loss, one class against the others";
  let description = [{
    With t = 1 for the class of the label and -1 for the others, the loss of a row is the sum over
    classes of max(0, margin - t * x), squared unless `use_linear`, times
    `regularization_coefficient`.
      * rank: `data` is `[n, classes]`.
      * label-shape: `label` is `[n]`.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.svm_output %x, %l : (tensor<32x10xf32>, tensor<32xf32>) -> tensor<32x10xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Label:$label, Sym_Float<"1.0">:$margin,
                       Sym_Float<"1.0">:$regularization_coefficient, Sym_Flag<>:$use_linear);
  let extraClassDeclaration = [{
    /// t and max(0, margin - t * x), in the shape of the data.
    ::std::pair<::mlir::Value, ::mlir::Value> signsAndShortfalls(::mlir::OpBuilder &builder);
  }];
}

def Sym_MakeLossOp : Sym_Head<"make_loss", "MakeLoss", [Sym_Scalar, Sym_Flops]> {
  let mxnetAliases = ["make_loss"];
  let fileAliasOutputs = ["make_loss=loss"];
  let summary = "the identity, whose gradient is a constant";
  let description = [{
    The gradient is `grad_scale`, divided by the extent of axis 0 (`normalization` batch) or by the
    number of elements above `valid_thresh` (valid), which counts as at least 1.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.make_loss %x : (tensor<32xf32>) -> tensor<32xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Float<"1.0">:$grad_scale,
                       Sym_Float<"0.0">:$valid_thresh,
                   Sym_DefaultChoice<"null", ["null", "batch", "valid"]>:$normalization);
}

def Sym_SoftmaxCrossEntropyOp : Sym_Head<"softmax_cross_entropy", "softmax_cross_entropy"> {
  let summary = "-log softmax(data)[label], summed over rows";
  let description = [{
    The gradient is p - onehot(label) times the incoming gradient, which is 1 if the net returns the
    result.
      * rank: `data` is `[n, classes]`.
      * label-shape: `label` is `[n]`.
      * output-shape: `output` is `[1]`.

    ```mlir
    %y = sym.softmax_cross_entropy %x, %l : (tensor<32x65xf32>, tensor<32xi32>) -> tensor<1xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Label:$label);
}

#endif // LSTMC_IR_SYM_LOSSOPS
