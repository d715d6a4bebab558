// RUN: lstmc opt %s --split-input-file --replicate=replicas=2 --make-entries=entries=forward --sync-parameters --verify-diagnostics

func.func @mean(%x: tensor<8x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"}) -> tensor<8x3xf32> {
  // expected-error @+1 {{sum mixes the rows of the batch, which is in 2 parts: compile it for one device}}
  %0 = sym.sum %x {axis = array<i64: 0>, keepdims = true} : (tensor<8x3xf32>) -> tensor<1x3xf32>
  %1 = sym.broadcast_sub %x, %0 : (tensor<8x3xf32>, tensor<1x3xf32>) -> tensor<8x3xf32>
  return %1 : tensor<8x3xf32>
}

// -----

// What a head gives is one sum over all rows.
func.func @entropy(%x: tensor<8x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"},
                   %l: tensor<8xi32> {sym.dims = ["batch"], sym.name = "l", sym.role = "label"}) -> tensor<1xf32> {
  // expected-error @+1 {{softmax_cross_entropy mixes the rows of the batch}}
  %0 = sym.softmax_cross_entropy %x, %l : (tensor<8x3xf32>, tensor<8xi32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
