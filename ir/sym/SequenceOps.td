// Ops that distinguish the steps of a sequence from padding.

#ifndef LSTMC_IR_SYM_SEQUENCEOPS
#define LSTMC_IR_SYM_SEQUENCEOPS

include "ir/sym/SymBase.td"

class Sym_Sequence<string mnemonic, string mxnet> : Sym_Op<mnemonic, mxnet, [Sym_Kernel, Sym_Cost,
    Sym_Gradient]> {
  let results = (outs Sym_Tensor:$output);
  let inputConditions = ["sequence_length: use_sequence_length=true"];
}

def Sym_SequenceMaskOp : Sym_Sequence<"sequence_mask", "SequenceMask"> {
  let summary = "steps at or beyond a sequence's length set to a value";
  let description = [{
    Without `use_sequence_length`, the op is the identity.
      * rank: `data` has at least 2 axes: steps and batch (`axis` 0), or batch and steps (`axis` 1).
      * length-shape: `sequence_length` is `[batch]`.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.sequence_mask %x, %n {use_sequence_length = true}
       : (tensor<24x32x8xf32>, tensor<32xf32>) -> tensor<24x32x8xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Optional<Sym_Tensor>:$sequence_length,
                       Sym_Flag<>:$use_sequence_length,
                   Sym_Float<"0.0">:$value, Sym_Integer<0>:$axis);
}

def Sym_SequenceLastOp : Sym_Sequence<"sequence_last", "SequenceLast"> {
  let summary = "the last real step of each sequence";
  let description = [{
    The step at length - 1, or at T - 1 without `use_sequence_length`.
      * rank: `data` has at least 2 axes: steps and batch (`axis` 0), or batch and steps (`axis` 1).
      * length-shape: `sequence_length` is `[batch]`.
      * output-shape: the extents of `data` without the steps.

    ```mlir
    %y = sym.sequence_last %x, %n {use_sequence_length = true}
       : (tensor<24x32x8xf32>, tensor<32xf32>) -> tensor<32x8xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Optional<Sym_Tensor>:$sequence_length,
                       Sym_Flag<>:$use_sequence_length,
                   Sym_Integer<0>:$axis);
}

def Sym_SequenceReverseOp : Sym_Sequence<"sequence_reverse", "SequenceReverse"> {
  let summary = "the real steps of each sequence in reverse order";
  let description = [{
    Steps beyond the length stay in place; without `use_sequence_length`, all are reversed.
      * rank: `data` has at least 2 axes, steps and batch.
      * axis: 0.
      * length-shape: `sequence_length` is `[batch]`.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.sequence_reverse %x : (tensor<24x32x8xf32>) -> tensor<24x32x8xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Optional<Sym_Tensor>:$sequence_length,
                       Sym_Flag<>:$use_sequence_length,
                   Sym_Integer<0>:$axis);
}

#endif // LSTMC_IR_SYM_SEQUENCEOPS
