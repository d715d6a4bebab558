// RUN: lstmc opt %s --plan-memory --lower-to-package > %t.1
// RUN: lstmc opt %s --plan-memory --lower-to-package > %t.2
// RUN: diff %t.1 %t.2
// RUN: FileCheck %s < %t.1

// CHECK: package_bytes = {{[0-9]+}} : i64
// CHECK-SAME: package_sha256 = "{{[0-9a-f]+}}"
exec.plan ["cpu:0"] {
  %x = exec.buffer input "x" on 0 : memref<8x8xf32>
  exec.program "forward" on 0 {
    exec.input "x" "data" = %x dims [] : memref<8x8xf32>
    %c = exec.buffer output "c" on 0 : memref<8x8xf32>
    exec.launch "copy"(%x, %c) : memref<8x8xf32>, memref<8x8xf32>
    exec.output "c" "output" = %c dims [] : memref<8x8xf32>
  }
}
