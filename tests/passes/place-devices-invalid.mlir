// RUN: lstmc opt %s --split-input-file --make-entries=entries=forward --unpack-rnn --place-devices=stages=2 --verify-diagnostics

// expected-error @+1 {{the net has 1 ops with parameters, which 2 devices cannot share}}
func.func @one(%x: tensor<6x3xf32> {sym.name = "x", sym.role = "data"}) -> tensor<6x4xf32> {
  %w = sym.variable {name = "w"} : tensor<4x3xf32>
  %0 = sym.fully_connected %x, %w {no_bias = true, num_hidden = 4 : i64} : (tensor<6x3xf32>, tensor<4x3xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}
