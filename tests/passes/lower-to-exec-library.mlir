// RUN: lstmc opt %s --lower-to-exec="devices=emu:0 fast=cublaslt" | FileCheck %s
// RUN: lstmc opt %s --lower-to-exec="devices=emu:0 fast=bf16+cublaslt" | FileCheck %s
// RUN: lstmc opt %s --lower-to-exec="devices=emu:0 fast=cublaslt" --plan-memory --validate-plan -o /dev/null
// RUN: lstmc opt %s --lower-to-exec="devices=cpu:0 fast=cublaslt" | FileCheck %s --check-prefix=NONE
// RUN: lstmc opt %s --lower-to-exec="devices=emu:0 fast=tf32" | FileCheck %s --check-prefix=NONE

// Weights [20, 4] of f32 are 320 bytes, rounded up to 512; beside them are 256 bytes to align them and a workspace of 4 MiB.
// CHECK-LABEL: exec.program "forward"
// CHECK:         %[[S:.+]] = exec.buffer workspace {{.+}} : memref<4195072xui8>
// CHECK:         exec.launch "product"({{.+}}, %[[S]])
// NONE-LABEL:  exec.program "forward"
// NONE-NOT:      memref<4195072xui8>
// f64 stays exact on every device.
// CHECK-LABEL: exec.program "wide"
// CHECK-NOT:     4195
// CHECK:         exec.launch "product"
func.func @forward(%x: tensor<8x4xf32> {sym.name = "x", sym.role = "data"}, %w: tensor<20x4xf32> {sym.name = "w", sym.role = "data"}) -> tensor<8x20xf32> {
  %y = sym.fully_connected %x, %w {no_bias = true, num_hidden = 20 : i64} : (tensor<8x4xf32>, tensor<20x4xf32>) -> tensor<8x20xf32>
  return %y : tensor<8x20xf32>
}
func.func @wide(%x: tensor<8x4xf64> {sym.name = "x", sym.role = "data"}, %w: tensor<20x4xf64> {sym.name = "w", sym.role = "data"}) -> tensor<8x20xf64> {
  %y = sym.fully_connected %x, %w {no_bias = true, num_hidden = 20 : i64} : (tensor<8x4xf64>, tensor<20x4xf64>) -> tensor<8x20xf64>
  return %y : tensor<8x20xf64>
}
