// RUN: lstmc opt %s --validate-plan --split-input-file --verify-diagnostics

// One case for each error that a plan can have; everything else in it is right.

exec.plan ["cpu:0"] {
  // expected-error @below {{'exec.buffer' op is at 32, want a multiple of 64 from 0 on}}
  %w = exec.buffer parameter "w" on 0 {offset = 32 : i64} : memref<16xf32>
} {arena_bytes = array<i64: 128>}

// -----

// Its end, computed in 64 bits without a sign, would wrap around to 0.
exec.plan ["cpu:0"] {
  // expected-error @below {{'exec.buffer' op is at -64, want a multiple of 64 from 0 on}}
  %w = exec.buffer parameter "w" on 0 {offset = -64 : i64} : memref<16xf32>
} {arena_bytes = array<i64: 128>}

// -----

exec.plan ["cpu:0"] {
  // expected-error @below {{'exec.buffer' op ends at byte 192 of an arena of 128}}
  %w = exec.buffer parameter "w" on 0 {offset = 128 : i64} : memref<16xf32>
} {arena_bytes = array<i64: 128>}

// -----

exec.plan ["cpu:0"] {
  %w = exec.buffer parameter "w" on 0 {offset = 0 : i64} : memref<32xf32>
  // expected-error @below {{'exec.buffer' op overlaps "w", and both keep their contents}}
  %v = exec.buffer parameter "v" on 0 {offset = 64 : i64} : memref<16xf32>
} {arena_bytes = array<i64: 128>}

// -----

// b is written over the last bytes of a, which is read afterwards.
exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %a = exec.buffer activation "a" on 0 {offset = 0 : i64} : memref<17xf32>
    %b = exec.buffer activation "b" on 0 {offset = 64 : i64} : memref<16xf32>
    %c = exec.buffer output "c" on 0 {offset = 128 : i64} : memref<17xf32>
    exec.launch "fill"(%a) floats [0.0] : memref<17xf32>
    exec.launch "fill"(%b) floats [0.0] : memref<16xf32>
    // expected-error @below {{'exec.launch' op reads "a", whose memory "b" has taken}}
    exec.launch "copy"(%a, %c) : memref<17xf32>, memref<17xf32>
    exec.output "c" "output" = %c dims [] : memref<17xf32>
  }
} {arena_bytes = array<i64: 256>}

// -----

exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %a = exec.buffer activation "a" on 0 {offset = 0 : i64} : memref<16xf32>
    %c = exec.buffer output "c" on 0 {offset = 64 : i64} : memref<16xf32>
    exec.launch "fill"(%a[0 : 15 : 1]) floats [0.0] : memref<16xf32>
    // expected-error @below {{'exec.launch' op reads "a" before all of it is written}}
    exec.launch "copy"(%a, %c) : memref<16xf32>, memref<16xf32>
    exec.output "c" "output" = %c dims [] : memref<16xf32>
  }
} {arena_bytes = array<i64: 128>}

// -----

// The bytes of a parameter are overwritten when the entry ends.
exec.plan ["cpu:0"] {
  %w = exec.buffer parameter "w" on 0 {offset = 0 : i64} : memref<16xf32>
  // expected-error @below {{'exec.program' op reads "w", whose memory "a" has taken}}
  exec.program "forward" on 0 {
    %a = exec.buffer activation "a" on 0 {offset = 0 : i64} : memref<16xf32>
    exec.launch "fill"(%a) floats [0.0] : memref<16xf32>
  }
} {arena_bytes = array<i64: 64>}

// -----

// The kernel copy may not work in place.
exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %a = exec.buffer activation "a" on 0 {offset = 0 : i64} : memref<16xf32>
    %b = exec.buffer output "b" on 0 {offset = 0 : i64} : memref<16xf32>
    exec.launch "fill"(%a) floats [0.0] : memref<16xf32>
    // expected-error @below {{'exec.launch' op writes operand 1 over operand 0}}
    exec.launch "copy"(%a, %b) : memref<16xf32>, memref<16xf32>
    exec.output "b" "output" = %b dims [] : memref<16xf32>
  }
} {arena_bytes = array<i64: 64>}

// -----

// Softmax may work in place, but not one row further on.
exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %a = exec.buffer activation "a" on 0 {offset = 0 : i64} : memref<2x16xf32>
    %b = exec.buffer output "b" on 0 {offset = 64 : i64} : memref<2x16xf32>
    exec.launch "fill"(%a) floats [0.0] : memref<2x16xf32>
    // expected-error @below {{'exec.launch' op writes operand 2 over operand 0}}
    exec.launch "softmax"(%a, _, %b) ints [0] floats [1.0] : memref<2x16xf32>, memref<2x16xf32>
    exec.output "b" "output" = %b dims [] : memref<2x16xf32>
  }
} {arena_bytes = array<i64: 192>}

// -----

exec.plan ["cpu:0"] {
  %w = exec.buffer parameter "w" on 0 {offset = 0 : i64} : memref<16xf32>
  exec.program "step" on 0 {
    // expected-error @below {{'exec.launch' op writes "w" before the commit}}
    exec.launch "fill"(%w) floats [0.0] : memref<16xf32>
    exec.commit
  }
} {arena_bytes = array<i64: 64>}

// -----

exec.plan ["cpu:0"] {
  %x = exec.buffer input "x" on 0 {offset = 0 : i64} : memref<16xf32>
  exec.program "forward" on 0 {
    exec.input "x" "data" = %x dims [] : memref<16xf32>
    // expected-error @below {{'exec.launch' op writes "x", which is the caller's}}
    exec.launch "fill"(%x) floats [0.0] : memref<16xf32>
  }
} {arena_bytes = array<i64: 64>}

// -----

// expected-error @below {{'exec.plan' op has no memory plan}}
exec.plan ["cpu:0"] {
}

// -----

// The two streams write the same bytes, and no event orders them.
exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %a = exec.buffer output "a" on 0 {offset = 0 : i64} : memref<16xf32>
    exec.launch "fill"(%a) floats [0.0] : memref<16xf32>
    // expected-error @below {{waits: found none that orders it after launches[0], which is on stream 0 and touches bytes that this one does too, want one}}
    exec.launch "fill"(%a) floats [1.0] {stream = 1 : i64} : memref<16xf32>
    exec.output "a" "output" = %a dims [] : memref<16xf32>
  }
} {arena_bytes = array<i64: 64>}

// -----

// One buffer reuses the memory of another, on another stream.
exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %a = exec.buffer activation "a" on 0 {offset = 0 : i64} : memref<16xf32>
    %b = exec.buffer output "b" on 0 {offset = 0 : i64} : memref<16xf32>
    %c = exec.buffer output "c" on 0 {offset = 64 : i64} : memref<16xf32>
    exec.launch "fill"(%a) floats [0.0] : memref<16xf32>
    exec.launch "copy"(%a, %c) : memref<16xf32>, memref<16xf32>
    // expected-error @below {{waits: found none that orders it after launches[1]}}
    exec.launch "fill"(%b) floats [1.0] {stream = 1 : i64} : memref<16xf32>
    exec.output "b" "output" = %b dims [] : memref<16xf32>
    exec.output "c" "output" = %c dims [] : memref<16xf32>
  }
} {arena_bytes = array<i64: 128>}

// -----

// The event is recorded too late.
exec.plan ["cpu:0"] {
  exec.program "forward" on 0 {
    %a = exec.buffer output "a" on 0 {offset = 0 : i64} : memref<16xf32>
    // expected-error @below {{waits[0]: found event 0, want one that a launch before records}}
    exec.launch "fill"(%a) floats [0.0] {waits = array<i64: 0>} : memref<16xf32>
    exec.launch "fill"(%a) floats [1.0] {event = 0 : i64, stream = 1 : i64} : memref<16xf32>
    exec.output "a" "output" = %a dims [] : memref<16xf32>
  }
} {arena_bytes = array<i64: 64>}

// -----

// Evaluate changes no parameter, so packed weights are not made again after it.
exec.plan ["cpu:0"] {
  %p = exec.buffer packed "w.packed" on 0 {offset = 0 : i64} : memref<16xf32>
  // expected-error @below {{'exec.program' op reads "w.packed", whose memory "a" has taken}}
  exec.program "evaluate" on 0 {
    %a = exec.buffer activation "a" on 0 {offset = 0 : i64} : memref<16xf32>
    exec.launch "fill"(%a) floats [0.0] : memref<16xf32>
  }
} {arena_bytes = array<i64: 64>}

// -----

// Step changes w, and reads the packed weights that it has written over.
exec.plan ["cpu:0"] {
  %w = exec.buffer parameter "w" on 0 {offset = 0 : i64} : memref<16xf32>
  %p = exec.buffer packed "w.packed" on 0 {offset = 64 : i64} : memref<16xf32>
  exec.program "step" on 0 {
    %a = exec.buffer activation "a" on 0 {offset = 64 : i64} : memref<16xf32>
    exec.launch "fill"(%a) floats [0.0] : memref<16xf32>
    exec.commit
    // expected-error @below {{'exec.launch' op reads "w.packed", whose memory "a" has taken}}
    exec.launch "copy"(%p, %w) : memref<16xf32>, memref<16xf32>
  }
} {arena_bytes = array<i64: 128>}
