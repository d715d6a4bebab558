// Ops that move elements or pick them by index.

func.func @reshape(%x: tensor<2x3x4xf64>) -> tensor<6x4xf64> {
  %r0 = sym.reshape %x {shape = array<i64: -3, 0>} : (tensor<2x3x4xf64>) -> tensor<6x4xf64>
  return %r0 : tensor<6x4xf64>
}
func.func @flatten(%x: tensor<2x3x4xf64>) -> tensor<2x12xf64> {
  %r0 = sym.flatten %x : (tensor<2x3x4xf64>) -> tensor<2x12xf64>
  return %r0 : tensor<2x12xf64>
}
func.func @expand_dims(%x: tensor<2x3xf64>) -> tensor<2x1x3xf64> {
  %r0 = sym.expand_dims %x {axis = 1 : i64} : (tensor<2x3xf64>) -> tensor<2x1x3xf64>
  return %r0 : tensor<2x1x3xf64>
}
func.func @squeeze(%x: tensor<2x1x3xf64>) -> tensor<2x3xf64> {
  %r0 = sym.squeeze %x {axis = array<i64: 1>} : (tensor<2x1x3xf64>) -> tensor<2x3xf64>
  return %r0 : tensor<2x3xf64>
}
func.func @swap_axis(%x: tensor<2x3x4xf64>) -> tensor<4x3x2xf64> {
  %r0 = sym.swap_axis %x {dim2 = 2 : i64} : (tensor<2x3x4xf64>) -> tensor<4x3x2xf64>
  return %r0 : tensor<4x3x2xf64>
}
func.func @transpose(%x: tensor<2x3x4xf64>) -> tensor<4x2x3xf64> {
  %r0 = sym.transpose %x {axes = array<i64: 2, 0, 1>} : (tensor<2x3x4xf64>) -> tensor<4x2x3xf64>
  return %r0 : tensor<4x2x3xf64>
}
func.func @transpose_all(%x: tensor<2x3x4xf64>) -> tensor<4x3x2xf64> {
  %r0 = sym.transpose %x : (tensor<2x3x4xf64>) -> tensor<4x3x2xf64>
  return %r0 : tensor<4x3x2xf64>
}
func.func @broadcast_axis(%x: tensor<1x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.broadcast_axis %x {axis = array<i64: 0>, size = array<i64: 3>} : (tensor<1x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @broadcast_to(%x: tensor<3x1xf64>) -> tensor<3x4xf64> {
  %r0 = sym.broadcast_to %x {shape = array<i64: 0, 4>} : (tensor<3x1xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @tile(%x: tensor<3x2xf64>) -> tensor<6x6xf64> {
  %r0 = sym.tile %x {reps = array<i64: 2, 3>} : (tensor<3x2xf64>) -> tensor<6x6xf64>
  return %r0 : tensor<6x6xf64>
}
func.func @repeat(%x: tensor<3x2xf64>) -> tensor<3x4xf64> {
  %r0 = sym.repeat %x {axis = 1 : i64, repeats = 2 : i64} : (tensor<3x2xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @repeat_flat(%x: tensor<3x2xf64>) -> tensor<12xf64> {
  %r0 = sym.repeat %x {repeats = 2 : i64} : (tensor<3x2xf64>) -> tensor<12xf64>
  return %r0 : tensor<12xf64>
}
func.func @reverse(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.reverse %x {axis = array<i64: 0, 1>} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @concat(%x: tensor<2x3xf64>, %y: tensor<2x4xf64>) -> tensor<2x7xf64> {
  %r0 = sym.concat %x, %y : (tensor<2x3xf64>, tensor<2x4xf64>) -> tensor<2x7xf64>
  return %r0 : tensor<2x7xf64>
}
func.func @concat_same(%x: tensor<2x3xf64>) -> tensor<4x3xf64> {
  %r0 = sym.concat %x, %x {dim = 0 : i64} : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<4x3xf64>
  return %r0 : tensor<4x3xf64>
}
func.func @stack(%x: tensor<2x3xf64>, %y: tensor<2x3xf64>) -> tensor<2x2x3xf64> {
  %r0 = sym.stack %x, %y {axis = 1 : i64} : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x2x3xf64>
  return %r0 : tensor<2x2x3xf64>
}
func.func @slice_channel(%x: tensor<2x6xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>) {
  %r0, %r1, %r2 = sym.slice_channel %x {num_outputs = 3 : i64} : (tensor<2x6xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>)
  return %r0, %r1, %r2 : tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>
}
// One of the parts is not used.
func.func @slice_channel_some(%x: tensor<3x2xf64>) -> (tensor<2xf64>, tensor<2xf64>) {
  %r0, %r1, %r2 = sym.slice_channel %x {axis = 0 : i64, num_outputs = 3 : i64, squeeze_axis = true} : (tensor<3x2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>)
  return %r2, %r0 : tensor<2xf64>, tensor<2xf64>
}
func.func @slice(%x: tensor<5x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.slice %x {begin = [1, unit], end = [4, unit]} : (tensor<5x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @slice_step(%x: tensor<5x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.slice %x {begin = [unit, 3], end = [unit, unit], step = [2, -1]} : (tensor<5x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @slice_axis(%x: tensor<5x4xf64>) -> tensor<2x4xf64> {
  %r0 = sym.slice_axis %x {axis = 0 : i64, begin = 1 : i64, end = 3 : i64} : (tensor<5x4xf64>) -> tensor<2x4xf64>
  return %r0 : tensor<2x4xf64>
}
func.func @embedding(%i: tensor<2x4xi32>, %w: tensor<3x2xf64>) -> tensor<2x4x2xf64> {
  %r0 = sym.embedding %i, %w {dtype = "float64", input_dim = 3 : i64, output_dim = 2 : i64} : (tensor<2x4xi32>, tensor<3x2xf64>) -> tensor<2x4x2xf64>
  return %r0 : tensor<2x4x2xf64>
}
func.func @take(%x: tensor<2x3x2xf64>, %i: tensor<5xi32>) -> tensor<2x5x2xf64> {
  %r0 = sym.take %x, %i {axis = 1 : i64} : (tensor<2x3x2xf64>, tensor<5xi32>) -> tensor<2x5x2xf64>
  return %r0 : tensor<2x5x2xf64>
}
func.func @take_rows(%x: tensor<3x2xf64>, %i: tensor<2x3xi32>) -> tensor<2x3x2xf64> {
  %r0 = sym.take %x, %i : (tensor<3x2xf64>, tensor<2x3xi32>) -> tensor<2x3x2xf64>
  return %r0 : tensor<2x3x2xf64>
}
// Index 2 is out of range.
func.func @take_clipped(%x: tensor<2x3xf64>, %i: tensor<4xi32>) -> tensor<4x3xf64> {
  %r0 = sym.take %x, %i : (tensor<2x3xf64>, tensor<4xi32>) -> tensor<4x3xf64>
  return %r0 : tensor<4x3xf64>
}
func.func @take_wrapped(%x: tensor<2x3xf64>, %i: tensor<4xi32>) -> tensor<4x3xf64> {
  %r0 = sym.take %x, %i {mode = "wrap"} : (tensor<2x3xf64>, tensor<4xi32>) -> tensor<4x3xf64>
  return %r0 : tensor<4x3xf64>
}
// Indices are truncated before they are wrapped.
func.func @take_wrapped_fractions(%x: tensor<3x5xf64>) -> tensor<3x5x5xf64> {
  %r0 = sym.take %x, %x {mode = "wrap"} : (tensor<3x5xf64>, tensor<3x5xf64>) -> tensor<3x5x5xf64>
  return %r0 : tensor<3x5x5xf64>
}
func.func @pick(%x: tensor<4x3xf64>, %i: tensor<4xi32>) -> tensor<4xf64> {
  %r0 = sym.pick %x, %i : (tensor<4x3xf64>, tensor<4xi32>) -> tensor<4xf64>
  return %r0 : tensor<4xf64>
}
func.func @pick_kept(%x: tensor<2x3xf64>, %i: tensor<1x3xi32>) -> tensor<1x3xf64> {
  %r0 = sym.pick %x, %i {axis = 0 : i64, keepdims = true, mode = "wrap"} : (tensor<2x3xf64>, tensor<1x3xi32>) -> tensor<1x3xf64>
  return %r0 : tensor<1x3xf64>
}
