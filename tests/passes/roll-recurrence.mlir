// RUN: lstmc opt %s --split-input-file --roll-recurrence | FileCheck %s

// T=2, N=3, I=5, H=4. The input is the slices of one tensor over its second axis, zeros are no state, and the stack of all h is the output.
// Ordinals: the layer has that of the first h, 18, and the dropout after it the one that it had, 33.
// CHECK-LABEL: module attributes {sym.rolled = [{cells = 2 : i64, mode = "lstm", name = "l0"}]}
// CHECK-LABEL: func.func @whole
//  CHECK-SAME:   (%[[X:.+]]: tensor<3x2x5xf32>)
//       CHECK:   %[[W:.+]] = sym.variable {name = "l0_i2h_weight"}
//       CHECK:   %[[B:.+]] = sym.variable {name = "l0_i2h_bias"}
//       CHECK:   %[[R:.+]] = sym.variable {name = "l0_h2h_weight"}
//       CHECK:   %[[C:.+]] = sym.variable {name = "l0_h2h_bias"}
//       CHECK:   %[[S:.+]] = sym.swap_axis %[[X]] {dim2 = 1 : i64, sym.ordinal = 18 : i64}
//  CHECK-NEXT:   %[[P:.+]] = sym.rnn_param_concat %[[W]], %[[R]], %[[B]], %[[C]]
//  CHECK-NEXT:   %[[Y:.+]]:3 = sym.rnn %[[S]], %[[P]] {mode = "lstm", state_outputs = true, state_size = 4 : i64, sym.name = "l0", sym.ordinal = 18 : i64}
//  CHECK-NEXT:   sym.dropout %[[Y]]#0 {sym.ordinal = 33 : i64}
//   CHECK-NOT:   sym.fully_connected
func.func @whole(%data: tensor<3x2x5xf32>) -> tensor<2x3x4xf32> {
  %w = sym.variable {name = "l0_i2h_weight"} : tensor<16x5xf32>
  %b = sym.variable {name = "l0_i2h_bias"} : tensor<16xf32>
  %r = sym.variable {name = "l0_h2h_weight"} : tensor<16x4xf32>
  %e = sym.variable {name = "l0_h2h_bias"} : tensor<16xf32>
  %zero = sym.zeros {shape = array<i64: 3, 4>} : tensor<3x4xf32>
  %x:2 = sym.slice_channel %data {axis = 1 : i64, num_outputs = 2 : i64, squeeze_axis = true} : (tensor<3x2x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>)
  %a0 = sym.fully_connected %x#0, %w, %b {num_hidden = 16 : i64} : (tensor<3x5xf32>, tensor<16x5xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %d0 = sym.fully_connected %zero, %r, %e {num_hidden = 16 : i64} : (tensor<3x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %z0 = sym.elemwise_add %a0, %d0 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %g0:4 = sym.slice_channel %z0 {num_outputs = 4 : i64} : (tensor<3x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %i0 = sym.activation %g0#0 {act_type = "sigmoid"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f0 = sym.sigmoid %g0#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %n0 = sym.tanh %g0#2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o0 = sym.sigmoid %g0#3 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %p0 = sym.elemwise_mul %f0, %zero : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %q0 = sym.elemwise_mul %i0, %n0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c0 = sym.elemwise_add %p0, %q0 {sym.name = "c0"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t0 = sym.tanh %c0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %h0 = sym.elemwise_mul %o0, %t0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %a1 = sym.fully_connected %x#1, %w, %b {num_hidden = 16 : i64} : (tensor<3x5xf32>, tensor<16x5xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %d1 = sym.fully_connected %h0, %r, %e {num_hidden = 16 : i64} : (tensor<3x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %z1 = sym.elemwise_add %a1, %d1 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %g1:4 = sym.slice_channel %z1 {num_outputs = 4 : i64} : (tensor<3x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %i1 = sym.activation %g1#0 {act_type = "sigmoid"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f1 = sym.sigmoid %g1#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %n1 = sym.tanh %g1#2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o1 = sym.sigmoid %g1#3 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %p1 = sym.elemwise_mul %f1, %c0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %q1 = sym.elemwise_mul %i1, %n1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c1 = sym.elemwise_add %p1, %q1 {sym.name = "c1"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t1 = sym.tanh %c1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %h1 = sym.elemwise_mul %o1, %t1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = sym.stack %h0, %h1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %k = sym.dropout %y {p = 5.0e-01} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %k : tensor<2x3x4xf32>
}

// -----

// Arbitrary input values are stacked; those defined after the first step are moved before it. The h of the last step is the layer's final state, as is c.
// CHECK-LABEL: func.func @values
//  CHECK-SAME:   (%[[X0:.+]]: tensor<3x5xf32>, %[[H:.+]]: tensor<3x4xf32>, %[[C:.+]]: tensor<3x4xf32>)
//       CHECK:   %[[X1:.+]] = sym.tanh %[[X0]]
//       CHECK:   %[[X:.+]] = sym.stack %[[X0]], %[[X1]]
//       CHECK:   %[[H0:.+]] = sym.expand_dims %[[H]] {axis = 0
//       CHECK:   %[[C0:.+]] = sym.expand_dims %[[C]] {axis = 0
//       CHECK:   %[[L:.+]]:3 = sym.rnn %[[X]], %{{.+}} state %[[H0]] cell %[[C0]]
//   CHECK-DAG:   %[[LH:.+]] = sym.reshape %[[L]]#1
//   CHECK-DAG:   %[[LC:.+]] = sym.reshape %[[L]]#2
//       CHECK:   return %[[LH]], %[[LC]]
func.func @values(%x0: tensor<3x5xf32>, %h: tensor<3x4xf32>, %c: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %w = sym.variable {name = "l0_i2h_weight"} : tensor<16x5xf32>
  %b = sym.variable {name = "l0_i2h_bias"} : tensor<16xf32>
  %r = sym.variable {name = "l0_h2h_weight"} : tensor<16x4xf32>
  %e = sym.variable {name = "l0_h2h_bias"} : tensor<16xf32>
  %a0 = sym.fully_connected %x0, %w, %b {num_hidden = 16 : i64} : (tensor<3x5xf32>, tensor<16x5xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %d0 = sym.fully_connected %h, %r, %e {num_hidden = 16 : i64} : (tensor<3x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %z0 = sym.elemwise_add %a0, %d0 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %g0:4 = sym.slice_channel %z0 {num_outputs = 4 : i64} : (tensor<3x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %i0 = sym.activation %g0#0 {act_type = "sigmoid"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f0 = sym.sigmoid %g0#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %n0 = sym.tanh %g0#2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o0 = sym.sigmoid %g0#3 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %p0 = sym.elemwise_mul %f0, %c : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %q0 = sym.elemwise_mul %i0, %n0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c0 = sym.elemwise_add %p0, %q0 {sym.name = "c0"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t0 = sym.tanh %c0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %h0 = sym.elemwise_mul %o0, %t0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %x1 = sym.tanh %x0 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %a1 = sym.fully_connected %x1, %w, %b {num_hidden = 16 : i64} : (tensor<3x5xf32>, tensor<16x5xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %d1 = sym.fully_connected %h0, %r, %e {num_hidden = 16 : i64} : (tensor<3x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %z1 = sym.elemwise_add %a1, %d1 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %g1:4 = sym.slice_channel %z1 {num_outputs = 4 : i64} : (tensor<3x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %i1 = sym.activation %g1#0 {act_type = "sigmoid"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f1 = sym.sigmoid %g1#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %n1 = sym.tanh %g1#2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o1 = sym.sigmoid %g1#3 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %p1 = sym.elemwise_mul %f1, %c0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %q1 = sym.elemwise_mul %i1, %n1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c1 = sym.elemwise_add %p1, %q1 {sym.name = "c1"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t1 = sym.tanh %c1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %h1 = sym.elemwise_mul %o1, %t1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %h1, %c1 : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// The gates of MXNet's older scripts, i, g, f, o: blocks of rows of the weights and biases change places.
// CHECK-LABEL: module attributes {sym.rolled = [{cells = 2 : i64, mode = "lstm", name = "l0"}]}
// CHECK-LABEL: func.func @order
//       CHECK:   %[[W:.+]] = sym.variable {name = "l0_i2h_weight"}
//       CHECK:   %[[E:.+]] = sym.variable {name = "l0_h2h_bias"}
//       CHECK:   %[[WB:.+]]:4 = sym.slice_channel %[[W]] {axis = 0 : i64, num_outputs = 4 : i64
//  CHECK-NEXT:   %[[WO:.+]] = sym.concat %[[WB]]#0, %[[WB]]#2, %[[WB]]#1, %[[WB]]#3 {dim = 0 : i64
//       CHECK:   %[[EB:.+]]:4 = sym.slice_channel %[[E]] {axis = 0 : i64, num_outputs = 4 : i64
//  CHECK-NEXT:   %[[EO:.+]] = sym.concat %[[EB]]#0, %[[EB]]#2, %[[EB]]#1, %[[EB]]#3 {dim = 0 : i64
//  CHECK-NEXT:   %[[P:.+]] = sym.rnn_param_concat %[[WO]], %{{.+}}, %{{.+}}, %[[EO]]
//  CHECK-NEXT:   sym.rnn %{{.+}}, %[[P]] {mode = "lstm"
//   CHECK-NOT:   sym.fully_connected
func.func @order(%data: tensor<3x2x5xf32>) -> tensor<2x3x4xf32> {
  %w = sym.variable {name = "l0_i2h_weight"} : tensor<16x5xf32>
  %b = sym.variable {name = "l0_i2h_bias"} : tensor<16xf32>
  %r = sym.variable {name = "l0_h2h_weight"} : tensor<16x4xf32>
  %e = sym.variable {name = "l0_h2h_bias"} : tensor<16xf32>
  %zero = sym.zeros {shape = array<i64: 3, 4>} : tensor<3x4xf32>
  %x:2 = sym.slice_channel %data {axis = 1 : i64, num_outputs = 2 : i64, squeeze_axis = true} : (tensor<3x2x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>)
  %a0 = sym.fully_connected %x#0, %w, %b {num_hidden = 16 : i64} : (tensor<3x5xf32>, tensor<16x5xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %d0 = sym.fully_connected %zero, %r, %e {num_hidden = 16 : i64} : (tensor<3x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %z0 = sym.elemwise_add %a0, %d0 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %g0:4 = sym.slice_channel %z0 {num_outputs = 4 : i64} : (tensor<3x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %i0 = sym.activation %g0#0 {act_type = "sigmoid"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f0 = sym.sigmoid %g0#2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %n0 = sym.tanh %g0#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o0 = sym.sigmoid %g0#3 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %p0 = sym.elemwise_mul %f0, %zero : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %q0 = sym.elemwise_mul %i0, %n0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c0 = sym.elemwise_add %p0, %q0 {sym.name = "c0"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t0 = sym.tanh %c0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %h0 = sym.elemwise_mul %o0, %t0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %a1 = sym.fully_connected %x#1, %w, %b {num_hidden = 16 : i64} : (tensor<3x5xf32>, tensor<16x5xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %d1 = sym.fully_connected %h0, %r, %e {num_hidden = 16 : i64} : (tensor<3x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %z1 = sym.elemwise_add %a1, %d1 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %g1:4 = sym.slice_channel %z1 {num_outputs = 4 : i64} : (tensor<3x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %i1 = sym.activation %g1#0 {act_type = "sigmoid"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f1 = sym.sigmoid %g1#2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %n1 = sym.tanh %g1#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o1 = sym.sigmoid %g1#3 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %p1 = sym.elemwise_mul %f1, %c0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %q1 = sym.elemwise_mul %i1, %n1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c1 = sym.elemwise_add %p1, %q1 {sym.name = "c1"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t1 = sym.tanh %c1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %h1 = sym.elemwise_mul %o1, %t1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = sym.stack %h0, %h1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// Different weights in one step.
// CHECK-LABEL: module attributes {sym.rolled = [{{.*}}reason = "step 1: its weights are not those of the first step"
//   CHECK-NOT:   sym.rnn
func.func @weight(%data: tensor<3x2x5xf32>) -> tensor<2x3x4xf32> {
  %w = sym.variable {name = "l0_i2h_weight"} : tensor<16x5xf32>
  %b = sym.variable {name = "l0_i2h_bias"} : tensor<16xf32>
  %r = sym.variable {name = "l0_h2h_weight"} : tensor<16x4xf32>
  %e = sym.variable {name = "l0_h2h_bias"} : tensor<16xf32>
  %v = sym.variable {name = "other"} : tensor<16x5xf32>
  %zero = sym.zeros {shape = array<i64: 3, 4>} : tensor<3x4xf32>
  %x:2 = sym.slice_channel %data {axis = 1 : i64, num_outputs = 2 : i64, squeeze_axis = true} : (tensor<3x2x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>)
  %a0 = sym.fully_connected %x#0, %w, %b {num_hidden = 16 : i64} : (tensor<3x5xf32>, tensor<16x5xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %d0 = sym.fully_connected %zero, %r, %e {num_hidden = 16 : i64} : (tensor<3x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %z0 = sym.elemwise_add %a0, %d0 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %g0:4 = sym.slice_channel %z0 {num_outputs = 4 : i64} : (tensor<3x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %i0 = sym.activation %g0#0 {act_type = "sigmoid"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f0 = sym.sigmoid %g0#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %n0 = sym.tanh %g0#2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o0 = sym.sigmoid %g0#3 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %p0 = sym.elemwise_mul %f0, %zero : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %q0 = sym.elemwise_mul %i0, %n0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c0 = sym.elemwise_add %p0, %q0 {sym.name = "c0"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t0 = sym.tanh %c0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %h0 = sym.elemwise_mul %o0, %t0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %a1 = sym.fully_connected %x#1, %v, %b {num_hidden = 16 : i64} : (tensor<3x5xf32>, tensor<16x5xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %d1 = sym.fully_connected %h0, %r, %e {num_hidden = 16 : i64} : (tensor<3x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %z1 = sym.elemwise_add %a1, %d1 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %g1:4 = sym.slice_channel %z1 {num_outputs = 4 : i64} : (tensor<3x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %i1 = sym.activation %g1#0 {act_type = "sigmoid"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f1 = sym.sigmoid %g1#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %n1 = sym.tanh %g1#2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o1 = sym.sigmoid %g1#3 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %p1 = sym.elemwise_mul %f1, %c0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %q1 = sym.elemwise_mul %i1, %n1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c1 = sym.elemwise_add %p1, %q1 {sym.name = "c1"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t1 = sym.tanh %c1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %h1 = sym.elemwise_mul %o1, %t1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = sym.stack %h0, %h1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// A c that is read outside of the cell.
// CHECK-LABEL: module attributes {sym.rolled = [{{.*}}reason = "step 0: its c is read by peep"
//   CHECK-NOT:   sym.rnn
func.func @middle(%data: tensor<3x2x5xf32>) -> tensor<3x4xf32> {
  %w = sym.variable {name = "l0_i2h_weight"} : tensor<16x5xf32>
  %b = sym.variable {name = "l0_i2h_bias"} : tensor<16xf32>
  %r = sym.variable {name = "l0_h2h_weight"} : tensor<16x4xf32>
  %e = sym.variable {name = "l0_h2h_bias"} : tensor<16xf32>
  %zero = sym.zeros {shape = array<i64: 3, 4>} : tensor<3x4xf32>
  %x:2 = sym.slice_channel %data {axis = 1 : i64, num_outputs = 2 : i64, squeeze_axis = true} : (tensor<3x2x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>)
  %a0 = sym.fully_connected %x#0, %w, %b {num_hidden = 16 : i64} : (tensor<3x5xf32>, tensor<16x5xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %d0 = sym.fully_connected %zero, %r, %e {num_hidden = 16 : i64} : (tensor<3x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %z0 = sym.elemwise_add %a0, %d0 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %g0:4 = sym.slice_channel %z0 {num_outputs = 4 : i64} : (tensor<3x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %i0 = sym.activation %g0#0 {act_type = "sigmoid"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f0 = sym.sigmoid %g0#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %n0 = sym.tanh %g0#2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o0 = sym.sigmoid %g0#3 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %p0 = sym.elemwise_mul %f0, %zero : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %q0 = sym.elemwise_mul %i0, %n0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c0 = sym.elemwise_add %p0, %q0 {sym.name = "c0"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t0 = sym.tanh %c0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %h0 = sym.elemwise_mul %o0, %t0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %a1 = sym.fully_connected %x#1, %w, %b {num_hidden = 16 : i64} : (tensor<3x5xf32>, tensor<16x5xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %d1 = sym.fully_connected %h0, %r, %e {num_hidden = 16 : i64} : (tensor<3x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %z1 = sym.elemwise_add %a1, %d1 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %g1:4 = sym.slice_channel %z1 {num_outputs = 4 : i64} : (tensor<3x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %i1 = sym.activation %g1#0 {act_type = "sigmoid"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f1 = sym.sigmoid %g1#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %n1 = sym.tanh %g1#2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o1 = sym.sigmoid %g1#3 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %p1 = sym.elemwise_mul %f1, %c0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %q1 = sym.elemwise_mul %i1, %n1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c1 = sym.elemwise_add %p1, %q1 {sym.name = "c1"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t1 = sym.tanh %c1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %h1 = sym.elemwise_mul %o1, %t1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = sym.elemwise_add %h1, %c0 {sym.name = "peep"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// A gate that is read outside of the cell.
// CHECK-LABEL: module attributes {sym.rolled = [{{.*}}reason = "step 1: what it makes of its gates is read by the net's result"
//   CHECK-NOT:   sym.rnn
func.func @gate(%data: tensor<3x2x5xf32>) -> tensor<3x4xf32> {
  %w = sym.variable {name = "l0_i2h_weight"} : tensor<16x5xf32>
  %b = sym.variable {name = "l0_i2h_bias"} : tensor<16xf32>
  %r = sym.variable {name = "l0_h2h_weight"} : tensor<16x4xf32>
  %e = sym.variable {name = "l0_h2h_bias"} : tensor<16xf32>
  %zero = sym.zeros {shape = array<i64: 3, 4>} : tensor<3x4xf32>
  %x:2 = sym.slice_channel %data {axis = 1 : i64, num_outputs = 2 : i64, squeeze_axis = true} : (tensor<3x2x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>)
  %a0 = sym.fully_connected %x#0, %w, %b {num_hidden = 16 : i64} : (tensor<3x5xf32>, tensor<16x5xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %d0 = sym.fully_connected %zero, %r, %e {num_hidden = 16 : i64} : (tensor<3x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %z0 = sym.elemwise_add %a0, %d0 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %g0:4 = sym.slice_channel %z0 {num_outputs = 4 : i64} : (tensor<3x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %i0 = sym.activation %g0#0 {act_type = "sigmoid"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f0 = sym.sigmoid %g0#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %n0 = sym.tanh %g0#2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o0 = sym.sigmoid %g0#3 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %p0 = sym.elemwise_mul %f0, %zero : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %q0 = sym.elemwise_mul %i0, %n0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c0 = sym.elemwise_add %p0, %q0 {sym.name = "c0"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t0 = sym.tanh %c0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %h0 = sym.elemwise_mul %o0, %t0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %a1 = sym.fully_connected %x#1, %w, %b {num_hidden = 16 : i64} : (tensor<3x5xf32>, tensor<16x5xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %d1 = sym.fully_connected %h0, %r, %e {num_hidden = 16 : i64} : (tensor<3x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %z1 = sym.elemwise_add %a1, %d1 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %g1:4 = sym.slice_channel %z1 {num_outputs = 4 : i64} : (tensor<3x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %i1 = sym.activation %g1#0 {act_type = "sigmoid"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f1 = sym.sigmoid %g1#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %n1 = sym.tanh %g1#2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o1 = sym.sigmoid %g1#3 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %p1 = sym.elemwise_mul %f1, %c0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %q1 = sym.elemwise_mul %i1, %n1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c1 = sym.elemwise_add %p1, %q1 {sym.name = "c1"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t1 = sym.tanh %c1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %h1 = sym.elemwise_mul %o1, %t1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %o1 : tensor<3x4xf32>
}

// -----

// An op in a ctx_group of its own.
// CHECK-LABEL: module attributes {sym.rolled = [{{.*}}reason = "step 1: its ops are in several ctx groups"
//   CHECK-NOT:   sym.rnn
func.func @groups(%data: tensor<3x2x5xf32>) -> tensor<2x3x4xf32> {
  %w = sym.variable {name = "l0_i2h_weight"} : tensor<16x5xf32>
  %b = sym.variable {name = "l0_i2h_bias"} : tensor<16xf32>
  %r = sym.variable {name = "l0_h2h_weight"} : tensor<16x4xf32>
  %e = sym.variable {name = "l0_h2h_bias"} : tensor<16xf32>
  %zero = sym.zeros {shape = array<i64: 3, 4>} : tensor<3x4xf32>
  %x:2 = sym.slice_channel %data {axis = 1 : i64, num_outputs = 2 : i64, squeeze_axis = true} : (tensor<3x2x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>)
  %a0 = sym.fully_connected %x#0, %w, %b {num_hidden = 16 : i64} : (tensor<3x5xf32>, tensor<16x5xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %d0 = sym.fully_connected %zero, %r, %e {num_hidden = 16 : i64} : (tensor<3x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %z0 = sym.elemwise_add %a0, %d0 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %g0:4 = sym.slice_channel %z0 {num_outputs = 4 : i64} : (tensor<3x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %i0 = sym.activation %g0#0 {act_type = "sigmoid"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f0 = sym.sigmoid %g0#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %n0 = sym.tanh %g0#2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o0 = sym.sigmoid %g0#3 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %p0 = sym.elemwise_mul %f0, %zero : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %q0 = sym.elemwise_mul %i0, %n0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c0 = sym.elemwise_add %p0, %q0 {sym.name = "c0"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t0 = sym.tanh %c0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %h0 = sym.elemwise_mul %o0, %t0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %a1 = sym.fully_connected %x#1, %w, %b {num_hidden = 16 : i64} : (tensor<3x5xf32>, tensor<16x5xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %d1 = sym.fully_connected %h0, %r, %e {num_hidden = 16 : i64} : (tensor<3x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<3x16xf32>
  %z1 = sym.elemwise_add %a1, %d1 : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
  %g1:4 = sym.slice_channel %z1 {num_outputs = 4 : i64} : (tensor<3x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %i1 = sym.activation %g1#0 {act_type = "sigmoid"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f1 = sym.sigmoid %g1#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %n1 = sym.tanh %g1#2 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o1 = sym.sigmoid %g1#3 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %p1 = sym.elemwise_mul %f1, %c0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %q1 = sym.elemwise_mul %i1, %n1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %c1 = sym.elemwise_add %p1, %q1 {sym.name = "c1"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t1 = sym.tanh %c1 {sym.group = "g"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %h1 = sym.elemwise_mul %o1, %t1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = sym.stack %h0, %h1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// The first step multiplies %h, and keeps a part of %other: only its second step is one of a GRU.
// CHECK-LABEL: module attributes {sym.rolled = [{{.*}}reason = "step 0: the h that it keeps a part of is not the one that it multiplies"
// CHECK-LABEL: func.func @two_states
//   CHECK-NOT:   sym.rnn
func.func @two_states(%x0: tensor<3x5xf32>, %x1: tensor<3x5xf32>, %h: tensor<3x4xf32>, %other: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %w = sym.variable {name = "g_i2h_weight"} : tensor<12x5xf32>
  %b = sym.variable {name = "g_i2h_bias"} : tensor<12xf32>
  %r = sym.variable {name = "g_h2h_weight"} : tensor<12x4xf32>
  %e = sym.variable {name = "g_h2h_bias"} : tensor<12xf32>
  %a0 = sym.fully_connected %x0, %w, %b {num_hidden = 12 : i64} : (tensor<3x5xf32>, tensor<12x5xf32>, tensor<12xf32>) -> tensor<3x12xf32>
  %d0 = sym.fully_connected %h, %r, %e {num_hidden = 12 : i64} : (tensor<3x4xf32>, tensor<12x4xf32>, tensor<12xf32>) -> tensor<3x12xf32>
  %i0:3 = sym.slice_channel %a0 {num_outputs = 3 : i64} : (tensor<3x12xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %s0:3 = sym.slice_channel %d0 {num_outputs = 3 : i64} : (tensor<3x12xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %p0 = sym.elemwise_add %i0#0, %s0#0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %r0 = sym.sigmoid %p0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %q0 = sym.elemwise_add %i0#1, %s0#1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %z0 = sym.sigmoid %q0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %g0 = sym.elemwise_mul %r0, %s0#2 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t0 = sym.elemwise_add %i0#2, %g0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %n0 = sym.tanh %t0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %u0 = sym.rminus_scalar %z0 {scalar = 1.0 : f64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f0 = sym.elemwise_mul %u0, %n0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %k0 = sym.elemwise_mul %z0, %other : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %h0 = sym.elemwise_add %f0, %k0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %a1 = sym.fully_connected %x1, %w, %b {num_hidden = 12 : i64} : (tensor<3x5xf32>, tensor<12x5xf32>, tensor<12xf32>) -> tensor<3x12xf32>
  %d1 = sym.fully_connected %h0, %r, %e {num_hidden = 12 : i64} : (tensor<3x4xf32>, tensor<12x4xf32>, tensor<12xf32>) -> tensor<3x12xf32>
  %i1:3 = sym.slice_channel %a1 {num_outputs = 3 : i64} : (tensor<3x12xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %s1:3 = sym.slice_channel %d1 {num_outputs = 3 : i64} : (tensor<3x12xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
  %p1 = sym.elemwise_add %i1#0, %s1#0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %r1 = sym.sigmoid %p1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %q1 = sym.elemwise_add %i1#1, %s1#1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %z1 = sym.sigmoid %q1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %g1 = sym.elemwise_mul %r1, %s1#2 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %t1 = sym.elemwise_add %i1#2, %g1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %n1 = sym.tanh %t1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %u1 = sym.rminus_scalar %z1 {scalar = 1.0 : f64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %f1 = sym.elemwise_mul %u1, %n1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %k1 = sym.elemwise_mul %z1, %h0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %h1 = sym.elemwise_add %f1, %k1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %h1 : tensor<3x4xf32>
}

// -----

// The GRU of MXNet 0.8: r multiplies h before the product, which sym.rnn's does not.
// CHECK-LABEL: module attributes {sym.rolled = [{cells = 2 : i64, mode = "gru", name = "g_trans", reason = "step 0: its reset gate multiplies h before the product with R, that of gru the product"}]}
// CHECK-LABEL: func.func @old_gru
//   CHECK-NOT:   sym.rnn
func.func @old_gru(%x0: tensor<3x5xf32>, %x1: tensor<3x5xf32>, %h: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %w = sym.variable {name = "g_gates_i2h_weight"} : tensor<8x5xf32>
  %b = sym.variable {name = "g_gates_i2h_bias"} : tensor<8xf32>
  %r = sym.variable {name = "g_gates_h2h_weight"} : tensor<8x4xf32>
  %e = sym.variable {name = "g_gates_h2h_bias"} : tensor<8xf32>
  %v = sym.variable {name = "g_trans_i2h_weight"} : tensor<4x5xf32>
  %k = sym.variable {name = "g_trans_i2h_bias"} : tensor<4xf32>
  %s = sym.variable {name = "g_trans_h2h_weight"} : tensor<4x4xf32>
  %l = sym.variable {name = "g_trans_h2h_bias"} : tensor<4xf32>
  %a0 = sym.fully_connected %x0, %w, %b {num_hidden = 8 : i64} : (tensor<3x5xf32>, tensor<8x5xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  %d0 = sym.fully_connected %h, %r, %e {num_hidden = 8 : i64} : (tensor<3x4xf32>, tensor<8x4xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  %g0 = sym.elemwise_add %a0, %d0 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %c0:2 = sym.slice_channel %g0 {num_outputs = 2 : i64} : (tensor<3x8xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>)
  %u0 = sym.sigmoid %c0#0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o0 = sym.sigmoid %c0#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %m0 = sym.elemwise_mul %h, %o0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %p0 = sym.fully_connected %x0, %v, %k {num_hidden = 4 : i64} : (tensor<3x5xf32>, tensor<4x5xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %q0 = sym.fully_connected %m0, %s, %l {num_hidden = 4 : i64} : (tensor<3x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %z0 = sym.elemwise_add %p0, %q0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %n0 = sym.tanh %z0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y0 = sym.elemwise_sub %n0, %h : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %f0 = sym.elemwise_mul %u0, %y0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %h0 = sym.elemwise_add %h, %f0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %a1 = sym.fully_connected %x1, %w, %b {num_hidden = 8 : i64} : (tensor<3x5xf32>, tensor<8x5xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  %d1 = sym.fully_connected %h0, %r, %e {num_hidden = 8 : i64} : (tensor<3x4xf32>, tensor<8x4xf32>, tensor<8xf32>) -> tensor<3x8xf32>
  %g1 = sym.elemwise_add %a1, %d1 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  %c1:2 = sym.slice_channel %g1 {num_outputs = 2 : i64} : (tensor<3x8xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>)
  %u1 = sym.sigmoid %c1#0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %o1 = sym.sigmoid %c1#1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %m1 = sym.elemwise_mul %h0, %o1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %p1 = sym.fully_connected %x1, %v, %k {num_hidden = 4 : i64} : (tensor<3x5xf32>, tensor<4x5xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %q1 = sym.fully_connected %m1, %s, %l {num_hidden = 4 : i64} : (tensor<3x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %z1 = sym.elemwise_add %p1, %q1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %n1 = sym.tanh %z1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y1 = sym.elemwise_sub %n1, %h0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %f1 = sym.elemwise_mul %u1, %y1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %h1 = sym.elemwise_add %h0, %f1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %h1 : tensor<3x4xf32>
}

// -----

// Any other loop: its two weights depend on each other. Those of %out are read twice and in no loop; %e, read by two ops of different kinds, is in none either.
// CHECK-LABEL: module attributes {sym.rolled = [{cells = 2 : i64, mode = "loop", name = "mine", reason = "its steps are not those of an LSTM, GRU or RNN"}]}
func.func @loop(%ids: tensor<3xi32>, %h: tensor<3x4xf32>) -> (tensor<3x7xf32>, tensor<3x7xf32>) {
  %e = sym.variable {name = "embed_weight"} : tensor<7x4xf32>
  %w = sym.variable {name = "mine_i2h_weight"} : tensor<4x4xf32>
  %r = sym.variable {name = "mine_h2h_weight"} : tensor<4x4xf32>
  %b = sym.variable {name = "out_bias"} : tensor<7xf32>
  %x = sym.embedding %ids, %e {input_dim = 7 : i64, output_dim = 4 : i64} : (tensor<3xi32>, tensor<7x4xf32>) -> tensor<3x4xf32>
  %a0 = sym.fully_connected %x, %w {num_hidden = 4 : i64, no_bias = true} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %s0 = sym.elemwise_mul %a0, %h : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %h0 = sym.fully_connected %s0, %r {num_hidden = 4 : i64, no_bias = true} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %a1 = sym.fully_connected %h0, %w {num_hidden = 4 : i64, no_bias = true} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %s1 = sym.elemwise_mul %a1, %h0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %h1 = sym.fully_connected %s1, %r {num_hidden = 4 : i64, no_bias = true} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %y0 = sym.fully_connected %h0, %e, %b {num_hidden = 7 : i64} : (tensor<3x4xf32>, tensor<7x4xf32>, tensor<7xf32>) -> tensor<3x7xf32>
  %y1 = sym.fully_connected %h1, %e, %b {num_hidden = 7 : i64} : (tensor<3x4xf32>, tensor<7x4xf32>, tensor<7xf32>) -> tensor<3x7xf32>
  return %y0, %y1 : tensor<3x7xf32>, tensor<3x7xf32>
}
