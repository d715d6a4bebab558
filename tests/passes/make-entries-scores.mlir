// RUN: lstmc opt %s --split-input-file --make-entries="entries=evaluate,step scores=true" | FileCheck %s
// RUN: lstmc opt %s --split-input-file --make-entries="entries=evaluate,step" | FileCheck %s --check-prefix=PLAIN

// Without `scores`, only measures are returned; an update returns the shorter record.
// PLAIN-LABEL: func.func @evaluate
// PLAIN-SAME:    -> (tensor<6x18xf64> {
// PLAIN-NOT:   scores
// PLAIN-LABEL: func.func @step
// PLAIN-SAME:    -> (tensor<6xf64> {

// Scores are the head's value for the second of two classes, and 1 for a label of that class, 0 for others, minus 2 for ignored labels.
// CHECK-LABEL: func.func @evaluate
// CHECK-SAME:    %[[L:.+]]: tensor<6x3xi32>
// CHECK-SAME:    -> (tensor<6x18xf64> {{[{].*}}sym.classes = 2 : i64{{.*}}sym.scores = "p_scores"{{.*}}, tensor<2x1x6x3xf64> {sym.name = "p_scores", sym.role = "scores"})
// CHECK:         %[[P:.+]] = sym.softmax_output
// CHECK:         sym.softmax_metric
// CHECK:         %[[TRUE:.+]] = sym.equal_scalar %{{.+}} {scalar = 1.000000e+00 : f64}
// CHECK:         %[[LEFT:.+]] = sym.equal_scalar %{{.+}} {scalar = 3.000000e+00 : f64}
// CHECK:         %[[TWICE:.+]] = sym.mul_scalar %[[LEFT]] {scalar = 2.000000e+00 : f64}
// CHECK:         sym.elemwise_sub %[[TRUE]], %[[TWICE]]
// CHECK:         sym.slice_axis %[[P]] {axis = 2 : i64, begin = 1 : i64, end = 2 : i64}
// CHECK:         sym.concat
// CHECK-LABEL: func.func @step
// CHECK-SAME:    -> (tensor<6xf64> {
// CHECK-NOT:     scores
func.func @classes(%x: tensor<6x3x2xf32> {sym.role = "data", sym.name = "x"},
                   %l: tensor<6x3xi32> {sym.role = "label", sym.name = "l"}) -> (tensor<6x3x2xf32> {sym.name = "p"}) {
  %p = sym.softmax_output %x, %l {preserve_shape = true, use_ignore = true, ignore_label = 3.0} : (tensor<6x3x2xf32>, tensor<6x3xi32>) -> tensor<6x3x2xf32>
  return %p : tensor<6x3x2xf32>
}

// -----

// More than two classes have no scores, and regression heads have none.
// CHECK-LABEL: func.func @evaluate
// CHECK-SAME:    -> (tensor<6x18xf64> {{[{].*}}sym.classes = 5 : i64{{.*}}, tensor<6x18xf64> {{[{].*}}sym.classes = 0 : i64{{.*}}, tensor<6x18xf64> {{[{].*}}sym.classes = 2 : i64{{.*}}, tensor<2x1x6x5xf64>
// CHECK:         sym.greater_scalar %{{.+}} {scalar = 5.000000e-01 : f64}
func.func @more(%x: tensor<6x5xf32> {sym.role = "data", sym.name = "x"},
                %l: tensor<6xi32> {sym.role = "label", sym.name = "l"},
                %t: tensor<6x5xf32> {sym.role = "label", sym.name = "t"})
    -> (tensor<6x5xf32> {sym.name = "p"}, tensor<6x5xf32> {sym.name = "v"}, tensor<6x5xf32> {sym.name = "q"}) {
  %p = sym.softmax_output %x, %l : (tensor<6x5xf32>, tensor<6xi32>) -> tensor<6x5xf32>
  %v = sym.linear_regression_output %x, %t : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  %q = sym.logistic_regression_output %x, %t : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  return %p, %v, %q : tensor<6x5xf32>, tensor<6x5xf32>, tensor<6x5xf32>
}
