// RUN: lstmc opt %s --lower-to-exec | FileCheck %s

// A net of one layer in two entries. `forward` does not change the weight, so it is packed in prepare:forward, into a buffer of the
// plan. `step` changes it, so it packs the weight itself; the update is in place, after the commit.
// CHECK:     exec.plan ["cpu:0"] {
// CHECK:       %[[W:.+]] = exec.buffer parameter "w" on 0
// CHECK:       %[[SEED:.+]] = exec.buffer scalar "seed" on 0
// CHECK:       %[[X:.+]] = exec.buffer input "x" on 0
// CHECK:       %[[P:.+]] = exec.buffer packed "w.packed" on 0 : memref<64xf32>
// CHECK:       exec.fused 0
// CHECK:       exec.program "initialise" on 0 {
// CHECK:         exec.launch "initialise"(%[[SEED]], %[[W]], _) ints [1, 3, 0] floats [-5.000000e-01, 5.000000e-01]
// CHECK:       exec.program "prepare:forward" on 0 {
// CHECK-NEXT:    exec.launch "pack"(%[[W]][0 : 1, 2, 4 : 8, 4, 1], %[[P]]) ints [0]
// CHECK-NEXT:  }
// CHECK:       exec.program "forward" on 0 {
// CHECK-NEXT:    exec.input "x" "data" = %[[X]] dims ["batch", ""]
// CHECK-NEXT:    %[[Y:.+]] = exec.buffer output "y" on 0 : memref<8x2xf32>
// The input is read through strides: its transposition costs nothing.
// CHECK-NEXT:    exec.launch "product"(%[[X]][0 : 1, 8, 4 : 32, 4, 1], %[[P]], _, %[[Y]][0 : 1, 8, 2 : 16, 2, 1])
// CHECK-NEXT:    exec.output "y" "output" = %[[Y]]
// CHECK:       exec.program "step" on 0 {
// CHECK:         %[[P2:.+]] = exec.buffer workspace "w.packed" on 0
// CHECK:         exec.launch "pack"(%[[W]][0 : 1, 2, 4 : 8, 4, 1], %[[P2]])
// CHECK:         exec.launch "product"
// CHECK:         exec.commit
// CHECK-NEXT:    exec.launch "fused"(%[[W]], %[[W]]) ints [0]
sym.parameter @w : tensor<2x4xf32> {init = ["uniform", {scale = 0.5}], ordinal = 3 : i64}
func.func @forward(%x: tensor<8x4xf32> {sym.name = "x", sym.role = "data", sym.dims = ["batch", ""]})
    -> (tensor<8x2xf32> {sym.name = "y", sym.role = "output"}) {
  %w = sym.read @w : tensor<2x4xf32>
  %0 = sym.transpose %x : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %1 = sym.transpose %0 : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %y = sym.fully_connected %1, %w {no_bias = true, num_hidden = 2 : i64} : (tensor<8x4xf32>, tensor<2x4xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}
func.func @step(%x: tensor<8x4xf32> {sym.name = "x", sym.role = "data", sym.dims = ["batch", ""]})
    -> (tensor<8x2xf32> {sym.name = "y", sym.role = "output"}) attributes {sym.training} {
  %w = sym.read @w : tensor<2x4xf32>
  %y = sym.fully_connected %x, %w {no_bias = true, num_hidden = 2 : i64} : (tensor<8x4xf32>, tensor<2x4xf32>) -> tensor<8x2xf32>
  %new = sym.tanh %w : (tensor<2x4xf32>) -> tensor<2x4xf32>
  sym.write @w, %new : tensor<2x4xf32>
  return %y : tensor<8x2xf32>
}
