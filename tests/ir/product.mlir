// RUN: lstmc opt %s --infer-shapes | FileCheck %s
// RUN: lstmc opt %s --infer-shapes | lstmc opt | FileCheck %s

!open = tensor<*x!sym.open>

// The weight and bias that a call creates get their shape from the data: 3 * 4 inputs, 5 outputs.
// CHECK-LABEL: func @fully_connected
// CHECK:         %[[W:.+]] = sym.variable {name = "fc_weight"} : tensor<5x12xf32>
// CHECK-NEXT:    %[[B:.+]] = sym.variable {name = "fc_bias"} : tensor<5xf32>
// CHECK-NEXT:    sym.fully_connected %{{.+}}, %[[W]], %[[B]] {num_hidden = 5 : i64} {{.*}} -> tensor<2x5xf32>
func.func @fully_connected(%x: tensor<2x3x4xf32>) -> !open {
  %w = sym.variable {name = "fc_weight"} : !open
  %b = sym.variable {name = "fc_bias"} : !open
  %y = sym.fully_connected %x, %w, %b {num_hidden = 5 : i64} : (tensor<2x3x4xf32>, !open, !open) -> !open
  return %y : !open
}

// A state with an open batch learns it from the value that its product is added to: MXNet's begin_state (0, H).
// CHECK-LABEL: func @begin_state
// CHECK:         sym.zeros {shape = array<i64: 0, 4>} : tensor<32x4xf32>
func.func @begin_state(%x: tensor<32x8xf32>) -> !open {
  %h = sym.zeros {shape = array<i64: 0, 4>} : !open
  %w = sym.variable {name = "w"} : !open
  %r = sym.variable {name = "r"} : !open
  %i = sym.fully_connected %x, %w {no_bias = true, num_hidden = 4 : i64} : (tensor<32x8xf32>, !open) -> !open
  %s = sym.fully_connected %h, %r {no_bias = true, num_hidden = 4 : i64} : (!open, !open) -> !open
  %y = sym.elemwise_add %i, %s : (!open, !open) -> !open
  return %y : !open
}

// CHECK-LABEL: func @dots
// CHECK:         sym.dot {{.*}} -> tensor<8x3xf32>
// CHECK-NEXT:    sym.dot {{.*}} -> tensor<1xf32>
// CHECK-NEXT:    sym.batch_dot {{.*}} -> tensor<2x5x7xf32>
func.func @dots(%a: tensor<5x8xf32>, %b: tensor<3x5xf32>, %v: tensor<5xf32>, %p: tensor<2x4x5xf32>, %q: tensor<2x7x4xf32>) -> !open {
  %x = sym.dot %a, %b {transpose_a = true, transpose_b = true} : (tensor<5x8xf32>, tensor<3x5xf32>) -> !open
  %y = sym.dot %v, %v : (tensor<5xf32>, tensor<5xf32>) -> !open
  %z = sym.batch_dot %p, %q {transpose_a = true, transpose_b = true} : (tensor<2x4x5xf32>, tensor<2x7x4xf32>) -> !open
  return %z : !open
}

// Both directions of two layers: the first reads 8 inputs, the second 2 * 4; G*H = 16 rows.
// 2*16*(8+4+2) + 2*16*(8+4+2) = 896 parameters.
// CHECK-LABEL: func @rnn
// CHECK:         sym.variable {name = "l0"} : tensor<16x8xf32>
// CHECK:         sym.variable {name = "r0"} : tensor<16x8xf32>
// CHECK:         sym.variable {name = "l1"} : tensor<16x8xf32>
// CHECK:         sym.rnn_param_concat {{.*}} -> tensor<896xf32>
// CHECK:         sym.begin_state {name = "h"} : tensor<4x2x4xf32>
// CHECK:         sym.rnn {{.*}} -> (tensor<5x2x8xf32>, tensor<4x2x4xf32>, tensor<4x2x4xf32>)
func.func @rnn(%x: tensor<5x2x8xf32>) -> !open {
  %l0 = sym.variable {name = "l0"} : tensor<16x?xf32>
  %r0 = sym.variable {name = "r0"} : tensor<16x?xf32>
  %l1 = sym.variable {name = "l1"} : tensor<16x?xf32>
  %r1 = sym.variable {name = "r1"} : tensor<16x?xf32>
  %h2h = sym.variable {name = "h2h"} : tensor<16x4xf32>
  %bias = sym.variable {name = "bias"} : tensor<16xf32>
  %p = sym.rnn_param_concat %l0, %h2h, %r0, %h2h, %l1, %h2h, %r1, %h2h, %bias, %bias, %bias, %bias, %bias, %bias, %bias, %bias {dim = 0 : i64}
    : (tensor<16x?xf32>, tensor<16x4xf32>, tensor<16x?xf32>, tensor<16x4xf32>, tensor<16x?xf32>, tensor<16x4xf32>, tensor<16x?xf32>, tensor<16x4xf32>,
       tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> !open
  %h = sym.begin_state {name = "h"} : !open
  %y:3 = sym.rnn %x, %p state %h {bidirectional = true, mode = "lstm", num_layers = 2 : i64, state_outputs = true, state_size = 4 : i64}
    : (tensor<5x2x8xf32>, !open, !open) -> (!open, !open, !open)
  return %y#0 : !open
}

// In the other direction: 224 = 4*4*(I+4+2) parameters give 8 inputs.
// CHECK-LABEL: func @inputs_from_parameters
// CHECK:         sym.variable {name = "x"} : tensor<5x2x8xf32>
func.func @inputs_from_parameters() -> !open {
  %x = sym.variable {name = "x"} : tensor<5x2x?xf32>
  %p = sym.variable {name = "p"} : tensor<224xf32>
  %y = sym.rnn %x, %p {mode = "lstm", num_layers = 1 : i64, state_size = 4 : i64} : (tensor<5x2x?xf32>, tensor<224xf32>) -> !open
  return %y : !open
}
