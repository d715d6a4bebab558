// RUN: lstmc opt %s --split-input-file --verify-diagnostics

// scalar:operands
func.func @f(%x: tensor<2xf32>) {
  %y = sym.fused %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    // expected-error@+1 {{add reads 2 operands, got 1}}
    %r = sym.scalar add %a : f32
    sym.yield %r : f32
  }
  return
}

// -----
// scalar:types
func.func @f(%x: tensor<2xf32>) {
  %y = sym.fused %x : (tensor<2xf32>) -> tensor<2xf64> {
  ^bb0(%a: f32):
    // expected-error@+1 {{exp makes 'f32', not 'f64'}}
    %r = sym.scalar exp %a : (f32) -> f64
    sym.yield %r : f64
  }
  return
}

// -----
// scalar:immediate
func.func @f(%x: tensor<2xf32>) {
  %y = sym.fused %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    // expected-error@+1 {{constant needs an immediate}}
    %r = sym.scalar constant : f32
    sym.yield %r : f32
  }
  return
}

// -----
func.func @f(%x: tensor<2xf32>) {
  %y = sym.fused %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    // expected-error@+1 {{no scalar operation is named "sine"}}
    %r = sym.scalar sine %a : f32
    sym.yield %r : f32
  }
  return
}

// -----
// fused:shape
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{operand 0 is 'tensor<2xf32>', which does not stretch to 'tensor<3xf32>'}}
  %y = sym.fused %x : (tensor<2xf32>) -> tensor<3xf32> {
  ^bb0(%a: f32):
    sym.yield %a : f32
  }
  return
}

// -----
// fused:arguments
func.func @f(%x: tensor<2xf16>) {
  // expected-error@+1 {{reads 'tensor<2xf16>' as 'f64', want 'f32'}}
  %y = sym.fused %x : (tensor<2xf16>) -> tensor<2xf64> {
  ^bb0(%a: f64):
    sym.yield %a : f64
  }
  return
}

// -----
// fused:yield
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{has 1 results and yields 2}}
  %y = sym.fused %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    sym.yield %a, %a : f32, f32
  }
  return
}

// -----
// fused:body
func.func @f(%x: tensor<2xf32>) {
  %y = sym.fused %x : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: f32):
    // expected-error@+1 {{stands in sym.fused, which holds sym.scalar only}}
    %z = sym.zeros {shape = array<i64: 2>} : tensor<2xf32>
    sym.yield %a : f32
  }
  return
}

// -----
// fused:window
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has a window of 4 elements for a result of 6}}
  %y = sym.fused %x {window = array<i64: 0, 2, 8, 2, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%a: f32):
    sym.yield %a : f32
  }
  return
}
