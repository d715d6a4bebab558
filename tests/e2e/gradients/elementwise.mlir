// Element-wise ops with attributes. Ops without attributes have no function here: the test makes one for each record.

func.func @activation_relu(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.activation %x {act_type = "relu"} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @activation_sigmoid(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.activation %x {act_type = "sigmoid"} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @activation_tanh(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.activation %x {act_type = "tanh"} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @activation_softrelu(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.activation %x {act_type = "softrelu"} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @activation_softsign(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.activation %x {act_type = "softsign"} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @clip(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.clip %x {a_max = 0.6, a_min = -0.5} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @cast(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.cast %x {dtype = "float64"} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @hard_sigmoid(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.hard_sigmoid %x {alpha = 0.7, beta = 0.1} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @smooth_l1(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.smooth_l1 %x {scalar = 1.3} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @where(%c: tensor<3x4xi1>, %x: tensor<3x4xf64>, %y: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.where %c, %x, %y : (tensor<3x4xi1>, tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @add_n(%x: tensor<3x4xf64>, %y: tensor<3x4xf64>, %z: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.add_n %x, %y, %z : (tensor<3x4xf64>, tensor<3x4xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @add_n_of_one(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.add_n %x : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
// In mode always, forward draws the same mask as step.
func.func @dropout(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.dropout %x {mode = "always", p = 0.4} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @dropout_axes(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.dropout %x {axes = array<i64: 0>, mode = "always", p = 0.4} : (tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @broadcast_both_ways(%x: tensor<3x1xf64>, %y: tensor<1x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.broadcast_mul %x, %y : (tensor<3x1xf64>, tensor<1x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
func.func @broadcast_one(%x: tensor<1x1xf64>, %y: tensor<3x4xf64>) -> tensor<3x4xf64> {
  %r0 = sym.broadcast_div %x, %y : (tensor<1x1xf64>, tensor<3x4xf64>) -> tensor<3x4xf64>
  return %r0 : tensor<3x4xf64>
}
