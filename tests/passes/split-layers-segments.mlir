// RUN: lstmc opt %s --split-input-file --split-layers=segments=3 --verify-diagnostics | FileCheck %s
// RUN: lstmc opt %s --split-input-file --split-layers=segments=-1 --verify-diagnostics | FileCheck %s --check-prefix=ROOT

// On a single device: nine steps in three segments. All but the last are recompute groups, including the masks, whatever group the
// ops were in.
!x = tensor<9x2x5xf32>
!w = tensor<5x5xf32>
!s = tensor<1xi64>
sym.parameter @w : !w
sym.parameter @r : !w
// CHECK-LABEL: func.func @step
//  CHECK-SAME:   sym.segments
//       CHECK:   sym.cut %{{.+}} {sizes = array<i64: 3, 3, 3>}
//       CHECK:   "sym.rnn_layer"({{.*}}sym.chunk = array<i64: 0, 0, 3, 9>{{.*}}sym.recompute = 0 : i64
//       CHECK:   sym.dropout_mask {{.*}}sym.recompute = 0 : i64
//       CHECK:   sym.dropout_mask {{.*}}sym.recompute = 1 : i64
//       CHECK:   sym.dropout_mask {{.*}}sym.recompute = "g"
//       CHECK:   sym.elemwise_mul {{.*}}sym.recompute = 0 : i64
//       CHECK:   "sym.rnn_layer"({{.*}}sym.chunk = array<i64: 1, 3, 3, 9>{{.*}}sym.recompute = 1 : i64
//       CHECK:   "sym.rnn_layer"({{.*}}sym.chunk = array<i64: 2, 6, 3, 9>
//   CHECK-NOT:   sym.recompute = 2
// Other entries are left as they are.
// CHECK-LABEL: func.func @forward
//   CHECK-NOT:   sym.cut
// ROOT: sym.cut %{{.+}} {sizes = array<i64: 3, 3, 3>}
func.func @step(%x: !x {sym.dims = ["", "batch", ""]}, %seed: !s, %update: !s) -> !x attributes {sym.training} {
  %w = sym.read @w : !w
  %r = sym.read @r : !w
  %a, %h = "sym.rnn_layer"(%x, %w, %r) <{mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}>
    : (!x, !w, !w) -> (!x, tensor<2x5xf32>)
  %m = sym.dropout_mask %seed, %update {p = 2.0e-01, ordinal = 7 : i64, sym.recompute = "g"} : (!s, !s) -> !x
  %d = sym.elemwise_mul %a, %m {sym.recompute = "g"} : (!x, !x) -> !x
  return %d : !x
}
func.func @forward(%x: !x {sym.dims = ["", "batch", ""]}) -> !x {
  %w = sym.read @w : !w
  %r = sym.read @r : !w
  %a, %h = "sym.rnn_layer"(%x, %w, %r) <{mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}>
    : (!x, !w, !w) -> (!x, tensor<2x5xf32>)
  return %a : !x
}

// -----

// Two layers of the same weights: their uses would alternate.
!x = tensor<9x2x5xf32>
!w = tensor<5x5xf32>
sym.parameter @w : !w
sym.parameter @r : !w
// expected-error @+1 {{backward cannot compute the steps again in segments: a gradient would be added in another order}}
func.func @step(%x: !x {sym.dims = ["", "batch", ""]}) -> !x attributes {sym.training} {
  %w = sym.read @w : !w
  %r = sym.read @r : !w
  %a, %h = "sym.rnn_layer"(%x, %w, %r) <{mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}>
    : (!x, !w, !w) -> (!x, tensor<2x5xf32>)
  %b, %i = "sym.rnn_layer"(%a, %w, %r) <{mode = "rnn_tanh", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}>
    : (!x, !w, !w) -> (!x, tensor<2x5xf32>)
  return %b : !x
}

// -----

// From the last step to the first.
!x = tensor<9x2x5xf32>
!w = tensor<5x5xf32>
// expected-error @+1 {{backward cannot compute the steps again in segments: no recurrent layer can be cut between its steps}}
func.func @step(%x: !x {sym.dims = ["", "batch", ""]}, %w: !w, %r: !w) -> !x attributes {sym.training} {
  %a, %h = "sym.rnn_layer"(%x, %w, %r) <{mode = "rnn_tanh", reverse = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>}>
    : (!x, !w, !w) -> (!x, tensor<2x5xf32>)
  return %a : !x
}
