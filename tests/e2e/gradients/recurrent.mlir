// Recurrent layers: T = 4, N = 3, I = 2, H = 2.

func.func @rnn_param_concat(%w: tensor<2x3xf64>, %b: tensor<2xf64>) -> tensor<8xf64> {
  %r0 = sym.rnn_param_concat %w, %b {dim = 0 : i64} : (tensor<2x3xf64>, tensor<2xf64>) -> tensor<8xf64>
  return %r0 : tensor<8xf64>
}
func.func @lstm(%x: tensor<4x3x2xf64>, %w: tensor<48xf64>) -> tensor<4x3x2xf64> {
  %r0 = sym.rnn %x, %w {mode = "lstm", num_layers = 1 : i64, state_size = 2 : i64} : (tensor<4x3x2xf64>, tensor<48xf64>) -> tensor<4x3x2xf64>
  return %r0 : tensor<4x3x2xf64>
}
func.func @lstm_two_both_lengths_states(%x: tensor<4x3x2xf64>, %w: tensor<224xf64>, %h: tensor<4x3x2xf64>, %c: tensor<4x3x2xf64>, %n: tensor<3xi32>) -> (tensor<4x3x4xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>) {
  %r0, %r1, %r2 = sym.rnn %x, %w state %h cell %c length %n {bidirectional = true, mode = "lstm", num_layers = 2 : i64, state_outputs = true, state_size = 2 : i64, use_sequence_length = true} : (tensor<4x3x2xf64>, tensor<224xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>, tensor<3xi32>) -> (tensor<4x3x4xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>)
  return %r0, %r1, %r2 : tensor<4x3x4xf64>, tensor<4x3x2xf64>, tensor<4x3x2xf64>
}
func.func @lstm_both_states(%x: tensor<4x3x2xf64>, %w: tensor<96xf64>, %h: tensor<2x3x2xf64>, %c: tensor<2x3x2xf64>) -> (tensor<4x3x4xf64>, tensor<2x3x2xf64>, tensor<2x3x2xf64>) {
  %r0, %r1, %r2 = sym.rnn %x, %w state %h cell %c {bidirectional = true, mode = "lstm", num_layers = 1 : i64, state_outputs = true, state_size = 2 : i64} : (tensor<4x3x2xf64>, tensor<96xf64>, tensor<2x3x2xf64>, tensor<2x3x2xf64>) -> (tensor<4x3x4xf64>, tensor<2x3x2xf64>, tensor<2x3x2xf64>)
  return %r0, %r1, %r2 : tensor<4x3x4xf64>, tensor<2x3x2xf64>, tensor<2x3x2xf64>
}
func.func @lstm_two_lengths(%x: tensor<4x3x2xf64>, %w: tensor<96xf64>, %n: tensor<3xi32>) -> (tensor<4x3x2xf64>, tensor<2x3x2xf64>, tensor<2x3x2xf64>) {
  %r0, %r1, %r2 = sym.rnn %x, %w length %n {mode = "lstm", num_layers = 2 : i64, state_outputs = true, state_size = 2 : i64, use_sequence_length = true} : (tensor<4x3x2xf64>, tensor<96xf64>, tensor<3xi32>) -> (tensor<4x3x2xf64>, tensor<2x3x2xf64>, tensor<2x3x2xf64>)
  return %r0, %r1, %r2 : tensor<4x3x2xf64>, tensor<2x3x2xf64>, tensor<2x3x2xf64>
}
func.func @gru(%x: tensor<4x3x2xf64>, %w: tensor<36xf64>) -> tensor<4x3x2xf64> {
  %r0 = sym.rnn %x, %w {mode = "gru", num_layers = 1 : i64, state_size = 2 : i64} : (tensor<4x3x2xf64>, tensor<36xf64>) -> tensor<4x3x2xf64>
  return %r0 : tensor<4x3x2xf64>
}
func.func @gru_two_both_lengths_states(%x: tensor<4x3x2xf64>, %w: tensor<168xf64>, %h: tensor<4x3x2xf64>, %n: tensor<3xi32>) -> (tensor<4x3x4xf64>, tensor<4x3x2xf64>) {
  %r0, %r1 = sym.rnn %x, %w state %h length %n {bidirectional = true, mode = "gru", num_layers = 2 : i64, state_outputs = true, state_size = 2 : i64, use_sequence_length = true} : (tensor<4x3x2xf64>, tensor<168xf64>, tensor<4x3x2xf64>, tensor<3xi32>) -> (tensor<4x3x4xf64>, tensor<4x3x2xf64>)
  return %r0, %r1 : tensor<4x3x4xf64>, tensor<4x3x2xf64>
}
func.func @gru_both_states(%x: tensor<4x3x2xf64>, %w: tensor<72xf64>, %h: tensor<2x3x2xf64>) -> (tensor<4x3x4xf64>, tensor<2x3x2xf64>) {
  %r0, %r1 = sym.rnn %x, %w state %h {bidirectional = true, mode = "gru", num_layers = 1 : i64, state_outputs = true, state_size = 2 : i64} : (tensor<4x3x2xf64>, tensor<72xf64>, tensor<2x3x2xf64>) -> (tensor<4x3x4xf64>, tensor<2x3x2xf64>)
  return %r0, %r1 : tensor<4x3x4xf64>, tensor<2x3x2xf64>
}
func.func @gru_two_lengths(%x: tensor<4x3x2xf64>, %w: tensor<72xf64>, %n: tensor<3xi32>) -> (tensor<4x3x2xf64>, tensor<2x3x2xf64>) {
  %r0, %r1 = sym.rnn %x, %w length %n {mode = "gru", num_layers = 2 : i64, state_outputs = true, state_size = 2 : i64, use_sequence_length = true} : (tensor<4x3x2xf64>, tensor<72xf64>, tensor<3xi32>) -> (tensor<4x3x2xf64>, tensor<2x3x2xf64>)
  return %r0, %r1 : tensor<4x3x2xf64>, tensor<2x3x2xf64>
}
func.func @rnn_tanh(%x: tensor<4x3x2xf64>, %w: tensor<12xf64>) -> tensor<4x3x2xf64> {
  %r0 = sym.rnn %x, %w {mode = "rnn_tanh", num_layers = 1 : i64, state_size = 2 : i64} : (tensor<4x3x2xf64>, tensor<12xf64>) -> tensor<4x3x2xf64>
  return %r0 : tensor<4x3x2xf64>
}
func.func @rnn_tanh_two_both_lengths_states(%x: tensor<4x3x2xf64>, %w: tensor<56xf64>, %h: tensor<4x3x2xf64>, %n: tensor<3xi32>) -> (tensor<4x3x4xf64>, tensor<4x3x2xf64>) {
  %r0, %r1 = sym.rnn %x, %w state %h length %n {bidirectional = true, mode = "rnn_tanh", num_layers = 2 : i64, state_outputs = true, state_size = 2 : i64, use_sequence_length = true} : (tensor<4x3x2xf64>, tensor<56xf64>, tensor<4x3x2xf64>, tensor<3xi32>) -> (tensor<4x3x4xf64>, tensor<4x3x2xf64>)
  return %r0, %r1 : tensor<4x3x4xf64>, tensor<4x3x2xf64>
}
func.func @rnn_tanh_both_states(%x: tensor<4x3x2xf64>, %w: tensor<24xf64>, %h: tensor<2x3x2xf64>) -> (tensor<4x3x4xf64>, tensor<2x3x2xf64>) {
  %r0, %r1 = sym.rnn %x, %w state %h {bidirectional = true, mode = "rnn_tanh", num_layers = 1 : i64, state_outputs = true, state_size = 2 : i64} : (tensor<4x3x2xf64>, tensor<24xf64>, tensor<2x3x2xf64>) -> (tensor<4x3x4xf64>, tensor<2x3x2xf64>)
  return %r0, %r1 : tensor<4x3x4xf64>, tensor<2x3x2xf64>
}
func.func @rnn_tanh_two_lengths(%x: tensor<4x3x2xf64>, %w: tensor<24xf64>, %n: tensor<3xi32>) -> (tensor<4x3x2xf64>, tensor<2x3x2xf64>) {
  %r0, %r1 = sym.rnn %x, %w length %n {mode = "rnn_tanh", num_layers = 2 : i64, state_outputs = true, state_size = 2 : i64, use_sequence_length = true} : (tensor<4x3x2xf64>, tensor<24xf64>, tensor<3xi32>) -> (tensor<4x3x2xf64>, tensor<2x3x2xf64>)
  return %r0, %r1 : tensor<4x3x2xf64>, tensor<2x3x2xf64>
}
func.func @rnn_relu(%x: tensor<4x3x2xf64>, %w: tensor<12xf64>) -> tensor<4x3x2xf64> {
  %r0 = sym.rnn %x, %w {mode = "rnn_relu", num_layers = 1 : i64, state_size = 2 : i64} : (tensor<4x3x2xf64>, tensor<12xf64>) -> tensor<4x3x2xf64>
  return %r0 : tensor<4x3x2xf64>
}
func.func @rnn_relu_two_both_lengths_states(%x: tensor<4x3x2xf64>, %w: tensor<56xf64>, %h: tensor<4x3x2xf64>, %n: tensor<3xi32>) -> (tensor<4x3x4xf64>, tensor<4x3x2xf64>) {
  %r0, %r1 = sym.rnn %x, %w state %h length %n {bidirectional = true, mode = "rnn_relu", num_layers = 2 : i64, state_outputs = true, state_size = 2 : i64, use_sequence_length = true} : (tensor<4x3x2xf64>, tensor<56xf64>, tensor<4x3x2xf64>, tensor<3xi32>) -> (tensor<4x3x4xf64>, tensor<4x3x2xf64>)
  return %r0, %r1 : tensor<4x3x4xf64>, tensor<4x3x2xf64>
}
func.func @rnn_relu_both_states(%x: tensor<4x3x2xf64>, %w: tensor<24xf64>, %h: tensor<2x3x2xf64>) -> (tensor<4x3x4xf64>, tensor<2x3x2xf64>) {
  %r0, %r1 = sym.rnn %x, %w state %h {bidirectional = true, mode = "rnn_relu", num_layers = 1 : i64, state_outputs = true, state_size = 2 : i64} : (tensor<4x3x2xf64>, tensor<24xf64>, tensor<2x3x2xf64>) -> (tensor<4x3x4xf64>, tensor<2x3x2xf64>)
  return %r0, %r1 : tensor<4x3x4xf64>, tensor<2x3x2xf64>
}
func.func @rnn_relu_two_lengths(%x: tensor<4x3x2xf64>, %w: tensor<24xf64>, %n: tensor<3xi32>) -> (tensor<4x3x2xf64>, tensor<2x3x2xf64>) {
  %r0, %r1 = sym.rnn %x, %w length %n {mode = "rnn_relu", num_layers = 2 : i64, state_outputs = true, state_size = 2 : i64, use_sequence_length = true} : (tensor<4x3x2xf64>, tensor<24xf64>, tensor<3xi32>) -> (tensor<4x3x2xf64>, tensor<2x3x2xf64>)
  return %r0, %r1 : tensor<4x3x2xf64>, tensor<2x3x2xf64>
}
// With a projection, and with c kept in a range that cuts some of it off: H = 3, P = 2.
func.func @projected(%x: tensor<4x3x2xf64>, %w: tensor<78xf64>) -> tensor<4x3x2xf64> {
  %r0 = sym.rnn %x, %w {mode = "lstm", num_layers = 1 : i64, projection_size = 2 : i64, state_size = 3 : i64} : (tensor<4x3x2xf64>, tensor<78xf64>) -> tensor<4x3x2xf64>
  return %r0 : tensor<4x3x2xf64>
}
func.func @projected_two_both_lengths_states(%x: tensor<4x3x2xf64>, %w: tensor<360xf64>, %h: tensor<4x3x2xf64>, %c: tensor<4x3x3xf64>, %n: tensor<3xi32>) -> (tensor<4x3x4xf64>, tensor<4x3x2xf64>, tensor<4x3x3xf64>) {
  %r0, %r1, %r2 = sym.rnn %x, %w state %h cell %c length %n {bidirectional = true, lstm_state_clip_max = 0.3, lstm_state_clip_min = -0.2, lstm_state_clip_nan = true, mode = "lstm", num_layers = 2 : i64, projection_size = 2 : i64, state_outputs = true, state_size = 3 : i64, use_sequence_length = true} : (tensor<4x3x2xf64>, tensor<360xf64>, tensor<4x3x2xf64>, tensor<4x3x3xf64>, tensor<3xi32>) -> (tensor<4x3x4xf64>, tensor<4x3x2xf64>, tensor<4x3x3xf64>)
  return %r0, %r1, %r2 : tensor<4x3x4xf64>, tensor<4x3x2xf64>, tensor<4x3x3xf64>
}
func.func @clipped_lengths(%x: tensor<4x3x2xf64>, %w: tensor<48xf64>, %n: tensor<3xi32>) -> (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<1x3x2xf64>) {
  %r0, %r1, %r2 = sym.rnn %x, %w length %n {lstm_state_clip_max = 0.4, lstm_state_clip_min = -0.1, mode = "lstm", num_layers = 1 : i64, state_outputs = true, state_size = 2 : i64, use_sequence_length = true} : (tensor<4x3x2xf64>, tensor<48xf64>, tensor<3xi32>) -> (tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<1x3x2xf64>)
  return %r0, %r1, %r2 : tensor<4x3x2xf64>, tensor<1x3x2xf64>, tensor<1x3x2xf64>
}
