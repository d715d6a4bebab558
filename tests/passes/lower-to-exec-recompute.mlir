// RUN: lstmc opt %s --lower-to-exec | FileCheck %s

// Two layers with one pair of weights, which are packed once. The layer that runs again for backward packs the weights again, so that the packed
// weights of forward need not be kept until then.
// CHECK-LABEL: exec.program "step"
//       CHECK:   exec.launch "pack"({{.+}}, %[[W:[0-9]+]])
//       CHECK:   exec.launch "pack"({{.+}}, %[[R:[0-9]+]])
//   CHECK-NOT:   "pack"
//       CHECK:   exec.launch "rnn_forward"({{.+}}, %[[W]], %[[R]]
//   CHECK-NOT:   "pack"
//       CHECK:   exec.launch "rnn_forward"({{.+}}, %[[W]], %[[R]]
//       CHECK:   exec.launch "pack"({{.+}}, %[[W1:[0-9]+]])
//       CHECK:   exec.launch "pack"({{.+}}, %[[R1:[0-9]+]])
//       CHECK:   exec.launch "rnn_forward"({{.+}}, %[[W1]], %[[R1]]
sym.parameter @w : tensor<16x4xf32>
sym.parameter @r : tensor<16x4xf32>
!x = tensor<6x2x4xf32>
!s = tensor<2x4xf32>
func.func @step(%x: !x {sym.name = "x", sym.role = "data"}) -> (!x {sym.name = "y"}, !x {sym.name = "z"}) {
  %w = sym.read @w : tensor<16x4xf32>
  %r = sym.read @r : tensor<16x4xf32>
  %y, %h, %c = "sym.rnn_layer"(%x, %w, %r) <{mode = "lstm", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}> : (!x, tensor<16x4xf32>, tensor<16x4xf32>) -> (!x, !s, !s)
  %z, %i, %d = "sym.rnn_layer"(%y, %w, %r) <{mode = "lstm", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}> : (!x, tensor<16x4xf32>, tensor<16x4xf32>) -> (!x, !s, !s)
  %v, %j, %e, %g = "sym.rnn_layer"(%z, %w, %r) <{mode = "lstm", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}> {sym.recompute = "g"} : (!x, tensor<16x4xf32>, tensor<16x4xf32>) -> (!x, !s, !s, tensor<6x2x16xf32>)
  %n = sym.elemwise_add %w, %r : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  sym.write @w, %n : tensor<16x4xf32>
  sym.write @r, %n : tensor<16x4xf32>
  return %z, %v : !x, !x
}
