// RUN: lstmc opt %s --split-input-file --make-entries=entries=forward,step | FileCheck %s
// RUN: lstmc opt %s --split-input-file --replicate=replicas=2 --make-entries=entries=forward,step --gradient --sync-parameters | FileCheck %s --check-prefix=PARTS
// RUN: lstmc opt %s --split-input-file --fix-parameters=patterns=m* --make-entries=entries=forward,step | FileCheck %s --check-prefix=FIXED

// Elsewhere than in training the state itself is read, and nothing is written; in training both uses renew it one after the other, and it is
// written once, to each device with a copy.
// CHECK-LABEL: func.func @forward
//   CHECK-NOT:   sym.mean
//       CHECK:   %[[M:.+]] = sym.read @m
//       CHECK:   sym.broadcast_sub %arg0, %[[M]]
//   CHECK-NOT:   sym.write
// CHECK-LABEL: func.func @step
//   CHECK-DAG:   %[[OLD:.+]] = sym.read @m
//   CHECK-DAG:   %[[MEAN:.+]] = sym.mean
//       CHECK:   %[[A:.+]] = sym.mul_scalar %[[OLD]] {{.*}}scalar = 9.0
//       CHECK:   %[[B:.+]] = sym.mul_scalar %[[MEAN]]
//       CHECK:   %[[ONE:.+]] = sym.elemwise_add %[[A]], %[[B]]
//       CHECK:   sym.mul_scalar %[[ONE]] {{.*}}scalar = 5.0
//       CHECK:   %[[TWO:.+]] = sym.elemwise_add
//       CHECK:   sym.write @m, %[[TWO]] : tensor<1x3xf32>
//   CHECK-NOT:   sym.write

//       PARTS: sym.parameter @m {{.*}}sym.devices = array<i64: 0, 1>
// PARTS-LABEL: func.func @step
//       PARTS:   sym.write @m, %[[NEW:.+]] : tensor<1x3xf32> {sym.device = 0 : i64}
//       PARTS:   sym.write @m, %[[NEW]] : tensor<1x3xf32> {sym.device = 1 : i64}
//   PARTS-NOT:   sym.write @m
//       PARTS: func.func @init
//       PARTS:   sym.write @m

// FIXED-LABEL: func.func @step
//   FIXED-NOT:   sym.write @m
func.func @net(%x: tensor<8x3xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"}) -> (tensor<8x3xf32> {sym.name = "loss"}) {
  %m = sym.variable {name = "m", role = "auxiliary"} : tensor<1x3xf32>
  %mean = sym.mean %x {axis = array<i64: 0>, keepdims = true} : (tensor<8x3xf32>) -> tensor<1x3xf32>
  sym.moving_average %m, %mean {momentum = 9.0e-01} : tensor<1x3xf32>
  sym.moving_average %m, %mean {momentum = 5.0e-01} : tensor<1x3xf32>
  %used = sym.by_mode %mean, %m : tensor<1x3xf32>
  %y = sym.broadcast_sub %x, %used : (tensor<8x3xf32>, tensor<1x3xf32>) -> tensor<8x3xf32>
  %0 = sym.make_loss %y : (tensor<8x3xf32>) -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
