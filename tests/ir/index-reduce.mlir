// RUN: lstmc opt %s --infer-shapes | FileCheck %s
// RUN: lstmc opt %s --infer-shapes | lstmc opt | FileCheck %s

!open = tensor<*x!sym.open>

// CHECK-LABEL: func @index
// CHECK:         %[[W:.+]] = sym.variable {name = "w"} : tensor<65x8xf32>
// CHECK-NEXT:    sym.embedding {{.*}} -> tensor<4x6x8xf32>
// CHECK-NEXT:    sym.take {{.*}} -> tensor<4x6x2x3xf32>
// CHECK-NEXT:    sym.pick {{.*}} -> tensor<4x6x1xf32>
// CHECK-NEXT:    sym.one_hot {{.*}} -> tensor<4x6x5xf64>
func.func @index(%i: tensor<4x6xi32>, %j: tensor<2x3xi32>) -> !open {
  %w = sym.variable {name = "w"} : !open
  %e = sym.embedding %i, %w {input_dim = 65 : i64, output_dim = 8 : i64} : (tensor<4x6xi32>, !open) -> !open
  %t = sym.take %e, %j {axis = -1 : i64} : (!open, tensor<2x3xi32>) -> !open
  %p = sym.pick %e, %i {keepdims = true} : (!open, tensor<4x6xi32>) -> !open
  %o = sym.one_hot %i {depth = 5 : i64, dtype = "float64"} : (tensor<4x6xi32>) -> !open
  return %o : !open
}

// Full reductions give [1]; exclude inverts the choice of axes.
// CHECK-LABEL: func @reduce
// CHECK:         sym.sum {{.*}} -> tensor<1xf32>
// CHECK-NEXT:    sym.mean {{.*}} -> tensor<3xf32>
// CHECK-NEXT:    sym.max {{.*}} -> tensor<2x1x4xf32>
// CHECK-NEXT:    sym.argmax {{.*}} -> tensor<2x3xf32>
// CHECK-NEXT:    sym.norm {{.*}} -> tensor<1x1x1xf32>
func.func @reduce(%x: tensor<2x3x4xf32>) -> !open {
  %a = sym.sum %x : (tensor<2x3x4xf32>) -> !open
  %b = sym.mean %x {axis = array<i64: 1>, exclude = true} : (tensor<2x3x4xf32>) -> !open
  %c = sym.max %x {axis = array<i64: -2>, keepdims = true} : (tensor<2x3x4xf32>) -> !open
  %d = sym.argmax %x {axis = 2 : i64} : (tensor<2x3x4xf32>) -> !open
  %e = sym.norm %x {keepdims = true} : (tensor<2x3x4xf32>) -> !open
  return %e : !open
}

// CHECK-LABEL: func @normalise
// CHECK:         sym.layer_norm {{.*}} {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
// CHECK-NEXT:    sym.softmax {{.*}} -> tensor<2x3x4xf64>
func.func @normalise(%x: tensor<2x3x4xf32>) -> !open {
  %g = sym.variable {name = "g"} : !open
  %b = sym.variable {name = "b"} : !open
  %y:3 = sym.layer_norm %x, %g, %b {axis = 1 : i64} : (tensor<2x3x4xf32>, !open, !open) -> (!open, !open, !open)
  %s = sym.softmax %y#0 {dtype = "float64"} : (!open) -> !open
  return %s : !open
}

// CHECK-LABEL: func @mean_and_deviation
// CHECK:         sym.layer_norm {{.*}} -> (tensor<2x3x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>)
func.func @mean_and_deviation(%x: tensor<2x3x4xf32>, %g: tensor<3xf32>, %b: tensor<3xf32>) -> !open {
  %y:3 = sym.layer_norm %x, %g, %b {axis = 1 : i64, output_mean_var = true} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (!open, !open, !open)
  return %y#2 : !open
}

// A head's label gets its shape from the data: the data's without the classes, or one label per row.
// CHECK-LABEL: func @labels
// CHECK-SAME:    (%{{.+}}: tensor<4x2x5xf32>, %{{.+}}: tensor<4x2xf32>, %{{.+}}: tensor<4xf32>, %{{.+}}: tensor<4x5xf32>)
func.func @labels(%x: tensor<4x2x5xf32>, %a: !open, %b: !open, %c: !open) -> !open {
  %p = sym.softmax_output %x, %a {preserve_shape = true} : (tensor<4x2x5xf32>, !open) -> !open
  %q = sym.softmax_output %x, %b : (tensor<4x2x5xf32>, !open) -> !open
  %m = sym.softmax_output %x, %c {multi_output = true} : (tensor<4x2x5xf32>, !open) -> !open
  return %m : !open
}

// CHECK-LABEL: func @sequences
// CHECK:         sym.sequence_last {{.*}} -> tensor<32x8xf32>
func.func @sequences(%x: tensor<24x32x8xf32>, %n: !open) -> !open {
  %m = sym.sequence_mask %x, %n {use_sequence_length = true} : (tensor<24x32x8xf32>, !open) -> !open
  %r = sym.sequence_reverse %m : (!open) -> !open
  %l = sym.sequence_last %r, %n {use_sequence_length = true} : (!open, !open) -> !open
  return %l : !open
}

// CHECK-LABEL: func @constants
// CHECK:         sym.arange {{.*}} : tensor<6xi32>
// CHECK-NEXT:    sym.full {{.*}} : tensor<2x3xf64>
func.func @constants() -> !open {
  %a = sym.arange {dtype = "int32", repeat = 2 : i64, start = 5.0, stop = 0.0, step = -2.0} : !open
  %b = sym.full {dtype = "float64", shape = array<i64: 2, 3>, value = 1.5} : !open
  return %b : !open
}
