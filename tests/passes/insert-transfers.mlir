// RUN: lstmc opt %s --insert-transfers | FileCheck %s

sym.parameter @w : tensor<4xf32> {sym.devices = array<i64: 0, 1>}
sym.state @h : tensor<2x2xf32>

// A value is sent as soon as it is computed, once per device; an input is sent right before it is read; zeros are recreated by the readers.
// CHECK-LABEL: func.func @step(%arg0: tensor<4xf32>
//       CHECK:   %[[A:.+]] = sym.tanh %arg0
//  CHECK-NEXT:   sym.send %[[A]] {message = 0 : i64, peer = 1 : i64}
//       CHECK:   sym.send %arg0 {message = 2 : i64, peer = 2 : i64, sym.name = "x"}
//  CHECK-NEXT:   %[[C:.+]] = sym.receive {message = 3 : i64, peer = 2 : i64}
//  CHECK-NEXT:   sym.write @w, %[[C]]
//  CHECK-NEXT:   return %[[C]]
// CHECK-LABEL: func.func @"step@1"() attributes {sym.device = 1 : i64}
//  CHECK-NEXT:   %[[A:.+]] = sym.receive {message = 0 : i64, peer = 0 : i64}
//       CHECK:   %[[Z:.+]] = sym.full
//  CHECK-NEXT:   %[[S:.+]] = sym.elemwise_add %[[A]], %[[Z]]
//  CHECK-NEXT:   %[[B:.+]] = sym.elemwise_mul %[[S]], %[[A]]
//  CHECK-NEXT:   sym.send %[[B]] {message = 1 : i64, peer = 2 : i64}
// A value that is only written is sent after all others.
//  CHECK-NEXT:   %[[C:.+]] = sym.receive {message = 4 : i64, peer = 2 : i64, sym.committed}
//  CHECK-NEXT:   sym.write @w, %[[C]]
// CHECK-LABEL: func.func @"step@2"() attributes {sym.device = 2 : i64}
//  CHECK-NEXT:   %[[B:.+]] = sym.receive {message = 1 : i64, peer = 1 : i64}
//  CHECK-NEXT:   %[[X:.+]] = sym.receive {message = 2 : i64, peer = 0 : i64, sym.name = "x"}
//  CHECK-NEXT:   %[[C:.+]] = sym.elemwise_sub %[[B]], %[[X]]
//  CHECK-NEXT:   sym.send %[[C]] {message = 3 : i64, peer = 0 : i64}
//  CHECK-NEXT:   sym.send %[[C]] {message = 4 : i64, peer = 1 : i64, sym.committed}
func.func @step(%x: tensor<4xf32> {sym.name = "x", sym.role = "data"}) -> tensor<4xf32> {
  %a = sym.tanh %x {sym.device = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %z = sym.full {shape = array<i64: 4>, value = 0.0 : f64, sym.device = 0 : i64} : tensor<4xf32>
  %s = sym.elemwise_add %a, %z {sym.device = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = sym.elemwise_mul %s, %a {sym.device = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = sym.elemwise_sub %b, %x {sym.device = 2 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  sym.write @w, %c : tensor<4xf32> {sym.device = 0 : i64}
  sym.write @w, %c : tensor<4xf32> {sym.device = 1 : i64}
  return %c : tensor<4xf32>
}

// A part of a state is sent, received and joined after the commit, although it is available before.
// CHECK-LABEL: func.func @states(
//       CHECK:   %[[A:.+]] = sym.tanh
//       CHECK:   sym.receive {message = [[M:.+]] : i64, peer = 1 : i64, sym.committed}
//       CHECK:   sym.concat %[[A]], {{.+}} sym.committed
//       CHECK:   sym.write @h
// CHECK-LABEL: func.func @"states@1"
//       CHECK:   %[[A:.+]] = sym.tanh
//       CHECK:   sym.send %[[A]] {message = [[M]] : i64, peer = 0 : i64, sym.committed}
func.func @states(%x: tensor<1x2xf32> {sym.name = "x", sym.role = "data"}) -> tensor<1x2xf32> {
  %a = sym.tanh %x {sym.device = 0 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %b = sym.tanh %x {sym.device = 1 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %h = sym.concat %a, %b {dim = 0 : i64, sym.device = 0 : i64} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
  sym.write @h, %h : tensor<2x2xf32> {sym.device = 0 : i64}
  return %a : tensor<1x2xf32>
}

// A value that is only added to another sum is sent when that sum is complete, so that the receiver can do its own work first.
// CHECK-LABEL: func.func @sums(
//       CHECK:   %[[A:.+]] = sym.tanh
//  CHECK-NEXT:   sym.send %arg0 {message = 0 : i64, peer = 1 : i64, sym.name = "x"}
//  CHECK-NEXT:   %[[B:.+]] = sym.sigmoid
//  CHECK-NEXT:   %[[R:.+]] = sym.receive {message = 1 : i64, peer = 1 : i64}
//  CHECK-NEXT:   %[[S:.+]] = sym.elemwise_add %[[A]], %[[R]] {sym.aggregate}
// CHECK-LABEL: func.func @"sums@1"
//       CHECK:   sym.receive {message = 0 : i64, peer = 0 : i64, sym.name = "x"}
//  CHECK-NEXT:   %[[A:.+]] = sym.tanh
//  CHECK-NEXT:   %[[B:.+]] = sym.sigmoid
//  CHECK-NEXT:   sym.send %[[A]] {message = 1 : i64, peer = 0 : i64}
func.func @sums(%x: tensor<4xf32> {sym.name = "x", sym.role = "data"}) -> tensor<4xf32> {
  %a = sym.tanh %x {sym.device = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %c = sym.tanh %x {sym.device = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = sym.sigmoid %a {sym.device = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %d = sym.sigmoid %c {sym.device = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %s = sym.elemwise_add %a, %c {sym.device = 0 : i64, sym.aggregate} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  sym.write @w, %d : tensor<4xf32> {sym.device = 1 : i64}
  sym.write @w, %b : tensor<4xf32> {sym.device = 0 : i64}
  return %s : tensor<4xf32>
}

// Two owners of sums: each sends its part of the other's sum, and the sum that it needs itself, before it waits.
// CHECK-LABEL: func.func @owners(
//       CHECK:   %[[A:.+]] = sym.tanh
//  CHECK-NEXT:   %[[B:.+]] = sym.sigmoid
//       CHECK:   %[[P:.+]] = sym.elemwise_add %[[A]], %[[B]] {sym.aggregate}
//  CHECK-NEXT:   sym.send %[[P]] {message = 2 : i64, peer = 1 : i64}
//  CHECK-NEXT:   %[[R:.+]] = sym.receive {message = 1 : i64, peer = 1 : i64}
//  CHECK-NEXT:   sym.elemwise_add %[[A]], %[[R]] {sym.aggregate}
// CHECK-LABEL: func.func @"owners@1"
//       CHECK:   %[[C:.+]] = sym.tanh
//  CHECK-NEXT:   sym.send %[[C]] {message = 1 : i64, peer = 0 : i64}
//  CHECK-NEXT:   %[[Q:.+]] = sym.receive {message = 2 : i64, peer = 0 : i64}
//  CHECK-NEXT:   sym.elemwise_add %[[C]], %[[Q]] {sym.aggregate}
func.func @owners(%x: tensor<4xf32> {sym.name = "x", sym.role = "data"}) -> tensor<4xf32> {
  %a = sym.tanh %x {sym.device = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %b = sym.sigmoid %x {sym.device = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %c = sym.tanh %x {sym.device = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %s = sym.elemwise_add %a, %c {sym.device = 0 : i64, sym.aggregate} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %p = sym.elemwise_add %a, %b {sym.device = 0 : i64, sym.aggregate} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = sym.elemwise_add %c, %p {sym.device = 1 : i64, sym.aggregate} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  sym.write @w, %t : tensor<4xf32> {sym.device = 1 : i64}
  return %s : tensor<4xf32>
}
