// RUN: lstmc opt %s --infer-shapes | FileCheck %s
// RUN: lstmc opt %s --infer-shapes | lstmc opt | FileCheck %s

!open = tensor<*x!sym.open>

// CHECK-LABEL: func @alike
// CHECK:         sym.reshape_like {{.*}} -> tensor<2x3x4xf32>
// CHECK-NEXT:    sym.reshape_like {{.*}} -> tensor<2x3x4xf32>
// CHECK-NEXT:    sym.broadcast_like {{.*}} -> tensor<3x4xf32>
// CHECK-NEXT:    sym.slice_like {{.*}} -> tensor<3x4xf32>
// CHECK-NEXT:    sym.arange_like {{.*}} -> tensor<6x4xf32>
// CHECK-NEXT:    sym.arange_like {{.*}} -> tensor<4xf32>
func.func @alike(%x: tensor<6x4xf32>, %y: tensor<2x3x4xf32>, %z: tensor<3x1xf32>) -> !open {
  %a = sym.reshape_like %x, %y : (tensor<6x4xf32>, tensor<2x3x4xf32>) -> !open
  %b = sym.reshape_like %x, %y {lhs_end = 1 : i64, rhs_end = -1 : i64}
     : (tensor<6x4xf32>, tensor<2x3x4xf32>) -> !open
  %c = sym.broadcast_like %z, %x {lhs_axes = array<i64: 1>, rhs_axes = array<i64: -1>} : (tensor<3x1xf32>, tensor<6x4xf32>) -> !open
  %d = sym.slice_like %x, %z {axes = array<i64: 0>} : (tensor<6x4xf32>, tensor<3x1xf32>) -> !open
  %e = sym.arange_like %x : (tensor<6x4xf32>) -> !open
  %f = sym.arange_like %x {axis = -1 : i64} : (tensor<6x4xf32>) -> !open
  return %f : !open
}

// A slope per channel: the shape of gamma follows only from the op.
// CHECK-LABEL: func @rectifiers
// CHECK:         %[[G:.+]] = sym.variable {name = "gamma"} : tensor<5xf32>
// CHECK-NEXT:    sym.leaky_relu %{{.+}}, %[[G]] {{.*}} -> tensor<2x5x3xf32>
func.func @rectifiers(%x: tensor<2x5x3xf32>) -> !open {
  %g = sym.variable {name = "gamma"} : !open
  %y = sym.leaky_relu %x, %g {act_type = "prelu"} : (tensor<2x5x3xf32>, !open) -> !open
  return %y : !open
}

// CHECK-LABEL: func @products
// CHECK:         sym.linalg_gemm2 {{.*}} -> tensor<2x4x5xf32>
// CHECK-NEXT:    sym.einsum {{.*}} -> tensor<3x5xf32>
// CHECK-NEXT:    sym.einsum {{.*}} -> tensor<1xf32>
func.func @products(%a: tensor<2x3x4xf32>, %b: tensor<2x3x5xf32>) -> !open {
  %x = sym.linalg_gemm2 %a, %b {transpose_a = true} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> !open
  %y = sym.einsum %a, %b {subscripts = "nia,nib->ib"} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> !open
  %z = sym.einsum %a {subscripts = "abc->"} : (tensor<2x3x4xf32>) -> !open
  return %z : !open
}

// CHECK-LABEL: func @elements
// CHECK:         sym.gather_nd {{.*}} -> tensor<7x3xf32>
// CHECK-NEXT:    sym.diag {{.*}} -> tensor<3x4xf32>
// CHECK-NEXT:    sym.diag {{.*}} -> tensor<5x5xf32>
// CHECK-NEXT:    sym.cumsum {{.*}} -> tensor<60xf64>
func.func @elements(%x: tensor<5x4x3xf32>, %i: tensor<2x7xi32>, %v: tensor<3xf32>) -> !open {
  %a = sym.gather_nd %x, %i : (tensor<5x4x3xf32>, tensor<2x7xi32>) -> !open
  %b = sym.diag %x {axis1 = 0 : i64, axis2 = 1 : i64} : (tensor<5x4x3xf32>) -> !open
  %c = sym.diag %v {k = 2 : i64} : (tensor<3xf32>) -> !open
  %d = sym.cumsum %x {dtype = "float64"} : (tensor<5x4x3xf32>) -> !open
  return %d : !open
}

// CHECK-LABEL: func @sorted
// CHECK:         sym.sort {{.*}} -> tensor<5x4xf32>
// CHECK-NEXT:    sym.argsort {{.*}} -> tensor<5x4xi32>
// CHECK-NEXT:    sym.topk {{.*}} -> tensor<2x4xf32>
// CHECK-NEXT:    sym.topk {{.*}} -> tensor<5x4xf32>
// CHECK-NEXT:    sym.topk {{.*}} -> (tensor<5x3xf32>, tensor<5x3xi32>)
// CHECK-NEXT:    sym.scatter_nd {{.*}} -> tensor<6x7x4xf32>
func.func @sorted(%x: tensor<5x4xf32>, %i: tensor<2x5xi32>) -> !open {
  %a = sym.sort %x : (tensor<5x4xf32>) -> !open
  %b = sym.argsort %x {dtype = "int32"} : (tensor<5x4xf32>) -> !open
  %c = sym.topk %x {axis = 0 : i64, k = 2 : i64} : (tensor<5x4xf32>) -> !open
  %d = sym.topk %x {axis = 0 : i64, k = 2 : i64, ret_typ = "mask"} : (tensor<5x4xf32>) -> !open
  %t:2 = sym.topk %x {dtype = "int32", k = 3 : i64, ret_typ = "both"} : (tensor<5x4xf32>) -> (!open, !open)
  %e = sym.scatter_nd %x, %i {shape = array<i64: 6, 7, 4>} : (tensor<5x4xf32>, tensor<2x5xi32>) -> !open
  return %e : !open
}

// CHECK-LABEL: func @drawn
// CHECK:         sym.random_uniform {{.*}} : () -> tensor<2x3xf64>
// CHECK-NEXT:    sym.random_normal {{.*}} : () -> tensor<5xf32>
// CHECK-NEXT:    sym.sample_multinomial {{.*}} -> tensor<8x4xi32>
// CHECK-NEXT:    sym.sample_multinomial {{.*}} -> tensor<1xi32>
func.func @drawn(%p: tensor<8x5xf32>, %q: tensor<5xf32>) -> !open {
  %a = sym.random_uniform {shape = array<i64: 2, 3>, dtype = "float64"} : () -> !open
  %b = sym.random_normal {shape = array<i64: 5>} : () -> !open
  %c = sym.sample_multinomial %p {shape = array<i64: 4>} : (tensor<8x5xf32>) -> !open
  %d = sym.sample_multinomial %q : (tensor<5xf32>) -> !open
  return %d : !open
}
