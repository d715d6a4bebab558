// RUN: lstmc opt %s --make-entries="entries=forward recompute=w,high" --verify-diagnostics

// expected-error @+1 {{no op is in ctx_group "w" or has that name, and it is to be recomputed}}
func.func @net(%x: tensor<6x3xf32> {sym.name = "x", sym.role = "data"}) -> tensor<6x4xf32> {
  %w = sym.variable {name = "w"} : tensor<4x3xf32>
  %0 = sym.fully_connected %x, %w {no_bias = true, num_hidden = 4 : i64, sym.name = "high"} : (tensor<6x3xf32>, tensor<4x3xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
