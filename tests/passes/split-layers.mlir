// RUN: lstmc opt %s --split-input-file --split-layers=chunks=2 | FileCheck %s
// RUN: lstmc opt %s --split-input-file --split-layers=chunks=1 | FileCheck %s --check-prefix=ONE

// Seven steps in chunks of three and four. A chunk goes through both layers and the ops between them before the next one begins. The mask
// is drawn by the position of its elements in the whole, lengths are counted from the chunk, and the loss waits for all chunks.
// CHECK-LABEL: func.func @step
//       CHECK:   %[[X:.+]]:2 = sym.cut %{{.+}} {sizes = array<i64: 3, 4>, sym.stage = 0 : i64}
//       CHECK:   %[[A0:.+]], %[[H0:.+]], %[[C0:.+]], %{{.+}} = "sym.rnn_layer"(%[[X]]#0, %{{.+}}, %{{.+}}, %[[LEN:.+]]) {{.*}}sym.stage = 0
//       CHECK:   sym.dropout_mask {{.*}}window = array<i64: 0, 3, 10, 2, 5, 5, 1>{{.*}} -> tensor<3x2x5xf32>
//       CHECK:   sym.dropout_mask {{.*}}window = array<i64: 30, 4, 10, 2, 5, 5, 1>{{.*}} -> tensor<4x2x5xf32>
//       CHECK:   %[[M0:.+]] = sym.elemwise_mul %[[A0]]
//       CHECK:   %[[B0:.+]], %[[I0:.+]], %{{.+}} = "sym.rnn_layer"(%[[M0]], {{.*}}sym.stage = 1
//       CHECK:   %[[Y0:.+]] = sym.fully_connected %[[B0]]
//       CHECK:   %[[L1:.+]] = sym.minus_scalar %[[LEN]] {scalar = 3.0
//       CHECK:   %[[A1:.+]], %{{.+}}, %{{.+}}, %{{.+}} = "sym.rnn_layer"(%[[X]]#1, %{{.+}}, %{{.+}}, %[[H0]], %[[C0]], %[[L1]]) {{.*}}sym.stage = 0
//       CHECK:   %[[M1:.+]] = sym.elemwise_mul %[[A1]]
//       CHECK:   %[[B1:.+]], %{{.+}}, %{{.+}} = "sym.rnn_layer"(%[[M1]], %{{.+}}, %{{.+}}, %[[I0]]) {{.*}}sym.stage = 1
//       CHECK:   %[[Y1:.+]] = sym.fully_connected %[[B1]]
//       CHECK:   sym.concat %[[Y0]], %[[Y1]]
//       CHECK:   sym.linear_regression_output
//   ONE-LABEL: func.func @step
//     ONE-NOT:   sym.cut
//         ONE:   "sym.rnn_layer"
//         ONE:   "sym.rnn_layer"
//     ONE-NOT:   sym.cut
sym.parameter @w0 : tensor<20x3xf32>
sym.parameter @r0 : tensor<20x5xf32>
sym.parameter @w1 : tensor<5x5xf32>
sym.parameter @r1 : tensor<5x5xf32>
sym.parameter @w2 : tensor<4x5xf32>
func.func @step(%x: tensor<7x2x3xf32> {sym.dims = ["", "batch", ""]}, %len: tensor<2xi32> {sym.dims = ["batch"]}, %l: tensor<7x2x4xf32>, %seed: tensor<1xi64>, %update: tensor<1xi64>) -> tensor<7x2x4xf32> {
  %w0 = sym.read @w0 : tensor<20x3xf32> {sym.stage = 0 : i64}
  %r0 = sym.read @r0 : tensor<20x5xf32> {sym.stage = 0 : i64}
  %w1 = sym.read @w1 : tensor<5x5xf32> {sym.stage = 1 : i64}
  %r1 = sym.read @r1 : tensor<5x5xf32> {sym.stage = 1 : i64}
  %w2 = sym.read @w2 : tensor<4x5xf32> {sym.stage = 1 : i64}
  %x0 = sym.tanh %x {sym.stage = 0 : i64} : (tensor<7x2x3xf32>) -> tensor<7x2x3xf32>
  %y0, %h0, %c0, %g0 = "sym.rnn_layer"(%x0, %w0, %r0, %len) <{mode = "lstm", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1>,
      resultSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}> {sym.stage = 0 : i64}
    : (tensor<7x2x3xf32>, tensor<20x3xf32>, tensor<20x5xf32>, tensor<2xi32>) -> (tensor<7x2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<7x2x20xf32>)
  %m = sym.dropout_mask %seed, %update {p = 2.0e-01, ordinal = 7 : i64, sym.stage = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<7x2x5xf32>
  %d = sym.elemwise_mul %y0, %m {sym.stage = 0 : i64} : (tensor<7x2x5xf32>, tensor<7x2x5xf32>) -> tensor<7x2x5xf32>
  %y1, %h1, %g1 = "sym.rnn_layer"(%d, %w1, %r1) <{mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 0, 1, 0, 0>}> {sym.stage = 1 : i64}
    : (tensor<7x2x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>) -> (tensor<7x2x5xf32>, tensor<2x5xf32>, tensor<7x2x5xf32>)
  %f = sym.fully_connected %y1, %w2 {flatten = false, no_bias = true, num_hidden = 4 : i64, sym.stage = 1 : i64} : (tensor<7x2x5xf32>, tensor<4x5xf32>) -> tensor<7x2x4xf32>
  %o = sym.linear_regression_output %f, %l {sym.stage = 1 : i64} : (tensor<7x2x4xf32>, tensor<7x2x4xf32>) -> tensor<7x2x4xf32>
  return %o : tensor<7x2x4xf32>
}

// -----

// In training, the gradient of a value that is broadcast over the steps is a sum over all of them: it is not cut, nor are the ops after it.
// CHECK-LABEL: func.func @stretched
//       CHECK:   sym.concat
//       CHECK:   sym.broadcast_mul {{.*}} : (tensor<8x2x5xf32>, tensor<1x1x5xf32>) -> tensor<8x2x5xf32>
sym.parameter @g : tensor<1x1x5xf32>
sym.parameter @w : tensor<5x5xf32>
sym.parameter @r : tensor<5x5xf32>
sym.parameter @w1 : tensor<5x5xf32>
sym.parameter @r1 : tensor<5x5xf32>
func.func @stretched(%x: tensor<8x2x5xf32>) -> tensor<8x2x5xf32> attributes {sym.training} {
  %w = sym.read @w : tensor<5x5xf32> {sym.stage = 0 : i64}
  %r = sym.read @r : tensor<5x5xf32> {sym.stage = 0 : i64}
  %w1 = sym.read @w1 : tensor<5x5xf32> {sym.stage = 1 : i64}
  %r1 = sym.read @r1 : tensor<5x5xf32> {sym.stage = 1 : i64}
  %g = sym.read @g : tensor<1x1x5xf32> {sym.stage = 0 : i64}
  %a, %h = "sym.rnn_layer"(%x, %w, %r) {mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, reverse = false, sym.stage = 0 : i64} : (tensor<8x2x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>) -> (tensor<8x2x5xf32>, tensor<2x5xf32>)
  %m = sym.broadcast_mul %a, %g {sym.stage = 0 : i64} : (tensor<8x2x5xf32>, tensor<1x1x5xf32>) -> tensor<8x2x5xf32>
  %b, %i = "sym.rnn_layer"(%m, %w1, %r1) {mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, reverse = false, sym.stage = 1 : i64} : (tensor<8x2x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>) -> (tensor<8x2x5xf32>, tensor<2x5xf32>)
  return %b : tensor<8x2x5xf32>
}

// -----

// In training, sums of gradients have one order: nothing is cut if three ops read a value, one of them backwards over all steps.
// CHECK-LABEL: func.func @three_readers
//   CHECK-NOT:   sym.cut
// CHECK-LABEL: func.func @two_readers
//       CHECK:   sym.cut
//       CHECK:   sym.concat
!x = tensor<8x2x5xf32>
!w = tensor<5x5xf32>
sym.parameter @w : !w
sym.parameter @r : !w
sym.parameter @w1 : !w
sym.parameter @r1 : !w
func.func @three_readers(%x: !x) -> (!x, !x, !x) attributes {sym.training} {
  %w = sym.read @w : !w {sym.stage = 0 : i64}
  %r = sym.read @r : !w {sym.stage = 0 : i64}
  %w1 = sym.read @w1 : !w {sym.stage = 1 : i64}
  %r1 = sym.read @r1 : !w {sym.stage = 1 : i64}
  %a, %h = "sym.rnn_layer"(%x, %w, %r) {mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, reverse = false, sym.stage = 0 : i64} : (!x, !w, !w) -> (!x, tensor<2x5xf32>)
  %v = sym.reverse %a {axis = array<i64: 0>, sym.stage = 0 : i64} : (!x) -> !x
  %b, %i = "sym.rnn_layer"(%a, %w1, %r1) {mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, reverse = false, sym.stage = 1 : i64} : (!x, !w, !w) -> (!x, tensor<2x5xf32>)
  %u = sym.reverse %a {axis = array<i64: 0, 1>, sym.stage = 1 : i64} : (!x) -> !x
  return %b, %v, %u : !x, !x, !x
}
func.func @two_readers(%x: !x) -> (!x, !x) attributes {sym.training} {
  %w = sym.read @w : !w {sym.stage = 0 : i64}
  %r = sym.read @r : !w {sym.stage = 0 : i64}
  %w1 = sym.read @w1 : !w {sym.stage = 1 : i64}
  %r1 = sym.read @r1 : !w {sym.stage = 1 : i64}
  %a, %h = "sym.rnn_layer"(%x, %w, %r) {mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, reverse = false, sym.stage = 0 : i64} : (!x, !w, !w) -> (!x, tensor<2x5xf32>)
  %v = sym.reverse %a {axis = array<i64: 0>, sym.stage = 0 : i64} : (!x) -> !x
  %b, %i = "sym.rnn_layer"(%a, %w1, %r1) {mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, reverse = false, sym.stage = 1 : i64} : (!x, !w, !w) -> (!x, tensor<2x5xf32>)
  return %b, %v : !x, !x
}

// -----

// The steps are the rows of the batch: by the lengths, a chunk would have rows that the whole does not have.
// CHECK-LABEL: func.func @steps_are_rows
//   CHECK-NOT:   sym.cut
//       CHECK:   "sym.rnn_layer"
sym.parameter @w : tensor<5x3xf32>
sym.parameter @r : tensor<5x5xf32>
sym.parameter @w1 : tensor<5x5xf32>
sym.parameter @r1 : tensor<5x5xf32>
func.func @steps_are_rows(%x: tensor<8x8x3xf32> {sym.dims = ["batch", "batch", ""]}, %len: tensor<8xi32> {sym.dims = ["batch"]}) -> tensor<8x8x5xf32> attributes {sym.training} {
  %w = sym.read @w : tensor<5x3xf32> {sym.stage = 0 : i64}
  %r = sym.read @r : tensor<5x5xf32> {sym.stage = 0 : i64}
  %w1 = sym.read @w1 : tensor<5x5xf32> {sym.stage = 1 : i64}
  %r1 = sym.read @r1 : tensor<5x5xf32> {sym.stage = 1 : i64}
  %a, %h = "sym.rnn_layer"(%x, %w, %r, %len) {mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1>, resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, reverse = false, sym.stage = 0 : i64} : (tensor<8x8x3xf32>, tensor<5x3xf32>, tensor<5x5xf32>, tensor<8xi32>) -> (tensor<8x8x5xf32>, tensor<8x5xf32>)
  %b, %i = "sym.rnn_layer"(%a, %w1, %r1) {mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, reverse = false, sym.stage = 1 : i64} : (tensor<8x8x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>) -> (tensor<8x8x5xf32>, tensor<8x5xf32>)
  return %b : tensor<8x8x5xf32>
}
