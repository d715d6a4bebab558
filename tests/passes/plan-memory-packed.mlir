// RUN: lstmc opt %s --plan-memory --validate-plan | FileCheck %s

// w, x and the packed weights of forward persist, 256 bytes each. Step writes w, so they are packed again after it, and its
// workspace may overwrite them; y of forward may not.
// CHECK-LABEL: exec.plan ["cpu:0"] {
// CHECK: exec.buffer packed "w.packed" on 0 {offset = 512 : i64}
// CHECK: exec.buffer input "x" on 0 {offset = 256 : i64}
// CHECK: exec.buffer output "y" on 0 {offset = 768 : i64}
// CHECK: exec.buffer workspace "d" on 0 {offset = 512 : i64}
// CHECK: arena_bytes = array<i64: 1024>
exec.plan ["cpu:0"] {
  %w = exec.buffer parameter "w" on 0 : memref<8x8xf32>
  %p = exec.buffer packed "w.packed" on 0 : memref<8x8xf32>
  %x = exec.buffer input "x" on 0 : memref<8x8xf32>
  exec.program "prepare:forward" on 0 {
    exec.launch "copy"(%w, %p) : memref<8x8xf32>, memref<8x8xf32>
  }
  exec.program "forward" on 0 {
    %y = exec.buffer output "y" on 0 : memref<8x8xf32>
    exec.launch "copy"(%p, %y) : memref<8x8xf32>, memref<8x8xf32>
    exec.output "y" "output" = %y dims [] : memref<8x8xf32>
  }
  exec.program "step" on 0 {
    exec.input "x" "data" = %x dims [] : memref<8x8xf32>
    %d = exec.buffer workspace "d" on 0 : memref<8x8xf32>
    exec.launch "copy"(%x, %d) : memref<8x8xf32>, memref<8x8xf32>
    exec.commit
    exec.launch "copy"(%d, %w) : memref<8x8xf32>, memref<8x8xf32>
  }
}

// A step that reads packed weights preserves these, and overwrites the others.
// CHECK-LABEL: exec.plan ["cpu:1"] {
// CHECK: exec.buffer packed "others" on 0 {offset = 768 : i64}
// CHECK: exec.buffer packed "own" on 0 {offset = 512 : i64}
// CHECK: exec.buffer workspace "d" on 0 {offset = 768 : i64}
// CHECK: arena_bytes = array<i64: 1024>
exec.plan ["cpu:1"] {
  %w = exec.buffer parameter "w" on 0 : memref<8x8xf32>
  %v = exec.buffer parameter "v" on 0 : memref<8x8xf32>
  %others = exec.buffer packed "others" on 0 : memref<8x8xf32>
  %own = exec.buffer packed "own" on 0 : memref<8x8xf32>
  exec.program "prepare:forward" on 0 {
    exec.launch "copy"(%w, %others) : memref<8x8xf32>, memref<8x8xf32>
  }
  exec.program "step" on 0 {
    %d = exec.buffer workspace "d" on 0 : memref<8x8xf32>
    exec.launch "copy"(%own, %d) : memref<8x8xf32>, memref<8x8xf32>
    exec.commit
    exec.launch "copy"(%d, %w) : memref<8x8xf32>, memref<8x8xf32>
  }
}
