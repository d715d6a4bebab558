// RUN: lstmc opt %s --infer-shapes | FileCheck %s
// RUN: lstmc opt %s --infer-shapes | lstmc opt | FileCheck %s

!open = tensor<*x!sym.open>

// MXNet's codes: -4 splits with one part inferred, 0 copies, -3 joins, -2 copies the rest, -1 takes what remains.
// CHECK-LABEL: func @codes
// CHECK:         sym.reshape {{.*}} -> tensor<20x32x8xf32>
// CHECK-NEXT:    sym.reshape {{.*}} -> tensor<640x8xf32>
// CHECK-NEXT:    sym.reshape {{.*}} -> tensor<20x256xf32>
// CHECK-NEXT:    sym.reshape {{.*}} -> tensor<20x32x8xf32>
// CHECK-NEXT:    sym.reshape {{.*}} -> tensor<20x32x2x4xf32>
func.func @codes(%x: tensor<640x8xf32>) -> !open {
  %a = sym.reshape %x {shape = array<i64: -4, 20, -1, 0>} : (tensor<640x8xf32>) -> !open
  %b = sym.reshape %a {shape = array<i64: -3, -2>} : (!open) -> !open
  %c = sym.reshape %b {shape = array<i64: 20, -1>} : (!open) -> !open
  %d = sym.reshape %c {shape = array<i64: 0, -4, -1, 8, -2>} : (!open) -> !open
  %e = sym.reshape %d {shape = array<i64: 0, 0, -4, 2, 4>} : (!open) -> !open
  return %e : !open
}

// Read from the right, 0 copies the last axis.
// CHECK-LABEL: func @reverse
// CHECK:         sym.reshape {{.*}} -> tensor<50x4xf32>
func.func @reverse(%x: tensor<10x5x4xf32>) -> !open {
  %y = sym.reshape %x {reverse = true, shape = array<i64: -1, 0>} : (tensor<10x5x4xf32>) -> !open
  return %y : !open
}

// The codes of old files: 0 is what remains.
// CHECK-LABEL: func @target_shape
// CHECK:         sym.reshape {{.*}} -> tensor<2x12xf32>
func.func @target_shape(%x: tensor<2x3x4xf32>) -> !open {
  %y = sym.reshape %x {target_shape = array<i64: 2, 0>} : (tensor<2x3x4xf32>) -> !open
  return %y : !open
}

// An extent that is known only after a reshape is inferred back through it: 24 elements of 2x3x?.
// CHECK-LABEL: func @backwards
// CHECK:         %[[W:.+]] = sym.variable {name = "w"} : tensor<2x3x4xf32>
func.func @backwards(%x: tensor<6x4xf32>) -> !open {
  %w = sym.variable {name = "w"} : tensor<2x3x?xf32>
  %r = sym.reshape %w {shape = array<i64: 6, 4>} : (tensor<2x3x?xf32>) -> !open
  %y = sym.elemwise_mul %x, %r : (tensor<6x4xf32>, !open) -> !open
  return %y : !open
}

// The extent of one input, or of a part, follows from the extent of the whole.
// CHECK-LABEL: func @parts
// CHECK:         %[[W:.+]] = sym.variable {name = "w"} : tensor<2x4xf32>
// CHECK-NEXT:    %[[C:.+]] = sym.concat %{{.+}}, %[[W]] : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
// CHECK:         sym.slice_channel %{{.+}} {num_outputs = 7 : i64, squeeze_axis = true} : (tensor<2x7xf32>) -> (tensor<2xf32>, {{.*}})
func.func @parts(%x: tensor<2x3xf32>, %z: tensor<2x7xf32>) -> !open {
  %w = sym.variable {name = "w"} : !open
  %c = sym.concat %x, %w : (tensor<2x3xf32>, !open) -> !open
  %s = sym.elemwise_add %c, %z : (!open, tensor<2x7xf32>) -> !open
  %p:7 = sym.slice_channel %s {num_outputs = 7 : i64, squeeze_axis = true} : (!open) -> (!open, !open, !open, !open, !open, !open, !open)
  return %p#6 : !open
}

// Slices as in Python: negative numbers count from the end, None is the first or last element, steps in either direction.
// CHECK-LABEL: func @slices
// CHECK:         sym.slice {{.*}} -> tensor<2x4xf32>
// CHECK-NEXT:    sym.slice {{.*}} -> tensor<3x2xf32>
// CHECK-NEXT:    sym.slice_axis {{.*}} -> tensor<3x4xf32>
func.func @slices(%x: tensor<5x4xf32>) -> !open {
  %a = sym.slice %x {begin = [-3], end = [-1]} : (tensor<5x4xf32>) -> !open
  %b = sym.slice %x {begin = [unit, -1], end = [unit, 0], step = [2, -2]} : (tensor<5x4xf32>) -> !open
  %c = sym.slice_axis %x {axis = 0 : i64, begin = -3 : i64} : (tensor<5x4xf32>) -> !open
  return %c : !open
}

// CHECK-LABEL: func @movement
// CHECK:         sym.transpose {{.*}} -> tensor<4x3x2xf32>
// CHECK-NEXT:    sym.swap_axis {{.*}} -> tensor<2x3x4xf32>
// CHECK-NEXT:    sym.expand_dims {{.*}} -> tensor<2x3x4x1xf32>
// CHECK-NEXT:    sym.squeeze {{.*}} -> tensor<2x3x4xf32>
// CHECK-NEXT:    sym.tile {{.*}} -> tensor<2x2x3x8xf32>
// CHECK-NEXT:    sym.repeat {{.*}} -> tensor<192xf32>
func.func @movement(%x: tensor<2x3x4xf32>) -> !open {
  %a = sym.transpose %x : (tensor<2x3x4xf32>) -> !open
  %b = sym.swap_axis %a {dim1 = -1 : i64} : (!open) -> !open
  %c = sym.expand_dims %b {axis = -1 : i64} : (!open) -> !open
  %d = sym.squeeze %c : (!open) -> !open
  %e = sym.tile %d {reps = array<i64: 2, 1, 1, 2>} : (!open) -> !open
  %f = sym.repeat %e {repeats = 2 : i64} : (!open) -> !open
  return %f : !open
}
