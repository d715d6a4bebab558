// RUN: lstmc opt %s --gradient --split-input-file --verify-diagnostics | FileCheck %s

!x = tensor<6x4xf32>
!w = tensor<4x4xf32>
!b = tensor<4xf32>
sym.parameter @w : !w
sym.parameter @b : !b

// %0 has two consumers: the gradient from the last of them, the product, is first in the sum. %w is used twice and its gradient
// is one op, whose first use is the one that backward visits first.
// CHECK-LABEL: func @twice
//  CHECK-SAME:   (%[[X:.+]]: tensor<6x4xf32>{{.*}}, %[[L:.+]]: tensor<6x4xf32>
//       CHECK:   %[[W:.+]] = sym.read @w
//       CHECK:   %[[A:.+]] = sym.fully_connected %[[X]], %[[W]], %{{.+}}
//  CHECK-NEXT:   %[[C:.+]] = sym.fully_connected %[[A]], %[[W]]
//  CHECK-NEXT:   sym.elemwise_mul %[[A]], %[[C]]
//  CHECK-NEXT:   %[[Y:.+]] = sym.linear_regression_output
//  CHECK-NEXT:   %[[D:.+]] = sym.elemwise_sub %[[Y]], %[[L]]
//  CHECK-NEXT:   %[[DY:.+]] = sym.mul_scalar %[[D]] {scalar = 2.500000e-01 : f64, sym.backward{{.*}}}
//  CHECK-NEXT:   %[[DA1:.+]] = sym.elemwise_mul %[[DY]], %[[C]]
//  CHECK-NEXT:   %[[DC:.+]] = sym.elemwise_mul %[[DY]], %[[A]]
//  CHECK-NEXT:   %[[DA2:.+]] = sym.dot %[[DC]], %[[W]]
//  CHECK-NEXT:   %[[DA:.+]] = sym.elemwise_add %[[DA1]], %[[DA2]]
//  CHECK-NEXT:   %[[DB:.+]] = sym.bias_gradient %[[DA]] {batch = 6 : i64, {{.*}}shards = 8 : i64, sym.backward{{.*}}}
//  CHECK-NEXT:   sym.gradient @b, %[[DB]]
//  CHECK-NEXT:   %[[DW:.+]] = "sym.weight_gradient"(%[[DC]], %[[DA]], %[[A]], %[[X]]) <{batch = 6 : i64,
//  CHECK-NEXT:   sym.gradient @w, %[[DW]]
func.func @twice(%x: !x {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"},
                 %l: !x {sym.dims = ["batch", ""], sym.name = "l", sym.role = "label"}) -> !x attributes {sym.training} {
  %w = sym.read @w : !w
  %b = sym.read @b : !b
  %0 = sym.fully_connected %x, %w, %b {num_hidden = 4 : i64} : (!x, !w, !b) -> !x
  %1 = sym.fully_connected %0, %w {no_bias = true, num_hidden = 4 : i64} : (!x, !w) -> !x
  %2 = sym.elemwise_mul %0, %1 : (!x, !x) -> !x
  %y = sym.linear_regression_output %2, %l {sym.head} : (!x, !x) -> !x
  return %y : !x
}

// Nothing is added to an entry that does not train, nor before an op that stops the gradient.
// CHECK-LABEL: func @forward
// CHECK:         sym.fully_connected
// CHECK-NEXT:    return
func.func @forward(%x: !x) -> !x {
  %w = sym.read @w : !w
  %0 = sym.fully_connected %x, %w {no_bias = true, num_hidden = 4 : i64} : (!x, !w) -> !x
  return %0 : !x
}
// CHECK-LABEL: func @blocked
// CHECK-NOT:     sym.weight_gradient
// CHECK:         return
func.func @blocked(%x: !x) -> !x attributes {sym.training} {
  %w = sym.read @w : !w
  %0 = sym.fully_connected %x, %w {no_bias = true, num_hidden = 4 : i64} : (!x, !w) -> !x
  %1 = sym.block_grad %0 : (!x) -> !x
  %y = sym.make_loss %1 {sym.head} : (!x) -> !x
  return %y : !x
}
