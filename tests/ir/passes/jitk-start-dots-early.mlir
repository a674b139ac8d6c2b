// RUN: %jitk-opt %s --jitk-start-dots-early | FileCheck %s

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!slots = !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
!ring = !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The products of a slot begin before the copies into another one, the second on the accumulator of the first.
  // CHECK-LABEL: tt.func public @ring
  // CHECK: ttg.local_barrier
  // CHECK-NEXT: %[[SLOT:.*]] = ttg.memdesc_index %[[RING:.*]][%[[READ:.*]]]
  // CHECK-NEXT: %[[FIRST:.*]] = ttng.warp_group_dot %[[Q:.*]], %[[SLOT]], %{{.*}} {isAsync = true}
  // CHECK-NEXT: %[[SECOND:.*]] = ttng.warp_group_dot %[[Q]], %[[SLOT]], %[[FIRST]] {isAsync = true}
  // CHECK-NOT: ttng.warp_group_dot_wait
  // CHECK: scf.if
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: ttg.async_commit_group
  // CHECK-NEXT: %[[DONE:.*]] = ttng.warp_group_dot_wait %[[SECOND]] {pendings = 0 : i32}
  // CHECK: ttg.local_store
  tt.func public @ring(%pointers: tensor<64x64x!tt.ptr<f16>, #blocked>, %more: i1, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %q = ttg.local_alloc : () -> !tile
    %p = ttg.local_alloc : () -> !tile
    %ring = ttg.local_alloc : () -> !ring
    scf.for %i = %c0 to %n step %c1 iter_args(%read = %c0, %fill = %c1) -> (i32, i32) : i32 {
      ttg.local_barrier
      scf.if %more {
        %slot = ttg.memdesc_index %ring[%fill] : !ring -> !tile
        %token = ttg.async_copy_global_to_local %pointers, %slot : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      }
      %group = ttg.async_commit_group
      %k = ttg.memdesc_index %ring[%read] : !ring -> !tile
      %d = ttng.warp_group_dot %q, %k, %zero {isAsync = true} : !tile * !tile -> tensor<64x64xf32, #mma>
      %w = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
      %e = ttng.warp_group_dot %q, %k, %w {isAsync = true} : !tile * !tile -> tensor<64x64xf32, #mma>
      %x = ttng.warp_group_dot_wait %e {pendings = 0 : i32} : tensor<64x64xf32, #mma>
      %h = arith.truncf %x : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
      ttg.local_store %h, %p : tensor<64x64xf16, #mma> -> !tile
      %r = arith.addi %read, %c1 : i32
      %rp = arith.cmpi sge, %r, %c2 : i32
      %rn = arith.select %rp, %c0, %r : i32
      %f = arith.addi %fill, %c1 : i32
      %fp = arith.cmpi sge, %f, %c2 : i32
      %fn = arith.select %fp, %c0, %f : i32
      scf.yield %rn, %fn : i32, i32
    }
    tt.return
  }

  // Copies into what a product reads stay before it, and a wait that they need stays.
  // CHECK-LABEL: tt.func public @same_buffer
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: ttg.local_barrier
  // CHECK: %[[D:.*]] = ttng.warp_group_dot
  // CHECK-NEXT: %[[W:.*]] = ttng.warp_group_dot_wait %[[D]]
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: ttng.warp_group_dot %{{.*}}, %{{.*}}, %[[W]]
  tt.func public @same_buffer(%pointers: tensor<64x64x!tt.ptr<f16>, #blocked>) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %k = ttg.local_alloc : () -> !tile
    %first = ttg.async_copy_global_to_local %pointers, %k : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
    ttg.local_barrier
    %d = ttng.warp_group_dot %k, %k, %zero {isAsync = true} : !tile * !tile -> tensor<64x64xf32, #mma>
    %w = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    %second = ttg.async_copy_global_to_local %pointers, %k : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
    %e = ttng.warp_group_dot %k, %k, %w {isAsync = true} : !tile * !tile -> tensor<64x64xf32, #mma>
    %x = ttng.warp_group_dot_wait %e {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    tt.return %x : tensor<64x64xf32, #mma>
  }

  // A wait whose value somebody else uses stays.
  // CHECK-LABEL: tt.func public @value_is_used
  // CHECK: %[[D:.*]] = ttng.warp_group_dot
  // CHECK-NEXT: %[[W:.*]] = ttng.warp_group_dot_wait %[[D]]
  // CHECK-NEXT: ttng.warp_group_dot %{{.*}}, %{{.*}}, %[[W]]
  tt.func public @value_is_used(%k: !tile) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %d = ttng.warp_group_dot %k, %k, %zero {isAsync = true} : !tile * !tile -> tensor<64x64xf32, #mma>
    %w = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    %e = ttng.warp_group_dot %k, %k, %w {isAsync = true} : !tile * !tile -> tensor<64x64xf32, #mma>
    %x = ttng.warp_group_dot_wait %e {pendings = 0 : i32} : tensor<64x64xf32, #mma>
    tt.return %w, %x : tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>
  }

  // The next iteration fills a slot that this one's product does not read: it is waited for when the next one has begun.
  // CHECK-LABEL: tt.func public @stays_in_flight
  // CHECK: %[[SUM:.*]]:3 = scf.for
  // CHECK: %[[D:.*]] = ttng.warp_group_dot
  // CHECK: ttg.async_copy_global_to_local
  // CHECK: ttng.warp_group_dot_wait %[[D]] {pendings = 1 : i32}
  // CHECK: scf.yield
  // CHECK: %[[LAST:.*]] = ttng.warp_group_dot_wait %[[SUM]]#0 {pendings = 0 : i32}
  // CHECK-NEXT: tt.return %[[LAST]]
  tt.func public @stays_in_flight(%pointers: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 3 : i32
    %ring = ttg.local_alloc : () -> !slots
    %sum:3 = scf.for %i = %c0 to %n step %c1 iter_args(%d = %zero, %read = %c0, %fill = %c1) -> (tensor<64x64xf32, #mma>, i32, i32) : i32 {
      %landed = ttg.async_wait {num = 0 : i32}
      ttg.local_barrier
      %slot = ttg.memdesc_index %ring[%fill] : !slots -> !tile
      %token = ttg.async_copy_global_to_local %pointers, %slot : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %group = ttg.async_commit_group
      %k = ttg.memdesc_index %ring[%read] : !slots -> !tile
      %e = ttng.warp_group_dot %k, %k, %d {isAsync = true} : !tile * !tile -> tensor<64x64xf32, #mma>
      %w = ttng.warp_group_dot_wait %e {pendings = 0 : i32} : tensor<64x64xf32, #mma>
      %r = arith.addi %read, %c1 : i32
      %rp = arith.cmpi sge, %r, %size : i32
      %rn = arith.select %rp, %c0, %r : i32
      %f = arith.addi %fill, %c1 : i32
      %fp = arith.cmpi sge, %f, %size : i32
      %fn = arith.select %fp, %c0, %f : i32
      scf.yield %w, %rn, %fn : tensor<64x64xf32, #mma>, i32, i32
    }
    tt.return %sum#0 : tensor<64x64xf32, #mma>
  }

  // The next iteration fills what this one's product reads.
  // CHECK-LABEL: tt.func public @slot_is_filled_next
  // CHECK: %[[D:.*]] = ttng.warp_group_dot
  // CHECK: ttng.warp_group_dot_wait %[[D]] {pendings = 0 : i32}
  // CHECK-NOT: ttng.warp_group_dot_wait
  // CHECK: tt.return
  tt.func public @slot_is_filled_next(%pointers: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) -> tensor<64x64xf32, #mma> {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32, #mma>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 2 : i32
    %ring = ttg.local_alloc : () -> !ring
    %sum:3 = scf.for %i = %c0 to %n step %c1 iter_args(%d = %zero, %read = %c0, %fill = %c1) -> (tensor<64x64xf32, #mma>, i32, i32) : i32 {
      %landed = ttg.async_wait {num = 0 : i32}
      ttg.local_barrier
      %slot = ttg.memdesc_index %ring[%fill] : !ring -> !tile
      %token = ttg.async_copy_global_to_local %pointers, %slot : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %group = ttg.async_commit_group
      %k = ttg.memdesc_index %ring[%read] : !ring -> !tile
      %e = ttng.warp_group_dot %k, %k, %d {isAsync = true} : !tile * !tile -> tensor<64x64xf32, #mma>
      %w = ttng.warp_group_dot_wait %e {pendings = 0 : i32} : tensor<64x64xf32, #mma>
      %r = arith.addi %read, %c1 : i32
      %rp = arith.cmpi sge, %r, %size : i32
      %rn = arith.select %rp, %c0, %r : i32
      %f = arith.addi %fill, %c1 : i32
      %fp = arith.cmpi sge, %f, %size : i32
      %fn = arith.select %fp, %c0, %f : i32
      scf.yield %w, %rn, %fn : tensor<64x64xf32, #mma>, i32, i32
    }
    tt.return %sum#0 : tensor<64x64xf32, #mma>
  }
}
