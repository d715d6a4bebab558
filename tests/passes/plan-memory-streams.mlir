// RUN: lstmc opt %s --plan-memory --validate-plan --split-input-file | FileCheck %s

// In program order a is dead when b is first written. On the other stream b may be written while a is read, so it has memory of its own.
// CHECK: exec.buffer activation "a" on 0 {offset = [[A:[0-9]+]] : i64}
// CHECK-NOT: exec.buffer activation "b" on 0 {offset = [[A]] : i64}
// CHECK: exec.launch "fill"
exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %a = exec.buffer activation "a" on 0 : memref<64xf32>
    %b = exec.buffer activation "b" on 0 : memref<64xf32>
    %sa = exec.buffer output "sa" on 0 : memref<1xf32>
    %sb = exec.buffer output "sb" on 0 : memref<1xf32>
    exec.launch "fill"(%a) floats [1.0] : memref<64xf32>
    exec.launch "reduce"(%a, %sa) ints [0, 0] : memref<64xf32>, memref<1xf32>
    exec.launch "fill"(%b) floats [2.0] {stream = 1 : i64} : memref<64xf32>
    exec.launch "reduce"(%b, %sb) ints [0, 0] {stream = 1 : i64} : memref<64xf32>, memref<1xf32>
    exec.output "sa" "output" = %sa dims [] : memref<1xf32>
    exec.output "sb" "output" = %sb dims [] : memref<1xf32>
  }
}

// -----

// With an event after the last launch that reads a, b reuses the memory of a.
// CHECK: exec.buffer activation "a" on 0 {offset = [[A:[0-9]+]] : i64}
// CHECK: exec.buffer activation "b" on 0 {offset = [[A]] : i64}
exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %a = exec.buffer activation "a" on 0 : memref<64xf32>
    %b = exec.buffer activation "b" on 0 : memref<64xf32>
    %sa = exec.buffer output "sa" on 0 : memref<1xf32>
    %sb = exec.buffer output "sb" on 0 : memref<1xf32>
    exec.launch "fill"(%a) floats [1.0] : memref<64xf32>
    exec.launch "reduce"(%a, %sa) ints [0, 0] {event = 0 : i64} : memref<64xf32>, memref<1xf32>
    exec.launch "fill"(%b) floats [2.0] {stream = 1 : i64, waits = array<i64: 0>} : memref<64xf32>
    exec.launch "reduce"(%b, %sb) ints [0, 0] {stream = 1 : i64} : memref<64xf32>, memref<1xf32>
    exec.output "sa" "output" = %sa dims [] : memref<1xf32>
    exec.output "sb" "output" = %sb dims [] : memref<1xf32>
  }
}

// -----

// The softmax is the last reader in program order, but may not work in place while the other stream reads its operand.
// CHECK: exec.buffer activation "a" on 0 {offset = [[A:[0-9]+]] : i64}
// CHECK-NOT: exec.buffer output "b" on 0 {offset = [[A]] : i64}
// CHECK: exec.launch "fill"
exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %a = exec.buffer activation "a" on 0 : memref<8x8xf32>
    %b = exec.buffer output "b" on 0 : memref<8x8xf32>
    %c = exec.buffer output "c" on 0 : memref<8x8xf32>
    exec.launch "fill"(%a) floats [1.0] {event = 0 : i64} : memref<8x8xf32>
    exec.launch "copy"(%a, %c) {stream = 1 : i64, waits = array<i64: 0>} : memref<8x8xf32>, memref<8x8xf32>
    exec.launch "softmax"(%a, _, %b) ints [0] floats [1.0] : memref<8x8xf32>, memref<8x8xf32>
    exec.output "b" "output" = %b dims [] : memref<8x8xf32>
    exec.output "c" "output" = %c dims [] : memref<8x8xf32>
  }
}
