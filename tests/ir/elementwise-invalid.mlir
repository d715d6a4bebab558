// RUN: lstmc opt %s --split-input-file --verify-diagnostics

// unary:same-shape
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{tanh: data is float32[2, 3], output is float32[3, 2]}}
  %y = sym.tanh %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{tanh: data is float32, output is float64}}
  %y = sym.tanh %x : (tensor<2x3xf32>) -> tensor<2x3xf64>
  return
}

// -----
func.func @f(%x: tensor<2xi32>) {
  // expected-error@+1 {{tanh: data is int32, wants a float type}}
  %y = sym.tanh %x : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----
// binary:same-shape
func.func @f(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) {
  // expected-error@+2 {{elemwise_add: lhs is float32[2, 3], rhs is float32[1, 3]}}
  // expected-note@+1 {{operators such as + stretch these shapes to one another, as NumPy's do}}
  %y = sym.elemwise_add %a, %b : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
// broadcast:same-rank
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error@+2 {{broadcast_add: lhs has 2 axes, rhs has 1}}
  // expected-note@+1 {{expand_dims(x, axis=0) puts an axis in front; operators such as + do so by themselves, as NumPy's}}
  %y = sym.broadcast_add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----
// broadcast:stretch
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error@+1 {{broadcast_add: lhs has 3 on axis 1, rhs has 4}}
  %y = sym.broadcast_add %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----
func.func @f(%a: tensor<2x1xf32>, %b: tensor<2x4xf32>) {
  // expected-error@+1 {{broadcast_add: output has 5 on axis 1, broadcasting is 4}}
  %y = sym.broadcast_add %a, %b : (tensor<2x1xf32>, tensor<2x4xf32>) -> tensor<2x5xf32>
  return
}

// -----
// scalar:same-shape
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{_plus_scalar: data is float32[2, 3], output is float32[3]}}
  %y = sym.plus_scalar %x {scalar = 1.0} : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----
// activation: the choice
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{attribute 'act_type' failed to satisfy constraint: one of relu, sigmoid, tanh, softrelu, softsign}}
  %y = sym.activation %x {act_type = "rleu"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
// cast:result-type
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Cast: output is float64, dtype is int32}}
  %y = sym.cast %x {dtype = "int32"} : (tensor<2x3xf32>) -> tensor<2x3xf64>
  return
}

// -----
// cast:same-shape
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Cast: data is float32[2, 3], output is int32[6]}}
  %y = sym.cast %x {dtype = "int32"} : (tensor<2x3xf32>) -> tensor<6xi32>
  return
}

// -----
// dropout:probability
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Dropout: p is 1, wants 0 <= p < 1, the share that is dropped}}
  %y = sym.dropout %x {p = 1.0} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
// dropout:axes
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Dropout: axes is 2, data has 2 axes}}
  %y = sym.dropout %x {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
// add_n:count
func.func @f() {
  // expected-error@+1 {{add_n: wants at least 1 input, got 0}}
  %y = sym.add_n : () -> tensor<2x3xf32>
  return
}

// -----
// where:condition-shape
func.func @f(%c: tensor<2x1xi1>, %x: tensor<2x3xf32>) {
  // expected-error@+1 {{where: condition is bool[2, 1], x is float32[2, 3]}}
  %y = sym.where %c, %x, %x : (tensor<2x1xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
func.func @f(%c: tensor<3xi1>, %x: tensor<2x3xf32>) {
  // expected-error@+1 {{where: condition has 3 rows, x has 2}}
  %y = sym.where %c, %x, %x : (tensor<3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
// Bools can be compared and used as conditions; arithmetic on them is refused.
func.func @f(%a: tensor<3xi1>) {
  // expected-error@+1 {{elemwise_add: lhs is bool, wants a number}}
  %y = sym.elemwise_add %a, %a : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
  return
}

// -----
func.func @f(%a: tensor<3xi1>) {
  // expected-error@+1 {{abs: data is bool, wants a number}}
  %y = sym.abs %a : (tensor<3xi1>) -> tensor<3xi1>
  return
}
