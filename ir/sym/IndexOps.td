// Ops that read elements by index. Indices may have any type; fractions are cut off.

#ifndef LSTMC_IR_SYM_INDEXOPS
#define LSTMC_IR_SYM_INDEXOPS

include "ir/sym/SymBase.td"

def Sym_EmbeddingOp : Sym_Op<"embedding", "Embedding", [Sym_Kernel, Sym_Cost, Sym_Gradient]> {
  let difference = "Ids out of range are refused in data (E0604). `sparse_grad` means nothing: gradients are dense.";
  let summary = "rows of a table, selected by index";
  let description = [{
    `output[i..., :] = weight[data[i...], :]`; an index out of range is moved to the nearest row.
    `sparse_grad` is ignored: gradients are dense.
      * weight-shape: `weight` is `[input_dim, output_dim]`, and has the type `dtype` if nothing
        else fixes its type.
      * output-shape: `output` has the extents of `data` and `output_dim`.

    ```mlir
    %y = sym.embedding %i, %w {input_dim = 65 : i64, output_dim = 8 : i64}
       : (tensor<32x64xi32>, tensor<65x8xf32>) -> tensor<32x64x8xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Parameter:$weight, I64Attr:$input_dim,
                       I64Attr:$output_dim, Sym_Float32:$dtype,
                   Sym_Flag<>:$sparse_grad);
  let results = (outs Sym_Tensor:$output);
}

def Sym_TakeOp : Sym_Op<"take", "take", [Sym_Kernel, Sym_Cost, Sym_Gradient]> {
  let summary = "slices of an axis, selected by index";
  let description = [{
    `mode` clip moves an index out of range to the nearest one; wrap takes it modulo the extent;
    raise refuses it (E0604): when it is given, or when the net that computes it runs.
      * axis: `axis` is an axis of `a`.
      * output-shape: the extents of `a`, with those of `indices` in place of `axis`.

    ```mlir
    %y = sym.take %a, %i {axis = 1 : i64} : (tensor<2x9x4xf32>, tensor<3xi32>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$a, Sym_Tensor:$indices, Sym_Integer<0>:$axis,
                       Sym_DefaultChoice<"clip", ["clip", "wrap", "raise"]>:$mode);
  let results = (outs Sym_Tensor:$output);
}

def Sym_PickOp : Sym_Op<"pick", "pick", [Sym_Kernel, Sym_Cost, Sym_Gradient]> {
  let mxnetAliases = ["choose_element_0index"];
  let summary = "one element of an axis per row";
  let description = [{
      * axis: `axis` is an axis of `data`.
      * index-shape: `index` has the extents of `data` without `axis`, or with 1 there.
      * output-shape: the extents of `data` without `axis`; with `keepdims`, with 1 there.

    ```mlir
    %y = sym.pick %x, %i : (tensor<8x5xf32>, tensor<8xi32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Tensor:$index, Sym_Integer<-1>:$axis,
                       Sym_Flag<>:$keepdims,
                   Sym_DefaultChoice<"clip", ["clip", "wrap"]>:$mode);
  let results = (outs Sym_Tensor:$output);
}

def Sym_OneHotOp : Sym_Op<"one_hot", "one_hot", [Sym_Kernel, Sym_Cost, Sym_NoGradient]> {
  let summary = "one-hot rows: on at the index, off elsewhere";
  let description = [{
      * depth: at least 1.
      * output-shape: the extents of `indices` and `depth`, of type `dtype`.

    ```mlir
    %y = sym.one_hot %i {depth = 5 : i64} : (tensor<8xi32>) -> tensor<8x5xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$indices, I64Attr:$depth, Sym_Float<"1.0">:$on_value,
                       Sym_Float<"0.0">:$off_value,
                   Sym_Float32:$dtype);
  let results = (outs Sym_Tensor:$output);
}

#endif // LSTMC_IR_SYM_INDEXOPS
