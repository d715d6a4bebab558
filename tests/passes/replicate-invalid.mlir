// RUN: lstmc opt %s --replicate=replicas=2 --split-input-file --verify-diagnostics

// Without a dim "batch", the first axes are assumed to be the batch, and these differ.
// expected-error @below {{parts of the batch need one number of rows: input "label" has 1 on axis 0, others have 33}}
func.func @net(%label: tensor<1xf32> {sym.name = "label", sym.role = "label"}, %x: tensor<33x2xf32> {sym.name = "x", sym.role = "data"}) -> tensor<33x2xf32> {
  %y = sym.tanh %x : (tensor<33x2xf32>) -> tensor<33x2xf32>
  return %y : tensor<33x2xf32>
}

// -----

// A value without operands has the dim "batch", and no input has it.
func.func @net(%label: tensor<33xi32> {sym.name = "label", sym.role = "label"}) -> (tensor<33xi32>, tensor<14x1xf32>) {
  // expected-error @below {{parts of the batch need one number of rows: the value made here has 14 on axis 0, others have 33}}
  %ones = sym.ones {shape = array<i64: 14, 1>, sym.dims = ["batch", ""]} : tensor<14x1xf32>
  return %label, %ones : tensor<33xi32>, tensor<14x1xf32>
}
