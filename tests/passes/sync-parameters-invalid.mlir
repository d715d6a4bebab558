// RUN: lstmc opt %s --replicate=replicas=2 --make-entries=entries=step --gradient --sync-parameters --verify-diagnostics

// One bias in two layers: the first has rows as its weight and is computed on the whole batch, the second in parts. Its gradient is one sum over
// the whole batch, and cannot be computed in parts.
func.func @tied(%x: tensor<6x6xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"},
                %l: tensor<6x6xf32> {sym.dims = ["batch", ""], sym.name = "l", sym.role = "label"}) -> tensor<6x6xf32> {
  // expected-error @+1 {{the batch is shared out in 2 parts, and bias_gradient differs in the parts: train on one device, without accumulation}}
  %b = sym.variable {name = "b"} : tensor<6xf32>
  %w = sym.variable {name = "w"} : tensor<6x6xf32>
  %0 = sym.fully_connected %x, %x, %b {num_hidden = 6 : i64} : (tensor<6x6xf32>, tensor<6x6xf32>, tensor<6xf32>) -> tensor<6x6xf32>
  %1 = sym.fully_connected %0, %w, %b {num_hidden = 6 : i64} : (tensor<6x6xf32>, tensor<6x6xf32>, tensor<6xf32>) -> tensor<6x6xf32>
  %2 = sym.linear_regression_output %1, %l : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  return %2 : tensor<6x6xf32>
}
