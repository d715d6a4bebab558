// Uses of ops that other ops can express (ir/sym/rules/Shorthand.cpp), and forms that labels may have.

func.func @norm_of_order_1(%x: tensor<3x4xf64>) -> tensor<3xf64> {
  %r0 = sym.norm %x {axis = array<i64: 1>, ord = 1 : i64} : (tensor<3x4xf64>) -> tensor<3xf64>
  return %r0 : tensor<3xf64>
}
func.func @norm_of_order_1_of_all(%x: tensor<3x4xf64>) -> tensor<1xf64> {
  %r0 = sym.norm %x {ord = 1 : i64} : (tensor<3x4xf64>) -> tensor<1xf64>
  return %r0 : tensor<1xf64>
}
func.func @softmax_of_a_dtype(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.softmax %x {dtype = "float64"} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
// Rows of the first axis: lengths 0 1 0 1.
func.func @softmax_of_lengths_on_axis_0(%x: tensor<3x4xf64>, %n: tensor<4xi32>) -> tensor<3x4xf64> {
  %r0 = sym.softmax %x, %n {axis = 0 : i64, use_length = true} : (tensor<3x4xf64>, tensor<4xi32>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @softmax_of_lengths_between(%x: tensor<2x3x2xf64>, %n: tensor<2x2xi32>) -> tensor<2x3x2xf64> {
  %r0 = sym.softmax %x, %n {axis = 1 : i64, use_length = true} : (tensor<2x3x2xf64>, tensor<2x2xi32>) -> tensor<2x3x2xf64>
  return %r0 : tensor<2x3x2xf64>
}
func.func @where_of_rows(%c: tensor<4xi32>, %x: tensor<4x3xf64>, %y: tensor<4x3xf64>) -> tensor<4x3xf64> {
  %r0 = sym.where %c, %x, %y : (tensor<4xi32>, tensor<4x3xf64>, tensor<4x3xf64>) -> tensor<4x3xf64>
  return %r0 : tensor<4x3xf64>
}
func.func @batch_dot_of_4_axes(%a: tensor<2x3x4x5xf64>, %b: tensor<2x3x2x5xf64>) -> tensor<2x3x4x2xf64> {
  %r0 = sym.batch_dot %a, %b {transpose_b = true} : (tensor<2x3x4x5xf64>, tensor<2x3x2x5xf64>) -> tensor<2x3x4x2xf64>
  return %r0 : tensor<2x3x4x2xf64>
}
func.func @fully_connected_of_one_axis(%x: tensor<4xf64>, %w: tensor<3x1xf64>, %b: tensor<3xf64>) -> tensor<4x3xf64> {
  %r0 = sym.fully_connected %x, %w, %b {num_hidden = 3 : i64} : (tensor<4xf64>, tensor<3x1xf64>, tensor<3xf64>) -> tensor<4x3xf64>
  return %r0 : tensor<4x3xf64>
}
func.func @softmax_output_multi_of_2_axes(%x: tensor<6x3xf64>, %l: tensor<6xi32>) -> tensor<6x3xf64> attributes {test.divisor = 6 : i64} {
  %r0 = sym.softmax_output %x, %l {multi_output = true} : (tensor<6x3xf64>, tensor<6xi32>) -> tensor<6x3xf64>
  return %r0 : tensor<6x3xf64>
}
// multi_output takes precedence.
func.func @softmax_output_multi_and_kept(%x: tensor<2x3x4xf64>, %l: tensor<2x4xi32>) -> tensor<2x3x4xf64> attributes {test.divisor = 1 : i64} {
  %r0 = sym.softmax_output %x, %l {multi_output = true, preserve_shape = true, normalization = "batch"} : (tensor<2x3x4xf64>, tensor<2x4xi32>) -> tensor<2x3x4xf64>
  return %r0 : tensor<2x3x4xf64>
}
// Divided by the elements of a sample of the label. The label is the only input here, so it decides the size of the batch.
func.func @linear_regression_output_of_another_shape(%x: tensor<4x6xf64>, %l: tensor<8x3xi32>) -> tensor<4x6xf64> attributes {test.divisor = 8 : i64} {
  %r0 = sym.linear_regression_output %x, %l : (tensor<4x6xf64>, tensor<8x3xi32>) -> tensor<4x6xf64>
  return %r0 : tensor<4x6xf64>
}
