// RUN: lstmc opt %s --infer-shapes | FileCheck %s
// RUN: lstmc opt %s --infer-shapes | lstmc opt | FileCheck %s

!open = tensor<*x!sym.open>

// Shape and type pass both ways through an element-wise op: the variable learns from the input.
// CHECK-LABEL: func @both_ways
// CHECK:         %[[W:.+]] = sym.variable {name = "w"} : tensor<2x3xf64>
// CHECK-NEXT:    %[[S:.+]] = sym.elemwise_add %{{.+}}, %[[W]] : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
// CHECK-NEXT:    sym.tanh %[[S]] : (tensor<2x3xf64>) -> tensor<2x3xf64>
func.func @both_ways(%x: tensor<2x3xf64>) -> !open {
  %w = sym.variable {name = "w"} : !open
  %s = sym.elemwise_add %x, %w : (tensor<2x3xf64>, !open) -> !open
  %y = sym.tanh %s : (!open) -> !open
  return %y : !open
}

// Each operand of a broadcast determines the extents in which it is not 1.
// CHECK-LABEL: func @stretch
// CHECK:         sym.broadcast_mul %{{.+}}, %{{.+}} : (tensor<2x1x4xf32>, tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
func.func @stretch(%a: tensor<2x1x4xf32>, %b: tensor<1x3x4xf32>) -> !open {
  %y = sym.broadcast_mul %a, %b : (tensor<2x1x4xf32>, tensor<1x3x4xf32>) -> !open
  return %y : !open
}

// A comparison keeps its operands' type; a cast has its own.
// CHECK-LABEL: func @types
// CHECK:         sym.lesser_equal_scalar %{{.+}} {scalar = 2.000000e+00 : f64} : (tensor<4xi32>) -> tensor<4xi32>
// CHECK-NEXT:    sym.cast %{{.+}} {dtype = "uint8"} : (tensor<4xi32>) -> tensor<4xui8>
func.func @types(%x: tensor<4xi32>) -> !open {
  %c = sym.lesser_equal_scalar %x {scalar = 2.0} : (tensor<4xi32>) -> !open
  %y = sym.cast %c {dtype = "uint8"} : (!open) -> !open
  return %y : !open
}

// Defaults are not printed.
// CHECK-LABEL: func @defaults
// CHECK:         sym.dropout %{{.+}} : (tensor<4xf32>) -> tensor<4xf32>
func.func @defaults(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = sym.dropout %x {axes = array<i64>, mode = "training", p = 5.0e-01 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
