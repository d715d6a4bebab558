// RUN: lstmc opt %s --schedule=streams=2 --split-input-file | FileCheck %s
// RUN: lstmc opt %s --schedule=streams=2 --plan-memory --validate-plan --split-input-file -o /dev/null

// Two chains on a stream each; the fused launch waits for the one that it does not follow. At the commit all streams come
// together, so the copy needs no event.
// CHECK: exec.launch "fill"(%[[A:.+]]) floats [1.000000e+00] :
// CHECK-NEXT: exec.launch "reduce"(%[[A]], %[[SA:.+]]) ints [0, 1] {event = 0 : i64} :
// CHECK-NEXT: exec.launch "fill"(%[[B:.+]]) floats [2.000000e+00] {stream = 1 : i64} :
// CHECK-NEXT: exec.launch "reduce"(%[[B]], %[[SB:.+]]) ints [0, 1] {stream = 1 : i64} :
// CHECK-NEXT: exec.launch "fused"(%[[SA]], %[[SB]], %[[S:.+]]) ints [0] {stream = 1 : i64, waits = array<i64: 0>} :
// CHECK-NEXT: exec.commit
// CHECK-NEXT: exec.launch "copy"(%[[S]], %{{.+}}) :
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
    %sa = exec.buffer activation "sa" on 0 : memref<16xf32>
    exec.launch "reduce"(%a, %sa) ints [0, 1] : memref<16x16xf32>, memref<16xf32>
    %b = exec.buffer activation "b" on 0 : memref<16x16xf32>
    exec.launch "fill"(%b) floats [2.0] : memref<16x16xf32>
    %sb = exec.buffer activation "sb" on 0 : memref<16xf32>
    exec.launch "reduce"(%b, %sb) ints [0, 1] : memref<16x16xf32>, memref<16xf32>
    %s = exec.buffer activation "s" on 0 : memref<16xf32>
    exec.launch "fused"(%sa, %sb, %s) ints [0] : memref<16xf32>, memref<16xf32>, memref<16xf32>
    exec.commit
    exec.launch "copy"(%s, %state) : memref<16xf32>, memref<16xf32>
  }
}

// -----

// Two halves of a value are written on two streams. The reader of both waits for one event, because it follows the other half on its stream.
// Later launches that wait for the reader have thereby waited for the halves.
// CHECK: exec.launch "fill"(%[[A:.+]][0 : 8 : 1]) floats [1.000000e+00] {event = 0 : i64} :
// CHECK-NEXT: exec.launch "fill"(%[[A]][8 : 8 : 1]) floats [2.000000e+00] {stream = 1 : i64} :
// CHECK-NEXT: exec.launch "copy"(%[[A]], %[[B:.+]]) {stream = 1 : i64, waits = array<i64: 0>} :
// CHECK-NEXT: exec.launch "fill"(%[[A]]) floats [3.000000e+00] {stream = 1 : i64} :
exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %a = exec.buffer output "a" on 0 : memref<16xf32>
    %b = exec.buffer output "b" on 0 : memref<16xf32>
    exec.launch "fill"(%a[0 : 8 : 1]) floats [1.0] : memref<16xf32>
    exec.launch "fill"(%a[8 : 8 : 1]) floats [2.0] : memref<16xf32>
    exec.launch "copy"(%a, %b) : memref<16xf32>, memref<16xf32>
    exec.launch "fill"(%a) floats [3.0] : memref<16xf32>
    exec.output "a" "output" = %a dims [] : memref<16xf32>
    exec.output "b" "output" = %b dims [] : memref<16xf32>
  }
}

// -----

// Transfers keep their stream, and their order.
// CHECK: exec.program "forward" on 1
// CHECK: exec.launch "receive"(%[[X:.+]]) ints [0, 0] :
// CHECK-NEXT: exec.launch "receive"(%[[Y:.+]]) ints [0, 1] :
// CHECK-NOT: stream
exec.plan ["cpu:0", "cpu:1"] {
  exec.program "forward" on 0 {
    %x = exec.buffer activation "x" on 0 : memref<16xf32>
    exec.launch "fill"(%x) floats [1.0] : memref<16xf32>
    exec.launch "send"(%x) ints [1, 0] : memref<16xf32>
    exec.launch "send"(%x) ints [1, 1] : memref<16xf32>
  }
  exec.program "forward" on 1 {
    %x = exec.buffer output "x" on 1 : memref<16xf32>
    exec.launch "receive"(%x) ints [0, 0] : memref<16xf32>
    %y = exec.buffer output "y" on 1 : memref<16xf32>
    exec.launch "receive"(%y) ints [0, 1] : memref<16xf32>
    exec.output "x" "output" = %x dims [] : memref<16xf32>
    exec.output "y" "output" = %y dims [] : memref<16xf32>
  }
}
