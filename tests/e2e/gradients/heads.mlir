// Heads. The gradient is that of the reported loss, times the divisor of an update.

func.func @softmax_output(%x: tensor<6x3xf64>, %l: tensor<6xi32>) -> tensor<6x3xf64> attributes {test.divisor = 6 : i64} {
  %r0 = sym.softmax_output %x, %l : (tensor<6x3xf64>, tensor<6xi32>) -> tensor<6x3xf64>
  return %r0 : tensor<6x3xf64>
}
// Labels 0 1 2 0 1 2.
func.func @softmax_output_batch(%x: tensor<6x3xf64>, %l: tensor<6xi32>) -> tensor<6x3xf64> attributes {test.divisor = 1 : i64} {
  %r0 = sym.softmax_output %x, %l {grad_scale = 3.0, normalization = "batch"} : (tensor<6x3xf64>, tensor<6xi32>) -> tensor<6x3xf64>
  return %r0 : tensor<6x3xf64>
}
// Four of six labels count.
func.func @softmax_output_valid(%x: tensor<6x3xf64>, %l: tensor<6xi32>) -> tensor<6x3xf64> attributes {test.divisor = 1 : i64} {
  %r0 = sym.softmax_output %x, %l {ignore_label = 2.0, normalization = "valid", use_ignore = true} : (tensor<6x3xf64>, tensor<6xi32>) -> tensor<6x3xf64>
  return %r0 : tensor<6x3xf64>
}
func.func @softmax_output_kept(%x: tensor<2x4x3xf64>, %l: tensor<2x4xi32>) -> tensor<2x4x3xf64> attributes {test.divisor = 1 : i64} {
  %r0 = sym.softmax_output %x, %l {normalization = "valid", preserve_shape = true} : (tensor<2x4x3xf64>, tensor<2x4xi32>) -> tensor<2x4x3xf64>
  return %r0 : tensor<2x4x3xf64>
}
func.func @softmax_output_multi(%x: tensor<2x3x2xf64>, %l: tensor<2x2xi32>) -> tensor<2x3x2xf64> attributes {test.divisor = 1 : i64} {
  %r0 = sym.softmax_output %x, %l {multi_output = true, normalization = "valid"} : (tensor<2x3x2xf64>, tensor<2x2xi32>) -> tensor<2x3x2xf64>
  return %r0 : tensor<2x3x2xf64>
}
func.func @softmax_cross_entropy(%x: tensor<6x3xf64>, %l: tensor<6xi32>) -> tensor<1xf64> attributes {test.divisor = 1 : i64} {
  %r0 = sym.softmax_cross_entropy %x, %l : (tensor<6x3xf64>, tensor<6xi32>) -> tensor<1xf64>
  return %r0 : tensor<1xf64>
}
func.func @linear_regression_output(%x: tensor<4x2xf64>, %l: tensor<4x2xi32>) -> tensor<4x2xf64> attributes {test.divisor = 4 : i64} {
  %r0 = sym.linear_regression_output %x, %l {grad_scale = 3.0} : (tensor<4x2xf64>, tensor<4x2xi32>) -> tensor<4x2xf64>
  return %r0 : tensor<4x2xf64>
}
func.func @mae_regression_output(%x: tensor<4x2xf64>, %l: tensor<4x2xi32>) -> tensor<4x2xf64> attributes {test.divisor = 4 : i64} {
  %r0 = sym.mae_regression_output %x, %l {grad_scale = 3.0} : (tensor<4x2xf64>, tensor<4x2xi32>) -> tensor<4x2xf64>
  return %r0 : tensor<4x2xf64>
}
func.func @logistic_regression_output(%x: tensor<4x2xf64>, %l: tensor<4x2xi32>) -> tensor<4x2xf64> attributes {test.divisor = 4 : i64} {
  %r0 = sym.logistic_regression_output %x, %l {grad_scale = 3.0} : (tensor<4x2xf64>, tensor<4x2xi32>) -> tensor<4x2xf64>
  return %r0 : tensor<4x2xf64>
}
func.func @svm_output(%x: tensor<6x3xf64>, %l: tensor<6xi32>) -> tensor<6x3xf64> attributes {test.divisor = 6 : i64} {
  %r0 = sym.svm_output %x, %l {margin = 0.75, regularization_coefficient = 0.5} : (tensor<6x3xf64>, tensor<6xi32>) -> tensor<6x3xf64>
  return %r0 : tensor<6x3xf64>
}
func.func @svm_output_linear(%x: tensor<6x3xf64>, %l: tensor<6xi32>) -> tensor<6x3xf64> attributes {test.divisor = 6 : i64} {
  %r0 = sym.svm_output %x, %l {regularization_coefficient = 2.0, use_linear = true} : (tensor<6x3xf64>, tensor<6xi32>) -> tensor<6x3xf64>
  return %r0 : tensor<6x3xf64>
}
// Without inputs there is no batch.
func.func @make_loss(%x: tensor<4x2xf64>) -> tensor<4x2xf64> attributes {test.divisor = 1 : i64} {
  %r0 = sym.make_loss %x {grad_scale = 3.0} : (tensor<4x2xf64>) -> tensor<4x2xf64>
  return %r0 : tensor<4x2xf64>
}
func.func @make_loss_batch(%x: tensor<4x2xf64>) -> tensor<4x2xf64> attributes {test.divisor = 1 : i64} {
  %r0 = sym.make_loss %x {normalization = "batch"} : (tensor<4x2xf64>) -> tensor<4x2xf64>
  return %r0 : tensor<4x2xf64>
}
func.func @make_loss_valid(%x: tensor<4x2xf64>) -> tensor<4x2xf64> attributes {test.divisor = 1 : i64} {
  %r0 = sym.make_loss %x {normalization = "valid", valid_thresh = -2.0} : (tensor<4x2xf64>) -> tensor<4x2xf64>
  return %r0 : tensor<4x2xf64>
}
// The incoming gradient multiplies it: 0.1 as in a mean over ten steps.
func.func @softmax_cross_entropy_scaled(%x: tensor<6x3xf64>, %l: tensor<6xi32>) -> tensor<1xf64> {
  %r0 = sym.softmax_cross_entropy %x, %l : (tensor<6x3xf64>, tensor<6xi32>) -> tensor<1xf64>
  %r1 = sym.mul_scalar %r0 {scalar = 0.1} : (tensor<1xf64>) -> tensor<1xf64>
  return %r1 : tensor<1xf64>
}
// A label with the shape of data holds probabilities, of any sum (0, 1 and 2 here): normalization and use_ignore have no effect.
func.func @softmax_output_probabilities(%x: tensor<6x4xf64>, %l: tensor<6x4xi32>) -> tensor<6x4xf64> attributes {test.divisor = 6 : i64} {
  %r0 = sym.softmax_output %x, %l {grad_scale = 0.5, ignore_label = 1.0, normalization = "valid", use_ignore = true} : (tensor<6x4xf64>, tensor<6x4xi32>) -> tensor<6x4xf64>
  return %r0 : tensor<6x4xf64>
}
func.func @softmax_output_smooth(%x: tensor<6x3xf64>, %l: tensor<6xi32>) -> tensor<6x3xf64> attributes {test.divisor = 1 : i64} {
  %r0 = sym.softmax_output %x, %l {ignore_label = 2.0, normalization = "batch", smooth_alpha = 0.2, use_ignore = true} : (tensor<6x3xf64>, tensor<6xi32>) -> tensor<6x3xf64>
  return %r0 : tensor<6x3xf64>
}
// Divided by the positions, and in an update by the rows.
func.func @softmax_output_positions(%x: tensor<2x3x4xf64>, %l: tensor<2x4xi32>) -> tensor<2x3x4xf64> attributes {test.divisor = 2 : i64} {
  %r0 = sym.softmax_output %x, %l {multi_output = true, smooth_alpha = 0.2} : (tensor<2x3x4xf64>, tensor<2x4xi32>) -> tensor<2x3x4xf64>
  return %r0 : tensor<2x3x4xf64>
}
