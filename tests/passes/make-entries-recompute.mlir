// RUN: lstmc opt %s --make-entries="entries=step recompute=low,high" | FileCheck %s

// By group and by name; an op that matches twice is in the first of the groups. The ops that replace dropout are in its group.
// CHECK-LABEL: func.func @step
//       CHECK:   sym.fully_connected {{.*}}sym.name = "high", {{.*}}sym.recompute = "low"
//       CHECK:   sym.dropout_mask {{.*}}sym.group = "low", sym.recompute = "low"
//  CHECK-NEXT:   sym.elemwise_mul {{.*}}sym.group = "low", sym.recompute = "low"
//  CHECK-NEXT:   sym.tanh {{.*}}sym.name = "high", {{.*}}sym.recompute = "high"
//  CHECK-NEXT:   sym.exp {{.*}}sym.recompute}
//  CHECK-NEXT:   sym.sin
//   CHECK-NOT:   recompute
!x = tensor<6x4xf32>
func.func @net(%x: !x {sym.name = "x", sym.role = "data", sym.dims = ["batch", ""]}) -> !x {
  %w = sym.variable {name = "w"} : tensor<4x4xf32>
  %0 = sym.fully_connected %x, %w {no_bias = true, num_hidden = 4 : i64, sym.group = "low", sym.name = "high"} : (!x, tensor<4x4xf32>) -> !x
  %1 = sym.dropout %0 {p = 5.0e-01 : f64, sym.group = "low"} : (!x) -> !x
  %2 = sym.tanh %1 {sym.name = "high"} : (!x) -> !x
  %3 = sym.exp %2 {sym.recompute} : (!x) -> !x
  %4 = sym.sin %3 {sym.name = "higher"} : (!x) -> !x
  %5 = sym.make_loss %4 : (!x) -> !x
  return %5 : !x
}
