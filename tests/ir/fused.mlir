// RUN: lstmc opt %s | lstmc opt | FileCheck %s

// Operands broadcast; f16 is computed in f32; a comparison returns i1.
// CHECK-LABEL: func @fused
// CHECK:         sym.fused %{{.+}}, %{{.+}} : (tensor<2x3xf16>, tensor<3xf32>) -> tensor<2x3xf16> {
// CHECK-NEXT:    ^bb0(%[[A:.+]]: f32, %[[B:.+]]: f32):
// CHECK-NEXT:      %[[ONE:.+]] = sym.scalar constant {immediate = 1.000000e+00 : f64} : f32
// CHECK-NEXT:      %[[SUM:.+]] = sym.scalar fma %[[A]], %[[B]], %[[ONE]] : f32
// CHECK-NEXT:      %[[LESS:.+]] = sym.scalar less %[[A]], %[[B]] : (f32, f32) -> i1
// CHECK-NEXT:      %[[Y:.+]] = sym.scalar select %[[LESS]], %[[SUM]], %[[ONE]] : (i1, f32, f32) -> f32
// CHECK-NEXT:      sym.yield %[[Y]] : f32
func.func @fused(%x: tensor<2x3xf16>, %z: tensor<3xf32>) -> tensor<2x3xf16> {
  %y = sym.fused %x, %z : (tensor<2x3xf16>, tensor<3xf32>) -> tensor<2x3xf16> {
  ^bb0(%a: f32, %b: f32):
    %one = sym.scalar constant {immediate = 1.0} : f32
    %sum = sym.scalar fma %a, %b, %one : f32
    %less = sym.scalar less %a, %b : (f32, f32) -> i1
    %r = sym.scalar select %less, %sum, %one : (i1, f32, f32) -> f32
    sym.yield %r : f32
  }
  return %y : tensor<2x3xf16>
}
