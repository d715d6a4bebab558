// RUN: lstmc opt %s --split-input-file --replicate=replicas=2 --make-entries=entries=forward --sync-parameters --verify-diagnostics

// Rows that a concat sets behind one another cannot be told apart where each part has some of both.
func.func @behind(%x: tensor<8x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"}) -> tensor<16x3xf32> {
  // expected-error @+1 {{concat mixes the rows of the batch, which is in 2 parts, so that others cannot tell them apart: compile it for one device}}
  %0 = sym.concat %x, %x {dim = 0 : i64} : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<16x3xf32>
  %1 = sym.tanh %0 : (tensor<16x3xf32>) -> tensor<16x3xf32>
  return %1 : tensor<16x3xf32>
}

// -----

// Nor those of zeros of which nothing says how many a row has, where one number is made of all.
func.func @inferred(%x: tensor<8x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"}) -> (tensor<24xf32>, tensor<1xf32>) {
  %r = sym.reshape %x {shape = array<i64: -1>} : (tensor<8x3xf32>) -> tensor<24xf32>
  %z = sym.zeros {shape = array<i64: 0>} : tensor<24xf32>
  %0 = sym.elemwise_add %r, %z : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
  // expected-error @+1 {{sum mixes the rows of the batch}}
  %1 = sym.sum %z {axis = array<i64: 0>} : (tensor<24xf32>) -> tensor<1xf32>
  return %0, %1 : tensor<24xf32>, tensor<1xf32>
}
