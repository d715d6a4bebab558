// RUN: lstmc opt %s --split-input-file --verify-diagnostics

// foreach:data
func.func @data(%s: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{has no data, whose axis 0 would be its steps}}
  %y = sym.foreach data() states(%s) {
  ^bb0(%a: tensor<2xf32>):
    sym.next %a : tensor<2xf32>
  } : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// foreach:arguments
func.func @arguments(%x: tensor<5x2xf32>, %s: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{has 1 arguments of its body, want 2, one for each of data and states}}
  %y = sym.foreach data(%x) states(%s) {
  ^bb0(%a: tensor<2xf32>):
    sym.next %a : tensor<2xf32>
  } : (tensor<5x2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// foreach:next
func.func @next(%x: tensor<5x2xf32>, %s: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{has 1 results and 1 states, its body gives 2 values}}
  %y = sym.foreach data(%x) states(%s) {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    sym.next %a, %b : tensor<2xf32>, tensor<2xf32>
  } : (tensor<5x2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// foreach:steps
func.func @steps(%x: tensor<5x2xf32>, %z: tensor<4x2xf32>) -> tensor<5x2xf32> {
  // expected-error @below {{steps}}
  %y = sym.foreach data(%x, %z) {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    sym.next %a : tensor<2xf32>
  } : (tensor<5x2xf32>, tensor<4x2xf32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

// -----

// foreach:slice
func.func @slice(%x: tensor<5x2xf32>) -> tensor<5x3xf32> {
  // expected-error @below {{elements}}
  %y = sym.foreach data(%x) {
  ^bb0(%a: tensor<3xf32>):
    sym.next %a : tensor<3xf32>
  } : (tensor<5x2xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

// foreach:state
func.func @state(%x: tensor<5x2xf32>, %s: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{float32[2]}}
  %y = sym.foreach data(%x) states(%s) {
  ^bb0(%a: tensor<2xf32>, %b: tensor<3xf32>):
    sym.next %a : tensor<2xf32>
  } : (tensor<5x2xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

// foreach:outside
func.func @outside(%x: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %y = sym.foreach data(%x) {
  ^bb0(%a: tensor<2xf32>):
    // expected-error @below {{stands in the body of a loop, want it before the loop}}
    %w = sym.variable {name = "w"} : tensor<2xf32>
    %n = sym.elemwise_add %a, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    sym.next %n : tensor<2xf32>
  } : (tensor<5x2xf32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}
