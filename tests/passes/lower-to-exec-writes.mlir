// RUN: lstmc opt %s --lower-to-exec | FileCheck %s

// Two states exchange their values. Reads give the values from before the call, so both are saved first;
// two values of one shape are copied back in one launch.
// CHECK: %[[A:.+]] = exec.buffer state "a" on 0
// CHECK: %[[B:.+]] = exec.buffer state "b" on 0
// CHECK: exec.program "swap" on 0 {
// CHECK:   exec.launch "copy"(%[[B]], %[[TB:.+]])
// CHECK:   exec.launch "copy"(%[[A]], %[[TA:.+]])
// CHECK:   exec.commit
// CHECK-NEXT: exec.launch "fused"(%[[TB]], %[[TA]], %[[A]], %[[B]]) ints [0]

// b becomes tanh(a) while a becomes tanh(b): the first is not computed in place, because the second still reads b.
// CHECK: exec.program "cross" on 0 {
// CHECK:   exec.commit
// CHECK-NEXT: %[[T:.+]] = exec.buffer activation "tanh"
// CHECK-NEXT: exec.launch "fused"(%[[A]], %[[T]]) ints [1]
// CHECK-NEXT: exec.launch "fused"(%[[B]], %[[A]]) ints [1]
// CHECK-NEXT: exec.launch "copy"(%[[T]], %[[B]])

// Different parameters are written by separate launches, since a server may update one without the other.
// CHECK: exec.program "exchange" on 0 {
// CHECK:   exec.commit
// CHECK-NEXT: exec.launch "copy"
// CHECK-NEXT: exec.launch "copy"
// CHECK-NOT: exec.launch
sym.state @a : tensor<4xf32>
sym.state @b : tensor<4xf32>
func.func @swap() {
  %a = sym.read @a : tensor<4xf32>
  %b = sym.read @b : tensor<4xf32>
  sym.write @a, %b : tensor<4xf32>
  sym.write @b, %a : tensor<4xf32>
  return
}
func.func @cross() {
  %a = sym.read @a : tensor<4xf32>
  %b = sym.read @b : tensor<4xf32>
  %0 = sym.tanh %a : (tensor<4xf32>) -> tensor<4xf32>
  %1 = sym.tanh %b : (tensor<4xf32>) -> tensor<4xf32>
  sym.write @b, %0 : tensor<4xf32>
  sym.write @a, %1 : tensor<4xf32>
  return
}
sym.parameter @v : tensor<4xf32>
sym.parameter @w : tensor<4xf32>
func.func @exchange() {
  %v = sym.read @v : tensor<4xf32>
  %w = sym.read @w : tensor<4xf32>
  sym.write @v, %w : tensor<4xf32>
  sym.write @w, %v : tensor<4xf32>
  return
}
