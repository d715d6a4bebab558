// RUN: lstmc opt %s --record-input-ranges --split-input-file --verify-diagnostics

func.func @labels(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %y = sym.variable {name = "y"} : tensor<4xf32>
  // expected-error @below {{SoftmaxOutput reads "y" as an input}}
  %0 = sym.softmax_output %x, %y : (tensor<4x3xf32>, tensor<4xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

func.func @values(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %y = sym.variable {name = "y"} : tensor<4x1xf32>
  // expected-error @below {{LinearRegressionOutput reads "y" as an input}}
  %0 = sym.linear_regression_output %x, %y : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

// Ids that an op has moved, and a label with its own initial values, which is kept.
func.func @moved(%x: tensor<4x1xf32>) -> (tensor<3x4x5xf32>, tensor<4x1xf32>) {
  %ids = sym.variable {name = "ids"} : tensor<4x3xf32>
  %w = sym.variable {name = "w"} : tensor<7x5xf32>
  %0 = sym.swap_axis %ids {dim1 = 0, dim2 = 1} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  // expected-error @below {{Embedding reads "ids" as an input}}
  %1 = sym.embedding %0, %w {input_dim = 7, output_dim = 5} : (tensor<3x4xf32>, tensor<7x5xf32>) -> tensor<3x4x5xf32>
  %y = sym.variable {init = ["constant", {value = 1.0}], name = "y"} : tensor<4x1xf32>
  %2 = sym.linear_regression_output %x, %y : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  return %1, %2 : tensor<3x4x5xf32>, tensor<4x1xf32>
}
