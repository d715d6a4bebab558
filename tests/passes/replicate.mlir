// RUN: lstmc opt %s --split-input-file --replicate=replicas=3 | FileCheck %s
// RUN: lstmc opt %s --split-input-file --replicate=loads=3,1 | FileCheck %s --check-prefix=LOADS
// RUN: lstmc opt %s --split-input-file --replicate | FileCheck %s --check-prefix=ONE

// Eight shards on three devices: 3, 3 and 2; of 5 rows they hold 1, 2 and 2. All types change accordingly, also the merged axis;
// parameters stay whole.
// CHECK-LABEL: func.func @net(%{{.+}}: tensor<5x3x4xf32>
//       CHECK:   attributes {sym.part = array<i64: -1, 0>, sym.share = array<i64: 5, 8, 0, 8>}
// CHECK-LABEL: func.func @"net@0"(%{{.+}}: tensor<1x3x4xf32> {{.*}}sym.whole = tensor<5x3x4xf32>}
//       CHECK:   sym.share = array<i64: 5, 8, 0, 3>
//       CHECK:   tensor<2x4xf32>
//       CHECK:   -> tensor<3x2xf32>
// CHECK-LABEL: func.func @"net@1"(%{{.+}}: tensor<2x3x4xf32>
//       CHECK:   sym.part = array<i64: 1, 1>, sym.share = array<i64: 5, 8, 3, 3>
//       CHECK:   -> tensor<6x2xf32>
// CHECK-LABEL: func.func @"net@2"(%{{.+}}: tensor<2x3x4xf32>
//       CHECK:   sym.share = array<i64: 5, 8, 6, 2>
// LOADS-LABEL: func.func @"net@0"
//  LOADS-SAME:   sym.share = array<i64: 5, 8, 0, 6>
// LOADS-LABEL: func.func @"net@1"
//  LOADS-SAME:   sym.share = array<i64: 5, 8, 6, 2>
//   ONE-LABEL: func.func @net
//     ONE-NOT: sym.share
//     ONE-NOT: func.func @"net@
func.func @net(%x: tensor<5x3x4xf32> {sym.dims = ["batch", "", ""], sym.name = "x", sym.role = "data"}) -> tensor<15x2xf32> {
  %w = sym.variable {name = "w"} : tensor<2x4xf32>
  %r = sym.reshape %x {shape = array<i64: -3, 0>} : (tensor<5x3x4xf32>) -> tensor<15x4xf32>
  %y = sym.fully_connected %r, %w {no_bias = true, num_hidden = 2 : i64} : (tensor<15x4xf32>, tensor<2x4xf32>) -> tensor<15x2xf32>
  return %y : tensor<15x2xf32>
}

// -----

// Two rows are on two devices, whose shards are not the first ones.
// CHECK-LABEL: func.func @few
//       CHECK: func.func @"few@0"
//  CHECK-SAME:   sym.share = array<i64: 2, 8, 3, 3>
//       CHECK: func.func @"few@1"
//  CHECK-SAME:   sym.share = array<i64: 2, 8, 6, 2>
//   CHECK-NOT: func.func @"few@2"
func.func @few(%x: tensor<2x4xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"}) -> tensor<2x4xf32> {
  %y = sym.relu %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// A value whose extent is written as the dim of the batch has the rows of the part. If its rows differ, all are computed, and a part
// extracts its own where it reads them together with other rows.
// CHECK-LABEL: func.func @"written@1"
//  CHECK-SAME:   sym.share = array<i64: 5, 8, 3, 3>
//       CHECK:   sym.zeros {shape = array<i64: 2, 5>, sym.dims = ["batch", ""]} : tensor<2x5xf32>
//       CHECK:   sym.reshape {{.*}}shape = array<i64: 2, 5, 1>
//       CHECK:   sym.arange {repeat = 2 : i64, start = 5.0{{.*}}} : tensor<10xf32>
//       CHECK:   %[[N:.+]] = sym.arange {start = 0.0{{.*}}, stop = 5.0{{.*}}} : tensor<5xf32>
//       CHECK:   %[[C:.+]] = sym.reshape %[[N]] {{.*}} -> tensor<5x1xf32>
//       CHECK:   %[[O:.+]] = sym.own_rows %[[C]] {axis = 0 : i64, batch = 5 : i64, inner = 1 : i64, outer = 1 : i64} : (tensor<5x1xf32>) -> tensor<2x1xf32>
//       CHECK:   sym.broadcast_add %{{.+}}, %[[O]] : (tensor<2x5xf32>, tensor<2x1xf32>)
func.func @written(%x: tensor<5x5xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"})
    -> (tensor<5x5xf32>, tensor<5x5x1xf32>, tensor<10xf32>, tensor<5x5xf32>) {
  %z = sym.zeros {shape = array<i64: 5, 5>, sym.dims = ["batch", ""]} : tensor<5x5xf32>
  %a = sym.elemwise_add %x, %z : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %r = sym.reshape %x {shape = array<i64: 5, 5, 1>, sym.dims = ["batch", "", ""]} : (tensor<5x5xf32>) -> tensor<5x5x1xf32>
  %i = sym.arange {start = 5.0, repeat = 2 : i64, sym.dims = ["batch"]} : tensor<10xf32>
  %n = sym.arange {start = 0.0, stop = 5.0} : tensor<5xf32>
  %c = sym.reshape %n {shape = array<i64: 5, 1>} : (tensor<5xf32>) -> tensor<5x1xf32>
  %s = sym.broadcast_add %a, %c : (tensor<5x5xf32>, tensor<5x1xf32>) -> tensor<5x5xf32>
  return %a, %r, %i, %s : tensor<5x5xf32>, tensor<5x5x1xf32>, tensor<10xf32>, tensor<5x5xf32>
}

// -----

// One row that all rows read: row 3 of the rows of all parts. In the net over the whole batch nothing changes.
// CHECK-LABEL: func.func @fourth
//       CHECK:   sym.all_rows %{{.+}} : (tensor<6x3xf32>) -> tensor<6x3xf32>
// CHECK-LABEL: func.func @"fourth@0"
//       CHECK:   %[[T:.+]] = sym.tanh %{{.+}} -> tensor<2x3xf32>
//       CHECK:   %[[G:.+]] = sym.all_rows %[[T]] {axis = 0 : i64, batch = 6 : i64, inner = 1 : i64, outer = 1 : i64} : (tensor<2x3xf32>) -> tensor<6x3xf32>
//       CHECK:   %[[A:.+]] = sym.slice_axis %[[G]] {{.*}} -> tensor<1x3xf32>
//       CHECK:   sym.broadcast_add %[[T]], %[[A]] : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
func.func @fourth(%x: tensor<6x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"}) -> tensor<6x3xf32> {
  %t = sym.tanh %x : (tensor<6x3xf32>) -> tensor<6x3xf32>
  %a = sym.slice_axis %t {axis = 0 : i64, begin = 3 : i64, end = 4 : i64} : (tensor<6x3xf32>) -> tensor<1x3xf32>
  %s = sym.broadcast_add %t, %a : (tensor<6x3xf32>, tensor<1x3xf32>) -> tensor<6x3xf32>
  return %s : tensor<6x3xf32>
}

// -----

// An op can be row-wise in each of its operands, but not in both at once: rows indexed by rows, and every row times every row. A product in
// which one factor has no rows is computed in parts, and so is a constant with the batch's extent.
// CHECK-LABEL: func.func @"both@0"
//       CHECK:   sym.take %{{.+}}, %{{.+}} (tensor<6x6xf32>, tensor<6xi32>) -> tensor<6x6xf32>
//       CHECK:   sym.own_rows %{{.+}} (tensor<6x6xf32>) -> tensor<2x6xf32>
//       CHECK:   sym.dot %{{.+}} (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
//       CHECK:   sym.dot %{{.+}} (tensor<2x6xf32>, tensor<6x2xf32>) -> tensor<2x2xf32>
//       CHECK:   sym.reshape %{{.+}} {shape = array<i64: 2, 3, 2>} : (tensor<2x6xf32>) -> tensor<2x3x2xf32>
func.func @both(%x: tensor<6x6xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"},
                %i: tensor<6xi32> {sym.dims = ["batch"], sym.name = "i", sym.role = "data"})
    -> (tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x2xf32>, tensor<6x3x2xf32>) {
  %w = sym.variable {name = "w"} : tensor<6x2xf32>
  %0 = sym.take %x, %i : (tensor<6x6xf32>, tensor<6xi32>) -> tensor<6x6xf32>
  %1 = sym.dot %x, %x {transpose_b = true} : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %2 = sym.dot %x, %w : (tensor<6x6xf32>, tensor<6x2xf32>) -> tensor<6x2xf32>
  %3 = sym.reshape %x {shape = array<i64: 6, 3, 2>} : (tensor<6x6xf32>) -> tensor<6x3x2xf32>
  return %0, %1, %2, %3 : tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x2xf32>, tensor<6x3x2xf32>
}
