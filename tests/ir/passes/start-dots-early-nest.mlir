// RUN: %jitk-opt %s --jitk-start-dots-early | FileCheck %s
//
// Rings whose counters a loop around hands on.

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!slots = !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
!sums = tensor<64x64xf32, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Both count on: they are as far apart as where the outer loop begins.
  // CHECK-LABEL: tt.func public @handed_on
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot
  // CHECK: ttng.warp_group_dot_wait %{{.*}} {pendings = 1 : i32}
  // CHECK: tt.return
  tt.func public @handed_on(%pointers: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32, %m: i32, %word: tensor<64x64xf16, #blocked>) {
    %zero = arith.constant dense<0.0> : !sums
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %ring = ttg.local_alloc : () -> !slots
    %out = ttg.local_alloc : () -> !tile
    %end:2 = scf.for %t = %c0 to %m step %c1 iter_args(%read0 = %c0, %fill0 = %c1) -> (i32, i32) : i32 {
      %sum:3 = scf.for %i = %c0 to %n step %c1 iter_args(%d = %zero, %read = %read0, %fill = %fill0) -> (!sums, i32, i32) : i32 {
        %landed = ttg.async_wait {num = 0 : i32}
        ttg.local_barrier
        %slot = ttg.memdesc_index %ring[%fill] : !slots -> !tile
        %token = ttg.async_copy_global_to_local %pointers, %slot : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
        %group = ttg.async_commit_group
        %k = ttg.memdesc_index %ring[%read] : !slots -> !tile
        %e = ttng.warp_group_dot %k, %k, %d {isAsync = true} : !tile * !tile -> !sums
        %w = ttng.warp_group_dot_wait %e {pendings = 0 : i32} : !sums
        %r = arith.addi %read, %c1 : i32
        %rp = arith.cmpi sge, %r, %size : i32
        %rn = arith.select %rp, %c0, %r : i32
        %f = arith.addi %fill, %c1 : i32
        %fp = arith.cmpi sge, %f, %size : i32
        %fn = arith.select %fp, %c0, %f : i32
        scf.yield %w, %rn, %fn : !sums, i32, i32
      }
      scf.yield %sum#1, %sum#2 : i32, i32
    }
    tt.return
  }

  // One begins anew, so that nobody knows how far apart they are.
  // CHECK-LABEL: tt.func public @begins_anew
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot
  // CHECK: ttng.warp_group_dot_wait %{{.*}} {pendings = 0 : i32}
  // CHECK: tt.return
  tt.func public @begins_anew(%pointers: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32, %m: i32, %word: tensor<64x64xf16, #blocked>) {
    %zero = arith.constant dense<0.0> : !sums
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %ring = ttg.local_alloc : () -> !slots
    %out = ttg.local_alloc : () -> !tile
    %end:2 = scf.for %t = %c0 to %m step %c1 iter_args(%read0 = %c0, %fill0 = %c1) -> (i32, i32) : i32 {
      %sum:3 = scf.for %i = %c0 to %n step %c1 iter_args(%d = %zero, %read = %read0, %fill = %c1) -> (!sums, i32, i32) : i32 {
        %landed = ttg.async_wait {num = 0 : i32}
        ttg.local_barrier
        %slot = ttg.memdesc_index %ring[%fill] : !slots -> !tile
        %token = ttg.async_copy_global_to_local %pointers, %slot : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
        %group = ttg.async_commit_group
        %k = ttg.memdesc_index %ring[%read] : !slots -> !tile
        %e = ttng.warp_group_dot %k, %k, %d {isAsync = true} : !tile * !tile -> !sums
        %w = ttng.warp_group_dot_wait %e {pendings = 0 : i32} : !sums
        %r = arith.addi %read, %c1 : i32
        %rp = arith.cmpi sge, %r, %size : i32
        %rn = arith.select %rp, %c0, %r : i32
        %f = arith.addi %fill, %c1 : i32
        %fp = arith.cmpi sge, %f, %size : i32
        %fn = arith.select %fp, %c0, %f : i32
        scf.yield %w, %rn, %fn : !sums, i32, i32
      }
      scf.yield %sum#1, %fill0 : i32, i32
    }
    tt.return
  }

  // The outer loop hands on something else.
  // CHECK-LABEL: tt.func public @swapped
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot
  // CHECK: ttng.warp_group_dot_wait %{{.*}} {pendings = 0 : i32}
  // CHECK: tt.return
  tt.func public @swapped(%pointers: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32, %m: i32, %word: tensor<64x64xf16, #blocked>) {
    %zero = arith.constant dense<0.0> : !sums
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %ring = ttg.local_alloc : () -> !slots
    %out = ttg.local_alloc : () -> !tile
    %end:2 = scf.for %t = %c0 to %m step %c1 iter_args(%read0 = %c0, %fill0 = %c1) -> (i32, i32) : i32 {
      %sum:3 = scf.for %i = %c0 to %n step %c1 iter_args(%d = %zero, %read = %read0, %fill = %fill0) -> (!sums, i32, i32) : i32 {
        %landed = ttg.async_wait {num = 0 : i32}
        ttg.local_barrier
        %slot = ttg.memdesc_index %ring[%fill] : !slots -> !tile
        %token = ttg.async_copy_global_to_local %pointers, %slot : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
        %group = ttg.async_commit_group
        %k = ttg.memdesc_index %ring[%read] : !slots -> !tile
        %e = ttng.warp_group_dot %k, %k, %d {isAsync = true} : !tile * !tile -> !sums
        %w = ttng.warp_group_dot_wait %e {pendings = 0 : i32} : !sums
        %r = arith.addi %read, %c1 : i32
        %rp = arith.cmpi sge, %r, %size : i32
        %rn = arith.select %rp, %c0, %r : i32
        %f = arith.addi %fill, %c1 : i32
        %fp = arith.cmpi sge, %f, %size : i32
        %fn = arith.select %fp, %c0, %f : i32
        scf.yield %w, %rn, %fn : !sums, i32, i32
      }
      scf.yield %sum#1, %sum#1 : i32, i32
    }
    tt.return
  }

  // What threads store elsewhere does not touch what the product reads.
  // CHECK-LABEL: tt.func public @stores_beside
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot
  // CHECK: ttng.warp_group_dot_wait %{{.*}} {pendings = 1 : i32}
  // CHECK: tt.return
  tt.func public @stores_beside(%pointers: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32, %m: i32, %word: tensor<64x64xf16, #blocked>) {
    %zero = arith.constant dense<0.0> : !sums
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %ring = ttg.local_alloc : () -> !slots
    %out = ttg.local_alloc : () -> !tile
    %end:2 = scf.for %t = %c0 to %m step %c1 iter_args(%read0 = %c0, %fill0 = %c1) -> (i32, i32) : i32 {
      %sum:3 = scf.for %i = %c0 to %n step %c1 iter_args(%d = %zero, %read = %read0, %fill = %fill0) -> (!sums, i32, i32) : i32 {
        %landed = ttg.async_wait {num = 0 : i32}
        ttg.local_barrier
        %slot = ttg.memdesc_index %ring[%fill] : !slots -> !tile
        %token = ttg.async_copy_global_to_local %pointers, %slot : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
        %group = ttg.async_commit_group
        %k = ttg.memdesc_index %ring[%read] : !slots -> !tile
        %e = ttng.warp_group_dot %k, %k, %d {isAsync = true} : !tile * !tile -> !sums
        %w = ttng.warp_group_dot_wait %e {pendings = 0 : i32} : !sums
        ttg.local_store %word, %out : tensor<64x64xf16, #blocked> -> !tile
        %r = arith.addi %read, %c1 : i32
        %rp = arith.cmpi sge, %r, %size : i32
        %rn = arith.select %rp, %c0, %r : i32
        %f = arith.addi %fill, %c1 : i32
        %fp = arith.cmpi sge, %f, %size : i32
        %fn = arith.select %fp, %c0, %f : i32
        scf.yield %w, %rn, %fn : !sums, i32, i32
      }
      scf.yield %sum#1, %sum#2 : i32, i32
    }
    tt.return
  }

  // It might, in the ring.
  // CHECK-LABEL: tt.func public @stores_into
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: ttng.warp_group_dot
  // CHECK: ttng.warp_group_dot_wait %{{.*}} {pendings = 0 : i32}
  // CHECK: tt.return
  tt.func public @stores_into(%pointers: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32, %m: i32, %word: tensor<64x64xf16, #blocked>) {
    %zero = arith.constant dense<0.0> : !sums
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %ring = ttg.local_alloc : () -> !slots
    %out = ttg.local_alloc : () -> !tile
    %end:2 = scf.for %t = %c0 to %m step %c1 iter_args(%read0 = %c0, %fill0 = %c1) -> (i32, i32) : i32 {
      %sum:3 = scf.for %i = %c0 to %n step %c1 iter_args(%d = %zero, %read = %read0, %fill = %fill0) -> (!sums, i32, i32) : i32 {
        %landed = ttg.async_wait {num = 0 : i32}
        ttg.local_barrier
        %slot = ttg.memdesc_index %ring[%fill] : !slots -> !tile
        %token = ttg.async_copy_global_to_local %pointers, %slot : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
        %group = ttg.async_commit_group
        %k = ttg.memdesc_index %ring[%read] : !slots -> !tile
        %e = ttng.warp_group_dot %k, %k, %d {isAsync = true} : !tile * !tile -> !sums
        %w = ttng.warp_group_dot_wait %e {pendings = 0 : i32} : !sums
        ttg.local_store %word, %k : tensor<64x64xf16, #blocked> -> !tile
        %r = arith.addi %read, %c1 : i32
        %rp = arith.cmpi sge, %r, %size : i32
        %rn = arith.select %rp, %c0, %r : i32
        %f = arith.addi %fill, %c1 : i32
        %fp = arith.cmpi sge, %f, %size : i32
        %fn = arith.select %fp, %c0, %f : i32
        scf.yield %w, %rn, %fn : !sums, i32, i32
      }
      scf.yield %sum#1, %sum#2 : i32, i32
    }
    tt.return
  }
}
