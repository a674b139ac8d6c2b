// RUN: %jitk-opt %s --jitk-allocate-global-scratch --split-input-file -verify-diagnostics | FileCheck %s

// CHECK: module attributes {ttg.global_scratch_memory_alignment = 128 : i32, ttg.global_scratch_memory_size = 256 : i32
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @kernel() {
    // CHECK: ttg.global_scratch_memory_offset = 0 : i32
    %a = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 24 : i32} : !tt.ptr<i8>
    // CHECK: ttg.global_scratch_memory_offset = 128 : i32
    %b = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func private @callee() {
    // expected-error @+1 {{is supported in kernels only}}
    %a = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 24 : i32} : !tt.ptr<i8>
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32} {
  // expected-error @+1 {{is supported in kernels only}}
  %a = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 24 : i32} : !tt.ptr<i8>
}
