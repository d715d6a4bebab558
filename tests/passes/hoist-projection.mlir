// RUN: lstmc opt %s --hoist-projection | FileCheck %s
// RUN: lstmc opt %s --hoist-projection=max-bytes=768 | FileCheck %s --check-prefix=CAPPED
// RUN: lstmc opt %s --hoist-projection=max-bytes=767 | FileCheck %s --check-prefix=TIGHT
// RUN: lstmc opt %s --hoist-projection="devices=gpu:0 max-bytes=8448" | FileCheck %s --check-prefix=GPU
// RUN: lstmc opt %s --hoist-projection="devices=gpu:0 max-bytes=8447" | FileCheck %s --check-prefix=TEN
// RUN: lstmc opt %s --hoist-projection="devices=gpu:0 max-bytes=2303" | FileCheck %s --check-prefix=TWO
// RUN: lstmc opt %s --hoist-projection="devices=gpu:0 max-bytes=767" | FileCheck %s --check-prefix=TIGHT

// B=48: 200 / 48 = 4 steps make about 200 rows. A step of B=48, 4 gates, H=1, f32 projects 48*4*4 = 768 bytes, so 768
// allow one step and 767 none; a single step is what runs without a chunk.
// On a GPU it is a product of its own: for all 10 steps, with one more for R h, or for as many as max-bytes allows.
// CHECK: chunk = 4 : i64
// GPU: chunk = 11 : i64
// TEN: chunk = 10 : i64
// TWO: chunk = 2 : i64
// CAPPED: "sym.rnn_layer"
// CAPPED-NOT: chunk
// TIGHT: "sym.rnn_layer"
// TIGHT-NOT: chunk
func.func @layer(%x: tensor<10x48x3xf32>, %w: tensor<4x3xf32>, %r: tensor<4x1xf32>) -> tensor<10x48x1xf32> {
  %y, %h, %c = "sym.rnn_layer"(%x, %w, %r) {mode = "lstm", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>,
      resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>}
    : (tensor<10x48x3xf32>, tensor<4x3xf32>, tensor<4x1xf32>) -> (tensor<10x48x1xf32>, tensor<48x1xf32>, tensor<48x1xf32>)
  return %y : tensor<10x48x1xf32>
}
