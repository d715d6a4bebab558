// RUN: lstmc opt %s --split-input-file --verify-diagnostics

// reshape:codes
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Reshape: -1 stands twice in shape}}
  %y = sym.reshape %x {shape = array<i64: -1, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Reshape: code 0 needs axis 2, data has 2 axes}}
  %y = sym.reshape %x {shape = array<i64: 0, 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  return
}

// -----
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Reshape: data has 6 elements, which -1 cannot divide by 4}}
  %y = sym.reshape %x {shape = array<i64: 4, -1>} : (tensor<2x3xf32>) -> tensor<4x1xf32>
  return
}

// -----
// reshape:elements
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Reshape: output has 8 elements, data has 6}}
  %y = sym.reshape %x {shape = array<i64: 4, 2>} : (tensor<2x3xf32>) -> tensor<4x2xf32>
  return
}

// -----
// flatten:elements
func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{Flatten: output has 13 elements after axis 0, data has 12}}
  %y = sym.flatten %x : (tensor<2x3x4xf32>) -> tensor<2x13xf32>
  return
}

// -----
// swap_axis:axes
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{SwapAxis: dim2 is 2, data has 2 axes}}
  %y = sym.swap_axis %x {dim2 = 2 : i64} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----
// swap_axis:extents
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{SwapAxis: output has 2 on axis 0, data has 3}}
  %y = sym.swap_axis %x {dim2 = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
// transpose:axes
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{transpose: axes names axis 1 twice}}
  %y = sym.transpose %x {axes = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----
// transpose:extents
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{transpose: output has 2 on axis 0, data has 3}}
  %y = sym.transpose %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
// expand_dims:axis
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expand_dims: axis is 3, output has 3 axes}}
  %y = sym.expand_dims %x {axis = 3 : i64} : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  return
}

// -----
// squeeze:extent-1
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{squeeze: data has 3 on axis 1, an axis that is squeezed is 1}}
  %y = sym.squeeze %x {axis = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----
// concat:count
func.func @f() {
  // expected-error@+1 {{Concat: wants at least 1 input, got 0}}
  %y = sym.concat : () -> tensor<2x3xf32>
  return
}

// -----
// concat:dim
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Concat: dim is 2, output has 2 axes}}
  %y = sym.concat %x {dim = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----
// concat:other-axes
func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+1 {{Concat: arg1 has 4 on axis 0, arg0 has 2}}
  %y = sym.concat %a, %b : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x6xf32>
  return
}

// -----
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xi32>) {
  // expected-error@+1 {{Concat: arg0 is float32, arg1 is int32}}
  %y = sym.concat %a, %b : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x6xf32>
  return
}

// -----
// concat:sum
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error@+1 {{Concat: output has 8 on axis 1, the sum of its inputs is 7}}
  %y = sym.concat %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}

// -----
// stack:same-shape
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error@+1 {{stack: arg0 is float32[2, 3], arg1 is float32[2, 4]}}
  %y = sym.stack %a, %b : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x2x3xf32>
  return
}

// -----
// stack:extents
func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error@+1 {{stack: output has 3 on axis 0, the number of inputs is 2}}
  %y = sym.stack %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x2x3xf32>
  return
}

// -----
// slice_channel:divides
func.func @f(%x: tensor<2x6xf32>) {
  // expected-error@+1 {{SliceChannel: data has 6 on axis 1, which 4 parts do not divide}}
  %y:4 = sym.slice_channel %x {num_outputs = 4 : i64} : (tensor<2x6xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  return
}

// -----
// slice_channel:squeeze
func.func @f(%x: tensor<2x6xf32>) {
  // expected-error@+1 {{SliceChannel: data has 6 on axis 1, num_outputs with squeeze_axis is 2}}
  %y:2 = sym.slice_channel %x {num_outputs = 2 : i64, squeeze_axis = true} : (tensor<2x6xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----
// slice_channel:parts
func.func @f(%x: tensor<2x6xf32>) {
  // expected-error@+1 {{SliceChannel: has 2 results, num_outputs is 3}}
  %y:2 = sym.slice_channel %x {num_outputs = 3 : i64} : (tensor<2x6xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  return
}

// -----
// slice:rank
func.func @f(%x: tensor<5x4xf32>) {
  // expected-error@+1 {{slice: begin has 1 entries, end has 2}}
  %y = sym.slice %x {begin = [0], end = [1, 2]} : (tensor<5x4xf32>) -> tensor<1x2xf32>
  return
}

// -----
// slice:step
func.func @f(%x: tensor<5x4xf32>) {
  // expected-error@+1 {{slice: step is 0 on axis 0}}
  %y = sym.slice %x {begin = [0], end = [1], step = [0]} : (tensor<5x4xf32>) -> tensor<1x4xf32>
  return
}

// -----
// slice:window
func.func @f(%x: tensor<5x4xf32>) {
  // expected-error@+1 {{slice: nothing is left of axis 0, which has 5 elements}}
  %y = sym.slice %x {begin = [3], end = [3]} : (tensor<5x4xf32>) -> tensor<1x4xf32>
  return
}

// -----
// slice_axis:window
func.func @f(%x: tensor<5x4xf32>) {
  // expected-error@+1 {{slice_axis: begin 3 and end 6 are no part of axis 0, which has 5 elements}}
  %y = sym.slice_axis %x {axis = 0 : i64, begin = 3 : i64, end = 6 : i64} : (tensor<5x4xf32>) -> tensor<3x4xf32>
  return
}

// -----
// tile:reps
func.func @f(%x: tensor<5x4xf32>) {
  // expected-error@+1 {{tile: reps is 0, wants at least 1}}
  %y = sym.tile %x {reps = array<i64: 0>} : (tensor<5x4xf32>) -> tensor<5x4xf32>
  return
}

// -----
// broadcast_to:stretch
func.func @f(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{broadcast_to: data has 2 on axis 0, only 1 stretches to 5}}
  %y = sym.broadcast_to %x {shape = array<i64: 5, 4>} : (tensor<2x4xf32>) -> tensor<5x4xf32>
  return
}

// -----
// broadcast_to:rank
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{broadcast_to: data has 1 axis, shape has 2}}
  %y = sym.broadcast_to %x {shape = array<i64: 5, 4>} : (tensor<4xf32>) -> tensor<5x4xf32>
  return
}
