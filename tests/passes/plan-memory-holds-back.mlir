// RUN: lstmc opt %s --plan-memory --validate-plan | FileCheck %s

// Every case in which in-place is not possible: no buffer begins at the offset of its operand.
// CHECK: exec.program "dies-later"
// CHECK:   exec.buffer activation "a" on 0 {offset = [[A:[0-9]+]] : i64}
// CHECK-NOT: exec.buffer output "b" on 0 {offset = [[A]] : i64}
// CHECK: exec.program "another-view"
// CHECK:   exec.buffer activation "a" on 0 {offset = [[B:[0-9]+]] : i64}
// CHECK-NOT: exec.buffer output "b" on 0 {offset = [[B]] : i64}
// CHECK: exec.program "no-such-kernel"
// CHECK:   exec.buffer activation "a" on 0 {offset = [[C:[0-9]+]] : i64}
// CHECK-NOT: exec.buffer output "b" on 0 {offset = [[C]] : i64}
// CHECK: exec.program "read-twice"
// CHECK:   exec.buffer activation "a" on 0 {offset = [[D:[0-9]+]] : i64}
// CHECK-NOT: exec.buffer output "b" on 0 {offset = [[D]] : i64}
// CHECK: exec.program "wider"
// CHECK:   exec.buffer activation "a" on 0 {offset = [[E:[0-9]+]] : i64}
// CHECK-NOT: exec.buffer output "b" on 0 {offset = [[E]] : i64}
// CHECK: exec.program "taken-already"
// CHECK:   exec.buffer activation "a" on 0 {offset = [[F:[0-9]+]] : i64}
// CHECK:   exec.buffer output "b" on 0 {offset = [[F]] : i64}
// CHECK-NOT: exec.buffer output "c" on 0 {offset = [[F]] : i64}
// CHECK: arena_bytes
exec.plan ["cpu:0"] {
  exec.fused 0 {
  ^bb0(%x: f32, %y: f32):
    %0 = exec.scalar "tanh"(%x) : (f32) -> f32
    exec.results %0 to [1] : f32
  }
  exec.fused 1 {
  ^bb0(%x: f32, %z: f32, %y: f32):
    %0 = exec.scalar "add"(%x, %z) : (f32, f32) -> f32
    exec.results %0 to [2] : f32
  }
  exec.fused 2 {
  ^bb0(%x: f32, %y: f64):
    %0 = exec.scalar "cast"(%x) : (f32) -> f64
    exec.results %0 to [1] : f64
  }
  exec.fused 3 {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = exec.scalar "tanh"(%x) : (f32) -> f32
    %1 = exec.scalar "exp"(%x) : (f32) -> f32
    exec.results %0, %1 to [1, 2] : f32, f32
  }
  exec.program "dies-later" on 0 {
    %a = exec.buffer activation "a" on 0 : memref<16xf32>
    %b = exec.buffer output "b" on 0 : memref<16xf32>
    %c = exec.buffer output "c" on 0 : memref<16xf32>
    exec.launch "fill"(%a) floats [1.0] : memref<16xf32>
    exec.launch "fused"(%a, %b) ints [0] : memref<16xf32>, memref<16xf32>
    exec.launch "copy"(%a, %c) : memref<16xf32>, memref<16xf32>
    exec.output "b" "output" = %b dims [] : memref<16xf32>
    exec.output "c" "output" = %c dims [] : memref<16xf32>
  }
  exec.program "another-view" on 0 {
    %a = exec.buffer activation "a" on 0 : memref<4x4xf32>
    %b = exec.buffer output "b" on 0 : memref<4x4xf32>
    exec.launch "fill"(%a) floats [1.0] : memref<4x4xf32>
    exec.launch "fused"(%a[0 : 4, 4 : 1, 4], %b) ints [0] : memref<4x4xf32>, memref<4x4xf32>
    exec.output "b" "output" = %b dims [] : memref<4x4xf32>
  }
  exec.program "no-such-kernel" on 0 {
    %a = exec.buffer activation "a" on 0 : memref<16xf32>
    %b = exec.buffer output "b" on 0 : memref<16xf32>
    exec.launch "fill"(%a) floats [1.0] : memref<16xf32>
    exec.launch "copy"(%a, %b) : memref<16xf32>, memref<16xf32>
    exec.output "b" "output" = %b dims [] : memref<16xf32>
  }
  // The second read of a is not element for element.
  exec.program "read-twice" on 0 {
    %a = exec.buffer activation "a" on 0 : memref<4x4xf32>
    %b = exec.buffer output "b" on 0 : memref<4x4xf32>
    exec.launch "fill"(%a) floats [1.0] : memref<4x4xf32>
    exec.launch "fused"(%a, %a[0 : 4, 4 : 1, 4], %b) ints [1] : memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>
    exec.output "b" "output" = %b dims [] : memref<4x4xf32>
  }
  exec.program "wider" on 0 {
    %a = exec.buffer activation "a" on 0 : memref<16xf32>
    %b = exec.buffer output "b" on 0 : memref<16xf64>
    exec.launch "fill"(%a) floats [1.0] : memref<16xf32>
    exec.launch "fused"(%a, %b) ints [2] : memref<16xf32>, memref<16xf64>
    exec.output "b" "output" = %b dims [] : memref<16xf64>
  }
  // In the last launch, b ends together with a.
  exec.program "taken-already" on 0 {
    %a = exec.buffer activation "a" on 0 : memref<16xf32>
    %b = exec.buffer output "b" on 0 : memref<16xf32>
    %c = exec.buffer output "c" on 0 : memref<16xf32>
    exec.output "b" "output" = %b dims [] : memref<16xf32>
    exec.output "c" "output" = %c dims [] : memref<16xf32>
    exec.launch "fill"(%a) floats [1.0] : memref<16xf32>
    exec.launch "fused"(%a, %b, %c) ints [3] : memref<16xf32>, memref<16xf32>, memref<16xf32>
  }
}
