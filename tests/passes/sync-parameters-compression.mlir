// RUN: lstmc opt %s --replicate=replicas=4 --make-entries=entries=step --gradient --sync-parameters="local=true workers=0,0,1,1 threshold=0.25" \
// RUN:   | FileCheck %s
// RUN: lstmc opt %s --replicate=replicas=4 --make-entries=entries=step --gradient --sync-parameters="local=true workers=0,0,0,0 threshold=0.25" \
// RUN:   | FileCheck %s --check-prefix=ALONE

// Two processes of two devices each: a process adds its gradients on its first device, adds its residual and sends 0.25, -0.25 or 0
// per element; the first device adds what both send. Metrics are not compressed.
// CHECK: sym.slot @w.residual0 of @w "residual0" : tensor<2x50xf32> {sym.devices = array<i64: 0>}
// CHECK: sym.slot @w.residual1 of @w "residual1" : tensor<2x50xf32> {sym.devices = array<i64: 2>}
// CHECK-LABEL: func.func @step(
// CHECK: %[[A:.+]] = sym.elemwise_add %{{.+}}, %{{.+}} {sym.aggregate, sym.device = 0 : i64, sym.name = "aggregate"} : (tensor<2x50xf32>
// CHECK: %[[KA:.+]] = sym.read @w.residual0 : tensor<2x50xf32> {sym.device = 0 : i64}
// CHECK: %[[GA:.+]]:2 = sym.fused %[[A]], %[[KA]] {sym.device = 0 : i64, sym.name = "compress"}
// CHECK: sym.scalar greater_equal
// CHECK: sym.write @w.residual0, %[[GA]]#1 : tensor<2x50xf32> {sym.device = 0 : i64}
// CHECK: %[[B:.+]] = sym.elemwise_add %{{.+}}, %{{.+}} {sym.aggregate, sym.device = 2 : i64, sym.name = "aggregate"} : (tensor<2x50xf32>
// CHECK: %[[KB:.+]] = sym.read @w.residual1 : tensor<2x50xf32> {sym.device = 2 : i64}
// CHECK: %[[GB:.+]]:2 = sym.fused %[[B]], %[[KB]] {sym.device = 2 : i64, sym.name = "compress"}
// CHECK: sym.write @w.residual1, %[[GB]]#1 : tensor<2x50xf32> {sym.device = 2 : i64}
// CHECK: %[[SUM:.+]] = sym.elemwise_add %[[GA]]#0, %[[GB]]#0 {sym.aggregate, sym.device = 0 : i64, sym.name = "aggregate"} : (tensor<2x50xf32>
// CHECK: sym.gradient @w, %[[SUM]]

// One process has all parts.
// ALONE-NOT: residual
// ALONE-NOT: compress
// ALONE: sym.gradient @w, %{{.+}} : tensor<2x50xf32> {sym.device = 0 : i64
// ALONE-NOT: residual
// ALONE-NOT: compress
func.func @net(%x: tensor<8x50xf32> {sym.dims = ["batch", ""], sym.name = "x", sym.role = "data"},
               %l: tensor<8x2xf32> {sym.dims = ["batch", ""], sym.name = "l", sym.role = "label"}) -> tensor<8x2xf32> {
  %w = sym.variable {name = "w"} : tensor<2x50xf32>
  %0 = sym.fully_connected %x, %w {no_bias = true, num_hidden = 2 : i64} : (tensor<8x50xf32>, tensor<2x50xf32>) -> tensor<8x2xf32>
  %1 = sym.linear_regression_output %0, %l : (tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  return %1 : tensor<8x2xf32>
}
