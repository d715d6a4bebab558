// RUN: lstmc opt %s --lower-to-exec | FileCheck %s

// Slices of one value that lie at equal distances, and go to places that do, are one copy: columns of x [N=3, T*I=8], I=2, become steps.
// The last two, out of this order, go backwards; a part of another value is a copy of its own.
// CHECK:      exec.program "forward" on 0 {
// CHECK:        exec.launch "copy"(%[[X:.+]][0 : 4, 3, 2 : 2, 8, 1], %[[Y:.+]][0 : 4, 3, 2 : 6, 2, 1])
// CHECK-NEXT:   exec.launch "copy"(%{{.+}}, %[[Y]][24 : 3, 2 : 2, 1])
// CHECK-NEXT:   exec.launch "copy"(%[[X]][6 : 2, 3, 2 : -2, 8, 1], %[[Y]][30 : 2, 3, 2 : 6, 2, 1])
// CHECK-NOT:    exec.launch
func.func @forward(%x: tensor<3x8xf32> {sym.name = "x", sym.role = "data", sym.dims = ["batch", ""]},
                   %z: tensor<3x2xf32> {sym.name = "z", sym.role = "data", sym.dims = ["batch", ""]})
    -> (tensor<7x3x2xf32> {sym.name = "y", sym.role = "output"}) {
  %s:4 = sym.slice_channel %x {num_outputs = 4 : i64} : (tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>)
  %y = sym.stack %s#0, %s#1, %s#2, %s#3, %z, %s#3, %s#2 : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<7x3x2xf32>
  return %y : tensor<7x3x2xf32>
}
