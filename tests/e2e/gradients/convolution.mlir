// Windows of images and sequences (ir/sym/ConvolutionOps.td), and the other ops of MXNet's networks of images that are written out.

func.func @pad(%x: tensor<2x3x4xf64>) -> tensor<2x4x7xf64> {
  %r0 = sym.pad %x {constant_value = 0.5, mode = "constant", pad_width = array<i64: 0, 0, 1, 0, 1, 2>} : (tensor<2x3x4xf64>) -> tensor<2x4x7xf64>
  return %r0 : tensor<2x4x7xf64>
}
func.func @pad_of_edges(%x: tensor<2x3x4xf64>) -> tensor<2x5x7xf64> {
  %r0 = sym.pad %x {mode = "edge", pad_width = array<i64: 0, 0, 0, 2, 3, 0>} : (tensor<2x3x4xf64>) -> tensor<2x5x7xf64>
  return %r0 : tensor<2x5x7xf64>
}
func.func @pad_by_reflection(%x: tensor<2x3x4xf64>) -> tensor<2x5x7xf64> {
  %r0 = sym.pad %x {mode = "reflect", pad_width = array<i64: 0, 0, 2, 0, 1, 2>} : (tensor<2x3x4xf64>) -> tensor<2x5x7xf64>
  return %r0 : tensor<2x5x7xf64>
}
func.func @convolution(%x: tensor<2x3x6xf64>, %w: tensor<4x3x2xf64>, %b: tensor<4xf64>) -> tensor<2x4x5xf64> {
  %r0 = sym.convolution %x, %w, %b {kernel = array<i64: 2>, num_filter = 4 : i64} : (tensor<2x3x6xf64>, tensor<4x3x2xf64>, tensor<4xf64>) -> tensor<2x4x5xf64>
  return %r0 : tensor<2x4x5xf64>
}
func.func @convolution_of_images(%x: tensor<2x2x5x4xf64>, %w: tensor<3x2x3x2xf64>) -> tensor<2x3x3x4xf64> {
  %r0 = sym.convolution %x, %w {dilate = array<i64: 1, 2>, kernel = array<i64: 3, 2>, no_bias = true, num_filter = 3 : i64, pad = array<i64: 1, 2>, stride = array<i64: 2, 1>} : (tensor<2x2x5x4xf64>, tensor<3x2x3x2xf64>) -> tensor<2x3x3x6xf64>
  %r1 = sym.slice_axis %r0 {axis = 3 : i64, begin = 1 : i64, end = 5 : i64} : (tensor<2x3x3x6xf64>) -> tensor<2x3x3x4xf64>
  return %r1 : tensor<2x3x3x4xf64>
}
func.func @convolution_in_groups(%x: tensor<2x4x5xf64>, %w: tensor<6x2x3xf64>, %b: tensor<6xf64>) -> tensor<2x6x5xf64> {
  %r0 = sym.convolution %x, %w, %b {kernel = array<i64: 3>, num_filter = 6 : i64, num_group = 2 : i64, pad = array<i64: 1>} : (tensor<2x4x5xf64>, tensor<6x2x3xf64>, tensor<6xf64>) -> tensor<2x6x5xf64>
  return %r0 : tensor<2x6x5xf64>
}
func.func @convolution_of_volumes(%x: tensor<1x2x3x3x3xf64>, %w: tensor<2x2x2x2x2xf64>) -> tensor<1x2x2x2x2xf64> {
  %r0 = sym.convolution %x, %w {kernel = array<i64: 2, 2, 2>, no_bias = true, num_filter = 2 : i64} : (tensor<1x2x3x3x3xf64>, tensor<2x2x2x2x2xf64>) -> tensor<1x2x2x2x2xf64>
  return %r0 : tensor<1x2x2x2x2xf64>
}
func.func @pooling(%x: tensor<2x3x5x4xf64>) -> tensor<2x3x2x3xf64> {
  %r0 = sym.pooling %x {kernel = array<i64: 3, 2>, stride = array<i64: 2, 1>} : (tensor<2x3x5x4xf64>) -> tensor<2x3x2x3xf64>
  return %r0 : tensor<2x3x2x3xf64>
}
func.func @pooling_full(%x: tensor<2x3x6xf64>) -> tensor<2x3x4xf64> {
  %r0 = sym.pooling %x {kernel = array<i64: 3>, pad = array<i64: 1>, pool_type = "avg", pooling_convention = "full", stride = array<i64: 2>} : (tensor<2x3x6xf64>) -> tensor<2x3x4xf64>
  return %r0 : tensor<2x3x4xf64>
}
func.func @pooling_without_pad(%x: tensor<2x3x5xf64>) -> tensor<2x3x3xf64> {
  %r0 = sym.pooling %x {count_include_pad = false, kernel = array<i64: 3>, pad = array<i64: 1>, pool_type = "avg", stride = array<i64: 2>} : (tensor<2x3x5xf64>) -> tensor<2x3x3xf64>
  return %r0 : tensor<2x3x3xf64>
}
func.func @pooling_of_sums(%x: tensor<2x3x5xf64>) -> tensor<2x3x4xf64> {
  %r0 = sym.pooling %x {kernel = array<i64: 2>, pool_type = "sum"} : (tensor<2x3x5xf64>) -> tensor<2x3x4xf64>
  return %r0 : tensor<2x3x4xf64>
}
func.func @pooling_of_all(%x: tensor<2x3x4x2xf64>) -> tensor<2x3x1x1xf64> {
  %r0 = sym.pooling %x {global_pool = true} : (tensor<2x3x4x2xf64>) -> tensor<2x3x1x1xf64>
  return %r0 : tensor<2x3x1x1xf64>
}
func.func @pooling_of_all_means(%x: tensor<2x3x4x2xf64>) -> tensor<2x3x1x1xf64> {
  %r0 = sym.pooling %x {global_pool = true, pool_type = "avg"} : (tensor<2x3x4x2xf64>) -> tensor<2x3x1x1xf64>
  return %r0 : tensor<2x3x1x1xf64>
}
func.func @instance_norm(%x: tensor<2x3x5xf64>, %g: tensor<3xf64>, %b: tensor<3xf64>) -> tensor<2x3x5xf64> {
  %r0 = sym.instance_norm %x, %g, %b : (tensor<2x3x5xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<2x3x5xf64>
  return %r0 : tensor<2x3x5xf64>
}
func.func @div_sqrt_dim(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.div_sqrt_dim %x : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @amp_cast(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.amp_cast %x {dtype = "float16"} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @batch_take(%x: tensor<3x4xf64>) -> tensor<3xf64> {
  %i = sym.arange {dtype = "int32", start = 0.0, stop = 3.0} : tensor<3xi32>
  %r0 = sym.batch_take %x, %i : (tensor<3x4xf64>, tensor<3xi32>) -> tensor<3xf64>
  return %r0 : tensor<3xf64>
}
