// Products, reductions, and ops over a sequence.

func.func @fully_connected(%x: tensor<3x4xf64>, %w: tensor<2x4xf64>, %b: tensor<2xf64>) -> tensor<3x2xf64> {
  %r0 = sym.fully_connected %x, %w, %b {num_hidden = 2 : i64} : (tensor<3x4xf64>, tensor<2x4xf64>, tensor<2xf64>) -> tensor<3x2xf64>
  return %r0 : tensor<3x2xf64>
}
func.func @fully_connected_flattened(%x: tensor<3x2x2xf64>, %w: tensor<2x4xf64>) -> tensor<3x2xf64> {
  %r0 = sym.fully_connected %x, %w {no_bias = true, num_hidden = 2 : i64} : (tensor<3x2x2xf64>, tensor<2x4xf64>) -> tensor<3x2xf64>
  return %r0 : tensor<3x2xf64>
}
func.func @fully_connected_last_axis(%x: tensor<2x3x4xf64>, %w: tensor<2x4xf64>, %b: tensor<2xf64>) -> tensor<2x3x2xf64> {
  %r0 = sym.fully_connected %x, %w, %b {flatten = false, num_hidden = 2 : i64} : (tensor<2x3x4xf64>, tensor<2x4xf64>, tensor<2xf64>) -> tensor<2x3x2xf64>
  return %r0 : tensor<2x3x2xf64>
}
func.func @dot(%x: tensor<3x4xf64>, %y: tensor<4x2xf64>) -> tensor<3x2xf64> {
  %r0 = sym.dot %x, %y : (tensor<3x4xf64>, tensor<4x2xf64>) -> tensor<3x2xf64>
  return %r0 : tensor<3x2xf64>
}
func.func @batch_dot(%x: tensor<2x3x4xf64>, %y: tensor<2x4x2xf64>) -> tensor<2x3x2xf64> {
  %r0 = sym.batch_dot %x, %y : (tensor<2x3x4xf64>, tensor<2x4x2xf64>) -> tensor<2x3x2xf64>
  return %r0 : tensor<2x3x2xf64>
}
func.func @dot_b(%x: tensor<3x4xf64>, %y: tensor<2x4xf64>) -> tensor<3x2xf64> {
  %r0 = sym.dot %x, %y {transpose_b = true} : (tensor<3x4xf64>, tensor<2x4xf64>) -> tensor<3x2xf64>
  return %r0 : tensor<3x2xf64>
}
func.func @batch_dot_b(%x: tensor<2x3x4xf64>, %y: tensor<2x2x4xf64>) -> tensor<2x3x2xf64> {
  %r0 = sym.batch_dot %x, %y {transpose_b = true} : (tensor<2x3x4xf64>, tensor<2x2x4xf64>) -> tensor<2x3x2xf64>
  return %r0 : tensor<2x3x2xf64>
}
func.func @dot_a(%x: tensor<4x3xf64>, %y: tensor<4x2xf64>) -> tensor<3x2xf64> {
  %r0 = sym.dot %x, %y {transpose_a = true} : (tensor<4x3xf64>, tensor<4x2xf64>) -> tensor<3x2xf64>
  return %r0 : tensor<3x2xf64>
}
func.func @batch_dot_a(%x: tensor<2x4x3xf64>, %y: tensor<2x4x2xf64>) -> tensor<2x3x2xf64> {
  %r0 = sym.batch_dot %x, %y {transpose_a = true} : (tensor<2x4x3xf64>, tensor<2x4x2xf64>) -> tensor<2x3x2xf64>
  return %r0 : tensor<2x3x2xf64>
}
func.func @dot_a_b(%x: tensor<4x3xf64>, %y: tensor<2x4xf64>) -> tensor<3x2xf64> {
  %r0 = sym.dot %x, %y {transpose_a = true, transpose_b = true} : (tensor<4x3xf64>, tensor<2x4xf64>) -> tensor<3x2xf64>
  return %r0 : tensor<3x2xf64>
}
func.func @batch_dot_a_b(%x: tensor<2x4x3xf64>, %y: tensor<2x2x4xf64>) -> tensor<2x3x2xf64> {
  %r0 = sym.batch_dot %x, %y {transpose_a = true, transpose_b = true} : (tensor<2x4x3xf64>, tensor<2x2x4xf64>) -> tensor<2x3x2xf64>
  return %r0 : tensor<2x3x2xf64>
}
func.func @dot_vectors(%x: tensor<4xf64>, %y: tensor<4xf64>) -> tensor<1xf64> {
  %r0 = sym.dot %x, %y : (tensor<4xf64>, tensor<4xf64>) -> tensor<1xf64>
  return %r0 : tensor<1xf64>
}
func.func @sum(%x: tensor<3x4xf64>) -> tensor<3xf64> {
  %r0 = sym.sum %x {axis = array<i64: 1>} : (tensor<3x4xf64>) -> tensor<3xf64>
  return %r0 : tensor<3xf64>
}
func.func @sum_all(%x: tensor<3x4xf64>) -> tensor<1xf64> {
  %r0 = sym.sum %x : (tensor<3x4xf64>) -> tensor<1xf64>
  return %r0 : tensor<1xf64>
}
func.func @mean(%x: tensor<3x4xf64>) -> tensor<3xf64> {
  %r0 = sym.mean %x {axis = array<i64: 1>} : (tensor<3x4xf64>) -> tensor<3xf64>
  return %r0 : tensor<3xf64>
}
func.func @mean_all(%x: tensor<3x4xf64>) -> tensor<1xf64> {
  %r0 = sym.mean %x : (tensor<3x4xf64>) -> tensor<1xf64>
  return %r0 : tensor<1xf64>
}
func.func @max(%x: tensor<3x4xf64>) -> tensor<3xf64> {
  %r0 = sym.max %x {axis = array<i64: 1>} : (tensor<3x4xf64>) -> tensor<3xf64>
  return %r0 : tensor<3xf64>
}
func.func @max_all(%x: tensor<3x4xf64>) -> tensor<1xf64> {
  %r0 = sym.max %x : (tensor<3x4xf64>) -> tensor<1xf64>
  return %r0 : tensor<1xf64>
}
func.func @min(%x: tensor<3x4xf64>) -> tensor<3xf64> {
  %r0 = sym.min %x {axis = array<i64: 1>} : (tensor<3x4xf64>) -> tensor<3xf64>
  return %r0 : tensor<3xf64>
}
func.func @min_all(%x: tensor<3x4xf64>) -> tensor<1xf64> {
  %r0 = sym.min %x : (tensor<3x4xf64>) -> tensor<1xf64>
  return %r0 : tensor<1xf64>
}
func.func @prod(%x: tensor<3x4xf64>) -> tensor<3xf64> {
  %r0 = sym.prod %x {axis = array<i64: 1>} : (tensor<3x4xf64>) -> tensor<3xf64>
  return %r0 : tensor<3xf64>
}
func.func @prod_all(%x: tensor<3x4xf64>) -> tensor<1xf64> {
  %r0 = sym.prod %x : (tensor<3x4xf64>) -> tensor<1xf64>
  return %r0 : tensor<1xf64>
}
func.func @sum_excluded(%x: tensor<2x3x4xf64>) -> tensor<1x3x1xf64> {
  %r0 = sym.sum %x {axis = array<i64: 1>, exclude = true, keepdims = true} : (tensor<2x3x4xf64>) -> tensor<1x3x1xf64>
  return %r0 : tensor<1x3x1xf64>
}
func.func @norm(%x: tensor<3x4xf64>) -> tensor<3xf64> {
  %r0 = sym.norm %x {axis = array<i64: 1>} : (tensor<3x4xf64>) -> tensor<3xf64>
  return %r0 : tensor<3xf64>
}
func.func @norm_all(%x: tensor<3x4xf64>) -> tensor<1x1xf64> {
  %r0 = sym.norm %x {keepdims = true} : (tensor<3x4xf64>) -> tensor<1x1xf64>
  return %r0 : tensor<1x1xf64>
}
func.func @softmax(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.softmax %x {temperature = 1.7} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @softmax_axis(%x: tensor<2x3x4xf64>) -> tensor<2x3x4xf64> {
  %r0 = sym.softmax %x {axis = 1 : i64} : (tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
  return %r0 : tensor<2x3x4xf64>
}
func.func @log_softmax(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.log_softmax %x {temperature = 1.7} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @log_softmax_axis(%x: tensor<2x3x4xf64>) -> tensor<2x3x4xf64> {
  %r0 = sym.log_softmax %x {axis = 1 : i64} : (tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
  return %r0 : tensor<2x3x4xf64>
}
// The first row has no elements.
func.func @softmax_length(%x: tensor<3x4xf64>, %n: tensor<3xi32>) -> tensor<3x4xf64> {
  %r0 = sym.softmax %x, %n {use_length = true} : (tensor<3x4xf64>, tensor<3xi32>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @layer_norm(%x: tensor<3x4xf64>, %g: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<3x4xf64> {
  %r0, %r1, %r2 = sym.layer_norm %x, %g, %b : (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<3x4xf64>, tensor<3xf64>, tensor<3xf64>)
  return %r0 : tensor<3x4xf64>
}
func.func @layer_norm_axis(%x: tensor<3x4xf64>, %g: tensor<3xf64>, %b: tensor<3xf64>) -> tensor<3x4xf64> {
  %r0, %r1, %r2 = sym.layer_norm %x, %g, %b {axis = 0 : i64, eps = 0.1} : (tensor<3x4xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>)
  return %r0 : tensor<3x4xf64>
}
// No gradient flows through the other two outputs.
func.func @layer_norm_shown(%x: tensor<3x4xf64>, %g: tensor<3xf64>, %b: tensor<3xf64>) -> tensor<3x4xf64> {
  %r0, %r1, %r2 = sym.layer_norm %x, %g, %b {axis = 0 : i64, output_mean_var = true} : (tensor<3x4xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3x4xf64>, tensor<1x4xf64>, tensor<1x4xf64>)
  return %r0 : tensor<3x4xf64>
}
func.func @sequence_last(%x: tensor<4x3x2xf64>, %n: tensor<3xi32>) -> tensor<3x2xf64> {
  %r0 = sym.sequence_last %x, %n {use_sequence_length = true} : (tensor<4x3x2xf64>, tensor<3xi32>) -> tensor<3x2xf64>
  return %r0 : tensor<3x2xf64>
}
func.func @sequence_last_whole(%x: tensor<4x3x2xf64>) -> tensor<3x2xf64> {
  %r0 = sym.sequence_last %x : (tensor<4x3x2xf64>) -> tensor<3x2xf64>
  return %r0 : tensor<3x2xf64>
}
func.func @sequence_mask(%x: tensor<4x3x2xf64>, %n: tensor<3xi32>) -> tensor<4x3x2xf64> {
  %r0 = sym.sequence_mask %x, %n {use_sequence_length = true} : (tensor<4x3x2xf64>, tensor<3xi32>) -> tensor<4x3x2xf64>
  return %r0 : tensor<4x3x2xf64>
}
func.func @sequence_mask_whole(%x: tensor<4x3x2xf64>) -> tensor<4x3x2xf64> {
  %r0 = sym.sequence_mask %x : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
  return %r0 : tensor<4x3x2xf64>
}
func.func @sequence_reverse(%x: tensor<4x3x2xf64>, %n: tensor<3xi32>) -> tensor<4x3x2xf64> {
  %r0 = sym.sequence_reverse %x, %n {use_sequence_length = true} : (tensor<4x3x2xf64>, tensor<3xi32>) -> tensor<4x3x2xf64>
  return %r0 : tensor<4x3x2xf64>
}
func.func @sequence_reverse_whole(%x: tensor<4x3x2xf64>) -> tensor<4x3x2xf64> {
  %r0 = sym.sequence_reverse %x : (tensor<4x3x2xf64>) -> tensor<4x3x2xf64>
  return %r0 : tensor<4x3x2xf64>
}
func.func @sequence_last_axis(%x: tensor<3x4x2xf64>, %n: tensor<3xi32>) -> tensor<3x2xf64> {
  %r0 = sym.sequence_last %x, %n {axis = 1 : i64, use_sequence_length = true} : (tensor<3x4x2xf64>, tensor<3xi32>) -> tensor<3x2xf64>
  return %r0 : tensor<3x2xf64>
}
func.func @sequence_mask_axis(%x: tensor<3x4x2xf64>, %n: tensor<3xi32>) -> tensor<3x4x2xf64> {
  %r0 = sym.sequence_mask %x, %n {axis = 1 : i64, use_sequence_length = true, value = 2.0} : (tensor<3x4x2xf64>, tensor<3xi32>) -> tensor<3x4x2xf64>
  return %r0 : tensor<3x4x2xf64>
}
