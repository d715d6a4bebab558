// RUN: lstmc opt %s --lower-to-exec="devices=emu:0 fast=cublaslt next-inputs=false" --schedule=streams=2 --plan-memory --validate-plan | FileCheck %s

// Four products by a library, whose scratch is 256 bytes, 512 for the weights and a workspace of 4 MiB. They are on two streams; those of one
// stream share one workspace, although the other stream may run concurrently.
// CHECK: exec.buffer workspace "fully_connected.scratch" on 0 {offset = [[A:[0-9]+]] : i64} : memref<4195072xui8>
// CHECK: exec.buffer workspace "fully_connected.scratch" on 0 {offset = [[A]] : i64} : memref<4195072xui8>
// CHECK: exec.buffer workspace "fully_connected.scratch" on 0 {offset = [[B:[0-9]+]] : i64} : memref<4195072xui8>
// CHECK: exec.buffer workspace "fully_connected.scratch" on 0 {offset = [[A]] : i64} : memref<4195072xui8>
// CHECK: arena_bytes = array<i64: 8394752>
func.func @forward(%x: tensor<8x4xf32> {sym.name = "x", sym.role = "data"}, %a: tensor<20x4xf32> {sym.name = "a", sym.role = "data"}, %b: tensor<4x20xf32> {sym.name = "b", sym.role = "data"},
                   %c: tensor<20x4xf32> {sym.name = "c", sym.role = "data"}, %d: tensor<4x20xf32> {sym.name = "d", sym.role = "data"}) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = sym.fully_connected %x, %a {no_bias = true, num_hidden = 20 : i64} : (tensor<8x4xf32>, tensor<20x4xf32>) -> tensor<8x20xf32>
  %1 = sym.fully_connected %0, %b {no_bias = true, num_hidden = 4 : i64} : (tensor<8x20xf32>, tensor<4x20xf32>) -> tensor<8x4xf32>
  %2 = sym.fully_connected %x, %c {no_bias = true, num_hidden = 20 : i64} : (tensor<8x4xf32>, tensor<20x4xf32>) -> tensor<8x20xf32>
  %3 = sym.fully_connected %2, %d {no_bias = true, num_hidden = 4 : i64} : (tensor<8x20xf32>, tensor<4x20xf32>) -> tensor<8x4xf32>
  return %1, %3 : tensor<8x4xf32>, tensor<8x4xf32>
}
