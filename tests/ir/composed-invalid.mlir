// RUN: lstmc opt %s --split-input-file --verify-diagnostics

// reshape_like:window
func.func @f(%x: tensor<6x4xf32>, %y: tensor<2x3xf32>) {
  // expected-error@+1 {{reshape_like: axes 2 to 1 of lhs, which has 2}}
  %z = sym.reshape_like %x, %y {lhs_begin = 2 : i64, lhs_end = 1 : i64} : (tensor<6x4xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
// reshape_like:elements
func.func @f(%x: tensor<6x4xf32>, %y: tensor<2x3xf32>) {
  // expected-error@+1 {{reshape_like: lhs has 24 elements, rhs has 6}}
  %z = sym.reshape_like %x, %y : (tensor<6x4xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
// broadcast_like:axes
func.func @f(%x: tensor<1x4xf32>, %y: tensor<2x3xf32>) {
  // expected-error@+1 {{broadcast_like: lhs_axes has 1 axes, rhs_axes has 0}}
  %z = sym.broadcast_like %x, %y {lhs_axes = array<i64: 0>} : (tensor<1x4xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----
// broadcast_like:stretch
func.func @f(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+1 {{broadcast_like: lhs has 2 on axis 0, rhs has 3}}
  %z = sym.broadcast_like %x, %y : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----
// slice_like:rank
func.func @f(%x: tensor<2x4xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{slice_like: shape_like has 1 axis, wants 2}}
  %z = sym.slice_like %x, %y : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----
// slice_like:window
func.func @f(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>) {
  // expected-error@+1 {{slice_like: data has 2 on axis 0, shape_like has 3}}
  %z = sym.slice_like %x, %y : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----
// arange_like:step
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{arange_like: step is 0.000000e+00, wants a number other than 0}}
  %z = sym.arange_like %x {step = 0.0} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----
// arange_like:axis
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{arange_like: axis is 2, data has 2 axes}}
  %z = sym.arange_like %x {axis = 2 : i64} : (tensor<2x4xf32>) -> tensor<4xf32>
  return
}

// -----
// l2_normalization:rank
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{L2Normalization: data has 2 axes, wants at least 3}}
  %z = sym.l2_normalization %x {mode = "spatial"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----
// softmax_activation:rank
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{SoftmaxActivation: data has 1 axis, wants at least 2}}
  %z = sym.softmax_activation %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----
// leaky_relu:bounds
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{LeakyReLU: lower_bound is 1.250000e-01, upper_bound is 1.000000e-01}}
  %z = sym.leaky_relu %x {act_type = "rrelu", upper_bound = 0.1} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----
// leaky_relu:gamma-shape
func.func @f(%x: tensor<2x4xf32>, %g: tensor<3xf32>) {
  // expected-error@+1 {{LeakyReLU: gamma has 3 elements, data has 4}}
  %z = sym.leaky_relu %x, %g {act_type = "prelu"} : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----
func.func @f(%x: tensor<2x4xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{LeakyReLU: has gamma, which belongs to act_type prelu}}
  %z = sym.leaky_relu %x, %g : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----
// linalg_gemm2:rank
func.func @f(%x: tensor<2x3x4xf32>, %y: tensor<4x5xf32>) {
  // expected-error@+1 {{linalg_gemm2: B has 2 axes, wants 3}}
  %z = sym.linalg_gemm2 %x, %y : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----
// linalg_gemm2:inner
func.func @f(%x: tensor<3x4xf32>, %y: tensor<3x5xf32>) {
  // expected-error@+1 {{linalg_gemm2: A has 4 to multiply, B has 3}}
  %z = sym.linalg_gemm2 %x, %y : (tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return
}

// -----
// linalg_gemm:same-shape
func.func @f(%x: tensor<3x4xf32>, %y: tensor<4x5xf32>, %c: tensor<5x3xf32>) {
  // expected-error@+1 {{linalg_gemm: output is float32[3, 5], C is float32[5, 3]}}
  %z = sym.linalg_gemm %x, %y, %c : (tensor<3x4xf32>, tensor<4x5xf32>, tensor<5x3xf32>) -> tensor<3x5xf32>
  return
}

// -----
// einsum:subscripts
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{einsum: subscripts are "ii->i": 'i' stands twice in one operand}}
  %z = sym.einsum %x {subscripts = "ii->i"} : (tensor<3x4xf32>) -> tensor<3xf32>
  return
}

// -----
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{einsum: subscripts are "ij->k": no operand has 'k' of the result}}
  %z = sym.einsum %x {subscripts = "ij->k"} : (tensor<3x4xf32>) -> tensor<3xf32>
  return
}

// -----
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{einsum: subscripts are "...j->j": letters only are built, found '.'}}
  %z = sym.einsum %x {subscripts = "...j->j"} : (tensor<3x4xf32>) -> tensor<4xf32>
  return
}

// -----
// einsum:count
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{einsum: has 1 operand, subscripts name 2}}
  %z = sym.einsum %x {subscripts = "ij,jk->ik"} : (tensor<3x4xf32>) -> tensor<3x5xf32>
  return
}

// -----
// einsum:extents
func.func @f(%x: tensor<3x4xf32>, %y: tensor<5x6xf32>) {
  // expected-error@+1 {{einsum: arg1 has 5 for j, arg0 has 4}}
  %z = sym.einsum %x, %y {subscripts = "ij,jk->ik"} : (tensor<3x4xf32>, tensor<5x6xf32>) -> tensor<3x6xf32>
  return
}

// -----
// gather_nd:depth
func.func @f(%x: tensor<3x4xf32>, %i: tensor<3x2xi32>) {
  // expected-error@+1 {{gather_nd: indices has 3 on axis 0, data has 2 axes}}
  %z = sym.gather_nd %x, %i : (tensor<3x4xf32>, tensor<3x2xi32>) -> tensor<2xf32>
  return
}

// -----
// gather_nd:output-shape
func.func @f(%x: tensor<3x4xf32>, %i: tensor<1x2xi32>) {
  // expected-error@+1 {{gather_nd: output has 3 on axis 0, indices has 2}}
  %z = sym.gather_nd %x, %i : (tensor<3x4xf32>, tensor<1x2xi32>) -> tensor<3x4xf32>
  return
}

// -----
// diag:axes
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{diag: axis1 and axis2 are the same axis}}
  %z = sym.diag %x {axis1 = 1 : i64} : (tensor<3x4xf32>) -> tensor<3xf32>
  return
}

// -----
// diag:diagonal
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{diag: diagonal k = 4 of 3 rows and 4 columns is empty}}
  %z = sym.diag %x {k = 4 : i64} : (tensor<3x4xf32>) -> tensor<1xf32>
  return
}

// -----
// cumsum:axis
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{cumsum: axis is 2, a has 2 axes}}
  %z = sym.cumsum %x {axis = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----
// cumsum:output-shape
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{cumsum: output has 2 axes, wants 1}}
  %z = sym.cumsum %x : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----
// sort:axis
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{sort: axis is 2, data has 2 axes}}
  %z = sym.sort %x {axis = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----
// sort:extent
func.func @f(%x: tensor<2x2147483649xf32>) {
  // expected-error@+1 {{sort: data has 2147483649 elements on axis 1, at most 2147483648 are put in order}}
  %z = sym.sort %x : (tensor<2x2147483649xf32>) -> tensor<2x2147483649xf32>
  return
}

// -----
// argsort:axis
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{argsort: axis is -3, data has 2 axes}}
  %z = sym.argsort %x {axis = -3 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----
// argsort:extent
func.func @f(%x: tensor<2x2147483649xf32>) {
  // expected-error@+1 {{argsort: data has 2147483649 elements on axis 1, at most 2147483648 are put in order}}
  %z = sym.argsort %x : (tensor<2x2147483649xf32>) -> tensor<2x2147483649xf32>
  return
}

// -----
// topk:axis
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{topk: axis is 2, data has 2 axes}}
  %z = sym.topk %x {axis = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----
// topk:extent
func.func @f(%x: tensor<2x2147483649xf32>) {
  // expected-error@+1 {{topk: data has 2147483649 elements on axis 1, at most 2147483648 are put in order}}
  %z = sym.topk %x : (tensor<2x2147483649xf32>) -> tensor<2x1xf32>
  return
}

// -----
// topk:k
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{topk: k is 5, data has 4 on axis 1}}
  %z = sym.topk %x {k = 5 : i64} : (tensor<3x4xf32>) -> tensor<3x5xf32>
  return
}

// -----
// topk:outputs
func.func @f(%x: tensor<3x4xf32>) {
  // expected-error@+1 {{topk: ret_typ both has 2 outputs, found 1}}
  %z = sym.topk %x {ret_typ = "both"} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  return
}

// -----
// scatter_nd:depth
func.func @f(%x: tensor<7xf32>, %i: tensor<2x7xi32>) {
  // expected-error@+1 {{scatter_nd: indices has 2 on axis 0, shape has 1 axis}}
  %z = sym.scatter_nd %x, %i {shape = array<i64: 5>} : (tensor<7xf32>, tensor<2x7xi32>) -> tensor<5xf32>
  return
}

// -----
// scatter_nd:data-shape
func.func @f(%x: tensor<6xf32>, %i: tensor<1x7xi32>) {
  // expected-error@+1 {{scatter_nd: data has 6 on axis 0, indices has 7}}
  %z = sym.scatter_nd %x, %i {shape = array<i64: 5>} : (tensor<6xf32>, tensor<1x7xi32>) -> tensor<5xf32>
  return
}

// -----
// random_uniform:shape
func.func @f() {
  // expected-error@+1 {{random_uniform: output has 3 on axis 0, shape gives 2}}
  %z = sym.random_uniform {shape = array<i64: 2>} : () -> tensor<3xf32>
  return
}

// -----
// sample_multinomial:shape
func.func @f(%p: tensor<3x4xf32>) {
  // expected-error@+1 {{sample_multinomial: output has 2 axes, wants 1}}
  %z = sym.sample_multinomial %p : (tensor<3x4xf32>) -> tensor<3x4xi32>
  return
}
