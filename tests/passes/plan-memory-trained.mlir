// RUN: lstmc opt %s --plan-memory | FileCheck %s

// Buffers common to the plans of a net for several lengths come first: the 64 bytes of the state, although the input precedes
// it and has 256 bytes here, and another size for another length.
// CHECK: exec.buffer input "x" on 0 {offset = 64 : i64}
// CHECK: exec.buffer state "h" on 0 {offset = 0 : i64}
// CHECK: exec.buffer output "y" on 0 {offset = 320 : i64}
exec.plan ["cpu:0"] {
  %x = exec.buffer input "x" on 0 : memref<8x8xf32>
  %h = exec.buffer state "h" on 0 : memref<2x8xf32>
  exec.program "forward" on 0 {
    exec.input "x" "data" = %x dims [] : memref<8x8xf32>
    %y = exec.buffer output "y" on 0 : memref<8x8xf32>
    exec.launch "copy"(%x, %y) : memref<8x8xf32>, memref<8x8xf32>
    exec.output "y" "output" = %y dims [] : memref<8x8xf32>
  }
}
