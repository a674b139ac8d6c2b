// RUN: jitk-opt --jitk-pipeline-copies --canonicalize --cse %s | FileCheck %s
//
// Loops whose copies are issued ahead. Loops that are left alone are in pipeline-copies-declined.mlir.

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!ptrs = tensor<64x!tt.ptr<f32>>
!buf = !ttg.memdesc<64xf32, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {

// Three slots; the first two iterations' copies stand before the loop, each under its own condition.
// CHECK-LABEL: tt.func @induction
// CHECK-SAME: %[[P:.*]]: tensor<64x!tt.ptr<f32>>, %[[N:.*]]: i32
// CHECK-DAG: %[[RING:.*]] = ttg.local_alloc : () -> !ttg.memdesc<3x64xf32, #shared, #smem, mutable>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[N]], %[[C0]]
// CHECK: scf.if %[[ANY]] {
// CHECK-NEXT: %[[SLOT0:.*]] = ttg.memdesc_index %[[RING]][%[[C0]]]
// CHECK-NEXT: ttg.async_copy_global_to_local %{{.*}}, %[[SLOT0]]
// CHECK: }
// CHECK-NEXT: ttg.async_commit_group
// CHECK: scf.if
// CHECK: ttg.memdesc_index %[[RING]][%[[C1]]]
// CHECK: ttg.async_commit_group
// CHECK: scf.for %[[I:.*]] = %[[C0]] to %[[N]] step %[[C1]] iter_args(%[[SUM:.*]] = %{{.*}}, %[[READ:.*]] = %[[C0]], %[[FILL:.*]] = %[[C2]])
// CHECK-NEXT: ttg.async_wait {num = 1 : i32}
// CHECK-NEXT: ttg.local_barrier
// CHECK: %[[AHEAD:.*]] = arith.addi %[[I]], %[[C2]]
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[AHEAD]], %[[N]]
// CHECK: tt.splat %[[AHEAD]]
// CHECK: scf.if %[[MORE]] {
// CHECK-NEXT: ttg.memdesc_index %[[RING]][%[[FILL]]]
// CHECK-NEXT: ttg.async_copy_global_to_local
// CHECK: ttg.async_commit_group
// CHECK-NEXT: %[[SLOT:.*]] = ttg.memdesc_index %[[RING]][%[[READ]]]
// CHECK-NEXT: ttg.local_load %[[SLOT]]
// CHECK: %[[STEP:.*]] = arith.addi %[[READ]], %[[C1]]
// CHECK: %[[WRAPS:.*]] = arith.cmpi sge, %[[STEP]], %[[C3]]
// CHECK: arith.select %[[WRAPS]], %[[C0]], %[[STEP]]
tt.func @induction(%p: !ptrs, %n: i32) -> tensor<64xf32> {
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

// Carried pointers run ahead of those that the rest of the body reads; two stages wait for everything.
// CHECK-LABEL: tt.func @carried
// CHECK-SAME: %[[P:.*]]: tensor<64x!tt.ptr<f32>>, %[[Q:.*]]: tensor<64x!tt.ptr<f32>>
// CHECK: %[[NEXT:.*]] = tt.addptr %[[P]],
// CHECK: scf.for {{.*}} iter_args({{.*}} = %[[P]], {{.*}}, {{.*}}, %[[FAR:.*]] = %[[NEXT]])
// CHECK-NEXT: ttg.async_wait {num = 0 : i32}
// CHECK: scf.if
// CHECK: ttg.async_copy_global_to_local %[[FAR]],
// CHECK: tt.addptr %[[FAR]],
tt.func @carried(%p: !ptrs, %q: !ptrs, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %step = arith.constant dense<64> : tensor<64xi32>
  %b = ttg.local_alloc : () -> !buf
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%now = %p) -> (!ptrs) : i32 {
    %t = ttg.async_copy_global_to_local %now, %b : !ptrs -> <64xf32, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %c {num = 0 : i32}
    %x = ttg.local_load %b : !buf -> tensor<64xf32>
    tt.store %q, %x : !ptrs
    %next = tt.addptr %now, %step : !ptrs, tensor<64xi32>
    scf.yield %next : !ptrs
  } {tt.num_stages = 2 : i32}
  tt.return
}

// Two groups an iteration: three of the four that are younger may be in flight.
// CHECK-LABEL: tt.func @groups
// CHECK: scf.for
// CHECK: ttg.async_wait {num = 3 : i32}
// CHECK: ttg.async_wait {num = 3 : i32}
// CHECK-NOT: ttg.async_wait
tt.func @groups(%p: !ptrs, %q: !ptrs, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %a = ttg.local_alloc : () -> !buf
  %b = ttg.local_alloc : () -> !buf
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64xf32>) : i32 {
    %s = tt.splat %i : i32 -> tensor<64xi32>
    %pi = tt.addptr %p, %s : !ptrs, tensor<64xi32>
    %t = ttg.async_copy_global_to_local %pi, %a : !ptrs -> <64xf32, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %c {num = 0 : i32}
    %x = ttg.local_load %a : !buf -> tensor<64xf32>
    %y = arith.addf %sum, %x : tensor<64xf32>
    %qi = tt.addptr %q, %s : !ptrs, tensor<64xi32>
    %t2 = ttg.async_copy_global_to_local %qi, %b : !ptrs -> <64xf32, #shared, #smem, mutable>
    %c2 = ttg.async_commit_group tokens %t2
    %w2 = ttg.async_wait %c2 {num = 0 : i32}
    %x2 = ttg.local_load %b : !buf -> tensor<64xf32>
    %y2 = arith.mulf %y, %x2 : tensor<64xf32>
    scf.yield %y2 : tensor<64xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<64xf32>
}

// Addresses that are loaded stay behind the condition. A later loop that fills the same buffer has a ring of its own.
// CHECK-LABEL: tt.func @table
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x64xf32
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NEXT: tt.load
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x64xf32
// CHECK: scf.for
tt.func @table(%p: !ptrs, %table: !tt.ptr<i32>, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %b = ttg.local_alloc : () -> !buf
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64xf32>) : i32 {
    %e = tt.addptr %table, %i : !tt.ptr<i32>, i32
    %page = tt.load %e : !tt.ptr<i32>
    %s = tt.splat %page : i32 -> tensor<64xi32>
    %q = tt.addptr %p, %s : !ptrs, tensor<64xi32>
    %t = ttg.async_copy_global_to_local %q, %b : !ptrs -> <64xf32, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %c {num = 0 : i32}
    %x = ttg.local_load %b : !buf -> tensor<64xf32>
    %next = arith.addf %sum, %x : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  } {tt.num_stages = 2 : i32}
  %r2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %r) -> (tensor<64xf32>) : i32 {
    %t = ttg.async_copy_global_to_local %p, %b : !ptrs -> <64xf32, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %c {num = 0 : i32}
    %x = ttg.local_load %b : !buf -> tensor<64xf32>
    %next = arith.addf %sum, %x : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  } {tt.num_stages = 2 : i32}
  tt.return %r2 : tensor<64xf32>
}

// The wait for what the loop reads throughout is that of its first iteration; one behind it is for a loop that does not
// run.
// CHECK-LABEL: tt.func @wait_before
// CHECK: ttg.async_copy_global_to_local
// CHECK-NEXT: ttg.async_commit_group
// CHECK-NOT: ttg.async_wait
// CHECK: scf.for
// CHECK-NEXT: ttg.async_wait
// CHECK-NEXT: ttg.local_barrier
// CHECK: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: ttg.async_wait {num = 0 : i32}
// CHECK-NEXT: tt.return
tt.func @wait_before(%p: !ptrs, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %a = ttg.local_alloc : () -> !buf
  %b = ttg.local_alloc : () -> !buf
  %ta = ttg.async_copy_global_to_local %p, %a : !ptrs -> <64xf32, #shared, #smem, mutable>
  %ca = ttg.async_commit_group tokens %ta
  %wa = ttg.async_wait %ca {num = 0 : i32}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64xf32>) : i32 {
    %s = tt.splat %i : i32 -> tensor<64xi32>
    %q = tt.addptr %p, %s : !ptrs, tensor<64xi32>
    %t = ttg.async_copy_global_to_local %q, %b : !ptrs -> <64xf32, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %c {num = 0 : i32}
    %x = ttg.local_load %a : !buf -> tensor<64xf32>
    %y = ttg.local_load %b : !buf -> tensor<64xf32>
    %z = arith.mulf %x, %y : tensor<64xf32>
    %next = arith.addf %sum, %z : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<64xf32>
}

// What is read before the loop's first wait needs its own.
// CHECK-LABEL: tt.func @read_first
// CHECK: ttg.async_copy_global_to_local
// CHECK-NEXT: %[[GROUP:.*]] = ttg.async_commit_group
// CHECK-NEXT: ttg.async_wait %[[GROUP]] {num = 0 : i32}
// CHECK: scf.for
// CHECK: ttg.local_load
tt.func @read_first(%p: !ptrs, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64xf32>
  %a = ttg.local_alloc : () -> !buf
  %b = ttg.local_alloc : () -> !buf
  %ta = ttg.async_copy_global_to_local %p, %a : !ptrs -> <64xf32, #shared, #smem, mutable>
  %ca = ttg.async_commit_group tokens %ta
  %wa = ttg.async_wait %ca {num = 0 : i32}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> (tensor<64xf32>) : i32 {
    %x = ttg.local_load %a : !buf -> tensor<64xf32>
    %s = tt.splat %i : i32 -> tensor<64xi32>
    %q = tt.addptr %p, %s : !ptrs, tensor<64xi32>
    %t = ttg.async_copy_global_to_local %q, %b : !ptrs -> <64xf32, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %c {num = 0 : i32}
    %y = ttg.local_load %b : !buf -> tensor<64xf32>
    %z = arith.mulf %x, %y : tensor<64xf32>
    %next = arith.addf %sum, %z : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  } {tt.num_stages = 3 : i32}
  tt.return %r : tensor<64xf32>
}
}
