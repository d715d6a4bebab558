// RUN: lstmc opt %s --split-input-file --verify-diagnostics

// pad:pad-width
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Pad: pad_width has 2 numbers, wants two for each of the 2 axes of data}}
  %y = sym.pad %x {mode = "edge", pad_width = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x5xf32>
  return
}

// -----
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Pad: pad_width is -1, wants at least 0}}
  %y = sym.pad %x {mode = "edge", pad_width = array<i64: 0, 0, 1, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
// pad:reflect
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Pad: data has 3 on axis 1, and reflect adds 3}}
  %y = sym.pad %x {mode = "reflect", pad_width = array<i64: 0, 0, 0, 3>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return
}

// -----
// pad:extents
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Pad: output has 5 elements, data and pad_width is 4}}
  %y = sym.pad %x {mode = "edge", pad_width = array<i64: 0, 0, 0, 1>} : (tensor<2x3xf32>) -> tensor<2x5xf32>
  return
}

// -----
// convolution:kernel
func.func @f(%x: tensor<2x3x6xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error@+1 {{Convolution: stride has 2 numbers, kernel has 1}}
  %y = sym.convolution %x, %w {kernel = array<i64: 2>, no_bias = true, num_filter = 4 : i64, stride = array<i64: 1, 1>} : (tensor<2x3x6xf32>, tensor<4x3x2xf32>) -> tensor<2x4x5xf32>
  return
}

// -----
func.func @f(%x: tensor<2x3x6xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error@+1 {{Convolution: layout is NCHW, and the kernel has 1 extents}}
  %y = sym.convolution %x, %w {kernel = array<i64: 2>, layout = "NCHW", no_bias = true, num_filter = 4 : i64} : (tensor<2x3x6xf32>, tensor<4x3x2xf32>) -> tensor<2x4x5xf32>
  return
}

// -----
// convolution:groups
func.func @f(%x: tensor<2x3x6xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error@+1 {{Convolution: data has 3 channels, which num_group 2 does not divide}}
  %y = sym.convolution %x, %w {kernel = array<i64: 2>, no_bias = true, num_filter = 4 : i64, num_group = 2 : i64} : (tensor<2x3x6xf32>, tensor<4x3x2xf32>) -> tensor<2x4x5xf32>
  return
}

// -----
func.func @f(%x: tensor<2x4x6xf32>, %w: tensor<5x2x2xf32>) {
  // expected-error@+1 {{Convolution: num_group is 2, which does not divide num_filter 5}}
  %y = sym.convolution %x, %w {kernel = array<i64: 2>, no_bias = true, num_filter = 5 : i64, num_group = 2 : i64} : (tensor<2x4x6xf32>, tensor<5x2x2xf32>) -> tensor<2x5x5xf32>
  return
}

// -----
// convolution:weight-shape
func.func @f(%x: tensor<2x3x6xf32>, %w: tensor<4x2x2xf32>) {
  // expected-error@+1 {{Convolution: weight has 2 channels, data and num_group is 3}}
  %y = sym.convolution %x, %w {kernel = array<i64: 2>, no_bias = true, num_filter = 4 : i64} : (tensor<2x3x6xf32>, tensor<4x2x2xf32>) -> tensor<2x4x5xf32>
  return
}

// -----
// convolution:bias-shape
func.func @f(%x: tensor<2x3x6xf32>, %w: tensor<4x3x2xf32>) {
  // expected-error@+1 {{Convolution: has no bias, and no_bias is False}}
  %y = sym.convolution %x, %w {kernel = array<i64: 2>, num_filter = 4 : i64} : (tensor<2x3x6xf32>, tensor<4x3x2xf32>) -> tensor<2x4x5xf32>
  return
}

// -----
// convolution:output-shape
func.func @f(%x: tensor<2x3x6xf32>, %w: tensor<4x3x7xf32>) {
  // expected-error@+1 {{Convolution: data has 6 on axis 2, and with pad a window needs 7}}
  %y = sym.convolution %x, %w {kernel = array<i64: 7>, no_bias = true, num_filter = 4 : i64} : (tensor<2x3x6xf32>, tensor<4x3x7xf32>) -> tensor<2x4x1xf32>
  return
}

// -----
// pooling:kernel
func.func @f(%x: tensor<2x3x6xf32>) {
  // expected-error@+1 {{Pooling: kernel has 0 numbers, wants 1 to 3}}
  %y = sym.pooling %x : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  return
}

// -----
func.func @f(%x: tensor<2x3x6xf32>) {
  // expected-error@+1 {{Pooling: pad is 2, wants less than the kernel's 2}}
  %y = sym.pooling %x {kernel = array<i64: 2>, pad = array<i64: 2>} : (tensor<2x3x6xf32>) -> tensor<2x3x9xf32>
  return
}

// -----
// pooling:output-shape
func.func @f(%x: tensor<2x3x6xf32>) {
  // expected-error@+1 {{Pooling: output has 6 windows, data is 5}}
  %y = sym.pooling %x {kernel = array<i64: 2>} : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  return
}

// -----
// argmax_channel:rank
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{argmax_channel: data has 1 axis, wants at least 2}}
  %y = sym.argmax_channel %x : (tensor<2xf32>) -> tensor<1xf32>
  return
}

// -----
// instance_norm:rank
func.func @f(%x: tensor<2x3xf32>, %g: tensor<3xf32>) {
  // expected-error@+1 {{InstanceNorm: data has 2 axes, wants at least 3}}
  %y = sym.instance_norm %x, %g, %g : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----
// instance_norm:parameter-shape
func.func @f(%x: tensor<2x3x4xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{InstanceNorm: gamma has 4 elements, data has 3}}
  %y = sym.instance_norm %x, %g, %g : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----
// batch_take:rank
func.func @f(%x: tensor<2xf32>, %i: tensor<2xi32>) {
  // expected-error@+1 {{batch_take: a has 1 axis, wants 2}}
  %y = sym.batch_take %x, %i : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  return
}

// -----
// batch_take:rows
func.func @f(%x: tensor<2x3xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{batch_take: indices has 3 rows, a has 2}}
  %y = sym.batch_take %x, %i : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<2xf32>
  return
}
