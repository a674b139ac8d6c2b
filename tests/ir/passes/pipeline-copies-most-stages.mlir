// RUN: jitk-opt --jitk-pipeline-copies=most-stages=4 --canonicalize --cse %s | FileCheck %s --check-prefix=FOUR
// RUN: jitk-opt --jitk-pipeline-copies=most-stages=2 --canonicalize --cse %s | FileCheck %s --check-prefix=TWO
// RUN: jitk-opt --jitk-pipeline-copies=most-stages=1 --canonicalize --cse %s | FileCheck %s --check-prefix=ONE
//
// No loop gets more stages than the pass is given, whatever it asks for; with one it is left as it is.

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!ptrs = tensor<64x!tt.ptr<f32>>
!buf = !ttg.memdesc<64xf32, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {

// FOUR-LABEL: tt.func @loop
// FOUR: ttg.local_alloc : () -> !ttg.memdesc<3x64xf32
// FOUR: ttg.async_wait {num = 1 : i32}
// TWO-LABEL: tt.func @loop
// TWO: ttg.local_alloc : () -> !ttg.memdesc<2x64xf32
// TWO: ttg.async_wait {num = 0 : i32}
// ONE-LABEL: tt.func @loop
// ONE: ttg.local_alloc : () -> !ttg.memdesc<64xf32
// ONE: scf.for
// ONE: ttg.async_copy_global_to_local
tt.func @loop(%p: !ptrs, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %b = ttg.local_alloc : () -> !buf
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64xf32>) : i32 {
    %s = tt.splat %i : i32 -> tensor<64xi32>
    %q = tt.addptr %p, %s : !ptrs, tensor<64xi32>
    %t = ttg.async_copy_global_to_local %q, %b : !ptrs -> <64xf32, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %c {num = 0 : i32}
    %x = ttg.local_load %b : !buf -> tensor<64xf32>
    %next = arith.addf %sum, %x : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<64xf32>
}
}
