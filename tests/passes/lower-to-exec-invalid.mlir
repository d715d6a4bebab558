// RUN: lstmc opt %s --split-input-file --lower-to-exec=devices=cpu:0,cpu:1 --verify-diagnostics

// Operands on two devices without a transfer.
func.func @forward(%x: tensor<4xf32> {sym.name = "x", sym.role = "data"}) -> tensor<4xf32> {
  %a = sym.tanh %x {sym.device = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{tanh on device 1 reads what is on device 0, and nothing sends it}}
  %b = sym.tanh %a {sym.device = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}
