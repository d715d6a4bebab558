// RUN: lstmc opt %s --split-input-file --verify-diagnostics

exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %x = exec.buffer activation "x" on 0 : memref<4xf32>
    // expected-error @below {{no kernel is named "copie"}}
    exec.launch "copie"(%x, %x) : memref<4xf32>, memref<4xf32>
  }
}

// -----

exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %x = exec.buffer activation "x" on 0 : memref<4xf32>
    // expected-error @below {{has 1 operands, kernel "copy" takes 2}}
    exec.launch "copy"(%x) : memref<4xf32>
  }
}

// -----

exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %x = exec.buffer activation "x" on 0 : memref<4xf32>
    // expected-error @below {{lacks operand y of kernel "copy"}}
    exec.launch "copy"(%x, _) : memref<4xf32>
  }
}

// -----

// A pair is missing its second half.
exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %x = exec.buffer activation "x" on 0 : memref<4x4xf32>
    // expected-error @below {{has 4 operands, kernel "weight_gradient" takes 3 and groups more}}
    exec.launch "weight_gradient"(%x, _, _, %x) ints [4, 8, 0, 8] : memref<4x4xf32>, memref<4x4xf32>
  }
}

// -----

exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %x = exec.buffer activation "x" on 0 : memref<4xf32>
    // expected-error @below {{has 0 ints and 0 floats, kernel "fill" takes 0 and 1}}
    exec.launch "fill"(%x) : memref<4xf32>
  }
}

// -----

// Elements 1, 3 and 5 of 5 elements: one too far.
exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %x = exec.buffer activation "x" on 0 : memref<5xf32>
    // expected-error @below {{operand y reaches elements 1 to 6 of 5}}
    exec.launch "fill"(%x[1 : 3 : 2]) floats [0.0] : memref<5xf32>
  }
}

// -----

exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %x = exec.buffer activation "x" on 0 : memref<5xf32>
    // expected-error @below {{a view has as many strides as extents}}
    exec.launch "fill"(%x[0 : 5, 1 : 1]) floats [0.0] : memref<5xf32>
  }
}

// -----

exec.plan ["cpu:0"] {
  exec.fused 0 {
  ^bb0(%x: f32):
    // expected-error @below {{has 1 operands, "add" takes 2}}
    %0 = exec.scalar "add"(%x) : (f32) -> f32
    exec.results %0 to [0] : f32
  }
}

// -----

exec.plan ["cpu:0"] {
  exec.fused 0 {
  ^bb0(%x: f32):
    // expected-error @below {{stores to operand 1 of 1}}
    exec.results %x to [1] : f32
  }
}

// -----

exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %x = exec.buffer activation "x" on 0 : memref<4xf32>
    // expected-error @below {{is on stream 8, want 0 to 7}}
    exec.launch "fill"(%x) floats [0.0] {stream = 8 : i64} : memref<4xf32>
  }
}

// -----

exec.plan ["cpu:0"] {
  %w = exec.buffer parameter "w" on 0 : memref<4xf32>
  // expected-error @below {{`next of` must name an input buffer on the same device}}
  %n = exec.buffer input "n" on 0 next of %w : memref<4xf32>
}
