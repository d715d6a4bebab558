// RUN: lstmc opt %s --rematerialise --split-input-file | FileCheck %s
// RUN: lstmc opt %s --rematerialise --fuse --split-input-file | FileCheck %s --check-prefix=FUSED

!x = tensor<8x4xf32>
!w = tensor<4x4xf32>

// In a group of four ops, the values that they pass to one another are computed again, mostly as late as possible: %2 is read before %1. The input (%0)
// and the output (%4) of the group are not, and neither is an op that only %4 needs.
// CHECK-LABEL: func @chain
//  CHECK-SAME:   (%[[X:.+]]: tensor<8x4xf32>, %[[W:.+]]: tensor<4x4xf32>, %[[D:.+]]: tensor<8x4xf32>)
//       CHECK:   %[[V0:.+]] = sym.sin %[[X]] :
//  CHECK-NEXT:   %[[V1:.+]] = sym.tanh %[[V0]] :
//  CHECK-NEXT:   %[[V2:.+]] = sym.dot %[[V1]], %[[W]] :
//  CHECK-NEXT:   %[[V3:.+]] = sym.sigmoid %[[V2]] :
//  CHECK-NEXT:   %[[V4:.+]] = sym.exp %[[V3]] :
//  CHECK-NEXT:   %[[V5:.+]] = sym.sin %[[V4]] :
//  CHECK-NEXT:   %[[B0:.+]] = sym.elemwise_mul %[[D]], %[[V4]] {sym.backward} :
//  CHECK-NEXT:   %[[A1:.+]] = sym.tanh %[[V0]] {sym.recompute = "g"} :
//  CHECK-NEXT:   %[[A2:.+]] = sym.dot %[[A1]], %[[W]] {sym.recompute = "g"} :
//  CHECK-NEXT:   %[[A3:.+]] = sym.sigmoid %[[A2]] {sym.recompute = "g"} :
//  CHECK-NEXT:   %[[B1:.+]] = sym.elemwise_mul %[[B0]], %[[A3]] :
//  CHECK-NEXT:   %[[B2:.+]] = sym.elemwise_mul %[[B1]], %[[A1]] :
//  CHECK-NEXT:   %[[B3:.+]] = sym.elemwise_mul %[[B2]], %[[V0]] :
//  CHECK-NEXT:   return %[[V5]], %[[B3]]
//
// The second tanh stays late, although the first one is fused with the %0 that both read.
// FUSED-LABEL: func @chain
//       FUSED:   %[[F:.+]]:2 = sym.fused
//       FUSED:   sym.dot %[[F]]#1
//  FUSED-NEXT:   %[[T:.+]] = sym.tanh %[[F]]#0 {sym.recompute = "g"}
//  FUSED-NEXT:   sym.dot %[[T]]
//  FUSED-NEXT:   sym.fused
func.func @chain(%x: !x, %w: !w, %d: !x) -> (!x, !x) attributes {sym.training} {
  %0 = sym.sin %x : (!x) -> !x
  %1 = sym.tanh %0 {sym.recompute = "g"} : (!x) -> !x
  %2 = sym.dot %1, %w {sym.recompute = "g"} : (!x, !w) -> !x
  %3 = sym.sigmoid %2 {sym.recompute = "g"} : (!x) -> !x
  %4 = sym.exp %3 {sym.recompute = "g"} : (!x) -> !x
  %5 = sym.sin %4 : (!x) -> !x
  %b0 = sym.elemwise_mul %d, %4 {sym.backward} : (!x, !x) -> !x
  %b1 = sym.elemwise_mul %b0, %3 : (!x, !x) -> !x
  %b2 = sym.elemwise_mul %b1, %1 : (!x, !x) -> !x
  %b3 = sym.elemwise_mul %b2, %0 : (!x, !x) -> !x
  return %5, %b3 : !x, !x
}

// -----

// A recurrent layer runs again for the values that only its backward reads; its output is kept, here and for the next layer. Layers of two
// groups are computed again one by one, each right before its own backward.
!x = tensor<6x2x4xf32>
!s = tensor<2x4xf32>
!g = tensor<6x2x16xf32>
!w = tensor<16x4xf32>
// CHECK-LABEL: func @layers
//  CHECK-SAME:   (%[[X:.+]]: tensor<6x2x4xf32>, %[[W:.+]]: tensor<16x4xf32>, %[[R:.+]]: tensor<16x4xf32>, %[[D:.+]]: tensor<6x2x4xf32>)
//       CHECK:   %[[Y0:.+]], %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} = "sym.rnn_layer"(%[[X]], %[[W]], %[[R]])
//   CHECK-NOT:   sym.recompute
//       CHECK:   %[[Y1:.+]], %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} = "sym.rnn_layer"(%[[Y0]], %[[W]], %[[R]])
//   CHECK-NOT:   sym.recompute
//       CHECK:   %{{.+}}, %{{.+}}, %{{.+}}, %[[G1:.+]], %[[C1:.+]] = "sym.rnn_layer"(%[[Y0]], %[[W]], %[[R]]) {{.*}}sym.recompute = "one"
//  CHECK-NEXT:   %{{.+}}, %[[D1:.+]] = "sym.rnn_layer_gradient"(%[[G1]], %[[C1]], %[[Y1]], %[[W]], %[[R]], %[[D]])
//  CHECK-NEXT:   %{{.+}}, %{{.+}}, %{{.+}}, %[[G0:.+]], %[[C0:.+]] = "sym.rnn_layer"(%[[X]], %[[W]], %[[R]]) {{.*}}sym.recompute = "zero"
//  CHECK-NEXT:   "sym.rnn_layer_gradient"(%[[G0]], %[[C0]], %[[Y0]], %[[W]], %[[R]], %[[D1]])
func.func @layers(%x: !x, %w: !w, %r: !w, %d: !x) -> !x attributes {sym.training} {
  %y0, %h0, %c0, %g0, %k0 = "sym.rnn_layer"(%x, %w, %r) <{mode = "lstm", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0>}> {sym.recompute = "zero"} : (!x, !w, !w) -> (!x, !s, !s, !g, !x)
  %y1, %h1, %c1, %g1, %k1 = "sym.rnn_layer"(%y0, %w, %r) <{mode = "lstm", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0>}> {sym.recompute = "one"} : (!x, !w, !w) -> (!x, !s, !s, !g, !x)
  %e1, %dx1 = "sym.rnn_layer_gradient"(%g1, %k1, %y1, %w, %r, %d) <{mode = "lstm",
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 1, 0, 0>}> {sym.backward}
      : (!g, !x, !x, !w, !w, !x) -> (!g, !x)
  %e0, %dx0 = "sym.rnn_layer_gradient"(%g0, %k0, %y0, %w, %r, %dx1) <{mode = "lstm",
      operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 1, 0, 0>}>
      : (!g, !x, !x, !w, !w, !x) -> (!g, !x)
  return %dx0 : !x
}

// -----

// Recomputation saves nothing if %0 has to be kept instead of %1; and backward begins at the result of a loss head, which is kept.
// CHECK-LABEL: func @useless
//  CHECK-SAME:   (%[[X:.+]]: tensor<8x4xf32>, %[[L:.+]]: tensor<8x4xf32>)
//  CHECK-NEXT:   %[[V0:.+]] = sym.sin %[[X]] :
//  CHECK-NEXT:   %[[V1:.+]] = sym.tanh %[[V0]] :
//  CHECK-NEXT:   %[[V2:.+]] = sym.linear_regression_output %[[V1]], %[[L]] :
//  CHECK-NEXT:   %[[V3:.+]] = sym.elemwise_sub %[[V2]], %[[L]] {sym.backward} :
//  CHECK-NEXT:   sym.elemwise_mul %[[V3]], %[[V1]] :
!x = tensor<8x4xf32>
func.func @useless(%x: !x, %l: !x) -> !x attributes {sym.training} {
  %0 = sym.sin %x : (!x) -> !x
  %1 = sym.tanh %0 {sym.recompute} : (!x) -> !x
  %2 = sym.linear_regression_output %1, %l {sym.recompute} : (!x, !x) -> !x
  %3 = sym.elemwise_sub %2, %l {sym.backward} : (!x, !x) -> !x
  %4 = sym.elemwise_mul %3, %1 : (!x, !x) -> !x
  return %4 : !x
}

// An entry without backward has nothing to compute again.
// CHECK-LABEL: func @forward
//  CHECK-NEXT:   sym.tanh %{{.+}} :
func.func @forward(%x: !x) -> !x {
  %0 = sym.tanh %x {sym.recompute} : (!x) -> !x
  return %0 : !x
}

// -----

// A part of the batch does the same as the whole, in which eight rows exceed the six numbers that would have to be kept for them.
// CHECK-LABEL: func @"step@whole"
//       CHECK:   sym.elemwise_mul
//       CHECK:   sym.broadcast_add {{.*}}sym.recompute
// CHECK-LABEL: func @step(
//       CHECK:   sym.elemwise_mul
//       CHECK:   sym.broadcast_add {{.*}}sym.recompute
func.func @"step@whole"(%x: tensor<8x6xf32>, %b: tensor<1x6xf32>, %d: tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) attributes {sym.training} {
  %0 = sym.sin %b : (tensor<1x6xf32>) -> tensor<1x6xf32>
  %1 = sym.broadcast_add %x, %0 {sym.recompute} : (tensor<8x6xf32>, tensor<1x6xf32>) -> tensor<8x6xf32>
  %2 = sym.tanh %1 {sym.recompute} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %3 = sym.elemwise_mul %d, %2 {sym.backward} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %4 = sym.elemwise_mul %3, %1 : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  return %2, %4 : tensor<8x6xf32>, tensor<8x6xf32>
}
func.func @step(%x: tensor<1x6xf32>, %b: tensor<1x6xf32>, %d: tensor<1x6xf32>) -> (tensor<1x6xf32>, tensor<1x6xf32>) attributes {sym.training} {
  %0 = sym.sin %b : (tensor<1x6xf32>) -> tensor<1x6xf32>
  %1 = sym.broadcast_add %x, %0 {sym.recompute} : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xf32>
  %2 = sym.tanh %1 {sym.recompute} : (tensor<1x6xf32>) -> tensor<1x6xf32>
  %3 = sym.elemwise_mul %d, %2 {sym.backward} : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xf32>
  %4 = sym.elemwise_mul %3, %1 : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xf32>
  return %2, %4 : tensor<1x6xf32>, tensor<1x6xf32>
}

// -----

// Two segments of steps; the first is recomputed, both layers together: their outputs are no longer kept, the states at the end of the
// segment are. The sum over chunks needs %y1 of segment 0 where the backward of that segment begins, not at the sum itself.
!x = tensor<3x2x4xf32>
!s = tensor<2x4xf32>
!w = tensor<4x4xf32>
// CHECK-LABEL: func @segments
//       CHECK:   %{{.+}}, %[[HA:.+]], %{{.+}} = "sym.rnn_layer"(%{{[^,]+}}, %[[W:[^,]+]], %[[R:[^,)]+]])
//       CHECK:   %{{.+}}, %[[HB:.+]] = "sym.rnn_layer"(
//       CHECK:   %[[YC:.+]], %{{.+}}, %[[GC:.+]] = "sym.rnn_layer"({{.*}} %[[HA]])
//       CHECK:   %[[YD:.+]], %{{.+}} = "sym.rnn_layer"(%[[YC]], {{.*}} %[[HB]])
//   CHECK-NOT:   sym.recompute
//       CHECK:   sym.tanh %{{.+}} {sym.backward, sym.chunk = array<i64: 1, 3, 3, 6>}
//       CHECK:   %[[YA:.+]], %{{.+}}, %[[GA:.+]] = "sym.rnn_layer"({{.*}}sym.recompute = 0
//  CHECK-NEXT:   %[[YB:.+]], %{{.+}} = "sym.rnn_layer"(%[[YA]], {{.*}}sym.recompute = 0
//  CHECK-NEXT:   sym.tanh %{{.+}} {sym.chunk = array<i64: 0, 0, 3, 6>}
//  CHECK-NEXT:   sym.elemwise_mul %[[GA]], %[[YA]]
//  CHECK-NEXT:   "sym.weight_gradient"(%{{.+}}, %{{.+}}, %[[YD]], %[[YB]])
func.func @segments(%x0: !x, %x1: !x, %w: !w, %r: !w, %e0: !x, %e1: !x) -> (!x, !x, !x, !w) attributes {sym.training} {
  %a, %ha, %ga = "sym.rnn_layer"(%x0, %w, %r) <{mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0>}> {sym.group = "low", sym.recompute = 0 : i64} : (!x, !w, !w) -> (!x, !s, !x)
  %b, %hb = "sym.rnn_layer"(%a, %w, %r) <{mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}> {sym.group = "high", sym.recompute = 0 : i64} : (!x, !w, !w) -> (!x, !s)
  %c, %hc, %gc = "sym.rnn_layer"(%x1, %w, %r, %ha) <{mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0>}> : (!x, !w, !w, !s) -> (!x, !s, !x)
  %d, %hd = "sym.rnn_layer"(%c, %w, %r, %hb) <{mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}> : (!x, !w, !w, !s) -> (!x, !s)
  %f1 = sym.tanh %e1 {sym.backward, sym.chunk = array<i64: 1, 3, 3, 6>} : (!x) -> !x
  %f0 = sym.tanh %e0 {sym.chunk = array<i64: 0, 0, 3, 6>} : (!x) -> !x
  %g0 = sym.elemwise_mul %ga, %a {sym.chunk = array<i64: 0, 0, 3, 6>} : (!x, !x) -> !x
  %dw = "sym.weight_gradient"(%e1, %e0, %d, %b) <{kinds = array<i64: 0, 0>, hasInitial = array<i64: 0, 0>, outer = array<i64: 3, 3>,
      batch = 2 : i64, inner = array<i64: 1, 1>, shards = 1 : i64, operandSegmentSizes = array<i32: 2, 2, 0, 0>}> {sym.use_chunks = array<i64: 1, 0>}
      : (!x, !x, !x, !x) -> !w
  return %f1, %f0, %g0, %dw : !x, !x, !x, !w
}
