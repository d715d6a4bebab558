// RUN: lstmc opt %s --make-entries --verify-diagnostics

// expected-error@+1 {{entry step has an input "update" of its own: give this one another name}}
func.func @net(%update: tensor<2x3xf32> {sym.name = "update", sym.role = "data"},
               %label: tensor<2x3xf32> {sym.name = "label", sym.role = "label"}) -> tensor<2x3xf32> {
  %y = sym.linear_regression_output %update, %label : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
