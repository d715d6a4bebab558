// Ops of ir/sym/WrittenOps.td. BatchNorm in training, whose forward is another, is judged by tests/frontend/python/test_batch_norm.py.

func.func @batch_norm(%x: tensor<4x3x2xf64>, %g: tensor<3xf64>, %b: tensor<3xf64>, %m: tensor<3xf64>, %v: tensor<3xf64>) -> tensor<4x3x2xf64> {
  %y, %mean, %inverse = sym.batch_norm %x, %g, %b, %m, %v {fix_gamma = false, use_global_stats = true} : (tensor<4x3x2xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<4x3x2xf64>, tensor<3xf64>, tensor<3xf64>)
  return %y : tensor<4x3x2xf64>
}
func.func @batch_norm_of_the_last_axis(%x: tensor<4x2x3xf64>, %g: tensor<3xf64>, %b: tensor<3xf64>, %m: tensor<3xf64>, %v: tensor<3xf64>) -> tensor<4x2x3xf64> {
  %y, %mean, %inverse = sym.batch_norm %x, %g, %b, %m, %v {axis = -1 : i64, use_global_stats = true} : (tensor<4x2x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<4x2x3xf64>, tensor<3xf64>, tensor<3xf64>)
  return %y : tensor<4x2x3xf64>
}
func.func @ctc_loss(%x: tensor<7x2x4xf64>) -> tensor<2xf64> {
  %i = sym.arange {repeat = 2 : i64, start = 1.0, stop = 4.0} : tensor<6xf32>
  %l = sym.reshape %i {shape = array<i64: 2, 3>} : (tensor<6xf32>) -> tensor<2x3xf32>
  %r0 = sym.ctc_loss %x, %l : (tensor<7x2x4xf64>, tensor<2x3xf32>) -> tensor<2xf64>
  return %r0 : tensor<2xf64>
}
func.func @ctc_loss_with_lengths(%x: tensor<6x3x4xf64>, %l: tensor<3x2xi32>, %t: tensor<3xi32>, %n: tensor<3xi32>) -> tensor<3xf64> {
  %s = sym.plus_scalar %t {scalar = 3.0} : (tensor<3xi32>) -> tensor<3xi32>
  %r0 = sym.ctc_loss %x, %l steps %s labels %n {blank_label = "last", use_data_lengths = true, use_label_lengths = true} : (tensor<6x3x4xf64>, tensor<3x2xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xf64>
  return %r0 : tensor<3xf64>
}
func.func @ctc_loss_of_one_class(%x: tensor<1x2x3xf64>) -> tensor<2xf64> {
  %i = sym.arange {start = 1.0, stop = 3.0} : tensor<2xf32>
  %l = sym.reshape %i {shape = array<i64: 2, 1>} : (tensor<2xf32>) -> tensor<2x1xf32>
  %r0 = sym.ctc_loss %x, %l : (tensor<1x2x3xf64>, tensor<2x1xf32>) -> tensor<2xf64>
  return %r0 : tensor<2xf64>
}
