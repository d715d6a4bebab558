// RUN: lstmc opt %s --split-input-file --merge-equal-ops | FileCheck %s

// Names and locations do not make ops different; the order of operands does, and so do attributes.
// CHECK-LABEL: func.func @equal
//       CHECK:   %[[T:.+]] = sym.tanh %[[X:.+]] {sym.name = "a"}
//   CHECK-NOT:   sym.tanh
//       CHECK:   %[[S:.+]] = sym.elemwise_sub %[[T]], %[[X]]
//       CHECK:   %[[R:.+]] = sym.elemwise_sub %[[X]], %[[T]]
//       CHECK:   %[[M:.+]] = sym.elemwise_mul %[[S]], %[[S]]
//       CHECK:   %[[TWO:.+]] = sym.mul_scalar %[[M]] {scalar = 2.0
//       CHECK:   %[[THREE:.+]] = sym.mul_scalar %[[M]] {scalar = 3.0
//       CHECK:   return %[[R]], %[[TWO]], %[[THREE]]
func.func @equal(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %a = sym.tanh %x {sym.name = "a"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = sym.tanh %x {sym.name = "b"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = sym.elemwise_sub %a, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = sym.elemwise_sub %b, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = sym.elemwise_sub %x, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %f = sym.elemwise_mul %c, %d : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %g = sym.mul_scalar %f {scalar = 2.0} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %h = sym.mul_scalar %f {scalar = 3.0} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %e, %g, %h : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// Not merged: ops on two devices, forward with backward ops, ops recomputed to save memory, and reads, which are not functions of operands.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-2: sym.read @w
// CHECK-COUNT-4: sym.tanh
//     CHECK-NOT: sym.tanh
sym.parameter @w : tensor<3xf32>
func.func @apart() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %w = sym.read @w : tensor<3xf32> {sym.device = 0 : i64}
  %v = sym.read @w : tensor<3xf32> {sym.device = 0 : i64}
  %a = sym.tanh %w {sym.device = 0 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %b = sym.tanh %w {sym.device = 1 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %c = sym.tanh %w {sym.backward, sym.device = 0 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %d = sym.tanh %w {sym.device = 0 : i64, sym.recompute = "g"} : (tensor<3xf32>) -> tensor<3xf32>
  return %a, %b, %c, %d, %v : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// Equal masks are merged; masks of two ops have different random numbers, and masks of two parts of the batch different elements.
// CHECK-LABEL: func.func @masks
// CHECK-COUNT-3: sym.dropout_mask
//     CHECK-NOT: sym.dropout_mask
func.func @masks(%seed: tensor<1xi64>, %update: tensor<1xi64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = sym.dropout_mask %seed, %update {p = 0.5, ordinal = 7 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
  %b = sym.dropout_mask %seed, %update {p = 0.5, ordinal = 7 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
  %c = sym.dropout_mask %seed, %update {p = 0.5, ordinal = 8 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
  %d = sym.dropout_mask %seed, %update {p = 0.5, ordinal = 7 : i64, window = array<i64: 4, 4, 1>} : (tensor<1xi64>, tensor<1xi64>) -> tensor<4xf32>
  return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
