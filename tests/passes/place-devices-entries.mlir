// RUN: lstmc opt %s --make-entries=entries=forward,step --unpack-rnn --place-devices=stages=2 | FileCheck %s

// Only forward has the products, which no loss depends on; only step has the head that reads a parameter. All three have a
// cost, and each is on one device.
// CHECK-LABEL: func.func @forward
//       CHECK: sym.fully_connected {{.*}}num_hidden = 40 {{.*}}sym.stage = 0
//       CHECK: sym.fully_connected {{.*}}num_hidden = 70 {{.*}}sym.stage = 1
// CHECK-LABEL: func.func @step
//   CHECK-NOT: sym.fully_connected
//       CHECK: sym.linear_regression_output {{.*}}sym.stage = 0
func.func @net(%x: tensor<6x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"},
               %l: tensor<6x4xf32> {sym.dims = ["batch", ""], sym.name = "l", sym.role = "label"}) -> (tensor<6x70xf32>, tensor<6x4xf32>) {
  %w0 = sym.variable {name = "w0"} : tensor<40x3xf32>
  %w1 = sym.variable {name = "w1"} : tensor<70x40xf32>
  %w2 = sym.variable {name = "w2"} : tensor<6x4xf32>
  %0 = sym.fully_connected %x, %w0 {no_bias = true, num_hidden = 40 : i64} : (tensor<6x3xf32>, tensor<40x3xf32>) -> tensor<6x40xf32>
  %1 = sym.fully_connected %0, %w1 {no_bias = true, num_hidden = 70 : i64} : (tensor<6x40xf32>, tensor<70x40xf32>) -> tensor<6x70xf32>
  %2 = sym.linear_regression_output %w2, %l : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %1, %2 : tensor<6x70xf32>, tensor<6x4xf32>
}
