// Ops that sort, expanded to a network of comparisons (rules/Sort.cpp).

#ifndef LSTMC_IR_SYM_SORTOPS
#define LSTMC_IR_SYM_SORTOPS

include "ir/sym/ComposedOp.td"

def Sym_SortOp : Sym_Composed<"sort", "sort"> {
  let difference = "Equal elements keep their order; in MXNet it is not said.";
  let summary = "the elements along an axis in order";
  let description = [{
    Equal elements keep their order. The result is undefined if there is a NaN. The network of
    comparisons has log2(n) * (log2(n) + 1) / 2 rounds for n elements. Gradients flow to the
    elements' original positions.
      * axis: `axis` is an axis of `data`.
      * extent: the axis has at most 2^31 elements (E0402).
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.sort %x : (tensor<8x5xf32>) -> tensor<8x5xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Integer<-1>:$axis, Sym_Flag<"true">:$is_ascend);
}

def Sym_ArgsortOp : Sym_Composed<"argsort", "argsort", [], [Sym_NoGradient]> {
  let summary = "the indices that would sort an axis";
  let description = [{
    Sorted as in `sort`: the index of the first element in order, of the second and so on.
      * axis: `axis` is an axis of `data`.
      * extent: the axis has at most 2^31 elements (E0402).
      * same-shape: `output` has the shape of `data` and type `dtype`.

    ```mlir
    %y = sym.argsort %x : (tensor<8x5xf32>) -> tensor<8x5xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Integer<-1>:$axis, Sym_Flag<"true">:$is_ascend,
                       Sym_Float32:$dtype);
}

def Sym_TopkOp
    : Sym_Composed<"topk", "topk", [], [Sym_ResultCount], ["writtenOutAll"]> {
  let difference = "Of equal elements the first come first; in MXNet it is not said. The mask has the type of `data`.";
  let summary = "the k largest elements along an axis, or the k smallest";
  let description = [{
    `ret_typ` selects the result: the indices as `dtype`, the values in order, or a mask that is 1
    at these elements and 0 elsewhere, in the type of `data`; `both` has two outputs, the values and
    the indices. Equal elements keep their order. `k` below 1 selects all. Gradients flow through
    values.
      * axis: `axis` is an axis of `data`.
      * extent: the axis has at most 2^31 elements (E0402).
      * k: at most the extent of `axis`.
      * output-shape: that of `data` with `k` at `axis`; for a mask that of `data`.
      * outputs: 2 for `both`, else 1.

    ```mlir
    %y = sym.topk %x {k = 2 : i64, ret_typ = "value"} : (tensor<8x5xf32>) -> tensor<8x2xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Integer<-1>:$axis, Sym_Integer<1>:$k,
                       Sym_DefaultChoice<"indices", ["value", "indices", "mask", "both"]>:$ret_typ,
                       Sym_Flag<>:$is_ascend, Sym_Float32:$dtype);
  let results = (outs Variadic<Sym_Tensor>:$outputs);
}

#endif // LSTMC_IR_SYM_SORTOPS
