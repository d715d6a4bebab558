// RUN: lstmc opt %s --split-input-file --unroll-foreach | FileCheck %s
// RUN: lstmc opt %s --split-input-file --unroll-foreach --roll-recurrence | FileCheck %s --check-prefix=ROLLED

// T=2, N=3, I=5, H=4. Each step reads the state of the one before, and the values from outside as they are.
// CHECK-LABEL: func.func @running
//  CHECK-SAME:   (%[[X:.+]]: tensor<2x3xf32>, %[[S:.+]]: tensor<3xf32>, %[[F:.+]]: tensor<3xf32>)
//  CHECK-NEXT:   %[[A0:.+]] = sym.slice_axis %[[X]] {axis = 0 : i64, begin = 0 : i64, end = 1 : i64}
//  CHECK-NEXT:   %[[X0:.+]] = sym.squeeze %[[A0]] {axis = array<i64: 0>}
//  CHECK-NEXT:   %[[M0:.+]] = sym.elemwise_mul %[[X0]], %[[F]]
//  CHECK-NEXT:   %[[N0:.+]] = sym.elemwise_add %[[M0]], %[[S]]
//  CHECK-NEXT:   %[[A1:.+]] = sym.slice_axis %[[X]] {axis = 0 : i64, begin = 1 : i64, end = 2 : i64}
//  CHECK-NEXT:   %[[X1:.+]] = sym.squeeze %[[A1]] {axis = array<i64: 0>}
//  CHECK-NEXT:   %[[M1:.+]] = sym.elemwise_mul %[[X1]], %[[F]]
//  CHECK-NEXT:   %[[N1:.+]] = sym.elemwise_add %[[M1]], %[[N0]]
//  CHECK-NEXT:   %[[Y:.+]] = sym.stack %[[M0]], %[[M1]] {sym.name = "run"}
//  CHECK-NEXT:   return %[[Y]], %[[N1]]
func.func @running(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %f: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %y:2 = sym.foreach data(%x) states(%s) {
  ^bb0(%slice: tensor<3xf32>, %sum: tensor<3xf32>):
    %m = sym.elemwise_mul %slice, %f : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %n = sym.elemwise_add %m, %sum : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    sym.next %m, %n : tensor<3xf32>, tensor<3xf32>
  } {sym.name = "run"} : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return %y#0, %y#1 : tensor<2x3xf32>, tensor<3xf32>
}

// -----

// The inner loop's steps are copied with the outer body. A state that goes through unchanged is what it began with.
// CHECK-LABEL: func.func @nested
// CHECK-COUNT-4: sym.elemwise_add
//   CHECK-NOT:   sym.elemwise_add
//   CHECK-NOT:   sym.foreach
//       CHECK:   return %{{.+}}, %arg1
func.func @nested(%x: tensor<2x2x3xf32>, %s: tensor<3xf32>) -> (tensor<2x2x3xf32>, tensor<3xf32>) {
  %y:2 = sym.foreach data(%x) states(%s) {
  ^bb0(%rows: tensor<2x3xf32>, %kept: tensor<3xf32>):
    %z = sym.foreach data(%rows) {
    ^bb0(%row: tensor<3xf32>):
      %n = sym.elemwise_add %row, %kept : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      sym.next %n : tensor<3xf32>
    } : (tensor<2x3xf32>) -> tensor<2x3xf32>
    sym.next %z, %kept : tensor<2x3xf32>, tensor<3xf32>
  } : (tensor<2x2x3xf32>, tensor<3xf32>) -> (tensor<2x2x3xf32>, tensor<3xf32>)
  return %y#0, %y#1 : tensor<2x2x3xf32>, tensor<3xf32>
}

// -----

// A body that is a cell becomes the op.
// ROLLED-LABEL: module attributes {sym.rolled = [{cells = 6 : i64, mode = "rnn_tanh", name = "r"}]}
// ROLLED-LABEL: func.func @cell
//       ROLLED:   sym.rnn %{{.+}}, %{{.+}} state %{{.+}} {state_outputs = true, state_size = 4
//   ROLLED-NOT:   sym.fully_connected
func.func @cell(%x: tensor<6x3x5xf32>, %h: tensor<3x4xf32>) -> tensor<6x3x4xf32> {
  %w = sym.variable {name = "r_i2h_weight"} : tensor<4x5xf32>
  %b = sym.variable {name = "r_i2h_bias"} : tensor<4xf32>
  %r = sym.variable {name = "r_h2h_weight"} : tensor<4x4xf32>
  %e = sym.variable {name = "r_h2h_bias"} : tensor<4xf32>
  %y:2 = sym.foreach data(%x) states(%h) {
  ^bb0(%slice: tensor<3x5xf32>, %state: tensor<3x4xf32>):
    %a = sym.fully_connected %slice, %w, %b {num_hidden = 4 : i64} : (tensor<3x5xf32>, tensor<4x5xf32>, tensor<4xf32>) -> tensor<3x4xf32>
    %d = sym.fully_connected %state, %r, %e {num_hidden = 4 : i64} : (tensor<3x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
    %z = sym.elemwise_add %a, %d : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %n = sym.tanh %z : (tensor<3x4xf32>) -> tensor<3x4xf32>
    sym.next %n, %n : tensor<3x4xf32>, tensor<3x4xf32>
  } : (tensor<6x3x5xf32>, tensor<3x4xf32>) -> (tensor<6x3x4xf32>, tensor<3x4xf32>)
  return %y#0 : tensor<6x3x4xf32>
}
