// RUN: lstmc opt %s --replicate=replicas=3 --make-entries=entries=step --gradient --sync-parameters | FileCheck %s
// RUN: lstmc opt %s --replicate=replicas=3 --make-entries=entries=step --gradient --sync-parameters=update-on-store=false \
// RUN:   | FileCheck %s --check-prefix=WORKERS
// RUN: lstmc opt %s --replicate=accumulate=2 --make-entries=entries=step --gradient --sync-parameters | FileCheck %s --check-prefix=TWICE

// Inputs are whole on the first device, which slices rows from them; every device reads its own copy of a parameter.
// CHECK: sym.parameter @w {{.*}}sym.devices = array<i64: 0, 1, 2>
// CHECK-LABEL: func.func @step(%{{.+}}: tensor<8x3xf32>
//       CHECK:   sym.slice_axis %{{.+}} {axis = 1 : i64, begin = 0 : i64, end = 3 : i64, sym.device = 0 : i64}
//       CHECK:   sym.slice_axis %{{.+}} {axis = 1 : i64, begin = 3 : i64, end = 6 : i64, sym.device = 0 : i64}
//       CHECK:   sym.slice_axis %{{.+}} {axis = 1 : i64, begin = 6 : i64, end = 8 : i64, sym.device = 0 : i64}
//       CHECK:   sym.read @w {{.*}}sym.device = 0
//       CHECK:   sym.read @w {{.*}}sym.device = 1
//       CHECK:   sym.read @w {{.*}}sym.device = 2
// Shards 0-1 and 2 here, 3 and 4-5 there, 6-7: added in the order of the tree over eight shards.
//       CHECK:   %[[A:.+]] = "sym.weight_gradient"({{.*}}count = 2 : i64, first = 0 : i64{{.*}}sym.device = 0
//       CHECK:   %[[B:.+]] = "sym.weight_gradient"({{.*}}count = 1 : i64, first = 2 : i64{{.*}}sym.device = 0
//       CHECK:   %[[C:.+]] = "sym.weight_gradient"({{.*}}count = 1 : i64, first = 3 : i64{{.*}}sym.device = 1
//       CHECK:   %[[D:.+]] = "sym.weight_gradient"({{.*}}count = 2 : i64, first = 4 : i64{{.*}}sym.device = 1
//       CHECK:   %[[E:.+]] = "sym.weight_gradient"({{.*}}count = 2 : i64, first = 6 : i64{{.*}}sym.device = 2
//       CHECK:   %[[BC:.+]] = sym.elemwise_add %[[B]], %[[C]] {sym.aggregate, sym.device = 0 : i64, sym.name = "aggregate"}
//       CHECK:   %[[ABC:.+]] = sym.elemwise_add %[[A]], %[[BC]] {sym.aggregate, sym.device = 0 : i64, sym.name = "aggregate"}
//       CHECK:   %[[DE:.+]] = sym.elemwise_add %[[D]], %[[E]] {sym.aggregate, sym.device = 0 : i64, sym.name = "aggregate"}
//       CHECK:   %[[ALL:.+]] = sym.elemwise_add %[[ABC]], %[[DE]] {sym.aggregate, sym.device = 0 : i64, sym.name = "aggregate"}
//       CHECK:   sym.gradient @w, %[[ALL]] {{.*}}{sym.device = 0 : i64, sym.devices = array<i64: 0, 1, 2>}
//   CHECK-NOT:   sym.gradient
//   CHECK-NOT: @"step@
// CHECK-LABEL: func.func @init()
//       CHECK:   %[[W:.+]] = sym.read @w {{.*}}sym.device = 0
//       CHECK:   sym.write @w, %[[W]] {{.*}}sym.device = 1
//       CHECK:   sym.write @w, %[[W]] {{.*}}sym.device = 2

// WORKERS: %[[ALL:.+]] = sym.elemwise_add
// WORKERS: sym.gradient @w, %[[ALL:.+]] {{.*}}{sym.device = 0 : i64, sym.devices = array<i64: 0>}
// WORKERS: sym.gradient @w, %[[ALL]] {{.*}}{sym.device = 1 : i64, sym.devices = array<i64: 1>}
// WORKERS: sym.gradient @w, %[[ALL]] {{.*}}{sym.device = 2 : i64, sym.devices = array<i64: 2>}

// Two parts on one device: one copy of the parameter, the second part after the first.
// TWICE: sym.parameter @w {{.*}}sym.devices = array<i64: 0>
// TWICE: sym.read
// TWICE-NOT: sym.read
// TWICE: "sym.weight_gradient"({{.*}}count = 4 : i64, first = 0 : i64{{.*}}sym.device = 0
// TWICE: sym.fully_connected
// TWICE: "sym.weight_gradient"({{.*}}count = 4 : i64, first = 4 : i64{{.*}}sym.device = 0
// TWICE-NOT: @init
func.func @net(%x: tensor<8x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"},
               %l: tensor<8x2xf32> {sym.dims = ["batch", ""], sym.name = "l", sym.role = "label"}) -> tensor<8x2xf32> {
  %w = sym.variable {name = "w"} : tensor<2x3xf32>
  %0 = sym.fully_connected %x, %w {no_bias = true, num_hidden = 2 : i64} : (tensor<8x3xf32>, tensor<2x3xf32>) -> tensor<8x2xf32>
  %1 = sym.linear_regression_output %0, %l : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
