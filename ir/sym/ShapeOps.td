// Ops that move elements without computing.

#ifndef LSTMC_IR_SYM_SHAPEOPS
#define LSTMC_IR_SYM_SHAPEOPS

include "ir/sym/SymBase.td"

/// An op that rearranges the elements of one tensor.
class Sym_Movement<string mnemonic, string mxnet, list<string> aliases = [],
    list<Trait> traits = []>
    : Sym_Op<mnemonic, mxnet, !listconcat([Sym_Kernel, Sym_Cost, Sym_Gradient], traits)> {
  let mxnetAliases = aliases;
  let results = (outs Sym_Tensor:$output);
}

def Sym_ReshapeOp : Sym_Movement<"reshape", "Reshape", ["reshape"], [Sym_Extents]> {
  let summary = "the same elements in another shape";
  let description = [{
    `shape` is read from left to right, together with the extents of `data`. A positive number is
    the extent itself; 0 copies the current extent; -1 is what remains (allowed once); -2 copies all
    extents that are left; -3 is the product of two; -4 splits the current one into the next two
    numbers, one of which may be -1. `reverse` reads from the right. If `shape` is empty,
    `target_shape` of old MXNet files is used (0 = what remains; `keep_highest` keeps axis 0).
      * codes: the codes fit the rank of `data`, and -1 stands at most once.
      * elements: `output` has as many elements as `data`.

    ```mlir
    %y = sym.reshape %x {shape = array<i64: -4, 20, -1, 0>}
       : (tensor<640x8xf32>) -> tensor<20x32x8xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_DefaultTuple:$shape, Sym_Flag<>:$reverse,
                       Sym_DefaultTuple:$target_shape,
                   Sym_Flag<>:$keep_highest);
}

def Sym_FlattenOp : Sym_Movement<"flatten", "Flatten", ["flatten"]> {
  let summary = "all axes but the first merged into one";
  let description = [{
      * elements: `output` is `[N, product of the rest]`.

    ```mlir
    %y = sym.flatten %x : (tensor<2x3x4xf32>) -> tensor<2x12xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data);
}

def Sym_SwapAxisOp : Sym_Movement<"swap_axis", "SwapAxis", ["swapaxes"]> {
  let summary = "two axes exchanged";
  let description = [{
      * axes: `dim1` and `dim2` are axes of `data`, negative ones counted from the end.
      * extents: `output` has the extents of `data` with these two exchanged.

    ```mlir
    %y = sym.swap_axis %x {dim2 = 1 : i64} : (tensor<32x64x8xf32>) -> tensor<64x32x8xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Integer<0>:$dim1, Sym_Integer<0>:$dim2);
}

def Sym_TransposeOp : Sym_Movement<"transpose", "transpose"> {
  let summary = "axes in another order";
  let description = [{
    Axis i of `output` is axis `axes[i]` of `data`; without `axes`, the order is reversed.
      * axes: `axes` is a permutation of the axes of `data`.
      * extents: `output` has the extents of `data` in that order.

    ```mlir
    %y = sym.transpose %x {axes = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_DefaultTuple:$axes);
}

def Sym_ExpandDimsOp : Sym_Movement<"expand_dims", "expand_dims"> {
  let summary = "a new axis of extent 1";
  let description = [{
      * axis: -rank-1 <= `axis` <= rank.
      * extents: `output` has the extents of `data` and 1 at `axis`.

    ```mlir
    %y = sym.expand_dims %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, I64Attr:$axis);
}

def Sym_SqueezeOp : Sym_Movement<"squeeze", "squeeze"> {
  let summary = "axes of extent 1 removed";
  let description = [{
    Removes the axes in `axis`, or without it all axes of extent 1; one axis always remains.
      * axis: each axis of `axis` is one of `data`.
      * extent-1: its extent is 1.

    ```mlir
    %y = sym.squeeze %x {axis = array<i64: 1>} : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, OptionalAttr<Sym_Tuple>:$axis);
}

def Sym_ConcatOp : Sym_Movement<"concat", "Concat", ["concat", "concatenate"]> {
  let attributeAliases = ["axis=dim"];
  let countAttribute = "num_args";
  let summary = "tensors one after another along an axis";
  let description = [{
      * count: at least one input.
      * dim: `dim` is an axis of the inputs.
      * other-axes: all other extents, and the types, are equal.
      * sum: the extent of `output` along `dim` is the sum of those of the inputs.

    ```mlir
    %y = sym.concat %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
    ```
  }];
  let arguments = (ins Variadic<Sym_Tensor>:$args, Sym_Integer<1>:$dim);
}

def Sym_StackOp : Sym_Movement<"stack", "stack"> {
  let countAttribute = "num_args";
  let summary = "tensors of one shape along a new axis";
  let description = [{
      * count: at least one input.
      * axis: -rank-1 <= `axis` <= rank.
      * same-shape: the inputs have one shape and type.
      * extents: `output` has the extents of the inputs, and their number at `axis`.

    ```mlir
    %y = sym.stack %a, %b : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Sym_Tensor>:$args, Sym_Integer<0>:$axis);
}

def Sym_SliceChannelOp
    : Sym_Movement<"slice_channel", "SliceChannel", ["split"], [Sym_ResultCount]> {
  let summary = "equal parts of an axis";
  let description = [{
      * axis: `axis` is an axis of `data`.
      * divides: `num_outputs` divides the extent of that axis.
      * squeeze: with `squeeze_axis`, each part has extent 1 on that axis, and the axis is removed.
      * parts: there are `num_outputs` results, each with the extents of `data` but for that axis.

    ```mlir
    %a, %b = sym.slice_channel %x {num_outputs = 2 : i64}
       : (tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, I64Attr:$num_outputs, Sym_Integer<1>:$axis,
                       Sym_Flag<>:$squeeze_axis);
  let results = (outs Variadic<Sym_Tensor>:$outputs);
}

def Sym_SliceOp : Sym_Movement<"slice", "slice", ["crop"]> {
  let summary = "a window with steps";
  let description = [{
    On each axis the elements begin, begin + step, ... before end, as in a slice of Python: None
    (`unit`) is the first or last possible element, a negative number counts from the end, and both
    ends are clipped to the extent. Axes without an entry are kept whole.
      * rank: the tuples are no longer than the rank of `data`; `begin` and `end` have the same
        length.
      * step: no step is 0.
      * window: no axis of `output` is empty.

    ```mlir
    %y = sym.slice %x {begin = [1, unit], end = [3, unit]} : (tensor<5x4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Entries:$begin, Sym_Entries:$end,
                       OptionalAttr<Sym_Entries>:$step);
}

def Sym_SliceAxisOp : Sym_Movement<"slice_axis", "slice_axis"> {
  let fileRequires = ["end"];
  let summary = "elements begin to end of one axis";
  let description = [{
    Negative numbers count from the end of the axis; without `end`, the window reaches to the end.
      * axis: `axis` is an axis of `data`.
      * window: 0 <= begin < end <= extent.

    ```mlir
    %y = sym.slice_axis %x {axis = 0 : i64, begin = 1 : i64, end = 3 : i64}
       : (tensor<5x4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, I64Attr:$axis, I64Attr:$begin, OptionalAttr<I64Attr>:$end);
}

def Sym_ReverseOp : Sym_Movement<"reverse", "reverse", ["flip"]> {
  let summary = "elements of some axes in reverse order";
  let description = [{
      * axis: each of `axis` is an axis of `data`.
      * same-shape: `output` has the shape and type of `data`.

    ```mlir
    %y = sym.reverse %x {axis = array<i64: 0>} : (tensor<5x4xf32>) -> tensor<5x4xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Tuple:$axis);
}

def Sym_TileOp : Sym_Movement<"tile", "tile"> {
  let summary = "the whole tensor repeated along its axes";
  let description = [{
    The shorter of `reps` and the shape of `data` is filled with 1 from the left.
      * reps: no entry is below 1.
      * extents: an extent of `output` is the extent of `data` times its entry of `reps`.

    ```mlir
    %y = sym.tile %x {reps = array<i64: 2, 3>} : (tensor<5x4xf32>) -> tensor<10x12xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Tuple:$reps);
}

def Sym_RepeatOp : Sym_Movement<"repeat", "repeat"> {
  let summary = "every element of an axis repeated";
  let description = [{
    Without `axis`, the tensor is read as one row.
      * repeats: at least 1.
      * axis: `axis` is an axis of `data`.

    ```mlir
    %y = sym.repeat %x {axis = 1 : i64, repeats = 2 : i64} : (tensor<5x4xf32>) -> tensor<5x8xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, I64Attr:$repeats, OptionalAttr<I64Attr>:$axis);
}

def Sym_BroadcastToOp : Sym_Movement<"broadcast_to", "broadcast_to", [], [Sym_Extents]> {
  let summary = "extents of 1 broadcast to a shape";
  let description = [{
    0 in `shape` keeps the extent.
      * rank: `shape` is as long as the rank of `data`.
      * stretch: only an extent of 1 changes.

    ```mlir
    %y = sym.broadcast_to %x {shape = array<i64: 5, 0>} : (tensor<1x4xf32>) -> tensor<5x4xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_Tuple:$shape);
}

def Sym_BroadcastAxisOp : Sym_Movement<"broadcast_axis", "broadcast_axis", ["broadcast_axes"]> {
  let summary = "some extents of 1 broadcast";
  let description = [{
      * axis: `axis` and `size` are equally long, and each of `axis` is an axis of `data`.
      * stretch: its extent is 1.

    ```mlir
    %y = sym.broadcast_axis %x {axis = array<i64: 0>, size = array<i64: 5>}
       : (tensor<1x4xf32>) -> tensor<5x4xf32>
    ```
  }];
  let arguments = (ins Sym_Tensor:$data, Sym_DefaultTuple:$axis, Sym_DefaultTuple:$size);
}

#endif // LSTMC_IR_SYM_SHAPEOPS
