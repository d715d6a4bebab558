// RUN: lstmc opt %s | lstmc opt | FileCheck %s --check-prefix=TEXT
// RUN: lstmc opt %s --mlir-print-op-generic | lstmc opt | FileCheck %s --check-prefix=TEXT
// RUN: lstmc opt %s --infer-shapes | FileCheck %s

!open = tensor<*x!sym.open>

// Types go into the body, round the state and out again: T=5, N=2, I=3, H=4. The weight is read from outside.
// TEXT-LABEL: func.func @forward
//       TEXT:   %[[R:.+]]:2 = sym.foreach data(%{{.+}}) states(%{{.+}}) {
//  TEXT-NEXT:   ^bb0(%[[X:.+]]: tensor<*x!sym.open>, %[[H:.+]]: tensor<*x!sym.open>):
//       TEXT:     sym.next %{{.+}}, %{{.+}} : tensor<*x!sym.open>, tensor<*x!sym.open>
//       TEXT:   } : (tensor<5x2x3xf32>, tensor<2x4xf32>) -> (tensor<*x!sym.open>, tensor<*x!sym.open>)
// CHECK-LABEL: func.func @forward
//  CHECK-SAME:   -> (tensor<5x2x4xf32>, tensor<2x4xf32>)
//       CHECK:   sym.variable {name = "w"} : tensor<4x3xf32>
//       CHECK:   ^bb0(%{{.+}}: tensor<2x3xf32>, %{{.+}}: tensor<2x4xf32>):
//       CHECK:     sym.next %{{.+}}, %{{.+}} : tensor<2x4xf32>, tensor<2x4xf32>
//       CHECK:   } : (tensor<5x2x3xf32>, tensor<2x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>)
func.func @forward(%x: tensor<5x2x3xf32>, %h: tensor<2x4xf32>) -> (!open, !open) {
  %w = sym.variable {name = "w"} : !open
  %y:2 = sym.foreach data(%x) states(%h) {
  ^bb0(%slice: !open, %state: !open):
    %a = sym.fully_connected %slice, %w {num_hidden = 4 : i64, no_bias = true} : (!open, !open) -> !open
    %n = sym.elemwise_add %a, %state : (!open, !open) -> !open
    sym.next %n, %n : !open, !open
  } : (tensor<5x2x3xf32>, tensor<2x4xf32>) -> (!open, !open)
  return %y#0, %y#1 : !open, !open
}

// Out of the body: the slice is added to a known value, so the data are known but for their steps, and those follow from the result.
// CHECK-LABEL: func.func @backward
//  CHECK-SAME:   (%{{.+}}: tensor<7x2x3xf32>, %{{.+}}: tensor<2x3xf32>) -> tensor<7x2x3xf32>
func.func @backward(%x: !open, %known: tensor<2x3xf32>) -> tensor<7x2x3xf32> {
  %y = sym.foreach data(%x) {
  ^bb0(%slice: !open):
    %n = sym.elemwise_add %slice, %known : (!open, tensor<2x3xf32>) -> !open
    sym.next %n : !open
  } : (!open) -> tensor<7x2x3xf32>
  return %y : tensor<7x2x3xf32>
}

// A loop in a loop.
// CHECK-LABEL: func.func @nested
//  CHECK-SAME:   -> (tensor<4x5x2xf32>, tensor<2xf32>)
func.func @nested(%x: tensor<4x5x2xf32>, %s: tensor<2xf32>) -> (!open, !open) {
  %y:2 = sym.foreach data(%x) states(%s) {
  ^bb0(%rows: !open, %outer: !open):
    %z:2 = sym.foreach data(%rows) states(%outer) {
    ^bb0(%row: !open, %inner: !open):
      %n = sym.elemwise_add %row, %inner : (!open, !open) -> !open
      sym.next %n, %n : !open, !open
    } : (!open, !open) -> (!open, !open)
    sym.next %z#0, %z#1 : !open, !open
  } : (tensor<4x5x2xf32>, tensor<2xf32>) -> (!open, !open)
  return %y#0, %y#1 : !open, !open
}
