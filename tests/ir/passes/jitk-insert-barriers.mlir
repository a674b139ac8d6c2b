// RUN: %jitk-opt %s --jitk-allocate-shared-memory --jitk-insert-barriers --split-input-file | FileCheck %s
// Where barriers go, and where none is needed. What a barrier becomes is tested in codegen.

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // A read after a write; a write after a read; nothing between two reads.
  // CHECK-LABEL: tt.func public @store_load_store
  tt.func public @store_load_store(%x: tensor<64x64xf16, #blocked>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK-NOT: gpu.barrier
    // CHECK: ttg.local_store
    ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: ttg.local_load
    %a = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    // CHECK-NEXT: ttg.local_load
    %b = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    // CHECK-NEXT: arith.addf
    %c = arith.addf %a, %b : tensor<64x64xf16, #blocked>
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: ttg.local_store
    ttg.local_store %c, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK-NEXT: tt.return
    tt.return
  }

  // Buffers whose lives overlap do not conflict; those that share memory do.
  // CHECK-LABEL: tt.func public @two_buffers
  tt.func public @two_buffers(%x: tensor<64x64xf16, #blocked>) {
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 0
    // CHECK-NEXT: ttg.local_alloc %{{.*}} {allocation.offset = 8192
    %b = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: ttg.local_load
    // CHECK-NEXT: ttg.local_load
    %c = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
    %d = ttg.local_load %b : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
    // CHECK-NEXT: arith.addf
    %e = arith.addf %c, %d : tensor<64x64xf16, #blocked>
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: ttg.local_alloc %{{.*}} {allocation.offset = 0
    %f = ttg.local_alloc %e : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    tt.return
  }

  // In a loop the read of one iteration meets the write of the next.
  // CHECK-LABEL: tt.func public @loop
  tt.func public @loop(%x: tensor<64x64xf16, #blocked>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK: scf.for
    scf.for %i = %c0 to %n step %c1 : i32 {
      // CHECK-NEXT: gpu.barrier
      // CHECK-NEXT: ttg.local_store
      ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      // CHECK-NEXT: gpu.barrier
      // CHECK-NEXT: ttg.local_load
      %a = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      // CHECK-NEXT: }
    }
    tt.return
  }

  // A ring of three slots that is filled two steps ahead: one barrier an iteration, after the wait.
  // CHECK-LABEL: tt.func public @ring
  tt.func public @ring(%p: tensor<64x64x!tt.ptr<f16>, #blocked>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
    // CHECK: scf.for
    scf.for %i = %c0 to %n step %c1 : i32 {
      %r = arith.remsi %i, %c3 : i32
      %ahead = arith.addi %i, %c2 : i32
      %w = arith.remsi %ahead, %c3 : i32
      // CHECK: ttg.async_wait
      %t = ttg.async_wait {num = 1 : i32}
      %rs = ttg.memdesc_index %m[%r] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      // CHECK: gpu.barrier
      // CHECK-NEXT: ttg.local_load
      %a = ttg.local_load %rs : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
      %ws = ttg.memdesc_index %m[%w] : !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      // CHECK-NOT: gpu.barrier
      // CHECK: ttg.async_copy_global_to_local
      %u = ttg.async_copy_global_to_local %p, %ws : tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>
      %g = ttg.async_commit_group tokens %u
      // CHECK-NOT: gpu.barrier
      // CHECK: }
    }
    tt.return
  }

  // A conversion within warps meets other warps' accesses only where it shares their memory.
  // CHECK-LABEL: tt.func public @branches
  tt.func public @branches(%x: tensor<64x64xf16, #blocked>, %c: i1) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK: scf.if
    scf.if %c {
      // CHECK-NEXT: ttg.local_store
      ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    }
    // CHECK-NEXT: }
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: ttg.local_load
    %a = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // What threads wrote is fenced before a bulk copy reads it; the buffer may be written again after the wait and a
  // barrier.
  // CHECK-LABEL: tt.func public @bulk_store
  tt.func public @bulk_store(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %x: tensor<64x64xf16, #blocked>) {
    %c0 = arith.constant 0 : i32
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK: ttg.local_store
    ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK-NEXT: ttng.fence_async_shared {bCluster = false}
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: ttng.async_tma_copy_local_to_global
    ttng.async_tma_copy_local_to_global %d[%c0, %c0] %m : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK-NEXT: ttng.async_tma_store_wait
    ttng.async_tma_store_wait {pendings = 0 : i32}
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: ttg.local_store
    ttg.local_store %x, %m : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return
  }

  // In the first iteration the copy before the loop is the last one, later ones have that of the iteration before: which
  // one a wait leaves is not known. So the second wait of an iteration may be what ends the copy of %b.
  // CHECK-LABEL: tt.func public @bulk_stores_before_and_in_a_loop
  tt.func public @bulk_stores_before_and_in_a_loop(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %x: tensor<64x64xf16, #blocked>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %c = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_store %x, %c : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_copy_local_to_global %d[%c0, %c0] %c : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK: scf.for
    scf.for %i = %c0 to %n step %c1 : i32 {
      // CHECK: ttng.async_tma_store_wait
      // CHECK-NEXT: gpu.barrier
      // CHECK-NEXT: ttg.local_store
      ttng.async_tma_store_wait {pendings = 1 : i32}
      ttg.local_store %x, %a : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttng.async_tma_copy_local_to_global %d[%c0, %c0] %a : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      // CHECK: ttng.async_tma_store_wait
      // CHECK-NEXT: gpu.barrier
      // CHECK-NEXT: ttg.local_store
      ttng.async_tma_store_wait {pendings = 1 : i32}
      ttg.local_store %x, %b : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      ttng.async_tma_copy_local_to_global %d[%c0, %c0] %b : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    }
    tt.return
  }

  // A fence that is there already is used.
  // CHECK-LABEL: tt.func public @given_fence
  tt.func public @given_fence(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>, %x: tensor<64x64xf16, #blocked>) {
    %c0 = arith.constant 0 : i32
    %m = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    // CHECK: ttng.fence_async_shared
    ttng.fence_async_shared {bCluster = false}
    // CHECK-NOT: ttng.fence_async_shared
    // CHECK: gpu.barrier
    // CHECK-NEXT: ttng.async_tma_copy_local_to_global
    ttng.async_tma_copy_local_to_global %d[%c0, %c0] %m : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem>
    tt.return
  }

  // Memory barriers: one barrier after their initialisations, none for what a bulk copy loaded, one and a fence before the slot
  // that threads have read is filled again, one before the bytes of a memory barrier are given up that threads have waited for since.
  // CHECK-LABEL: tt.func public @bulk_load
  tt.func public @bulk_load(%d: !tt.tensordesc<tensor<64x64xf16, #shared>>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #bar, #smem, mutable>
    %b0 = ttg.memdesc_index %b[%c0] : !ttg.memdesc<2x1xi64, #bar, #smem, mutable> -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %b1 = ttg.memdesc_index %b[%c1] : !ttg.memdesc<2x1xi64, #bar, #smem, mutable> -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK: ttng.init_barrier
    ttng.init_barrier %b0, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NEXT: ttng.init_barrier
    ttng.init_barrier %b1, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: ttng.barrier_expect
    ttng.barrier_expect %b0, 8192, %true : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NEXT: ttng.async_tma_copy_global_to_local
    ttng.async_tma_copy_global_to_local %d[%c0, %c0] %m, %b0, %true : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK-NEXT: ttng.wait_barrier
    ttng.wait_barrier %b0, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NEXT: ttg.local_load
    %x = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    // CHECK-NEXT: ttng.barrier_expect
    ttng.barrier_expect %b1, 8192, %true : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NEXT: ttng.fence_async_shared
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: ttng.async_tma_copy_global_to_local
    ttng.async_tma_copy_global_to_local %d[%c0, %c0] %m, %b1, %true : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK-NEXT: ttng.wait_barrier
    ttng.wait_barrier %b1, %c0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NEXT: ttng.inval_barrier
    ttng.inval_barrier %b0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: ttng.inval_barrier
    ttng.inval_barrier %b1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }

  // One thread arrives for all: they meet before.
  // CHECK-LABEL: tt.func public @arrive
  tt.func public @arrive(%e: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) {
    // CHECK: ttg.local_load
    %x = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: ttng.arrive_barrier
    ttng.arrive_barrier %e, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NEXT: ttng.arrive_barrier
    ttng.arrive_barrier %e, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }

  // Each warp arrives for itself: nobody waits for others.
  // CHECK-LABEL: tt.func public @arrive_per_warp
  tt.func public @arrive_per_warp(%e: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) {
    // CHECK: ttg.local_load
    %x = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    // CHECK-NEXT: ttng.arrive_barrier %{{.*}}, 1 {perWarp}
    ttng.arrive_barrier %e, 1 {perWarp} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    // CHECK-NEXT: ttng.arrive_barrier %{{.*}}, 1 {perThread}
    ttng.arrive_barrier %e, 1 {perThread} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }

  // What is stored into any CTA of the cluster may be the CTA's own.
  // CHECK-LABEL: tt.func public @remote
  tt.func public @remote(%x: tensor<64x64xf16, #blocked>, %m: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %rank: i32) -> tensor<64x64xf16, #blocked> {
    // CHECK: ttng.remote_shmem_store
    ttng.remote_shmem_store %x, %m, %rank : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: ttg.local_load
    %y = ttg.local_load %m : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    tt.return %y : tensor<64x64xf16, #blocked>
  }
}
