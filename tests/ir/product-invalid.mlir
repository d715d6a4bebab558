// RUN: lstmc opt %s --split-input-file --verify-diagnostics

// fully_connected:rank
func.func @f(%x: tensor<4xf32>, %w: tensor<5x4xf32>) {
  // expected-error@+1 {{FullyConnected: weight has 4 inputs, data of one axis is 1}}
  %y = sym.fully_connected %x, %w {no_bias = true, num_hidden = 5 : i64} : (tensor<4xf32>, tensor<5x4xf32>) -> tensor<4x5xf32>
  return
}

// -----
// fully_connected:weight-shape
func.func @f(%x: tensor<2x256xf32>, %w: tensor<65x200xf32>) {
  // expected-error@+1 {{FullyConnected: weight has 200 inputs, data has 256}}
  %y = sym.fully_connected %x, %w {no_bias = true, num_hidden = 65 : i64} : (tensor<2x256xf32>, tensor<65x200xf32>) -> tensor<2x65xf32>
  return
}

// -----
func.func @f(%x: tensor<2x256xf32>, %w: tensor<60x256xf32>) {
  // expected-error@+1 {{FullyConnected: weight has 60 outputs, num_hidden is 65}}
  %y = sym.fully_connected %x, %w {no_bias = true, num_hidden = 65 : i64} : (tensor<2x256xf32>, tensor<60x256xf32>) -> tensor<2x65xf32>
  return
}

// -----
// fully_connected:bias-shape
func.func @f(%x: tensor<2x4xf32>, %w: tensor<5x4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{FullyConnected: bias has 4 elements, num_hidden is 5}}
  %y = sym.fully_connected %x, %w, %b {num_hidden = 5 : i64} : (tensor<2x4xf32>, tensor<5x4xf32>, tensor<4xf32>) -> tensor<2x5xf32>
  return
}

// -----
func.func @f(%x: tensor<2x4xf32>, %w: tensor<5x4xf32>) {
  // expected-error@+1 {{FullyConnected: has no bias, and no_bias is False}}
  %y = sym.fully_connected %x, %w {num_hidden = 5 : i64} : (tensor<2x4xf32>, tensor<5x4xf32>) -> tensor<2x5xf32>
  return
}

// -----
// fully_connected:output-shape
func.func @f(%x: tensor<2x4xf32>, %w: tensor<5x4xf32>) {
  // expected-error@+1 {{FullyConnected: output has 3 rows, data has 2}}
  %y = sym.fully_connected %x, %w {no_bias = true, num_hidden = 5 : i64} : (tensor<2x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  return
}

// -----
// fully_connected:type
func.func @f(%x: tensor<2x4xf32>, %w: tensor<5x4xf64>) {
  // expected-error@+1 {{FullyConnected: data is float32, weight is float64}}
  %y = sym.fully_connected %x, %w {no_bias = true, num_hidden = 5 : i64} : (tensor<2x4xf32>, tensor<5x4xf64>) -> tensor<2x5xf32>
  return
}

// -----
// dot:inner
func.func @f(%a: tensor<8x5xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{dot: rhs has 4 to multiply, lhs has 5}}
  %y = sym.dot %a, %b : (tensor<8x5xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  return
}

// -----
// batch_dot:batch
func.func @f(%a: tensor<2x8x5xf32>, %b: tensor<3x5x3xf32>) {
  // expected-error@+1 {{batch_dot: rhs has 3 on axis 0, lhs has 2}}
  %y = sym.batch_dot %a, %b : (tensor<2x8x5xf32>, tensor<3x5x3xf32>) -> tensor<2x8x3xf32>
  return
}

// -----
func.func @f(%a: tensor<6x2x8x5xf32>, %b: tensor<6x3x5x3xf32>) {
  // expected-error@+1 {{batch_dot: rhs has 3 on axis 1, lhs has 2}}
  %y = sym.batch_dot %a, %b : (tensor<6x2x8x5xf32>, tensor<6x3x5x3xf32>) -> tensor<6x2x8x3xf32>
  return
}

// -----
// batch_dot:rank
func.func @f(%a: tensor<8x5xf32>, %b: tensor<5x3xf32>) {
  // expected-error@+1 {{batch_dot: lhs has 2 axes, wants at least 3}}
  %y = sym.batch_dot %a, %b : (tensor<8x5xf32>, tensor<5x3xf32>) -> tensor<8x3xf32>
  return
}

// -----
// rnn:parameter-count
func.func @f(%x: tensor<5x2x8xf32>, %p: tensor<225xf32>) {
  // expected-error@+1 {{RNN: parameters has 225 elements, data with 8 inputs needs 224}}
  %y = sym.rnn %x, %p {mode = "lstm", num_layers = 1 : i64, state_size = 4 : i64} : (tensor<5x2x8xf32>, tensor<225xf32>) -> tensor<5x2x4xf32>
  return
}

// -----
// rnn:state-shape
func.func @f(%x: tensor<5x2x8xf32>, %p: tensor<224xf32>, %h: tensor<2x2x4xf32>) {
  // expected-error@+1 {{RNN: state has 2 on axis 0, num_layers * directions is 1}}
  %y = sym.rnn %x, %p state %h {mode = "lstm", num_layers = 1 : i64, state_size = 4 : i64} : (tensor<5x2x8xf32>, tensor<224xf32>, tensor<2x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----
func.func @f(%x: tensor<5x2x8xf32>, %p: tensor<56xf32>, %h: tensor<1x2x4xf32>) {
  // expected-error@+1 {{RNN: has a state_cell, and mode is rnn_tanh}}
  %y = sym.rnn %x, %p state %h cell %h {mode = "rnn_tanh", num_layers = 1 : i64, state_size = 4 : i64} : (tensor<5x2x8xf32>, tensor<56xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----
// rnn:length-shape
func.func @f(%x: tensor<5x2x8xf32>, %p: tensor<224xf32>, %n: tensor<3xf32>) {
  // expected-error@+1 {{RNN: sequence_length has 3 sequences, data has 2}}
  %y = sym.rnn %x, %p length %n {mode = "lstm", num_layers = 1 : i64, state_size = 4 : i64, use_sequence_length = true} : (tensor<5x2x8xf32>, tensor<224xf32>, tensor<3xf32>) -> tensor<5x2x4xf32>
  return
}

// -----
// rnn:outputs
func.func @f(%x: tensor<5x2x8xf32>, %p: tensor<224xf32>) {
  // expected-error@+1 {{RNN: has 1 results, wants 3}}
  %y = sym.rnn %x, %p {mode = "lstm", num_layers = 1 : i64, state_outputs = true, state_size = 4 : i64} : (tensor<5x2x8xf32>, tensor<224xf32>) -> tensor<5x2x4xf32>
  return
}

// -----
func.func @f(%x: tensor<5x2x8xf32>, %p: tensor<224xf32>) {
  // expected-error@+1 {{RNN: output has 5 units, bidirectional * state_size is 4}}
  %y = sym.rnn %x, %p {mode = "lstm", num_layers = 1 : i64, state_size = 4 : i64} : (tensor<5x2x8xf32>, tensor<224xf32>) -> tensor<5x2x5xf32>
  return
}

// -----
// rnn:projection
func.func @f(%x: tensor<5x2x8xf32>, %p: tensor<224xf32>) {
  // expected-error@+1 {{RNN: projection_size is 5, wants at most state_size, which is 4}}
  %y = sym.rnn %x, %p {mode = "lstm", num_layers = 1 : i64, projection_size = 5 : i64, state_size = 4 : i64} : (tensor<5x2x8xf32>, tensor<224xf32>) -> tensor<5x2x4xf32>
  return
}

// -----
func.func @f(%x: tensor<5x2x8xf32>, %p: tensor<224xf32>) {
  // expected-error@+1 {{RNN: projection_size is 0, wants at least 1}}
  %y = sym.rnn %x, %p {mode = "lstm", num_layers = 1 : i64, projection_size = 0 : i64, state_size = 4 : i64} : (tensor<5x2x8xf32>, tensor<224xf32>) -> tensor<5x2x4xf32>
  return
}

// -----
func.func @f(%x: tensor<5x2x8xf32>, %p: tensor<224xf32>) {
  // expected-error@+1 {{RNN: has projection_size, which mode lstm alone has, and mode is gru}}
  %y = sym.rnn %x, %p {mode = "gru", num_layers = 1 : i64, projection_size = 2 : i64, state_size = 4 : i64} : (tensor<5x2x8xf32>, tensor<224xf32>) -> tensor<5x2x4xf32>
  return
}

// -----
func.func @f(%x: tensor<5x2x8xf32>, %p: tensor<224xf32>) {
  // expected-error@+1 {{RNN: parameters has 224 elements, data with 8 inputs needs 200}}
  %y = sym.rnn %x, %p {mode = "lstm", num_layers = 1 : i64, projection_size = 2 : i64, state_size = 4 : i64} : (tensor<5x2x8xf32>, tensor<224xf32>) -> tensor<5x2x2xf32>
  return
}

// -----
func.func @f(%x: tensor<5x2x8xf32>, %p: tensor<200xf32>) {
  // expected-error@+1 {{RNN: output has 4 units, bidirectional * projection_size is 2}}
  %y = sym.rnn %x, %p {mode = "lstm", num_layers = 1 : i64, projection_size = 2 : i64, state_size = 4 : i64} : (tensor<5x2x8xf32>, tensor<200xf32>) -> tensor<5x2x4xf32>
  return
}

// -----
// rnn:clip
func.func @f(%x: tensor<5x2x8xf32>, %p: tensor<224xf32>) {
  // expected-error@+1 {{RNN: has lstm_state_clip_max without lstm_state_clip_min}}
  %y = sym.rnn %x, %p {lstm_state_clip_max = 1.0, mode = "lstm", num_layers = 1 : i64, state_size = 4 : i64} : (tensor<5x2x8xf32>, tensor<224xf32>) -> tensor<5x2x4xf32>
  return
}

// -----
func.func @f(%x: tensor<5x2x8xf32>, %p: tensor<224xf32>) {
  // expected-error@+1 {{RNN: lstm_state_clip_min is 2, wants at most lstm_state_clip_max, which is 1}}
  %y = sym.rnn %x, %p {lstm_state_clip_max = 1.0, lstm_state_clip_min = 2.0, mode = "lstm", num_layers = 1 : i64, state_size = 4 : i64} : (tensor<5x2x8xf32>, tensor<224xf32>) -> tensor<5x2x4xf32>
  return
}

// -----
func.func @f(%x: tensor<5x2x8xf32>, %p: tensor<56xf32>) {
  // expected-error@+1 {{RNN: has lstm_state_clip, which mode lstm alone has, and mode is rnn_tanh}}
  %y = sym.rnn %x, %p {lstm_state_clip_max = 1.0, lstm_state_clip_min = -1.0, mode = "rnn_tanh", num_layers = 1 : i64, state_size = 4 : i64} : (tensor<5x2x8xf32>, tensor<56xf32>) -> tensor<5x2x4xf32>
  return
}

// -----
// rnn:steps
func.func @f(%x: tensor<16385x2x8xf32>, %p: tensor<224xf32>) {
  // expected-error@+1 {{RNN: has 16385 steps in all its layers, and with lstm_state_clip at most 16384 can be planned}}
  %y = sym.rnn %x, %p {lstm_state_clip_max = 1.0, lstm_state_clip_min = -1.0, mode = "lstm", num_layers = 1 : i64, state_size = 4 : i64} : (tensor<16385x2x8xf32>, tensor<224xf32>) -> tensor<16385x2x4xf32>
  return
}

// -----
// rnn_param_concat:elements
func.func @f(%w: tensor<16x8xf32>, %b: tensor<16xf32>) {
  // expected-error@+1 {{_rnn_param_concat: output has 145 elements, the sum of its inputs is 144}}
  %p = sym.rnn_param_concat %w, %b {dim = 0 : i64} : (tensor<16x8xf32>, tensor<16xf32>) -> tensor<145xf32>
  return
}
