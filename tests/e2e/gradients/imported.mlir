// Ops that networks of MXNet have and the compiler does not (ir/sym/ImportedOps.td).

func.func @deconvolution(%x: tensor<2x3x4xf64>, %w: tensor<3x2x3xf64>, %b: tensor<2xf64>) -> tensor<2x2x9xf64> {
  %r0 = sym.deconvolution %x, %w, %b {adj = array<i64: 1>, kernel = array<i64: 3>, no_bias = false, num_filter = 2 : i64, pad = array<i64: 1>, stride = array<i64: 2>, dilate = array<i64: 2>} : (tensor<2x3x4xf64>, tensor<3x2x3xf64>, tensor<2xf64>) -> tensor<2x2x10xf64>
  %r1 = sym.slice_axis %r0 {axis = 2 : i64, begin = 0 : i64, end = 9 : i64} : (tensor<2x2x10xf64>) -> tensor<2x2x9xf64>
  return %r1 : tensor<2x2x9xf64>
}
func.func @deconvolution_in_groups(%x: tensor<2x4x2x3xf64>, %w: tensor<4x1x2x2xf64>) -> tensor<2x2x4x5xf64> {
  %r0 = sym.deconvolution %x, %w {kernel = array<i64: 2, 2>, num_filter = 2 : i64, num_group = 2 : i64, stride = array<i64: 2, 2>, target_shape = array<i64: 4, 5>} : (tensor<2x4x2x3xf64>, tensor<4x1x2x2xf64>) -> tensor<2x2x4x5xf64>
  return %r0 : tensor<2x2x4x5xf64>
}
func.func @deconvolution_that_crops(%x: tensor<1x2x5xf64>, %w: tensor<2x2x2xf64>) -> tensor<1x2x2xf64> {
  %r0 = sym.deconvolution %x, %w {kernel = array<i64: 2>, num_filter = 2 : i64, pad = array<i64: 2>} : (tensor<1x2x5xf64>, tensor<2x2x2xf64>) -> tensor<1x2x2xf64>
  return %r0 : tensor<1x2x2xf64>
}
func.func @up_sampling(%x: tensor<2x2x2x3xf64>, %y: tensor<2x1x4x3xf64>) -> tensor<2x3x4x6xf64> {
  %r0 = sym.up_sampling %x, %y {sample_type = "nearest", scale = 2 : i64} : (tensor<2x2x2x3xf64>, tensor<2x1x4x3xf64>) -> tensor<2x3x4x6xf64>
  return %r0 : tensor<2x3x4x6xf64>
}
func.func @up_sampling_of_sums(%x: tensor<1x2x2x2xf64>, %y: tensor<1x2x6x6xf64>) -> tensor<1x2x6x6xf64> {
  %r0 = sym.up_sampling %x, %y {multi_input_mode = "sum", sample_type = "nearest", scale = 3 : i64} : (tensor<1x2x2x2xf64>, tensor<1x2x6x6xf64>) -> tensor<1x2x6x6xf64>
  return %r0 : tensor<1x2x6x6xf64>
}
func.func @lrn(%x: tensor<2x5x3xf64>) -> tensor<2x5x3xf64> {
  %r0 = sym.lrn %x {alpha = 0.3, beta = 0.6, knorm = 1.5, nsize = 3 : i64} : (tensor<2x5x3xf64>) -> tensor<2x5x3xf64>
  return %r0 : tensor<2x5x3xf64>
}
func.func @group_norm(%x: tensor<2x4x3xf64>, %g: tensor<2xf64>, %b: tensor<2xf64>) -> tensor<2x4x3xf64> {
  %r0, %m, %s = sym.group_norm %x, %g, %b {eps = 0.01, num_groups = 2 : i64} : (tensor<2x4x3xf64>, tensor<2xf64>, tensor<2xf64>) -> (tensor<2x4x3xf64>, tensor<2x2xf64>, tensor<2x2xf64>)
  return %r0 : tensor<2x4x3xf64>
}
func.func @split_v2(%x: tensor<2x6xf64>) -> tensor<2x5xf64> {
  %a, %b, %c = sym.split_v2 %x {indices = array<i64: 0, 1, 4>} : (tensor<2x6xf64>) -> (tensor<2x1xf64>, tensor<2x3xf64>, tensor<2x2xf64>)
  %y = sym.concat %c, %b {dim = 1 : i64} : (tensor<2x2xf64>, tensor<2x3xf64>) -> tensor<2x5xf64>
  return %y : tensor<2x5xf64>
}
func.func @split_v2_squeezed(%x: tensor<2x3xf64>) -> tensor<3xf64> {
  %a, %b = sym.split_v2 %x {axis = 0 : i64, sections = 2 : i64, squeeze_axis = true} : (tensor<2x3xf64>) -> (tensor<3xf64>, tensor<3xf64>)
  %y = sym.elemwise_mul %a, %b : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
}
