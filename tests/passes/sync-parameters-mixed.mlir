// RUN: lstmc opt %s --split-input-file --replicate=replicas=2 --make-entries=entries=forward --sync-parameters | FileCheck %s

// A mean over the batch is computed from all rows: those of both parts, in the order of the batch, on the first device. The ops after it
// are computed on the rows of each part.
// CHECK-LABEL: func.func @forward(%{{.+}}: tensor<7x3xf32>
//       CHECK:   %[[T0:.+]] = sym.broadcast_mul %{{.+}} {{.*}}sym.device = 0 {{.*}} -> tensor<3x3xf32>
//       CHECK:   %[[T1:.+]] = sym.broadcast_mul %{{.+}} {{.*}}sym.device = 1 {{.*}} -> tensor<4x3xf32>
//       CHECK:   %[[R0:.+]] = sym.reshape %[[T0]]
//       CHECK:   %[[R1:.+]] = sym.reshape %[[T1]]
//       CHECK:   %[[ALL:.+]] = sym.concat %[[R0]], %[[R1]] {{.*}}sym.device = 0
//       CHECK:   %[[WHOLE:.+]] = sym.reshape %[[ALL]] {{.*}} -> tensor<7x3xf32>
//       CHECK:   %[[MEAN:.+]] = sym.mean %[[WHOLE]] {{.*}}sym.device = 0 {{.*}} -> tensor<1x3xf32>
//   CHECK-NOT:   sym.mean
//       CHECK:   sym.broadcast_sub %[[T0]], %[[MEAN]] {{.*}}sym.device = 0
//       CHECK:   sym.broadcast_sub %[[T1]], %[[MEAN]] {{.*}}sym.device = 1
func.func @mean(%x: tensor<7x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"}) -> tensor<7x3xf32> {
  %w = sym.variable {name = "w"} : tensor<1x3xf32>
  %0 = sym.broadcast_mul %x, %w : (tensor<7x3xf32>, tensor<1x3xf32>) -> tensor<7x3xf32>
  %1 = sym.mean %0 {axis = array<i64: 0>, keepdims = true} : (tensor<7x3xf32>) -> tensor<1x3xf32>
  %2 = sym.broadcast_sub %0, %1 : (tensor<7x3xf32>, tensor<1x3xf32>) -> tensor<7x3xf32>
  return %2 : tensor<7x3xf32>
}

// -----

// The op depends on inputs only: nothing is joined; the values computed from inputs are recomputed for the whole batch.
// CHECK-LABEL: func.func @forward(%arg0: tensor<8x3xf32>
//   CHECK-NOT:   sym.concat
//       CHECK:   %[[N:.+]] = sym.negative %arg0 {{.*}}sym.device = 0
//   CHECK-NOT:   sym.concat
//       CHECK:   sym.softmax_cross_entropy %[[N]], %arg1 {{.*}}sym.device = 0
//   CHECK-NOT:   sym.softmax_cross_entropy
func.func @entropy(%x: tensor<8x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"},
                   %l: tensor<8xi32> {sym.dims = ["batch"], sym.name = "l", sym.role = "label"}) -> tensor<1xf32> {
  %n = sym.negative %x : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %0 = sym.softmax_cross_entropy %n, %l : (tensor<8x3xf32>, tensor<8xi32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

// The zeros are not known to have rows: every part has all of them, and extracts its own.
// CHECK-LABEL: func.func @forward
//       CHECK:   sym.zeros {{.*}}sym.device = 0 {{.*}} : tensor<8x3xf32>
//       CHECK:   sym.zeros {{.*}}sym.device = 1 {{.*}} : tensor<8x3xf32>
//       CHECK:   sym.elemwise_add {{.*}}(tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
//       CHECK:   sym.sum {{.*}}(tensor<8x3xf32>) -> tensor<3xf32>
func.func @inferred(%x: tensor<8x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"}) -> (tensor<8x3xf32>, tensor<3xf32>) {
  %z = sym.zeros {shape = array<i64: 0, 3>} : tensor<8x3xf32>
  %0 = sym.elemwise_add %x, %z : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  %1 = sym.sum %z {axis = array<i64: 0>} : (tensor<8x3xf32>) -> tensor<3xf32>
  return %0, %1 : tensor<8x3xf32>, tensor<3xf32>
}

// -----

// Zeros with a single reader are created with the rows of each part.
// CHECK-LABEL: func.func @forward
//       CHECK:   sym.zeros {{.*}}sym.device = 0 {{.*}} : tensor<4x3xf32>
//       CHECK:   sym.zeros {{.*}}sym.device = 1 {{.*}} : tensor<4x3xf32>
func.func @once(%x: tensor<8x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"}) -> tensor<8x3xf32> {
  %z = sym.zeros {shape = array<i64: 0, 3>} : tensor<8x3xf32>
  %0 = sym.elemwise_add %x, %z : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// -----

// Rows concatenated with rows: no row belongs to one part, so the whole is computed once.
// CHECK-LABEL: func.func @forward
//       CHECK:   %[[C:.+]] = sym.concat {{.*}} -> tensor<16x3xf32>
//       CHECK:   sym.tanh %[[C]] {{.*}} -> tensor<16x3xf32>
//   CHECK-NOT:   sym.tanh
func.func @after(%x: tensor<8x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"}) -> tensor<16x3xf32> {
  %0 = sym.concat %x, %x {dim = 0 : i64} : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<16x3xf32>
  %1 = sym.tanh %0 : (tensor<16x3xf32>) -> tensor<16x3xf32>
  return %1 : tensor<16x3xf32>
}
