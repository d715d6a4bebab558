// RUN: lstmc opt %s --lower-to-exec | FileCheck %s
// RUN: lstmc opt %s --fuse --lower-to-exec | FileCheck %s --check-prefix=FUSED

// Rows 8 to 15 of a batch of 32 have the same numbers as in the whole batch; the window comes after the program's number.
// CHECK:      exec.program "step"
// CHECK:        exec.launch "fused"(%{{.+}}, %{{.+}}, %[[M:.+]]) ints [0, 32, 5, 128, 32, 1]
// CHECK:        exec.launch "fused"(%{{.+}}, %[[M]], %{{.+}}) ints [1] :
// FUSED:      exec.program "step"
// FUSED:        exec.launch "fused"(%{{.+}}) ints [0, 32, 5, 128, 32, 1]
// FUSED-NOT:    exec.launch
func.func @step(%x: tensor<5x8x4xf32> {sym.name = "x", sym.role = "data", sym.dims = ["", "batch", ""]},
                %seed: tensor<1xi64> {sym.name = "seed", sym.role = "scalar"},
                %update: tensor<1xi64> {sym.name = "update", sym.role = "scalar"})
    -> (tensor<5x8x4xf32> {sym.name = "y", sym.role = "output"}) {
  %0 = sym.dropout_mask %seed, %update {p = 2.0e-01, ordinal = 7 : i64, window = array<i64: 32, 5, 128, 32, 1>} : (tensor<1xi64>, tensor<1xi64>) -> tensor<5x8x4xf32>
  %1 = sym.elemwise_mul %x, %0 : (tensor<5x8x4xf32>, tensor<5x8x4xf32>) -> tensor<5x8x4xf32>
  return %1 : tensor<5x8x4xf32>
}
