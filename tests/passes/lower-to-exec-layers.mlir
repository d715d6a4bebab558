// RUN: lstmc opt %s --lower-to-exec="devices=emu:0 fast=cudnn" | FileCheck %s
// RUN: lstmc opt %s --lower-to-exec="devices=emu:0 fast=cudnn" --plan-memory --validate-plan -o /dev/null
// RUN: lstmc opt %s --lower-to-exec="devices=cpu:0 fast=cudnn" | FileCheck %s --check-prefix=NONE
// RUN: lstmc opt %s --lower-to-exec="devices=emu:0 fast=cublaslt" | FileCheck %s --check-prefix=NONE

// T=5, B=2, I=8, H=4. W [16, 8] has 512 bytes, R [16, 4] 256, and each bias [16] is rounded up to 256: weights of 1280. The workspace has two values of
// each gate, 2*5*2*16*4 = 1280, the weights once more and 4 MiB: 4196864. With 256 bytes to align them: 4198400.
// CHECK-LABEL: exec.program "forward"
// CHECK:         %[[S:.+]] = exec.buffer workspace {{.+}} : memref<4198400xui8>
// CHECK:         exec.launch "rnn_forward"({{.+}}, %[[S]])
// From the last step on, x [5, 2, 8] and y [5, 2, 4] are copied: 512 bytes and 256 more.
// CHECK-LABEL: exec.program "backwards"
// CHECK:         memref<4199168xui8>
// With lengths, and in f64, the runtime's own kernels are used.
// CHECK-LABEL: exec.program "lengths"
// CHECK-NOT:     memref<419
// CHECK:         exec.launch "rnn_forward"
// CHECK-LABEL: exec.program "wide"
// CHECK-NOT:     memref<419
// CHECK:         exec.launch "rnn_forward"
// NONE-LABEL:  exec.program "forward"
// NONE-NOT:      memref<4198400xui8>
!x = tensor<5x2x8xf32>
!y = tensor<5x2x4xf32>
!s = tensor<2x4xf32>
!w = tensor<16x8xf32>
!r = tensor<16x4xf32>
func.func @forward(%x: !x {sym.name = "x", sym.role = "data"}, %w: !w {sym.name = "w", sym.role = "data"}, %r: !r {sym.name = "r", sym.role = "data"}) -> !y {
  %y, %h, %c = "sym.rnn_layer"(%x, %w, %r) {mode = "lstm", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (!x, !w, !r) -> (!y, !s, !s)
  return %y : !y
}
func.func @backwards(%x: !x {sym.name = "x", sym.role = "data"}, %w: !w {sym.name = "w", sym.role = "data"}, %r: !r {sym.name = "r", sym.role = "data"}) -> !y {
  %y, %h, %c = "sym.rnn_layer"(%x, %w, %r) {mode = "lstm", reverse = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (!x, !w, !r) -> (!y, !s, !s)
  return %y : !y
}
func.func @lengths(%x: !x {sym.name = "x", sym.role = "data"}, %w: !w {sym.name = "w", sym.role = "data"}, %r: !r {sym.name = "r", sym.role = "data"},
                   %n: tensor<2xi32> {sym.name = "n", sym.role = "data"}) -> !y {
  %y, %h, %c = "sym.rnn_layer"(%x, %w, %r, %n) {mode = "lstm", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1>,
      resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (!x, !w, !r, tensor<2xi32>) -> (!y, !s, !s)
  return %y : !y
}
func.func @wide(%x: tensor<5x2x8xf64> {sym.name = "x", sym.role = "data"}, %w: tensor<16x8xf64> {sym.name = "w", sym.role = "data"},
                %r: tensor<16x4xf64> {sym.name = "r", sym.role = "data"}) -> tensor<5x2x4xf64> {
  %y, %h, %c = "sym.rnn_layer"(%x, %w, %r) {mode = "lstm", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
    : (tensor<5x2x8xf64>, tensor<16x8xf64>, tensor<16x4xf64>) -> (tensor<5x2x4xf64>, tensor<2x4xf64>, tensor<2x4xf64>)
  return %y : tensor<5x2x4xf64>
}
