// RUN: lstmc opt %s --schedule --split-input-file | FileCheck %s

// Two chains, each a large value and a small result, interleaved: 2,048 bytes at once. One chain after the other needs
// 1,024 and the small result. The write after the commit stays in place.
// CHECK: exec.launch "fill"(%[[A:.+]]) floats [1.000000e+00]
// CHECK-NEXT: exec.launch "reduce"(%[[A]], %[[SA:.+]])
// CHECK-NEXT: exec.launch "fill"(%[[B:.+]]) floats [2.000000e+00]
// CHECK-NEXT: exec.launch "reduce"(%[[B]], %[[SB:.+]])
// CHECK-NEXT: exec.launch "fused"(%[[SA]], %[[SB]], %[[S:.+]])
// CHECK-NEXT: exec.commit
// CHECK-NEXT: exec.launch "copy"(%[[S]], %{{.+}})
exec.plan ["cpu:0"] {
  %state = exec.buffer state "s" on 0 : memref<16xf32>
  exec.fused 0 {
  ^bb0(%x: f32, %z: f32, %y: f32):
    %0 = exec.scalar "add"(%x, %z) : (f32, f32) -> f32
    exec.results %0 to [2] : f32
  }
  exec.program "forward" on 0 {
    %a = exec.buffer activation "a" on 0 : memref<16x16xf32>
    exec.launch "fill"(%a) floats [1.0] : memref<16x16xf32>
    %b = exec.buffer activation "b" on 0 : memref<16x16xf32>
    exec.launch "fill"(%b) floats [2.0] : memref<16x16xf32>
    %sa = exec.buffer activation "sa" on 0 : memref<16xf32>
    exec.launch "reduce"(%a, %sa) ints [0, 1] : memref<16x16xf32>, memref<16xf32>
    %sb = exec.buffer activation "sb" on 0 : memref<16xf32>
    exec.launch "reduce"(%b, %sb) ints [0, 1] : memref<16x16xf32>, memref<16xf32>
    %s = exec.buffer activation "s" on 0 : memref<16xf32>
    exec.launch "fused"(%sa, %sb, %s) ints [0] : memref<16xf32>, memref<16xf32>, memref<16xf32>
    exec.commit
    exec.launch "copy"(%s, %state) : memref<16xf32>, memref<16xf32>
  }
}

// -----

// Two launches that read a large value end its lifetime together; neither does alone.
// CHECK: exec.launch "fill"(%[[A:.+]]) floats [1.000000e+00]
// CHECK-NEXT: exec.launch "reduce"(%[[A]], %[[SA:.+]]) ints [0, 1]
// CHECK-NEXT: exec.launch "reduce"(%[[A]], %[[TA:.+]]) ints [1, 1]
// CHECK-NEXT: exec.launch "fill"(%[[B:.+]]) floats [2.000000e+00]
// CHECK-NEXT: exec.launch "reduce"(%[[B]], %{{.+}}) ints [0, 1]
exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %a = exec.buffer activation "a" on 0 : memref<16x16xf32>
    exec.launch "fill"(%a) floats [1.0] : memref<16x16xf32>
    %b = exec.buffer activation "b" on 0 : memref<16x16xf32>
    exec.launch "fill"(%b) floats [2.0] : memref<16x16xf32>
    %sb = exec.buffer output "sb" on 0 : memref<16xf32>
    exec.launch "reduce"(%b, %sb) ints [0, 1] : memref<16x16xf32>, memref<16xf32>
    %sa = exec.buffer output "sa" on 0 : memref<16xf32>
    exec.launch "reduce"(%a, %sa) ints [0, 1] : memref<16x16xf32>, memref<16xf32>
    %ta = exec.buffer output "ta" on 0 : memref<16xf32>
    exec.launch "reduce"(%a, %ta) ints [1, 1] : memref<16x16xf32>, memref<16xf32>
  }
}

// -----

// A stage runs launches that need no message before it waits for one, except for the large value, which would live together with the one that
// arrives.
// CHECK: exec.program "forward" on 1
// CHECK: exec.launch "fill"(%[[SMALL:.+]]) floats [2.000000e+00]
// CHECK-NEXT: exec.launch "receive"(%[[X:.+]]) ints [0, 0]
// CHECK-NEXT: exec.launch "reduce"(%[[X]]
// CHECK-NEXT: exec.launch "copy"(%[[SMALL]]
// CHECK-NEXT: exec.launch "fill"(%[[LARGE:.+]]) floats [3.000000e+00]
// CHECK-NEXT: exec.launch "reduce"(%[[LARGE]]
exec.plan ["cpu:0", "cpu:1"] {
  exec.program "forward" on 0 {
    %x = exec.buffer activation "x" on 0 : memref<16x16xf32>
    exec.launch "fill"(%x) floats [1.0] : memref<16x16xf32>
    exec.launch "send"(%x) ints [1, 0] : memref<16x16xf32>
  }
  exec.program "forward" on 1 {
    %x = exec.buffer activation "x" on 1 : memref<16x16xf32>
    exec.launch "receive"(%x) ints [0, 0] : memref<16x16xf32>
    %sx = exec.buffer output "sx" on 1 : memref<16xf32>
    exec.launch "reduce"(%x, %sx) ints [0, 1] : memref<16x16xf32>, memref<16xf32>
    %small = exec.buffer activation "small" on 1 : memref<16xf32>
    exec.launch "fill"(%small) floats [2.0] {sym.chunk = array<i64: 0, 0, 4, 8>} : memref<16xf32>
    %large = exec.buffer activation "large" on 1 : memref<32x16xf32>
    exec.launch "fill"(%large) floats [3.0] : memref<32x16xf32>
    %sl = exec.buffer output "sl" on 1 : memref<32xf32>
    exec.launch "reduce"(%large, %sl) ints [0, 1] : memref<32x16xf32>, memref<32xf32>
    %y = exec.buffer output "y" on 1 : memref<16xf32>
    exec.launch "copy"(%small, %y) : memref<16xf32>, memref<16xf32>
  }
}
