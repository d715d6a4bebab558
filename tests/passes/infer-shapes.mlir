// RUN: lstmc opt %s --infer-shapes --split-input-file --verify-diagnostics | FileCheck %s

!open = tensor<*x!sym.open>

// Forward through the ops, and backward to the weights: 3 outputs of 4 inputs; element types that remain open become f32.
// CHECK-LABEL: func @both
// CHECK-SAME:    (%[[X:.+]]: tensor<2x4xf32>) -> tensor<2x3xf32>
// CHECK:         %[[W:.+]] = sym.variable {name = "w"} : tensor<3x4xf32>
// CHECK-NEXT:    %[[B:.+]] = sym.variable {name = "b"} : tensor<3xf32>
// CHECK-NEXT:    sym.fully_connected %[[X]], %[[W]], %[[B]] {num_hidden = 3 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<2x3xf32>
func.func @both(%x: tensor<2x4xf32>) -> !open {
  %w = sym.variable {name = "w"} : !open
  %b = sym.variable {name = "b"} : !open
  %y = sym.fully_connected %x, %w, %b {num_hidden = 3 : i64} : (tensor<2x4xf32>, !open, !open) -> !open
  return %y : !open
}

// Facts that an op infers late are propagated back to earlier ops: the batch of the state comes from the layer's input.
// CHECK-LABEL: func @state
// CHECK:         sym.begin_state {name = "h"} : tensor<1x2x4xf64>
func.func @state(%x: tensor<5x2x8xf64>) -> !open {
  %h = sym.begin_state {name = "h"} : tensor<1x?x4x!sym.open>
  %w = sym.variable {name = "w"} : !open
  %y = sym.rnn %x, %w state %h {mode = "rnn_tanh", num_layers = 1 : i64, state_size = 4 : i64}
     : (tensor<5x2x8xf64>, !open, tensor<1x?x4x!sym.open>) -> !open
  return %y : !open
}

// -----

func.func @contradiction(%x: tensor<2x4xf32>, %w: tensor<3x5xf32>) -> tensor<*x!sym.open> {
  // expected-error @below {{weight has 5 inputs, data has 4}}
  %y = sym.fully_connected %x, %w {no_bias = true, num_hidden = 3 : i64} : (tensor<2x4xf32>, tensor<3x5xf32>) -> tensor<*x!sym.open>
  return %y : tensor<*x!sym.open>
}

// -----

func.func @nothing_follows() -> tensor<*x!sym.open> {
  // expected-error @below {{follows from nothing}}
  %w = sym.variable {name = "w"} : tensor<4x?xf32>
  %y = sym.tanh %w : (tensor<4x?xf32>) -> tensor<*x!sym.open>
  return %y : tensor<*x!sym.open>
}
