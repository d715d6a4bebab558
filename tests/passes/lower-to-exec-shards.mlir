// RUN: lstmc opt %s --lower-to-exec | FileCheck %s

// The right half of 8 shards over 20 rows: shards 4 to 7 are rows 10 to 19, so the operands have 10. Without `first` and
// `count` it is all shards, and the operands have all rows.
// CHECK-LABEL: exec.program "half" on 0 {
//       CHECK:   exec.launch "weight_gradient"({{.+}}) ints [20, 8, 4, 4]
//       CHECK:   exec.launch "bias_gradient"({{.+}}) ints [20, 8, 4, 4]
//       CHECK:   exec.launch "softmax_metric"({{.+}}) ints [20, 8, 4, 4, 1, 0]
// CHECK-LABEL: exec.program "whole" on 0 {
//       CHECK:   exec.launch "bias_gradient"({{.+}}) ints [10, 8, 0, 8]
// The count of one half, and the count of both. A view of the label, which is stored batch by step, is counted as it is stored.
// CHECK-LABEL: exec.program "loss" on 0 {
//       CHECK:   exec.input "p" "data" = %[[P:[0-9]+]] dims
//       CHECK:   exec.input "label" "data" = %[[L:[0-9]+]] dims
//       CHECK:   exec.input "valid" "data" = %[[V:[0-9]+]] dims
//       CHECK:   exec.launch "valid_count"(%[[L]][0 : 3, 10 : 1, 3], %{{.+}}) floats [-1.
//       CHECK:   exec.launch "softmax_output_gradient"(%[[P]][{{.+}}], %{{[0-9]+}}[{{.+}}], %[[V]], %{{.+}}) ints [0, 2, 0]
!y = tensor<3x10x5xf32>
!x = tensor<3x10x4xf32>
!l = tensor<10x3xi32>
!t = tensor<3x10xi32>
!w = tensor<5x4xf32>
!b = tensor<5xf32>
!m = tensor<6xf64>
!n = tensor<1xf64>
func.func @half(%dy: !y {sym.name = "dy"}, %x: !x {sym.name = "x"}, %l: !t {sym.name = "label"}) -> (!w, !b, !m) {
  %dw = "sym.weight_gradient"(%dy, %x) <{kinds = array<i64: 0>, hasInitial = array<i64: 0>, outer = array<i64: 3>,
      batch = 20 : i64, inner = array<i64: 1>, shards = 8 : i64, first = 4 : i64, count = 4 : i64,
      operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (!y, !x) -> !w
  %db = sym.bias_gradient %dy {outer = array<i64: 3>, batch = 20 : i64, inner = array<i64: 1>, shards = 8 : i64,
      first = 4 : i64, count = 4 : i64} : (!y) -> !b
  %m = sym.softmax_metric %dy, %l {axis = 2 : i64, outer = 3 : i64, batch = 20 : i64, inner = 1 : i64, shards = 8 : i64,
      use_ignore = true, valid = false, ignore_label = -1.0,
      smooth_alpha = 0.0, scale = 1.0, first = 4 : i64, count = 4 : i64} : (!y, !t) -> !m
  return %dw, %db, %m : !w, !b, !m
}
func.func @whole(%dy: !y {sym.name = "dy"}) -> !b {
  %db = sym.bias_gradient %dy {outer = array<i64: 3>, batch = 10 : i64, inner = array<i64: 1>, shards = 8 : i64} : (!y) -> !b
  return %db : !b
}
func.func @loss(%p: !y {sym.name = "p"}, %label: !l {sym.name = "label"}, %valid: !n {sym.name = "valid"}) -> (!n, !y) {
  %l = sym.swap_axis %label {dim1 = 0 : i64, dim2 = 1 : i64} : (!l) -> !t
  %n = sym.valid_count %l {ignore_label = -1.0} : (!t) -> !n
  %dx = sym.softmax_output_gradient %p, %l valid %valid {axis = 2 : i64, use_ignore = false, normalization = "valid",
      multi = false, ignore_label = -1.0, grad_scale = 1.0, smooth_alpha = 0.0} : (!y, !t, !n) -> !y
  return %n, %dx : !n, !y
}
