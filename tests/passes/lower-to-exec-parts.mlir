// RUN: lstmc opt %s --lower-to-exec | FileCheck %s

// Both parts of the concatenation are computed in place: columns 0-3 and 4-7 of rows of 8. x is not the result of an op and is
// copied to columns 8-11.
// CHECK: exec.program "forward" on 0 {
// CHECK:   %[[Y:.+]] = exec.buffer output "y"
// CHECK:   exec.launch "fused"(%[[X:.+]], %[[Y]][0 : 2, 4 : 12, 1]) ints [0]
// CHECK-NEXT: exec.launch "softmax"(%[[X]], _, %[[Y]][4 : 2, 4 : 12, 1])
// CHECK-NEXT: exec.launch "copy"(%[[X]], %[[Y]][8 : 2, 4 : 12, 1])
// CHECK-NEXT: exec.output
// Slices are views of the value that is sliced.
// CHECK: exec.program "cut" on 0 {
// CHECK:   exec.launch "fused"(%[[X]][0 : 2, 2 : 4, 1], %[[X]][2 : 2, 2 : 4, 1], %{{.+}}) ints [1]
!x = tensor<2x4xf32>
!h = tensor<2x2xf32>
func.func @forward(%x: !x {sym.name = "x"}) -> (tensor<2x12xf32> {sym.name = "y"}) {
  %0 = sym.tanh %x : (!x) -> !x
  %1 = sym.softmax %x : (!x) -> !x
  %y = sym.concat %0, %1, %x {dim = 1 : i64} : (!x, !x, !x) -> tensor<2x12xf32>
  return %y : tensor<2x12xf32>
}
func.func @cut(%x: !x {sym.name = "x"}) -> !h {
  %a, %b = sym.slice_channel %x {num_outputs = 2 : i64} : (!x) -> (!h, !h)
  %y = sym.elemwise_add %a, %b : (!h, !h) -> !h
  return %y : !h
}
