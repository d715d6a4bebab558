// RUN: lstmc opt %s --make-entries=entries=step --unpack-rnn --place-devices=stages=2 | FileCheck %s --check-prefixes=CHECK,COST
// RUN: lstmc opt %s --make-entries=entries=step --unpack-rnn "--place-devices=stages=2 groups=low=0,top=1" | FileCheck %s --check-prefixes=CHECK,GROUPS
// RUN: lstmc opt %s --make-entries=entries=step --unpack-rnn "--place-devices=stages=2 groups=low=0,top=1" --gradient | FileCheck %s --check-prefix=BACK

// Parameters are placed where they are read; the dropout between the layers is placed with the first of them. By cost, the large product at
// the end gets a device of its own.
// CHECK-LABEL: func.func @step
//        COST: sym.read @w1 {{.*}}sym.stage = 0
//        COST: sym.read @w2 {{.*}}sym.stage = 1
//      GROUPS: sym.read @w1 {{.*}}sym.stage = 1
//      GROUPS: sym.read @w2 {{.*}}sym.stage = 1
//       CHECK: sym.fully_connected {{.*}}num_hidden = 4 {{.*}}sym.stage = 0
//       CHECK: sym.dropout_mask {{.*}}sym.stage = 0
//       CHECK: sym.elemwise_mul {{.*}}sym.stage = 0
//        COST: sym.fully_connected {{.*}}num_hidden = 5 {{.*}}sym.stage = 0
//      GROUPS: sym.fully_connected {{.*}}num_hidden = 5 {{.*}}sym.stage = 1
//       CHECK: sym.fully_connected {{.*}}num_hidden = 90 {{.*}}sym.stage = 1
//       CHECK: sym.linear_regression_output {{.*}}sym.stage = 1

// Backward ops are placed with their forward ops.
//  BACK: sym.linear_regression_output
//  BACK: sym.dot {{.*}}sym.stage = 1 {{.*}}-> tensor<6x5xf32>
//  BACK: sym.dot {{.*}}sym.stage = 1 {{.*}}-> tensor<6x4xf32>
//  BACK: sym.elemwise_mul {{.*}}sym.stage = 0
//  BACK: "sym.weight_gradient"{{.*}}sym.stage = 1 {{.*}}-> tensor<90x5xf32>
//  BACK: "sym.weight_gradient"{{.*}}sym.stage = 0 {{.*}}-> tensor<4x3xf32>

func.func @net(%x: tensor<6x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"},
               %l: tensor<6x90xf32> {sym.dims = ["batch", ""], sym.name = "l", sym.role = "label"}) -> tensor<6x90xf32> {
  %w0 = sym.variable {name = "w0"} : tensor<4x3xf32>
  %w1 = sym.variable {name = "w1"} : tensor<5x4xf32>
  %w2 = sym.variable {name = "w2"} : tensor<90x5xf32>
  %0 = sym.fully_connected %x, %w0 {no_bias = true, num_hidden = 4 : i64, sym.group = "low"} : (tensor<6x3xf32>, tensor<4x3xf32>) -> tensor<6x4xf32>
  %1 = sym.dropout %0 {p = 5.000000e-01 : f64} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %2 = sym.fully_connected %1, %w1 {no_bias = true, num_hidden = 5 : i64, sym.group = "top"} : (tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
  %3 = sym.fully_connected %2, %w2 {no_bias = true, num_hidden = 90 : i64} : (tensor<6x5xf32>, tensor<90x5xf32>) -> tensor<6x90xf32>
  %4 = sym.linear_regression_output %3, %l : (tensor<6x90xf32>, tensor<6x90xf32>) -> tensor<6x90xf32>
  return %4 : tensor<6x90xf32>
}
