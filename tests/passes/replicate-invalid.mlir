// RUN: lstmc opt %s --replicate=replicas=2 --verify-diagnostics

// Without a dim "batch", the first axes are taken for the rows, and these differ.
// expected-error @below {{parts of the batch need one number of rows: input "label" has 1 on axis 0, others have 33}}
func.func @net(%label: tensor<1xf32> {sym.name = "label", sym.role = "label"}, %x: tensor<33x2xf32> {sym.name = "x", sym.role = "data"}) -> tensor<33x2xf32> {
  %y = sym.tanh %x : (tensor<33x2xf32>) -> tensor<33x2xf32>
  return %y : tensor<33x2xf32>
}
