// RUN: lstmc opt %s --fuse | FileCheck %s
// RUN: lstmc opt %s --fuse="max-ops=2" | FileCheck %s --check-prefix=SHORT

!t = tensor<4x8xf32>
!b = tensor<1x8xf32>

// A chain becomes one region; %b is stretched in it, and a value that others need leaves it.
// CHECK-LABEL: func @chain
// CHECK:         %[[F:.+]]:2 = sym.fused %{{.+}}, %{{.+}} : (tensor<4x8xf32>, tensor<1x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK:           sym.scalar sigmoid
// CHECK-NEXT:      sym.scalar mul
// CHECK-NEXT:      sym.scalar tanh
// CHECK-NEXT:      sym.yield
// CHECK:         sym.fully_connected %[[F]]#0
// Three ops do not fit into two.
// SHORT-LABEL: func @chain
// SHORT-COUNT-1: sym.fused
// SHORT:         return
func.func @chain(%x: !t, %b: !b, %w: tensor<8x8xf32>) -> (!t, !t) {
  %0 = sym.sigmoid %x : (!t) -> !t
  %1 = sym.broadcast_mul %0, %b : (!t, !b) -> !t
  %2 = sym.tanh %1 : (!t) -> !t
  %3 = sym.fully_connected %1, %w {no_bias = true, num_hidden = 8 : i64} : (!t, tensor<8x8xf32>) -> !t
  return %2, %3 : !t, !t
}

// The product needs %0 and the sum needs the product: one region of the three would wait for itself.
// CHECK-LABEL: func @cycle
// CHECK-NOT:     sym.fused
// CHECK:         return
func.func @cycle(%x: !t, %w: tensor<8x8xf32>) -> !t {
  %0 = sym.sigmoid %x : (!t) -> !t
  %1 = sym.fully_connected %0, %w {no_bias = true, num_hidden = 8 : i64} : (!t, tensor<8x8xf32>) -> !t
  %2 = sym.elemwise_add %0, %1 : (!t, !t) -> !t
  return %2 : !t
}

// An early value joins the late chain that alone reads it, though a product stands between them.
// CHECK-LABEL: func @late
// CHECK:         sym.fully_connected
// CHECK-NEXT:    sym.fused
// CHECK-NOT:     sym.sigmoid
func.func @late(%x: !t, %y: !t, %w: tensor<8x8xf32>) -> !t {
  %0 = sym.sigmoid %x : (!t) -> !t
  %1 = sym.fully_connected %y, %w {no_bias = true, num_hidden = 8 : i64} : (!t, tensor<8x8xf32>) -> !t
  %2 = sym.elemwise_add %0, %1 : (!t, !t) -> !t
  return %2 : !t
}

// Of another shape: computed once, not once per row.
// CHECK-LABEL: func @smaller
// CHECK-NOT:     sym.fused
func.func @smaller(%x: !t, %b: !b) -> !t {
  %0 = sym.sigmoid %b : (!b) -> !b
  %1 = sym.broadcast_mul %x, %0 : (!t, !b) -> !t
  return %1 : !t
}

// What does not feed one another stays apart.
// CHECK-LABEL: func @apart
// CHECK-NOT:     sym.fused
func.func @apart(%x: !t, %y: !t) -> (!t, !t) {
  %0 = sym.sigmoid %x : (!t) -> !t
  %1 = sym.tanh %y : (!t) -> !t
  return %0, %1 : !t, !t
}
