// RUN: %jitk-opt %s --jitk-guard-dot-loops | FileCheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Loop and wait go under one condition; the rest of the function sees their results or the initial values, on a path with
  // an effect of its own. The first product overwrites what the loop begins with.
  // CHECK-LABEL: tt.func public @in_flight
  // CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
  // CHECK: %[[RUNS:.*]] = arith.cmpi slt, %{{.*}}, %[[N:.*]] : i32
  // CHECK: %[[RESULT:.*]] = scf.if %[[RUNS]]
  // CHECK: %[[ANY:.*]] = ub.poison : tensor<64x64xf32, #mma>
  // CHECK: %[[LOOP:.*]] = scf.for %[[I:[a-z0-9]+]] = %[[FIRST:[a-z0-9_]+]] to %{{.*}} iter_args(%[[SUM:[a-z0-9]+]] = %[[ANY]])
  // CHECK-NEXT: %[[LATER:.*]] = arith.cmpi ne, %[[I]], %[[FIRST]]
  // CHECK-NEXT: ttng.warp_group_dot %{{.*}}, %{{.*}}, %[[SUM]], %[[LATER]] {isAsync = true}
  // CHECK: %[[DONE:.*]] = ttng.warp_group_dot_wait %[[LOOP]] {pendings = 0 : i32}
  // CHECK-NEXT: scf.yield %[[DONE]]
  // CHECK: else
  // CHECK-NEXT: ttng.fence_async_shared
  // CHECK-NEXT: scf.yield %[[ZERO]]
  // CHECK: tt.return %[[RESULT]]
  tt.func public @in_flight(%a: !ttg.memdesc<64x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %acc = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %b, %c {isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %w = ttng.warp_group_dot_wait %d {pendings = 1 : i32} : tensor<64x64xf32, #mma>
      scf.yield %w : tensor<64x64xf32, #mma>
    }
    %r = ttng.warp_group_dot_wait %acc {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    tt.return %r : tensor<64x64xf32, #mma>
  }

  // A loop that always runs needs no condition.
  // CHECK-LABEL: tt.func public @always
  // CHECK-NOT: scf.if
  // CHECK: iter_args(%{{.*}} = %[[ANY:[a-z0-9]+]])
  // CHECK: tt.return
  tt.func public @always(%a: !ttg.memdesc<64x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %acc = scf.for %i = %c0 to %c4 step %c1 iter_args(%c = %zero) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %b, %c {isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %w = ttng.warp_group_dot_wait %d {pendings = 1 : i32} : tensor<64x64xf32, #mma>
      scf.yield %w : tensor<64x64xf32, #mma>
    }
    %r = ttng.warp_group_dot_wait %acc {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    tt.return %r : tensor<64x64xf32, #mma>
  }

  // Sums that begin with something else are added to.
  // CHECK-LABEL: tt.func public @sums
  // CHECK-NOT: poison
  // CHECK: iter_args(%[[SUM:[a-z0-9]+]] = %{{[a-z0-9]+}})
  // CHECK: ttng.warp_group_dot %{{.*}}, %{{.*}}, %[[SUM]] {isAsync = true}
  tt.func public @sums(%a: !ttg.memdesc<64x64xf16, #shared, #smem>, %b: !ttg.memdesc<64x64xf16, #shared, #smem>, %first: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %acc = scf.for %i = %c0 to %c4 step %c1 iter_args(%c = %first) -> (tensor<64x64xf32, #mma>) : i32 {
      %d = ttng.warp_group_dot %a, %b, %c {isAsync = true} : !ttg.memdesc<64x64xf16, #shared, #smem> * !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf32, #mma>
      %w = ttng.warp_group_dot_wait %d {pendings = 1 : i32} : tensor<64x64xf32, #mma>
      scf.yield %w : tensor<64x64xf32, #mma>
    }
    %r = ttng.warp_group_dot_wait %acc {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    tt.return %r : tensor<64x64xf32, #mma>
  }
}
