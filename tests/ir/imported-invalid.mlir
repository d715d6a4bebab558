// RUN: lstmc opt %s --split-input-file --verify-diagnostics

// deconvolution:kernel
func.func @f(%x: tensor<2x3x6xf32>, %w: tensor<3x4x2xf32>) {
  // expected-error@+1 {{Deconvolution: adj has 2 numbers, kernel has 1}}
  %y = sym.deconvolution %x, %w {adj = array<i64: 0, 0>, kernel = array<i64: 2>, num_filter = 4 : i64} : (tensor<2x3x6xf32>, tensor<3x4x2xf32>) -> tensor<2x4x7xf32>
  return
}

// -----
// deconvolution:adj
func.func @f(%x: tensor<2x3x6xf32>, %w: tensor<3x4x2xf32>) {
  // expected-error@+1 {{Deconvolution: adj is 1, wants less than the stride, 1}}
  %y = sym.deconvolution %x, %w {adj = array<i64: 1>, kernel = array<i64: 2>, num_filter = 4 : i64} : (tensor<2x3x6xf32>, tensor<3x4x2xf32>) -> tensor<2x4x8xf32>
  return
}

// -----
// deconvolution:groups
func.func @f(%x: tensor<2x3x6xf32>, %w: tensor<3x2x2xf32>) {
  // expected-error@+1 {{Deconvolution: data has 3 channels, which num_group 2 does not divide}}
  %y = sym.deconvolution %x, %w {kernel = array<i64: 2>, num_filter = 4 : i64, num_group = 2 : i64} : (tensor<2x3x6xf32>, tensor<3x2x2xf32>) -> tensor<2x4x7xf32>
  return
}

// -----
// deconvolution:weight-shape
func.func @f(%x: tensor<2x3x6xf32>, %w: tensor<3x5x2xf32>) {
  // expected-error@+1 {{Deconvolution: weight has 5 filters, num_filter and num_group is 4}}
  %y = sym.deconvolution %x, %w {kernel = array<i64: 2>, num_filter = 4 : i64} : (tensor<2x3x6xf32>, tensor<3x5x2xf32>) -> tensor<2x4x7xf32>
  return
}

// -----
// deconvolution:bias-shape
func.func @f(%x: tensor<2x3x6xf32>, %w: tensor<3x4x2xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{Deconvolution: has a bias, and no_bias is True}}
  %y = sym.deconvolution %x, %w, %b {kernel = array<i64: 2>, num_filter = 4 : i64} : (tensor<2x3x6xf32>, tensor<3x4x2xf32>, tensor<4xf32>) -> tensor<2x4x7xf32>
  return
}

// -----
// deconvolution:output-shape
func.func @f(%x: tensor<2x3x2xf32>, %w: tensor<3x4x2xf32>) {
  // expected-error@+1 {{Deconvolution: data has 2 on axis 2, of which pad leaves nothing}}
  %y = sym.deconvolution %x, %w {kernel = array<i64: 2>, num_filter = 4 : i64, pad = array<i64: 2>} : (tensor<2x3x2xf32>, tensor<3x4x2xf32>) -> tensor<2x4x1xf32>
  return
}

// -----
// deconvolution:target
func.func @f(%x: tensor<2x3x2xf32>, %w: tensor<3x4x2xf32>) {
  // expected-error@+1 {{Deconvolution: target_shape has 9 on axis 2, and data becomes 3 without padding}}
  %y = sym.deconvolution %x, %w {kernel = array<i64: 2>, num_filter = 4 : i64, target_shape = array<i64: 9>} : (tensor<2x3x2xf32>, tensor<3x4x2xf32>) -> tensor<2x4x9xf32>
  return
}

// -----
// up_sampling:scale
func.func @f(%x: tensor<1x2x2x2xf32>) {
  // expected-error@+1 {{UpSampling: scale is 0, wants at least 1}}
  %y = sym.up_sampling %x {sample_type = "nearest", scale = 0 : i64} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return
}

// -----
func.func @f(%x: tensor<1x2x2x2xf32>, %z: tensor<1x2x3x4xf32>) {
  // expected-error@+1 {{UpSampling: arg1 has 3 on axis 2, which does not divide the 4 of the output}}
  %y = sym.up_sampling %x, %z {sample_type = "nearest", scale = 2 : i64} : (tensor<1x2x2x2xf32>, tensor<1x2x3x4xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----
func.func @f(%x: tensor<1x2x2x2xf32>) {
  // expected-error@+1 {{UpSampling: sample_type bilinear is not built: Deconvolution with that kernel does it}}
  %y = sym.up_sampling %x {sample_type = "bilinear", scale = 2 : i64} : (tensor<1x2x2x2xf32>) -> tensor<1x2x4x4xf32>
  return
}

// -----
// lrn:nsize
func.func @f(%x: tensor<1x2x2x2xf32>) {
  // expected-error@+1 {{LRN: nsize is 2, wants an odd number}}
  %y = sym.lrn %x {nsize = 2 : i64} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return
}

// -----
// group_norm:groups
func.func @f(%x: tensor<2x3x8xf32>, %g: tensor<2xf32>) {
  // expected-error@+1 {{GroupNorm: data has 3 channels, which num_groups 2 does not divide}}
  %y, %m, %s = sym.group_norm %x, %g, %g {num_groups = 2 : i64} : (tensor<2x3x8xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x3x8xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
  return
}

// -----
// group_norm:parameter-shape
func.func @f(%x: tensor<2x4x8xf32>, %g: tensor<4xf32>) {
  // expected-error@+1 {{GroupNorm: gamma has 4 elements, num_groups is 2}}
  %y, %m, %s = sym.group_norm %x, %g, %g {num_groups = 2 : i64} : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4x8xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
  return
}

// -----
// split_v2:indices
func.func @f(%x: tensor<2x6xf32>) {
  // expected-error@+1 {{_split_v2: indices ascend from 0 on: the first of each part}}
  %a, %b = sym.split_v2 %x {indices = array<i64: 1, 3>} : (tensor<2x6xf32>) -> (tensor<2x2xf32>, tensor<2x3xf32>)
  return
}

// -----
func.func @f(%x: tensor<2x6xf32>) {
  // expected-error@+1 {{_split_v2: data has 6 on axis 1, and an index is beyond it}}
  %a, %b = sym.split_v2 %x {indices = array<i64: 0, 6>} : (tensor<2x6xf32>) -> (tensor<2x6xf32>, tensor<2x1xf32>)
  return
}

// -----
// split_v2:sections
func.func @f(%x: tensor<2x6xf32>) {
  // expected-error@+1 {{_split_v2: data has 6 on axis 1, which sections does not divide}}
  %a, %b, %c, %d = sym.split_v2 %x {sections = 4 : i64} : (tensor<2x6xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// -----
// split_v2:squeeze
func.func @f(%x: tensor<2x6xf32>) {
  // expected-error@+1 {{_split_v2: squeeze_axis wants parts of one element, part 0 has 3}}
  %a, %b = sym.split_v2 %x {sections = 2 : i64, squeeze_axis = true} : (tensor<2x6xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}
