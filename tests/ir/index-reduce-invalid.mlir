// RUN: lstmc opt %s --split-input-file --verify-diagnostics

// embedding:weight-shape
func.func @f(%i: tensor<4xi32>, %w: tensor<64x8xf32>) {
  // expected-error@+1 {{Embedding: weight has 64 rows, input_dim is 65}}
  %y = sym.embedding %i, %w {input_dim = 65 : i64, output_dim = 8 : i64} : (tensor<4xi32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  return
}

// -----
// embedding:output-shape
func.func @f(%i: tensor<4xi32>, %w: tensor<65x8xf32>) {
  // expected-error@+1 {{Embedding: output has 1 axis, wants 2}}
  %y = sym.embedding %i, %w {input_dim = 65 : i64, output_dim = 8 : i64} : (tensor<4xi32>, tensor<65x8xf32>) -> tensor<4xf32>
  return
}

// -----
// take:axis
func.func @f(%a: tensor<4x5xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{take: axis is 2, a has 2 axes}}
  %y = sym.take %a, %i {axis = 2 : i64} : (tensor<4x5xf32>, tensor<3xi32>) -> tensor<4x3xf32>
  return
}

// -----
// take:output-shape
func.func @f(%a: tensor<4x5xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{take: output has 4 on axis 0, indices has 3}}
  %y = sym.take %a, %i : (tensor<4x5xf32>, tensor<3xi32>) -> tensor<4x5xf32>
  return
}

// -----
// pick:index-shape
func.func @f(%x: tensor<8x5xf32>, %i: tensor<5xi32>) {
  // expected-error@+1 {{pick: index has 5 on axis 0, data has 8}}
  %y = sym.pick %x, %i : (tensor<8x5xf32>, tensor<5xi32>) -> tensor<8xf32>
  return
}

// -----
// one_hot:depth
func.func @f(%i: tensor<8xi32>) {
  // expected-error@+1 {{one_hot: depth is 0, wants at least 1}}
  %y = sym.one_hot %i {depth = 0 : i64} : (tensor<8xi32>) -> tensor<8x1xf32>
  return
}

// -----
// sum:axis
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{sum: axis names axis 1 twice}}
  %y = sym.sum %x {axis = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----
// sum:output-shape
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{sum: output has 1 axis, wants 2}}
  %y = sym.sum %x {axis = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----
func.func @f(%x: tensor<2x3xi1>) {
  // expected-error@+1 {{sum: data is bool, wants a float type}}
  %y = sym.sum %x : (tensor<2x3xi1>) -> tensor<1xi1>
  return
}

// -----
// norm:ord
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{norm: ord is 3, wants 1 or 2}}
  %y = sym.norm %x {ord = 3 : i64} : (tensor<2x3xf32>) -> tensor<1xf32>
  return
}

// -----
// softmax:length-shape
func.func @f(%x: tensor<2x3xf32>, %n: tensor<3xf32>) {
  // expected-error@+1 {{softmax: length has 3 on axis 0, data has 2}}
  %y = sym.softmax %x, %n {use_length = true} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----
// softmax:length, known while the graph is built
func.func @f(%x: tensor<2x3xf32>) {
  %n = sym.full {shape = array<i64: 2>, value = 2.0} : tensor<2xf32>
  %m = sym.mul_scalar %n {scalar = 2.0} : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error@+1 {{softmax: length is 4, data has 3 steps}}
  %y = sym.softmax %x, %m {use_length = true} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----
func.func @f(%x: tensor<5x2x3xf32>) {
  %n = sym.full {shape = array<i64: 2>, value = 6.0} : tensor<2xf32>
  // expected-error@+1 {{SequenceMask: sequence_length is 6, data has 5 steps}}
  %y = sym.sequence_mask %x, %n {use_sequence_length = true} : (tensor<5x2x3xf32>, tensor<2xf32>) -> tensor<5x2x3xf32>
  return
}

// -----
// layer_norm:parameter-shape
func.func @f(%x: tensor<2x3xf32>, %g: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{LayerNorm: gamma has 2 elements, data has 3}}
  %y:3 = sym.layer_norm %x, %g, %b : (tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}

// -----
// softmax_output:label-shape
func.func @f(%x: tensor<2x4xf32>, %l: tensor<3xf32>) {
  // expected-error@+1 {{SoftmaxOutput: label has 3 labels, data has 2}}
  %y = sym.softmax_output %x, %l : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----
// linear_regression_output:label-shape
func.func @f(%x: tensor<2x4xf32>, %l: tensor<2x3xf32>) {
  // expected-error@+1 {{LinearRegressionOutput: label is float32[2, 3], data is float32[2, 4]}}
  %y = sym.linear_regression_output %x, %l : (tensor<2x4xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----
// softmax_cross_entropy:label-shape
func.func @f(%x: tensor<2x4xf32>, %l: tensor<3xf32>) {
  // expected-error@+1 {{softmax_cross_entropy: label has 3 labels, data has 2}}
  %y = sym.softmax_cross_entropy %x, %l : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<1xf32>
  return
}

// -----
// svm_output:rank
func.func @f(%x: tensor<2x4x3xf32>, %l: tensor<2xf32>) {
  // expected-error@+1 {{SVMOutput: data has 3 axes, wants 2}}
  %y = sym.svm_output %x, %l : (tensor<2x4x3xf32>, tensor<2xf32>) -> tensor<2x4x3xf32>
  return
}

// -----
// svm_output:label-shape
func.func @f(%x: tensor<2x4xf32>, %l: tensor<3xf32>) {
  // expected-error@+1 {{SVMOutput: label has 3 labels, data has 2}}
  %y = sym.svm_output %x, %l : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----
// sequence_mask:length-shape
func.func @f(%x: tensor<5x2x4xf32>, %n: tensor<5xf32>) {
  // expected-error@+1 {{SequenceMask: sequence_length has 5 sequences, data has 2}}
  %y = sym.sequence_mask %x, %n {use_sequence_length = true} : (tensor<5x2x4xf32>, tensor<5xf32>) -> tensor<5x2x4xf32>
  return
}

// -----
func.func @f(%x: tensor<5x2x4xf32>) {
  // expected-error@+1 {{SequenceLast: needs sequence_length}}
  %y = sym.sequence_last %x {use_sequence_length = true} : (tensor<5x2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----
// sequence_last:rank
func.func @f(%x: tensor<5xf32>) {
  // expected-error@+1 {{SequenceLast: data has 1 axis, wants at least 2}}
  %y = sym.sequence_last %x : (tensor<5xf32>) -> tensor<1xf32>
  return
}

// -----
// sequence_reverse:axis
func.func @f(%x: tensor<5x2x4xf32>) {
  // expected-error@+1 {{SequenceReverse: axis is 1, wants 0}}
  %y = sym.sequence_reverse %x {axis = 1 : i64} : (tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  return
}

// -----
// arange:step
func.func @f() {
  // expected-error@+1 {{_arange: step is 0.000000e+00, wants a number other than 0}}
  %y = sym.arange {start = 5.0, step = 0.0} : tensor<5xf32>
  return
}

// -----
// zeros:shape
func.func @f() {
  // expected-error@+1 {{_zeros: output has 3 on axis 1, shape gives 4}}
  %y = sym.zeros {shape = array<i64: 2, 4>} : tensor<2x3xf32>
  return
}

// -----
func.func @f() {
  // expected-error@+1 {{_zeros: dimension -2 (write 0 for one to infer)}}
  %y = sym.zeros {shape = array<i64: -2>} : tensor<2xf32>
  return
}

// -----
// variable:name
func.func @f() {
  // expected-error@+1 {{sym.variable: name is empty}}
  %y = sym.variable {name = ""} : tensor<2xf32>
  return
}
