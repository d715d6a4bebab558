// RUN: lstmc opt %s --plan-memory --validate-plan | FileCheck %s
// RUN: lstmc opt %s --plan-memory=in-place=false --validate-plan | FileCheck %s --check-prefix=APART
// RUN: lstmc opt %s --plan-memory="sharing=false in-place=false" --validate-plan | FileCheck %s --check-prefix=ALL

// Buffers of 256 bytes after one input of 256. x lives alone; a ends where the result b of the softmax begins, and softmax may work
// in place: then they take 256 bytes, without in place 512, and without sharing the copy c takes 256 more.
// CHECK: exec.plan ["cpu:0"] {
// CHECK: exec.buffer input "x" on 0 {offset = 0 : i64}
// CHECK: exec.buffer activation "a" on 0 {offset = 256 : i64}
// CHECK: exec.buffer activation "b" on 0 {offset = 256 : i64}
// CHECK: exec.buffer output "c" on 0 {offset = 512 : i64}
// CHECK: arena_bytes = array<i64: 768>

// APART: exec.buffer activation "a" on 0 {offset = [[A:[0-9]+]] : i64}
// APART-NOT: exec.buffer activation "b" on 0 {offset = [[A]] : i64}
// APART: exec.buffer output "c" on 0 {offset = [[A]] : i64}
// APART: arena_bytes = array<i64: 768>

// ALL: arena_bytes = array<i64: 1024>
exec.plan ["cpu:0"] {
  %x = exec.buffer input "x" on 0 : memref<8x8xf32>
  exec.program "forward" on 0 {
    exec.input "x" "data" = %x dims [] : memref<8x8xf32>
    %a = exec.buffer activation "a" on 0 : memref<8x8xf32>
    %b = exec.buffer activation "b" on 0 : memref<8x8xf32>
    %c = exec.buffer output "c" on 0 : memref<8x8xf32>
    exec.launch "copy"(%x, %a) : memref<8x8xf32>, memref<8x8xf32>
    exec.launch "softmax"(%a, _, %b) ints [0] floats [1.0] : memref<8x8xf32>, memref<8x8xf32>
    exec.launch "copy"(%b, %c) : memref<8x8xf32>, memref<8x8xf32>
    exec.output "c" "output" = %c dims [] : memref<8x8xf32>
  }
}
