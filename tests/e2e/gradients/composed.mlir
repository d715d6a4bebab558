// Ops that are always written out (ir/sym/ComposedOps.td), and the rectifiers where they bend.

func.func @reshape_like(%x: tensor<5x12x2xf64>, %y: tensor<9x3x4xf64>) -> tensor<5x3x4x2xf64> {
  %r0 = sym.reshape_like %x, %y {lhs_begin = 1 : i64, lhs_end = -1 : i64, rhs_begin = 1 : i64} : (tensor<5x12x2xf64>, tensor<9x3x4xf64>) -> tensor<5x3x4x2xf64>
  return %r0 : tensor<5x3x4x2xf64>
}
func.func @broadcast_like(%x: tensor<3x1xf64>, %y: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.broadcast_like %x, %y : (tensor<3x1xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @slice_like(%x: tensor<5x4xf64>, %y: tensor<3x2xf64>) -> tensor<3x2xf64> {
  %r0 = sym.slice_like %x, %y : (tensor<5x4xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return %r0 : tensor<3x2xf64>
}
func.func @softmin(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.softmin %x : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @l2_normalization(%x: tensor<2x3x4xf64>) -> tensor<2x3x4xf64> {
  %r0 = sym.l2_normalization %x : (tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
  return %r0 : tensor<2x3x4xf64>
}
func.func @l2_normalization_of_channels(%x: tensor<2x3x4xf64>) -> tensor<2x3x4xf64> {
  %r0 = sym.l2_normalization %x {mode = "channel"} : (tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
  return %r0 : tensor<2x3x4xf64>
}
func.func @softmax_activation(%x: tensor<2x3x2xf64>) -> tensor<2x3x2xf64> {
  %r0 = sym.softmax_activation %x : (tensor<2x3x2xf64>) -> tensor<2x3x2xf64>
  return %r0 : tensor<2x3x2xf64>
}
func.func @leaky_relu(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.leaky_relu %x : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @prelu(%x: tensor<3x4xf64>, %g: tensor<4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.leaky_relu %x, %g {act_type = "prelu"} : (tensor<3x4xf64>, tensor<4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @prelu_of_one_slope(%x: tensor<3x4xf64>, %g: tensor<1xf64>) -> tensor<3x4xf64> {
  %r0 = sym.leaky_relu %x, %g {act_type = "prelu"} : (tensor<3x4xf64>, tensor<1xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @elu(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.leaky_relu %x {act_type = "elu", slope = 0.7} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @selu(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.leaky_relu %x {act_type = "selu"} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @linalg_gemm2(%a: tensor<2x3x4xf64>, %b: tensor<2x5x4xf64>) -> tensor<2x3x5xf64> {
  %r0 = sym.linalg_gemm2 %a, %b {alpha = 2.0, transpose_b = true} : (tensor<2x3x4xf64>, tensor<2x5x4xf64>) -> tensor<2x3x5xf64>
  return %r0 : tensor<2x3x5xf64>
}
func.func @linalg_gemm(%a: tensor<4x3xf64>, %b: tensor<4x5xf64>, %c: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %r0 = sym.linalg_gemm %a, %b, %c {beta = 0.5, transpose_a = true} : (tensor<4x3xf64>, tensor<4x5xf64>, tensor<3x5xf64>) -> tensor<3x5xf64>
  return %r0 : tensor<3x5xf64>
}
func.func @einsum(%a: tensor<2x3x4xf64>, %b: tensor<2x5x4xf64>) -> tensor<5x2x3xf64> {
  %r0 = sym.einsum %a, %b {subscripts = "bij,bkj->kbi"} : (tensor<2x3x4xf64>, tensor<2x5x4xf64>) -> tensor<5x2x3xf64>
  return %r0 : tensor<5x2x3xf64>
}
func.func @einsum_of_letters_alone(%a: tensor<3x2xf64>, %b: tensor<4x2xf64>) -> tensor<4x3xf64> {
  %r0 = sym.einsum %a, %b {subscripts = "ia,kb->ki"} : (tensor<3x2xf64>, tensor<4x2xf64>) -> tensor<4x3xf64>
  return %r0 : tensor<4x3xf64>
}
func.func @einsum_of_one(%a: tensor<2x3x4xf64>) -> tensor<1xf64> {
  %r0 = sym.einsum %a {subscripts = "abc->"} : (tensor<2x3x4xf64>) -> tensor<1xf64>
  return %r0 : tensor<1xf64>
}
func.func @gather_nd(%x: tensor<2x3x2xf64>, %i: tensor<2x5xi32>) -> tensor<5x2xf64> {
  %r0 = sym.gather_nd %x, %i : (tensor<2x3x2xf64>, tensor<2x5xi32>) -> tensor<5x2xf64>
  return %r0 : tensor<5x2xf64>
}
func.func @diag(%x: tensor<4x3x5xf64>) -> tensor<4x3xf64> {
  %r0 = sym.diag %x {axis1 = 1 : i64, axis2 = 2 : i64, k = 1 : i64} : (tensor<4x3x5xf64>) -> tensor<4x3xf64>
  return %r0 : tensor<4x3xf64>
}
func.func @diag_of_a_vector(%x: tensor<3xf64>) -> tensor<5x5xf64> {
  %r0 = sym.diag %x {k = -2 : i64} : (tensor<3xf64>) -> tensor<5x5xf64>
  return %r0 : tensor<5x5xf64>
}
func.func @cumsum(%x: tensor<3x5xf64>) -> tensor<3x5xf64> {
  %r0 = sym.cumsum %x {axis = 1 : i64} : (tensor<3x5xf64>) -> tensor<3x5xf64>
  return %r0 : tensor<3x5xf64>
}
func.func @cumsum_of_all(%x: tensor<3x2xf64>) -> tensor<6xf64> {
  %r0 = sym.cumsum %x : (tensor<3x2xf64>) -> tensor<6xf64>
  return %r0 : tensor<6xf64>
}
func.func @log_sigmoid_activation(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.activation %x {act_type = "log_sigmoid"} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @mish_activation(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.activation %x {act_type = "mish"} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @scatter_nd(%x: tensor<3x4xf64>) -> tensor<2x5x4xf64> {
  %one = sym.arange {start = 0.0, stop = 2.0, step = 1.0} : tensor<2xf32>
  %i = sym.one_hot %one {depth = 3 : i64} : (tensor<2xf32>) -> tensor<2x3xf32>
  %r0 = sym.scatter_nd %x, %i {shape = array<i64: 2, 5, 4>} : (tensor<3x4xf64>, tensor<2x3xf32>) -> tensor<2x5x4xf64>
  return %r0 : tensor<2x5x4xf64>
}
func.func @sort(%x: tensor<2x5x3xf64>) -> tensor<2x5x3xf64> {
  %r0 = sym.sort %x {axis = 1 : i64, is_ascend = false} : (tensor<2x5x3xf64>) -> tensor<2x5x3xf64>
  return %r0 : tensor<2x5x3xf64>
}
func.func @topk_values(%x: tensor<4x7xf64>) -> tensor<4x3xf64> {
  %r0 = sym.topk %x {k = 3 : i64, ret_typ = "value"} : (tensor<4x7xf64>) -> tensor<4x3xf64>
  return %r0 : tensor<4x3xf64>
}
func.func @topk_both(%x: tensor<4x7xf64>) -> (tensor<4x3xf64>, tensor<4x3xf64>) {
  %r0:2 = sym.topk %x {dtype = "float64", k = 3 : i64, ret_typ = "both"} : (tensor<4x7xf64>) -> (tensor<4x3xf64>, tensor<4x3xf64>)
  return %r0#0, %r0#1 : tensor<4x3xf64>, tensor<4x3xf64>
}
