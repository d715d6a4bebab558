// RUN: lstmc opt %s --split-input-file --verify-diagnostics

// batch_norm:axis
func.func @f(%x: tensor<2x3x4xf32>, %c: tensor<3xf32>) {
  // expected-error@+1 {{BatchNorm: axis is 3}}
  %y, %m, %v = sym.batch_norm %x, %c, %c, %c, %c {axis = 3 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----
// batch_norm:parameter-shape
func.func @f(%x: tensor<2x3x4xf32>, %c: tensor<3xf32>, %d: tensor<4xf32>) {
  // expected-error@+1 {{BatchNorm: moving_mean has 4 elements, data has 3}}
  %y, %m, %v = sym.batch_norm %x, %c, %c, %d, %c : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----
// batch_norm:same-shape
func.func @f(%x: tensor<2x3x4xf32>, %c: tensor<3xf32>) {
  // expected-error@+1 {{BatchNorm: data is float32[2, 3, 4], output is float32[2, 3, 5]}}
  %y, %m, %v = sym.batch_norm %x, %c, %c, %c, %c : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x5xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// -----
// ctc_loss:rank
func.func @f(%x: tensor<6x2xf32>, %l: tensor<2x3xf32>) {
  // expected-error@+1 {{CTCLoss: data has 2 axes}}
  %y = sym.ctc_loss %x, %l : (tensor<6x2xf32>, tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----
// ctc_loss:rows
func.func @f(%x: tensor<6x2x5xf32>, %l: tensor<3x3xf32>) {
  // expected-error@+1 {{CTCLoss: label has 3 rows, data has 2}}
  %y = sym.ctc_loss %x, %l : (tensor<6x2x5xf32>, tensor<3x3xf32>) -> tensor<2xf32>
  return
}

// -----
// ctc_loss:classes
func.func @f(%x: tensor<6x2x1xf32>, %l: tensor<2x3xf32>) {
  // expected-error@+1 {{CTCLoss: data has 1 classes, and one is the blank: wants at least 2}}
  %y = sym.ctc_loss %x, %l : (tensor<6x2x1xf32>, tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----
// ctc_loss:type
func.func @f(%x: tensor<6x2x4xi32>, %l: tensor<2x3xf32>) {
  // expected-error@+1 {{CTCLoss: data is int32, wants a float}}
  %y = sym.ctc_loss %x, %l : (tensor<6x2x4xi32>, tensor<2x3xf32>) -> tensor<2xi32>
  return
}
