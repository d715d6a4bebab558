// RUN: lstmc opt %s --fuse | FileCheck %s
// RUN: lstmc opt %s --fuse="max-ops=2" | FileCheck %s --check-prefix=SHORT

!t = tensor<4x8xf32>
!b = tensor<1x8xf32>

// A chain becomes one region. %b is broadcast in the region; a value that other ops need is one of its results.
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

// The product needs %0 and the sum needs the product: a region of all three would depend on itself.
// CHECK-LABEL: func @cycle
// CHECK-NOT:     sym.fused
// CHECK:         return
func.func @cycle(%x: !t, %w: tensor<8x8xf32>) -> !t {
  %0 = sym.sigmoid %x : (!t) -> !t
  %1 = sym.fully_connected %0, %w {no_bias = true, num_hidden = 8 : i64} : (!t, tensor<8x8xf32>) -> !t
  %2 = sym.elemwise_add %0, %1 : (!t, !t) -> !t
  return %2 : !t
}

// An early value joins the late chain, its only reader, although there is a product between them.
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

// A value of another shape is computed once, not once per row.
// CHECK-LABEL: func @smaller
// CHECK-NOT:     sym.fused
func.func @smaller(%x: !t, %b: !b) -> !t {
  %0 = sym.sigmoid %b : (!b) -> !b
  %1 = sym.broadcast_mul %x, %0 : (!t, !b) -> !t
  return %1 : !t
}

// Ops that do not feed one another stay apart.
// CHECK-LABEL: func @apart
// CHECK-NOT:     sym.fused
func.func @apart(%x: !t, %y: !t) -> (!t, !t) {
  %0 = sym.sigmoid %x : (!t) -> !t
  %1 = sym.tanh %y : (!t) -> !t
  return %0, %1 : !t, !t
}

// Two parts of one mask draw their numbers at two places, so they do not share a region.
!s = tensor<1xi64>
// CHECK-LABEL: func @two_windows
// CHECK:         sym.dropout_mask {{.+}}window = array<i64: 0, 4, 24, 8, 1>
// CHECK:         sym.fused {{.+}} {window = array<i64: 8, 4, 24, 8, 1>}
func.func @two_windows(%x: !t, %seed: !s, %update: !s) -> !t {
  %0 = sym.dropout_mask %seed, %update {p = 2.0e-01, ordinal = 7 : i64, window = array<i64: 0, 4, 24, 8, 1>} : (!s, !s) -> !t
  %1 = sym.elemwise_mul %x, %0 : (!t, !t) -> !t
  %2 = sym.dropout_mask %seed, %update {p = 2.0e-01, ordinal = 7 : i64, window = array<i64: 8, 4, 24, 8, 1>} : (!s, !s) -> !t
  %3 = sym.elemwise_mul %1, %2 : (!t, !t) -> !t
  return %3 : !t
}

// Neither do a part and the whole share a region, whichever comes first.
// CHECK-LABEL: func @part_and_whole
// CHECK:         sym.fused
// CHECK-NOT:     window
// CHECK:         sym.fused {{.+}} {window = array<i64: 8, 4, 24, 8, 1>}
// CHECK:         return
func.func @part_and_whole(%x: !t, %w: tensor<8x8xf32>, %seed: !s, %update: !s) -> (!t, !t) {
  %0 = sym.dropout_mask %seed, %update {p = 2.0e-01, ordinal = 7 : i64} : (!s, !s) -> !t
  %1 = sym.elemwise_mul %x, %0 : (!t, !t) -> !t
  %2 = sym.dropout_mask %seed, %update {p = 2.0e-01, ordinal = 7 : i64, window = array<i64: 8, 4, 24, 8, 1>} : (!s, !s) -> !t
  %3 = sym.elemwise_mul %1, %2 : (!t, !t) -> !t
  %4 = sym.fully_connected %1, %w {no_bias = true, num_hidden = 8 : i64} : (!t, tensor<8x8xf32>) -> !t
  return %3, %4 : !t, !t
}

// Masks with the same window share one.
// CHECK-LABEL: func @one_window
// CHECK:         sym.fused {{.+}} {window = array<i64: 8, 4, 24, 8, 1>}
// CHECK-NOT:     sym.elemwise_mul
// CHECK:         return
func.func @one_window(%x: !t, %seed: !s, %update: !s) -> !t {
  %0 = sym.dropout_mask %seed, %update {p = 2.0e-01, ordinal = 7 : i64, window = array<i64: 8, 4, 24, 8, 1>} : (!s, !s) -> !t
  %1 = sym.elemwise_mul %x, %0 : (!t, !t) -> !t
  %2 = sym.dropout_mask %seed, %update {p = 2.0e-01, ordinal = 9 : i64, window = array<i64: 8, 4, 24, 8, 1>} : (!s, !s) -> !t
  %3 = sym.elemwise_mul %1, %2 : (!t, !t) -> !t
  return %3 : !t
}

// The sum of the first two parts does not wait for the other two.
// CHECK-LABEL: func @parts
// CHECK:         %[[FIRST:.+]] = sym.elemwise_add %arg0, %arg1
// CHECK:         sym.fused %arg2, %arg3, %[[FIRST]] :
// CHECK-NOT:     sym.elemwise_add
// CHECK:         return
func.func @parts(%a: !t, %b: !t, %c: !t, %d: !t) -> !t {
  %0 = sym.elemwise_add %a, %b {sym.aggregate} : (!t, !t) -> !t
  %1 = sym.elemwise_add %c, %d {sym.aggregate} : (!t, !t) -> !t
  %2 = sym.elemwise_add %0, %1 {sym.aggregate} : (!t, !t) -> !t
  %3 = sym.negative %2 : (!t) -> !t
  return %3 : !t
}
