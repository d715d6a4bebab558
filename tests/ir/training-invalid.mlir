// RUN: lstmc opt %s --split-input-file --verify-diagnostics

func.func @f(%dy: tensor<4x5xf32>) {
  // expected-error@+1 {{sums shards from 6 on, 3 of them, of 8}}
  %db = sym.bias_gradient %dy {outer = array<i64: 1>, batch = 20 : i64, inner = array<i64: 1>, shards = 8 : i64, first = 6 : i64, count = 3 : i64} : (tensor<4x5xf32>) -> tensor<5xf32>
  return
}

// -----
// A sum of two shards cannot continue another sum, because each shard would need one.
func.func @f(%dy: tensor<4x5xf32>, %b: tensor<5xf32>) {
  // expected-error@+1 {{continues a sum, so it must sum one shard, not 2}}
  %db = sym.bias_gradient %dy from %b : tensor<5xf32> {outer = array<i64: 1>, batch = 4 : i64, inner = array<i64: 1>, shards = 2 : i64} : (tensor<4x5xf32>) -> tensor<5xf32>
  return
}

// -----
func.func @f(%dy: tensor<4x5xf32>, %b: tensor<6xf32>) {
  // expected-error@+1 {{continues a sum of 'tensor<6xf32>' with 'tensor<5xf32>'}}
  %db = sym.bias_gradient %dy from %b : tensor<6xf32> {outer = array<i64: 1>, batch = 4 : i64, inner = array<i64: 1>, shards = 1 : i64} : (tensor<4x5xf32>) -> tensor<5xf32>
  return
}

// -----
// All shards, but not from the first one.
func.func @f(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{sums shards from 1 on, 8 of them, of 8}}
  %m = sym.loss_metric %x {valid = false, valid_thresh = 0.0, scale = 1.0, outer = 1 : i64, batch = 20 : i64, inner = 5 : i64, shards = 8 : i64, first = 1 : i64} : (tensor<4x5xf32>) -> tensor<6xf64>
  return
}

// -----
// With 3 rows in 8 shards, shards 3 and 4 have none.
func.func @f(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{sums shards without rows}}
  %m = sym.loss_metric %x {valid = false, valid_thresh = 0.0, scale = 1.0, outer = 1 : i64, batch = 3 : i64, inner = 5 : i64, shards = 8 : i64, first = 3 : i64, count = 2 : i64} : (tensor<4x5xf32>) -> tensor<6xf64>
  return
}

// -----
func.func @f(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{sums a batch of 4 rows in 0 shards}}
  %m = sym.loss_metric %x {valid = false, valid_thresh = 0.0, scale = 1.0, outer = 1 : i64, batch = 4 : i64, inner = 5 : i64, shards = 0 : i64} : (tensor<4x5xf32>) -> tensor<6xf64>
  return
}

// -----
func.func @f(%s: tensor<1xi64>) {
  // expected-error@+1 {{has a window of 2 numbers, want an offset and pairs}}
  %m = sym.dropout_mask %s, %s {p = 2.0e-01, ordinal = 7 : i64, window = array<i64: 0, 6>} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  return
}

// -----
func.func @f(%s: tensor<1xi64>) {
  // expected-error@+1 {{has a window that reaches below 0 or above 281474976710656}}
  %m = sym.dropout_mask %s, %s {p = 2.0e-01, ordinal = 7 : i64, window = array<i64: 0, 2, 3, 3, -1>} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  return
}
