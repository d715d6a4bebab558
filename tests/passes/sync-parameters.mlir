// RUN: lstmc opt %s --replicate=devices=3 --make-entries=entries=step --gradient --sync-parameters | FileCheck %s

// The host takes inputs whole, keeps its rows and sends the others theirs, then the parameters; every program has its messages
// in ascending order.
// CHECK-LABEL: func.func @step(%{{.+}}: tensor<8x3xf32>
//       CHECK:   sym.slice_axis %{{.+}} {axis = 1 : i64, begin = 0 : i64, end = 3 : i64}
//       CHECK:   sym.slice_axis %{{.+}} {axis = 1 : i64, begin = 3 : i64, end = 6 : i64}
//       CHECK:   sym.send %{{.+}} {message = 0 : i64, peer = 1 : i64, sym.name = "x"} : tensor<3x3xf32>
//       CHECK:   sym.slice_axis %{{.+}} {axis = 1 : i64, begin = 6 : i64, end = 8 : i64}
//       CHECK:   sym.send %{{.+}} {message = 1 : i64, peer = 2 : i64, sym.name = "x"} : tensor<2x3xf32>
//       CHECK:   %[[W:.+]] = sym.read @w
//       CHECK:   sym.send %[[W]] {message = {{.+}} : i64, peer = 1 : i64, sym.name = "w"}
//       CHECK:   sym.send %[[W]]
// Shards 0-1 and 2 here, 3 and 4-5 there, 6-7: added as the tree over eight shards has them.
//       CHECK:   %[[A:.+]] = "sym.weight_gradient"({{.*}}count = 2 : i64, first = 0 : i64
//       CHECK:   %[[B:.+]] = "sym.weight_gradient"({{.*}}count = 1 : i64, first = 2 : i64
//       CHECK:   %[[C:.+]] = sym.receive {message = [[C0:.+]] : i64, peer = 1 : i64}
//       CHECK:   %[[D:.+]] = sym.receive {message = [[D0:.+]] : i64, peer = 1 : i64}
//       CHECK:   %[[E:.+]] = sym.receive {message = [[E0:.+]] : i64, peer = 2 : i64}
//       CHECK:   %[[BC:.+]] = sym.elemwise_add %[[B]], %[[C]]
//       CHECK:   %[[ABC:.+]] = sym.elemwise_add %[[A]], %[[BC]]
//       CHECK:   %[[DE:.+]] = sym.elemwise_add %[[D]], %[[E]]
//       CHECK:   %[[ALL:.+]] = sym.elemwise_add %[[ABC]], %[[DE]]
//       CHECK:   sym.gradient @w, %[[ALL]]
// CHECK-LABEL: func.func @"step@1"() attributes
//  CHECK-NEXT:   sym.receive {message = 0 : i64, peer = 0 : i64, sym.name = "x"} : tensor<3x3xf32>
//   CHECK-NOT:   sym.read
//       CHECK:   %[[C:.+]] = "sym.weight_gradient"({{.*}}count = 1 : i64, first = 3 : i64
//       CHECK:   %[[D:.+]] = "sym.weight_gradient"({{.*}}count = 2 : i64, first = 4 : i64
//       CHECK:   sym.send %[[C]] {message = [[C0]] : i64, peer = 0 : i64}
//       CHECK:   sym.send %[[D]] {message = [[D0]] : i64, peer = 0 : i64}
//   CHECK-NOT:   sym.gradient
// CHECK-LABEL: func.func @"step@2"() attributes
//       CHECK:   %[[E:.+]] = "sym.weight_gradient"({{.*}}count = 2 : i64, first = 6 : i64
//       CHECK:   sym.send %[[E]] {message = [[E0]] : i64, peer = 0 : i64}
//   CHECK-NOT: @"step@whole"
func.func @net(%x: tensor<8x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"},
               %l: tensor<8x2xf32> {sym.dims = ["batch", ""], sym.name = "l", sym.role = "label"}) -> tensor<8x2xf32> {
  %w = sym.variable {name = "w"} : tensor<2x3xf32>
  %0 = sym.fully_connected %x, %w {no_bias = true, num_hidden = 2 : i64} : (tensor<8x3xf32>, tensor<2x3xf32>) -> tensor<8x2xf32>
  %1 = sym.linear_regression_output %0, %l : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
