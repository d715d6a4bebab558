// A stack of recurrent layers, and the vector that holds its parameters.

#ifndef LSTMC_IR_SYM_RECURRENTOPS
#define LSTMC_IR_SYM_RECURRENTOPS

include "ir/sym/SymBase.td"

def Sym_RnnOp
    : Sym_Op<"rnn", "RNN", [AttrSizedOperandSegments, Sym_ResultCount, Sym_Flops, Sym_Gradient]> {
  let fileRequires = ["num_layers", "mode"];
  let difference = "Lengths of sequences work on every device, also for a bidirectional layer; in MXNet on cuDNN alone. `num_layers` and `mode` may be left out: one layer of tanh, as `mx.rnn.RNNCell` and PyTorch's `RNN` are. `projection_size` and `lstm_state_clip_min` work on every device and in training; with them each step of each layer becomes ops of its own, so the plan grows with the number of steps, and a step is slower. One end of `lstm_state_clip` without the other is refused.";
  let summary = "a stack of recurrent layers over all steps";
  let description = [{
    T steps, N sequences, I inputs, H = `state_size`, L = `num_layers`, D = 2 with `bidirectional`,
    else 1, G gates of `mode`. `parameters` holds W_i2h `[G*H, in]` and W_h2h `[G*H, H]` for each
    layer and direction, then b_i2h and b_h2h `[G*H]` for each. The gates are i f g o for lstm, r z
    n for gru. Layer k > 0 reads [forward, backward] of layer k - 1. A state that is left out is 0.
    `p` is the dropout between layers in training. With `use_sequence_length`, steps at or beyond a
    sequence's length give 0, the final states are those of the last real step, and the backward
    direction starts at that step.

    With P = `projection_size`, r = W_h2r h takes the place of h in what goes to the next step, the
    next layer, the output and the state: S = P is their width, else S = H. W_h2h is `[G*H, S]`, and
    W_h2r `[P, H]` follows it in `parameters`. With `lstm_state_clip_min` and `lstm_state_clip_max`
    every new c is kept between them, and h is made of what remains; no gradient passes where c was
    cut off. A c that is NaN stays NaN, and is `lstm_state_clip_min` with `lstm_state_clip_nan`,
    which says nothing without the range.

    Each layer is lowered to `sym.rnn_layer`, a loop. With `projection_size` or a range for c it is
    written out, about 15 ops for each of T steps in place of one for all: the plan and the time to
    compile grow with T, and a step takes longer, as its products have N rows each.
      * positive: `state_size` and `num_layers` are at least 1.
      * probability: 0 <= p < 1.
      * projection: 1 <= P <= H, for lstm only.
      * clip: both ends or none, `lstm_state_clip_min` <= `lstm_state_clip_max`, for lstm only.
      * steps: written out, T*L*D is at most 16384.
      * data-rank: `data` is `[T, N, I]`.
      * parameter-count: `parameters` is `[H*D*G*(I+S+2) + (L-1)*H*D*G*(D*S+S+2)]`, and L*D*P*H more
        with a projection.
      * state-shape: `state` is `[L*D, N, S]`, `state_cell` `[L*D, N, H]`, which exists for lstm
        only.
      * length-shape: `sequence_length` is `[N]`; it is an operand with `use_sequence_length` only.
      * outputs: `[T, N, D*S]`; with `state_outputs` also the final states, shaped as `state` and
        `state_cell`.

    ```mlir
    %y, %h, %c = sym.rnn %x, %w {mode = "lstm", num_layers = 1 : i64, state_outputs = true, state_size = 4 : i64}
      
          : (tensor<5x2x8xf32>, tensor<224xf32>) -> (tensor<5x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>)
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Parameter:$parameters, Optional<Sym_Tensor>:$state,
                       Optional<Sym_Tensor>:$state_cell,
                   Optional<Sym_Tensor>:$sequence_length, I64Attr:$state_size, Sym_Integer<1>:$num_layers,
                   Sym_DefaultChoice<"rnn_tanh", ["rnn_relu", "rnn_tanh", "lstm", "gru"]>:$mode,
                   Sym_Flag<>:$bidirectional, Sym_Float<"0.0">:$p,
                   Sym_Flag<>:$state_outputs, OptionalAttr<I64Attr>:$projection_size,
                   OptionalAttr<F64Attr>:$lstm_state_clip_min,
                   OptionalAttr<F64Attr>:$lstm_state_clip_max, Sym_Flag<>:$lstm_state_clip_nan,
                   Sym_Flag<>:$use_sequence_length);
  let results = (outs Variadic<Sym_Tensor>:$outputs);
  let inputConditions = ["state_cell?: mode=lstm", "sequence_length: use_sequence_length=true"];
  let outputNames = ["output", "state_output", "statecell_output"];
  let attributeAliases = ["num_hidden=state_size"];
  let assemblyFormat = [{
    $data `,` $parameters (`state` $state^)? (`cell` $state_cell^)? (`length` $sequence_length^)?
    attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Whether the layers are unrolled, because `sym.rnn_layer` does not support their cell.
    bool isWrittenInSteps();
  }];
}

def Sym_RnnParamConcatOp
    : Sym_Op<"rnn_param_concat", "_rnn_param_concat", [Sym_Kernel, Sym_Cost, Sym_Gradient]> {
  let countAttribute = "num_args";
  let summary = "parameters of a stack, flattened and joined as RNN reads them";
  let description = [{
    All elements of each input in row-major order, one input after the other: weights of all layers
    and directions, then biases. Inference also runs from the result: the number of elements that
    `sym.rnn` needs gives an open extent of an input.
      * count: at least one input.
      * dim: 0.
      * elements: `output` is `[elements of all inputs]`.

    ```mlir
    %w = sym.rnn_param_concat %wi, %wh, %bi, %bh {dim = 0 : i64}
       : (tensor<16x8xf32>, tensor<16x4xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<224xf32>
    ```
  }];
  let arguments = (ins Variadic<Sym_Tensor>:$args, Sym_Integer<1>:$dim);
  let results = (outs Sym_Tensor:$output);
}

#endif // LSTMC_IR_SYM_RECURRENTOPS
