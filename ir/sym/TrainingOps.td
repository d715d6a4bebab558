// Internal ops, created by make-entries, unpack-rnn, gradient and later passes.

#ifndef LSTMC_IR_SYM_TRAININGOPS
#define LSTMC_IR_SYM_TRAININGOPS

include "ir/sym/SymBase.td"
include "ir/sym/SymInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Sym_InternalOp<string mnemonic, list<Trait> traits = []> : Op<Sym_Dialect, mnemonic, traits>;

//===---- persistent values ------------------------------------------------------------------------===//

def Sym_ParameterOp : Sym_InternalOp<"parameter", [Symbol]> {
  let summary = "a parameter of the module, shared by all entries";
  let description = [{
    Declared once, in the order of the net; read by `sym.read`, written by `sym.write`. `init` is
    the same as in `sym.variable`; `ordinal` identifies the op for Philox, which draws its first
    value.

    ```mlir
    sym.parameter @decoder_weight : tensor<65x256xf32> {init = ["uniform", {scale = 8.0e-02} ], ordinal = 9 : i64}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Sym_Tensor>:$type, OptionalAttr<I64Attr>:$ordinal);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
}

def Sym_SlotOp : Sym_InternalOp<"slot", [Symbol]> {
  let summary = "optimizer state of a parameter; initially zero";
  let description = [{
    ```mlir
    sym.slot @decoder_weight.mean of @decoder_weight "mean" : tensor<65x256xf32>
    ```
    With `slices`, device i holds `slices[i]` elements, in order.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$parameter, StrAttr:$slot,
                   TypeAttrOf<Sym_Tensor>:$type, OptionalAttr<DenseI64ArrayAttr>:$slices);
  let assemblyFormat = "$sym_name `of` $parameter $slot `:` $type attr-dict";
}

def Sym_StateOp : Sym_InternalOp<"state", [Symbol]> {
  let summary = "a value that persists between calls; initially zero";
  let description = [{
    ```mlir
    sym.state @lstm0_begin_state_0 : tensor<1x32x256xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Sym_Tensor>:$type);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
}

def Sym_ReadOp : Sym_InternalOp<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "reads a parameter, slot or state as of the start of the call";
  let description = [{
    Returns the value from before the call, wherever the op stands, because writes take effect at
    the end of the call.
    ```mlir
    %w = sym.read @decoder_weight : tensor<65x256xf32>
    %s = sym.read @decoder_weight from 8192 : tensor<4096xf32>   // 4096 of its elements, from 8192 on
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$source, OptionalAttr<I64Attr>:$first);
  let results = (outs Sym_Tensor:$value);
  let assemblyFormat = "$source (`from` $first^)? `:` type($value) attr-dict";
}

def Sym_WriteOp : Sym_InternalOp<"write", [MemoryEffects<[MemWrite]>]> {
  let summary = "sets the value of a parameter, slot or state at the end of the call";
  let description = [{
    One write per target and device in an entry, or one per slice.
    ```mlir
    sym.write @decoder_weight, %new : tensor<65x256xf32>
    sym.write @decoder_weight from 8192, %part : tensor<4096xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$target, Sym_Tensor:$value, OptionalAttr<I64Attr>:$first);
  let assemblyFormat = "$target (`from` $first^)? `,` $value `:` type($value) attr-dict";
}

def Sym_GradientOp : Sym_InternalOp<"gradient", [MemoryEffects<[MemWrite]>]> {
  let summary = "the complete gradient of a parameter";
  let description = [{
    Created by gradient for apply-optimizer, which turns it into an update or an output.
    ```mlir
    sym.gradient @decoder_weight, %dw : tensor<65x256xf32>
    sym.gradient @decoder_weight from 8192, %slice : tensor<4096xf32>   // of a slice, left by sync-parameters
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, Sym_Tensor:$value, OptionalAttr<I64Attr>:$first);
  let assemblyFormat = "$parameter (`from` $first^)? `,` $value `:` type($value) attr-dict";
}

//===---- recurrence -------------------------------------------------------------------------------===//

def Sym_RnnLayerOp : Sym_InternalOp<"rnn_layer", [
    Pure, AttrSizedOperandSegments, AttrSizedResultSegments,
    DeclareOpInterfaceMethods<Sym_BatchRule>, DeclareOpInterfaceMethods<Sym_GradientRule>,
    DeclareOpInterfaceMethods<Sym_KernelRule>, DeclareOpInterfaceMethods<Sym_CostRule, ["flops"]>]> {
  let summary = "one recurrent layer in one direction, over all steps";
  let description = [{
    The kernel `rnn_forward` defines the result and the order of its sums. Backward needs `gates`,
    `cells` and `before`; a result that nobody uses is not stored. `chunk` (hoist-projection) is the
    number of steps whose input projection is computed at once.

    With x `[T, B, I]`, H units, G gates: w `[G*H, I]`, r `[G*H, H]`, biases `[G*H]`, h0 and c0 `[B, H]`,
    length `[B]`; y `[T, B, H]`, hN and cN `[B, H]`, gates `[T, B, G*H]`, cells and before `[T, B, H]`.

    ```mlir
    %y, %h, %c = sym.rnn_layer lstm x(%x) w(%w) r(%r) bias(%bi, %bh) state(%h0, %c0)
      : (tensor<64x32x256xf32>, ...) -> (tensor<64x32x256xf32>, tensor<32x256xf32>, tensor<32x256xf32>)
    ```
  }];
  let arguments = (ins Sym_Tensor:$x, Sym_Tensor:$w, Sym_Tensor:$r, Optional<Sym_Tensor>:$bi, Optional<Sym_Tensor>:$bh,
                   Optional<Sym_Tensor>:$h0, Optional<Sym_Tensor>:$c0, Optional<Sym_Tensor>:$length,
                   StrAttr:$mode, DefaultValuedAttr<BoolAttr, "false">:$reverse, OptionalAttr<I64Attr>:$chunk);
  let results = (outs Sym_Tensor:$y, Sym_Tensor:$hN, Optional<Sym_Tensor>:$cN, Optional<Sym_Tensor>:$gates,
                 Optional<Sym_Tensor>:$cells, Optional<Sym_Tensor>:$before);
  let hasVerifier = 1;
}

def Sym_RnnLayerGradientOp : Sym_InternalOp<"rnn_layer_gradient", [
    Pure, AttrSizedOperandSegments, AttrSizedResultSegments, DeclareOpInterfaceMethods<Sym_BatchRule>,
    DeclareOpInterfaceMethods<Sym_KernelRule>, DeclareOpInterfaceMethods<Sym_CostRule, ["flops"]>]> {
  let summary = "backward of sym.rnn_layer through time";
  let description = [{
    The kernel `rnn_backward` defines the result. `dgates` is the gradient of (W x + bi); `dhidden`
    that of (R h + bh) where the two differ (gru). The weight gradients are separate sums over these
    two.
    ```mlir
    %dg, %dx = sym.rnn_layer_gradient lstm gates(%gates) cells(%cells) y(%y) w(%w) r(%r) dy(%dy) : ...
    ```
  }];
  let arguments = (ins Sym_Tensor:$gates, Optional<Sym_Tensor>:$cells, Sym_Tensor:$y, Optional<Sym_Tensor>:$h0,
                   Optional<Sym_Tensor>:$c0, Optional<Sym_Tensor>:$length, Optional<Sym_Tensor>:$before,
                   Sym_Tensor:$w, Sym_Tensor:$r, Optional<Sym_Tensor>:$dy, Optional<Sym_Tensor>:$dhN, Optional<Sym_Tensor>:$dcN,
                   StrAttr:$mode, DefaultValuedAttr<BoolAttr, "false">:$reverse, OptionalAttr<I64Attr>:$chunk);
  let results = (outs Sym_Tensor:$dgates, Optional<Sym_Tensor>:$dhidden, Optional<Sym_Tensor>:$dx,
                 Optional<Sym_Tensor>:$dh0, Optional<Sym_Tensor>:$dc0);
}

def Sym_CutOp : Sym_InternalOp<"cut", [
    Pure, DeclareOpInterfaceMethods<Sym_BatchRule>, Sym_Extents, DeclareOpInterfaceMethods<Sym_GradientRule>,
    DeclareOpInterfaceMethods<Sym_KernelRule>]> {
  let summary = "a value cut into consecutive ranges of steps";
  let description = [{
    Made by split-layers. Axis 0 of x is cut into pieces of these sizes, which add up to its extent.
    The results are views of x; the gradient joins theirs again.
    ```mlir
    %a, %b = sym.cut %x {sizes = array<i64: 25, 25>} : (tensor<50x32x256xf32>) -> (tensor<25x32x256xf32>, tensor<25x32x256xf32>)
    ```
  }];
  let arguments = (ins Sym_Tensor:$x, DenseI64ArrayAttr:$sizes);
  let results = (outs Variadic<Sym_Tensor>:$pieces);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

//===---- parts of the batch -----------------------------------------------------------------------===//

class Sym_PartOp<string mnemonic>
    : Sym_InternalOp<mnemonic, [Pure, DeclareOpInterfaceMethods<Sym_GradientRule>]> {
  let arguments = (ins Sym_Tensor:$x, I64Attr:$axis, I64Attr:$outer, I64Attr:$batch, I64Attr:$inner);
  let results = (outs Sym_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Sym_AllRowsOp : Sym_PartOp<"all_rows"> {
  let summary = "the rows of all parts of the batch, in their order";
  let description = [{
    Made by replicate before an op that mixes rows, and removed by sync-parameters, which joins the
    rows of all parts. x has the rows of one part inside `axis`, whose extent is outer * rows *
    inner; in y it is outer * batch * inner. In a net over the whole batch the op is the identity.
    ```mlir
    %a = sym.all_rows %z {axis = 0 : i64, outer = 1 : i64, batch = 6 : i64, inner = 1 : i64} : (tensor<3x5xf32>) -> tensor<6x5xf32>
    ```
  }];
}

def Sym_OwnRowsOp : Sym_PartOp<"own_rows"> {
  let summary = "the rows of one part of the batch";
  let description = [{
    The reverse of `sym.all_rows`: takes the rows of one part from a value that has all rows of the
    batch. Made by unpack-rnn too, in a net over the whole batch, where gradient removes it.
    ```mlir
    %o = sym.own_rows %a {axis = 0 : i64, outer = 1 : i64, batch = 6 : i64, inner = 1 : i64} : (tensor<6x5xf32>) -> tensor<3x5xf32>
    ```
  }];
}

//===---- sums over the batch ----------------------------------------------------------------------===//

def Sym_WeightGradientOp : Sym_InternalOp<"weight_gradient", [
    Pure, AttrSizedOperandSegments, Sym_ShardSum, DeclareOpInterfaceMethods<Sym_KernelRule>,
    DeclareOpInterfaceMethods<Sym_CostRule, ["flops"]>]> {
  let summary = "the gradient of a weight: one sum over all its uses, by shard, then the tree";
  let description = [{
    Use i adds dys[i]^T xs[i] over rows. `kinds[i]` says how xs[i] is read:
      * 0 product: x `[rows..., K]`, dy `[rows..., N]`;
      * 1 index: x `[rows...]` selects the row of the result to which dy is added;
      * 2 delayed, 3 ahead: x is a layer's output `[T, B, K]`. Step t of dy is multiplied by step
        t-1 of x (t+1 for a layer that runs backward). Step 0 (T-1) uses the next of `initials`,
        `[B, K]`, or nothing if `hasInitial[i]` is 0.
    Rows of use i are `[outer[i], batch, inner[i]]`, or fewer if only shards `first` to `first +
    count - 1` are summed (ShardSum). Uses come in reverse program order.

    `begin` is the partial sum of earlier uses, which this sum continues (begin:one-shard: only for
    a sum of one shard). `sym.use_chunks` (gradient, for chain-sums): the chunk of steps of each
    use.
    ```mlir
    %dw = sym.weight_gradient (%dy), (%x), () {kinds = array<i64: 0>, hasInitial = array<i64: 0>, outer = array<i64: 64>,
            batch = 32 : i64, inner = array<i64: 1>, shards = 8 : i64}
       : (tensor<64x32x65xf32>, tensor<64x32x256xf32>) -> tensor<65x256xf32>
    ```
  }];
  let arguments = (ins Variadic<Sym_Tensor>:$dys, Variadic<Sym_Tensor>:$xs, Variadic<Sym_Tensor>:$initials,
                   Optional<Sym_Tensor>:$begin, DenseI64ArrayAttr:$kinds, DenseI64ArrayAttr:$hasInitial, DenseI64ArrayAttr:$outer, I64Attr:$batch,
                   DenseI64ArrayAttr:$inner, I64Attr:$shards, DefaultValuedAttr<I64Attr, "0">:$first,
                   DefaultValuedAttr<I64Attr, "0">:$count);
  let results = (outs Sym_Tensor:$dw);
  let hasVerifier = 1;
  let extraClassDeclaration = "int64_t rowStride(unsigned operand);";
}

def Sym_BiasGradientOp : Sym_InternalOp<"bias_gradient", [
    Pure, AttrSizedOperandSegments, Sym_ShardSum, DeclareOpInterfaceMethods<Sym_KernelRule>,
    DeclareOpInterfaceMethods<Sym_CostRule, ["flops"]>]> {
  let summary = "the gradient of a bias: the sum of dys over all rows, in the order of weight_gradient";
  let description = [{
    `begin` and `sym.use_chunks` are as in weight_gradient.
    ```mlir
    %db = sym.bias_gradient %dy {outer = array<i64: 64>, batch = 32 : i64, inner = array<i64: 1>, shards = 8 : i64}
       : (tensor<64x32x65xf32>) -> tensor<65xf32>
    %dc = sym.bias_gradient %dz from %db : tensor<65xf32> {...} : (tensor<64x32x65xf32>) -> tensor<65xf32>   // continues the sum %db
    ```
  }];
  let arguments = (ins Variadic<Sym_Tensor>:$dys, Optional<Sym_Tensor>:$begin, DenseI64ArrayAttr:$outer, I64Attr:$batch, DenseI64ArrayAttr:$inner,
                   I64Attr:$shards, DefaultValuedAttr<I64Attr, "0">:$first,
                   DefaultValuedAttr<I64Attr, "0">:$count);
  let results = (outs Sym_Tensor:$db);
  let assemblyFormat = "$dys (`from` $begin^ `:` type($begin))? attr-dict `:` functional-type($dys, $db)";
  let hasVerifier = 1;
  let extraClassDeclaration = "int64_t rowStride(unsigned operand);";
}

def Sym_NormSquaredOp : Sym_InternalOp<"norm_squared", [
    Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<Sym_KernelRule>]> {
  let summary = "the sum of squares of all operands, in f64";
  let description = [{
    ```mlir
    %n = sym.norm_squared %a, %b : (tensor<65x256xf32>, tensor<65xf32>) -> tensor<1xf64>
    %m = sym.norm_squared %c from %n : tensor<1xf64> : (tensor<4096xf32>) -> tensor<1xf64>   // continues the sum %n
    ```
  }];
  let arguments = (ins Variadic<Sym_Tensor>:$xs, Optional<Sym_Tensor>:$begin);
  let results = (outs Sym_Tensor:$norm);
  let assemblyFormat = "$xs (`from` $begin^ `:` type($begin))? attr-dict `:` functional-type($xs, $norm)";
}

//===---- gradients with kernels of their own -------------------------------------------------------===//

class Sym_KernelOp<string mnemonic, list<Trait> traits = []>
    : Sym_InternalOp<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<Sym_KernelRule>], traits)>;
class Sym_RowsOp<string mnemonic> : Sym_KernelOp<mnemonic, [DeclareOpInterfaceMethods<Sym_BatchRule>]>;

def Sym_SoftmaxOutputGradientOp : Sym_RowsOp<"softmax_output_gradient"> {
  let summary = "the gradient of SoftmaxOutput, from its probabilities and the label";
  let description = [{
    The kernel `softmax_output_gradient`. p is `[A, C, D]`, where `axis` is the axis of the C
    classes. `valid`, f64 [1], is the divisor if the rows are a part of the batch.
    ```mlir
    %dx = sym.softmax_output_gradient %p, %label {axis = 2 : i64, use_ignore = false, normalization = "valid", multi = false,
       ignore_label = -1.0, grad_scale = 1.0, smooth_alpha = 0.0} : (tensor<64x32x65xf32>, tensor<64x32xi32>) -> tensor<64x32x65xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$p, Sym_Tensor:$label, Optional<Sym_Tensor>:$valid, I64Attr:$axis, BoolAttr:$use_ignore,
                   StrAttr:$normalization, BoolAttr:$multi, F64Attr:$ignore_label, F64Attr:$grad_scale, F64Attr:$smooth_alpha);
  let results = (outs Sym_Tensor:$dx);
  let assemblyFormat = "$p `,` $label (`valid` $valid^)? attr-dict `:` functional-type(operands, results)";
}

def Sym_ValidCountOp : Sym_KernelOp<"valid_count"> {
  let summary = "number of labels that are not ignored, f64, so that the counts of parts can be added";
  let description = [{
    Its sum over all parts is the operand `valid` of `sym.softmax_output_gradient` with
    normalization valid.
    ```mlir
    %n = sym.valid_count %label {ignore_label = -1.0} : (tensor<64x32xi32>) -> tensor<1xf64>
    ```
  }];
  let arguments = (ins Sym_Tensor:$label, F64Attr:$ignore_label);
  let results = (outs Sym_Tensor:$count);
  let assemblyFormat = "$label attr-dict `:` functional-type(operands, results)";
}

def Sym_SoftmaxGradientOp : Sym_RowsOp<"softmax_gradient"> {
  let summary = "backward of softmax and log_softmax, from their result";
  let description = [{
    ```mlir
    %dx = sym.softmax_gradient %y, %dy {axis = 1 : i64, log = false, temperature = 1.0} : (tensor<8x5xf32>, tensor<8x5xf32>) -> tensor<8x5xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$y, Sym_Tensor:$dy, Optional<Sym_Tensor>:$length, I64Attr:$axis, BoolAttr:$log, F64Attr:$temperature);
  let results = (outs Sym_Tensor:$dx);
  let assemblyFormat = "$y `,` $dy (`length` $length^)? attr-dict `:` functional-type(operands, results)";
}

def Sym_LayerNormGradientOp : Sym_RowsOp<"layer_norm_gradient"> {
  let summary = "backward of LayerNorm: the gradient of its data, and the gradient of gamma per row";
  let arguments = (ins Sym_Tensor:$x, Sym_Tensor:$gamma, Sym_Tensor:$mean, Sym_Tensor:$rstd, Sym_Tensor:$dy, I64Attr:$axis);
  let results = (outs Sym_Tensor:$dx, Sym_Tensor:$dgammaRows);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Sym_PickGradientOp : Sym_RowsOp<"pick_gradient"> {
  let summary = "backward of pick: dy at the picked element, 0 elsewhere";
  let arguments = (ins Sym_Tensor:$dy, Sym_Tensor:$indices, I64Attr:$axis, BoolAttr:$wrap);
  let results = (outs Sym_Tensor:$dx);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Sym_SequenceLastGradientOp : Sym_RowsOp<"sequence_last_gradient"> {
  let summary = "backward of SequenceLast with lengths";
  let arguments = (ins Sym_Tensor:$dy, Sym_Tensor:$length, I64Attr:$axis);
  let results = (outs Sym_Tensor:$dx);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Sym_PlaceOp : Sym_RowsOp<"place"> {
  let summary = "zeros with the operand in a strided window: backward of slicing";
  let description = [{
    result[begin + i * step] = x[i] on every axis, 0 elsewhere.
    ```mlir
    %dx = sym.place %dy {begin = array<i64: 1, 0>, step = array<i64: 1, 1>} : (tensor<2x4xf32>) -> tensor<5x4xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$x, DenseI64ArrayAttr:$begin, DenseI64ArrayAttr:$step);
  let results = (outs Sym_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def Sym_ReduceToOp : Sym_RowsOp<"reduce_to"> {
  let summary = "sums over the axes that a broadcast stretched";
  let description = [{
    The result has the operand's rank with extent 1 on the summed axes, or rank 1 and one element if
    all axes are summed.
    ```mlir
    %d = sym.reduce_to %dy : (tensor<8x4xf32>) -> tensor<1x4xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$x);
  let results = (outs Sym_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

//===---- randomness -------------------------------------------------------------------------------===//

def Sym_DropoutMaskOp : Sym_InternalOp<"dropout_mask", [Pure, DeclareOpInterfaceMethods<Sym_ScalarRule>]> {
  let summary = "dropout mask: 0 with probability p, else 1/(1-p); drawn from seed, update, ordinal and element";
  let description = [{
    The random number of an element is selected by its row-major index in the result, so the scalar
    form is valid only over the result's own shape. Backward recomputes the mask instead of keeping
    it. `window` maps the elements of a part's mask to those of the whole mask
    (executor/abi/ElementWindow.h): in the example, rows 8 to 15 of a batch of 32.
      * window: an offset and pairs of extent and stride, none below 0, with as many elements as the
        result.
    With `numbers` the elements are uniform random numbers times 2: also a mask of mean 1.
    ```mlir
    %m = sym.dropout_mask %seed, %update {p = 2.0e-01, ordinal = 7 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<64x32x256xf32>
    %n = sym.dropout_mask %seed, %update {p = 2.0e-01, ordinal = 7 : i64, window = array<i64: 2048, 64, 8192, 2048, 1>}
       : (tensor<1xi64>, tensor<1xi64>) -> tensor<64x8x256xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$seed, Sym_Tensor:$update, F64Attr:$p, I64Attr:$ordinal,
                   OptionalAttr<DenseI64ArrayAttr>:$window, UnitAttr:$numbers);
  let results = (outs Sym_Tensor:$mask);
  let assemblyFormat = "$seed `,` $update attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$seed, "::mlir::Value":$update,
                                 "::mlir::FloatAttr":$p, "::mlir::IntegerAttr":$ordinal,
                                 CArg<"::mlir::UnitAttr", "{}">:$numbers), [{
    build($_builder, $_state, type, seed, update, p, ordinal, ::mlir::DenseI64ArrayAttr(), numbers);
  }]>];
}

//===---- metrics ----------------------------------------------------------------------------------===//

class Sym_MetricOp<string mnemonic> : Sym_KernelOp<mnemonic, [Sym_ShardSum]> {
  let results = (outs Sym_Tensor:$metric);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = "int64_t rowStride(unsigned operand);";
}

def Sym_SoftmaxMetricOp : Sym_MetricOp<"softmax_metric"> {
  let summary = "loss and its weight, labels counted and ignored, correct answers, nats: f64 [6]; with ranks of labels: [18]";
  let description = [{
    The kernel `softmax_metric`. x holds logits with the classes at `axis`; without that axis, rows
    are `[outer, batch, inner]`. A label with the shape of x holds probabilities.
    ```mlir
    %m = sym.softmax_metric %x, %label {axis = 2 : i64, outer = 64 : i64, batch = 32 : i64, inner = 1 : i64, shards = 8 : i64,
       use_ignore = false, valid = true, ignore_label = -1.0, smooth_alpha = 0.0, scale = 1.0}
       : (tensor<64x32x65xf32>, tensor<64x32xi32>) -> tensor<6xf64>
    ```
  }];
  let arguments = (ins Sym_Tensor:$x, Sym_Tensor:$label, I64Attr:$axis, I64Attr:$outer, I64Attr:$batch, I64Attr:$inner, I64Attr:$shards,
                   BoolAttr:$use_ignore, BoolAttr:$valid, F64Attr:$ignore_label, F64Attr:$smooth_alpha, F64Attr:$scale,
                   DefaultValuedAttr<I64Attr, "0">:$first, DefaultValuedAttr<I64Attr, "0">:$count);
}

def Sym_RegressionMetricOp : Sym_MetricOp<"regression_metric"> {
  let summary = "loss and its weight, count, absolute and squared differences: f64 [6]; with moments: [18]";
  let description = [{
    The kernel `regression_metric`; `loss` is a RegressionLoss of executor/abi/Kernels.h.
  }];
  let arguments = (ins Sym_Tensor:$x, Sym_Tensor:$label, I64Attr:$outer, I64Attr:$batch, I64Attr:$inner, I64Attr:$shards,
                   I64Attr:$loss, F64Attr:$scale, DefaultValuedAttr<I64Attr, "0">:$first,
                   DefaultValuedAttr<I64Attr, "0">:$count);
}

def Sym_LossMetricOp : Sym_MetricOp<"loss_metric"> {
  let summary = "a loss and its weight, and a count: f64 [6] or [18]";
  let arguments = (ins Sym_Tensor:$x, I64Attr:$outer, I64Attr:$batch, I64Attr:$inner, I64Attr:$shards, BoolAttr:$valid,
                   F64Attr:$valid_thresh, F64Attr:$scale, DefaultValuedAttr<I64Attr, "0">:$first,
                   DefaultValuedAttr<I64Attr, "0">:$count);
}

#endif // LSTMC_IR_SYM_TRAININGOPS
