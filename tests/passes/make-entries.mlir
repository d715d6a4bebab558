// RUN: lstmc opt %s --split-input-file --make-entries="entries=forward,evaluate" | FileCheck %s

// forward: the result of the head without a label, from the same kernel and so with the same bits; no label is read.
// CHECK-LABEL: func.func @forward
// CHECK-SAME:    (%[[X:.+]]: tensor<6x2x5xf32> {{[^%]*}}) -> (tensor<6x2x5xf32>
// CHECK-NEXT:    %[[P:.+]] = sym.softmax %[[X]] {axis = 2 : i64{{.*}}}
// CHECK-NEXT:    return %[[P]]
// evaluate: metrics computed with the label.
// CHECK-LABEL: func.func @evaluate
// CHECK-SAME:    (%{{.+}}: tensor<6x2x5xf32> {{[^%]*}}, %[[L:.+]]: tensor<6x2xi32>
// CHECK:         sym.softmax_metric %{{.+}}, %[[L]]
func.func @preserved(%x: tensor<6x2x5xf32> {sym.role = "data", sym.name = "x"},
                     %l: tensor<6x2xi32> {sym.role = "label", sym.name = "l"}) -> tensor<6x2x5xf32> {
  %p = sym.softmax_output %x, %l {preserve_shape = true} : (tensor<6x2x5xf32>, tensor<6x2xi32>) -> tensor<6x2x5xf32>
  return %p : tensor<6x2x5xf32>
}

// -----

// Without flags all axes but the first are one.
// CHECK-LABEL: func.func @forward
// CHECK-SAME:    (%[[X:.+]]: tensor<6x2x5xf32> {{[^%]*}}) ->
// CHECK-NEXT:    %[[ROWS:.+]] = sym.reshape %[[X]] {{.*}} -> tensor<6x10xf32>
// CHECK-NEXT:    %[[P:.+]] = sym.softmax %[[ROWS]] {axis = 1 : i64{{.*}}}
// CHECK-NEXT:    %[[BACK:.+]] = sym.reshape %[[P]] {{.*}} -> tensor<6x2x5xf32>
// CHECK-NEXT:    return %[[BACK]]
func.func @flat(%x: tensor<6x2x5xf32> {sym.role = "data", sym.name = "x"},
                %l: tensor<6xi32> {sym.role = "label", sym.name = "l"}) -> tensor<6x2x5xf32> {
  %p = sym.softmax_output %x, %l : (tensor<6x2x5xf32>, tensor<6xi32>) -> tensor<6x2x5xf32>
  return %p : tensor<6x2x5xf32>
}

// -----

// CHECK-LABEL: func.func @forward
// CHECK-SAME:    (%[[X:.+]]: tensor<6x2x5xf32> {{[^%]*}}) ->
// CHECK-NEXT:    sym.softmax %[[X]] {axis = 1 : i64{{.*}}}
func.func @positions(%x: tensor<6x2x5xf32> {sym.role = "data", sym.name = "x"},
                     %l: tensor<6x5xi32> {sym.role = "label", sym.name = "l"}) -> tensor<6x2x5xf32> {
  %p = sym.softmax_output %x, %l {multi_output = true} : (tensor<6x2x5xf32>, tensor<6x5xi32>) -> tensor<6x2x5xf32>
  return %p : tensor<6x2x5xf32>
}

// -----

// The value of this head is the loss itself: its label stays.
// CHECK-LABEL: func.func @forward
// CHECK-SAME:    (%[[X:.+]]: tensor<6x5xf32> {{[^%]*}}, %[[L:.+]]: tensor<6xi32>
// CHECK-NEXT:    sym.softmax_cross_entropy %[[X]], %[[L]]
func.func @entropy(%x: tensor<6x5xf32> {sym.role = "data", sym.name = "x"},
                   %l: tensor<6xi32> {sym.role = "label", sym.name = "l"}) -> tensor<1xf32> {
  %y = sym.softmax_cross_entropy %x, %l : (tensor<6x5xf32>, tensor<6xi32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// -----

// CHECK-LABEL: func.func @forward
// CHECK-SAME:    (%[[X:.+]]: tensor<6x1xf32> {{[^%]*}}) ->
// CHECK-NEXT:    %[[T:.+]] = sym.tanh %[[X]]
// CHECK-NEXT:    %[[S:.+]] = sym.sigmoid %[[X]]
// CHECK-NEXT:    return %[[T]], %[[T]], %[[S]]
func.func @regression(%x: tensor<6x1xf32> {sym.role = "data", sym.name = "x"},
                      %l: tensor<6x1xf32> {sym.role = "label", sym.name = "l"})
    -> (tensor<6x1xf32>, tensor<6x1xf32>, tensor<6x1xf32>) {
  %t = sym.tanh %x : (tensor<6x1xf32>) -> tensor<6x1xf32>
  %a = sym.linear_regression_output %t, %l : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xf32>
  %b = sym.mae_regression_output %t, %l : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xf32>
  %c = sym.logistic_regression_output %x, %l : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xf32>
  return %a, %b, %c : tensor<6x1xf32>, tensor<6x1xf32>, tensor<6x1xf32>
}
