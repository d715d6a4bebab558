// RUN: lstmc opt %s --chain-sums --split-input-file --verify-diagnostics | FileCheck %s

// Chunk 1 comes first in backward. Its contributions are summed before %d0 is computed; the sum over chunk 0 continues that sum.
// The two uses by chunk 0 stay in one op.
!y = tensor<4x2x5xf32>
!x = tensor<4x2x3xf32>
// CHECK-LABEL: func.func @chunks
//  CHECK-SAME:   (%[[E:[^:]+]]: tensor<4x2x5xf32>, %[[X1:[^:]+]]: tensor<4x2x3xf32>, %[[X0:[^:]+]]: tensor<4x2x3xf32>, %[[H:[^:]+]]: tensor<2x3xf32>)
//  CHECK-NEXT:   %[[D1:.+]] = sym.tanh %[[E]]
//  CHECK-NEXT:   %[[B1:.+]] = sym.bias_gradient %[[D1]] {batch = 2 : i64, {{.*}}sym.backward}
//  CHECK-NEXT:   %[[W1:.+]] = "sym.weight_gradient"(%[[D1]], %[[X1]]) <{batch = 2 : i64, count = 0 : i64, first = 0 : i64, hasInitial = array<i64: 0>, inner = array<i64: 1>, kinds = array<i64: 2>,
//  CHECK-NEXT:   %[[D0:.+]] = sym.sin %[[D1]]
//  CHECK-NEXT:   %[[B0:.+]] = sym.bias_gradient %[[D0]] from %[[B1]] : tensor<5xf32> {batch = 2
//  CHECK-NEXT:   %[[S:.+]] = sym.exp %[[X0]]
//  CHECK-NEXT:   %[[W0:.+]] = "sym.weight_gradient"(%[[D0]], %[[D1]], %[[X0]], %[[S]], %[[H]], %[[W1]]) <{{.*}}hasInitial = array<i64: 1, 0>{{.*}}kinds = array<i64: 2, 0>
//  CHECK-NEXT:   %[[Z:.+]] = sym.cos %[[D0]]
//  CHECK-NEXT:   return %[[W0]], %[[B0]], %[[Z]]
func.func @chunks(%e: !y, %x1: !x, %x0: !x, %h: tensor<2x3xf32>) -> (tensor<5x3xf32>, tensor<5xf32>, !y) {
  %d1 = sym.tanh %e : (!y) -> !y
  %d0 = sym.sin %d1 : (!y) -> !y
  %s = sym.exp %x0 : (!x) -> !x
  %z = sym.cos %d0 : (!y) -> !y
  %dw = "sym.weight_gradient"(%d1, %d0, %d1, %x1, %x0, %s, %h) <{kinds = array<i64: 2, 2, 0>, hasInitial = array<i64: 0, 1, 0>, outer = array<i64: 4, 4, 4>,
      batch = 2 : i64, inner = array<i64: 1, 1, 1>, shards = 1 : i64, operandSegmentSizes = array<i32: 3, 3, 1, 0>}>
      {sym.backward, sym.use_chunks = array<i64: 1, 0, 0>} : (!y, !y, !y, !x, !x, !x, tensor<2x3xf32>) -> tensor<5x3xf32>
  %db = sym.bias_gradient %d1, %d0 {outer = array<i64: 4, 4>, batch = 2 : i64, inner = array<i64: 1, 1>, shards = 1 : i64, sym.backward,
      sym.use_chunks = array<i64: 1, 0>} : (!y, !y) -> tensor<5xf32>
  return %dw, %db, %z : tensor<5x3xf32>, tensor<5xf32>, !y
}

// -----

// One shard of four has one sum; several shards would each need a separate sum.
!y = tensor<4x2x5xf32>
// CHECK-LABEL: func.func @one_of_four
//       CHECK:   sym.bias_gradient %{{.+}} from
func.func @one_of_four(%d1: !y, %d0: !y) -> tensor<5xf32> {
  %db = sym.bias_gradient %d1, %d0 {outer = array<i64: 4, 4>, batch = 8 : i64, inner = array<i64: 1, 1>, shards = 4 : i64, first = 2 : i64, count = 1 : i64,
      sym.use_chunks = array<i64: 1, 0>} : (!y, !y) -> tensor<5xf32>
  return %db : tensor<5xf32>
}

// -----

!y = tensor<4x2x5xf32>
func.func @two_of_four(%d1: !y, %d0: !y) -> tensor<5xf32> {
  // expected-error @+1 {{backward cannot compute the steps again in segments: a part of the batch has 2 shards}}
  %db = sym.bias_gradient %d1, %d0 {outer = array<i64: 4, 4>, batch = 4 : i64, inner = array<i64: 1, 1>, shards = 4 : i64, first = 2 : i64, count = 2 : i64,
      sym.use_chunks = array<i64: 1, 0>} : (!y, !y) -> tensor<5xf32>
  return %db : tensor<5xf32>
}
