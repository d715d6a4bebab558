// RUN: lstmc opt %s --lower-to-exec=devices=emu:0 | FileCheck %s
// RUN: lstmc opt %s --lower-to-exec=devices=emu:0 --plan-memory --validate-plan -o /dev/null
// RUN: lstmc opt %s "--lower-to-exec=devices=emu:0 next-inputs=false" | FileCheck %s --check-prefix=ONE
// RUN: lstmc opt %s --lower-to-exec=devices=cpu:0 | FileCheck %s --check-prefix=ONE

// The host cannot access a GPU's memory: an input is double-buffered there, a scalar is not. Both entries share the input's
// buffers.
// CHECK: %[[X:.*]] = exec.buffer input "x" on 0 : memref<3x4xf32>
// CHECK: exec.buffer scalar "rate" on 0 : memref<1xf32>
// CHECK: exec.buffer input "x.next" on 0 next of %[[X]] : memref<3x4xf32>
// CHECK-NOT: next of
// ONE: exec.buffer input "x" on 0 : memref<3x4xf32>
// ONE-NOT: next of
func.func @forward(%x: tensor<3x4xf32> {sym.name = "x"}) -> tensor<3x4xf32> {
  return %x : tensor<3x4xf32>
}
func.func @evaluate(%x: tensor<3x4xf32> {sym.name = "x"}, %rate: tensor<1xf32> {sym.name = "rate", sym.role = "scalar"}) -> tensor<3x4xf32> {
  return %x : tensor<3x4xf32>
}
