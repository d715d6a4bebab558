// RUN: lstmc opt %s --unroll-foreach --verify-diagnostics

// A graph has at most 10^6 nodes: with its end, the body has two ops.
func.func @large(%x: tensor<500001xf32>) -> tensor<500001xf32> {
  // expected-error @below {{a loop of 500001 steps of 2 ops has more than 1000000 nodes}}
  %y = sym.foreach data(%x) {
  ^bb0(%slice: tensor<f32>):
    %n = sym.tanh %slice : (tensor<f32>) -> tensor<f32>
    sym.next %n : tensor<f32>
  } : (tensor<500001xf32>) -> tensor<500001xf32>
  return %y : tensor<500001xf32>
}
