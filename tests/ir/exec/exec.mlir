// RUN: lstmc opt %s | FileCheck %s
// RUN: lstmc opt %s | lstmc opt | FileCheck %s

// CHECK-LABEL: exec.plan ["cpu:0"] {
exec.plan ["cpu:0"] {
  // CHECK: %[[W:.+]] = exec.buffer parameter "w" on 0 {lr_mult = 2.000000e+00 : f64, offset = 0 : i64} : memref<2x4xf32>
  %w = exec.buffer parameter "w" on 0 {lr_mult = 2.0, offset = 0 : i64} : memref<2x4xf32>
  %s = exec.buffer scalar "scale" on 0 : memref<1xf32>
  // CHECK: exec.fused 0 {
  // CHECK: ^bb0(%[[X:.+]]: f32, %[[Y:.+]]: f32):
  // CHECK:   %[[C:.+]] = exec.scalar "constant"() {immediate = 5.000000e-01 : f64} : () -> f32
  // CHECK:   %[[P:.+]] = exec.scalar "mul"(%[[X]], %[[C]]) : (f32, f32) -> f32
  // CHECK:   exec.results %[[P]] to [1] : f32
  exec.fused 0 {
  ^bb0(%x: f32, %y: f32):
    %c = exec.scalar "constant"() {immediate = 5.0e-1} : () -> f32
    %p = exec.scalar "mul"(%x, %c) : (f32, f32) -> f32
    exec.results %p to [1] : f32
  }
  // CHECK: exec.program "forward" on 0 {
  exec.program "forward" on 0 {
    %t = exec.buffer activation "t" on 0 : memref<4x2xf32>
    %p = exec.buffer workspace "p" on 0 : memref<64xf32>
    %y = exec.buffer output "y" on 0 : memref<1x4x2xf32>
    // CHECK: exec.input "scale" "scalar" = %{{.+}} dims [] : memref<1xf32>
    exec.input "scale" "scalar" = %s dims [] : memref<1xf32>
    // A transposition is a view: 4 rows of stride 1, 2 columns of stride 4.
    // CHECK: exec.launch "copy"(%[[W]][0 : 4, 2 : 1, 4], %[[T:.+]]) : memref<2x4xf32>, memref<4x2xf32>
    exec.launch "copy"(%w[0 : 4, 2 : 1, 4], %t) : memref<2x4xf32>, memref<4x2xf32>
    // The bias is absent; row 3 of t is reversed.
    // CHECK: exec.launch "pack"(%[[W]][0 : 1, 2, 4 : 0, 4, 1], %[[K:.+]]) ints [0] : memref<2x4xf32>, memref<64xf32>
    exec.launch "pack"(%w[0 : 1, 2, 4 : 0, 4, 1], %p) ints [0] : memref<2x4xf32>, memref<64xf32>
    // CHECK: exec.launch "product"(%[[W]][0 : 1, 1, 4 : 8, 4, 1], %[[K]], _, %[[T]][7 : 1, 1, 2 : 8, 2, -1])
    exec.launch "product"(%w[0 : 1, 1, 4 : 8, 4, 1], %p, _, %t[7 : 1, 1, 2 : 8, 2, -1]) : memref<2x4xf32>, memref<64xf32>, memref<4x2xf32>
    // CHECK: exec.launch "fused"(%[[T]][0 : 1, 4, 2 : 0, 2, 1], %{{.+}}) ints [0]
    exec.launch "fused"(%t[0 : 1, 4, 2 : 0, 2, 1], %y) ints [0] : memref<4x2xf32>, memref<1x4x2xf32>
    // CHECK: exec.commit
    exec.commit
    // CHECK: exec.launch "fill"(%[[W]]) floats [0.000000e+00]
    exec.launch "fill"(%w) floats [0.0] : memref<2x4xf32>
    // CHECK: exec.launch "fill"(%[[T]]) floats [0.000000e+00] {event = 3 : i64, stream = 1 : i64}
    exec.launch "fill"(%t) floats [0.0] {event = 3 : i64, stream = 1 : i64} : memref<4x2xf32>
    // CHECK: exec.launch "fill"(%[[T]]) floats [0.000000e+00] {waits = array<i64: 3>}
    exec.launch "fill"(%t) floats [0.0] {waits = array<i64: 3>} : memref<4x2xf32>
    // CHECK: exec.output "y" "output" = %{{.+}} dims ["", "batch", ""]
    exec.output "y" "output" = %y dims ["", "batch", ""] : memref<1x4x2xf32>
  }
}
