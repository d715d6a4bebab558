// RUN: lstmc opt %s --lower-to-exec=devices=emu:0 | FileCheck %s
// RUN: lstmc opt %s --lower-to-exec=devices=emu:0 --plan-memory --validate-plan -o /dev/null
// RUN: lstmc opt %s --lower-to-exec=devices=cpu:0 | FileCheck %s --check-prefix=CPU

// A GPU reads the operands of a sum over uses from a table in memory: a row of 104 bytes for each use, and each launch's table
// is aligned to 64. The two gradients take 128 bytes each. A cpu reads them from the launch.
// CHECK: exec.buffer workspace "tables" on 0 : memref<256xui8>
// CHECK-NOT: "tables"
// CPU-NOT: "tables"
// CPU: exec.launch "weight_gradient"
// CPU: exec.launch "bias_gradient"
// CPU-NOT: "tables"
!y = tensor<3x10x5xf32>
!x = tensor<3x10x4xf32>
!w = tensor<5x4xf32>
!b = tensor<5xf32>
func.func @forward(%dy: !y {sym.name = "dy"}, %x: !x {sym.name = "x"}) -> (!w, !b) {
  %dw = "sym.weight_gradient"(%dy, %x) <{kinds = array<i64: 0>, hasInitial = array<i64: 0>, outer = array<i64: 3>,
      batch = 10 : i64, inner = array<i64: 1>, shards = 8 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (!y, !x) -> !w
  %db = sym.bias_gradient %dy {outer = array<i64: 3>, batch = 10 : i64, inner = array<i64: 1>, shards = 8 : i64} : (!y) -> !b
  return %dw, %db : !w, !b
}
