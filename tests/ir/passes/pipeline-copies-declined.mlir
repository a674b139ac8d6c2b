// RUN: jitk-opt --jitk-pipeline-copies=num-stages=3 --canonicalize --cse %s | FileCheck %s
//
// Loops that keep their copies where they are. The wait for everything shows it.

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!ptrs = tensor<64x!tt.ptr<f32>>
!buf = !ttg.memdesc<64xf32, #shared, #smem, mutable>
!other = !ttg.memdesc<1024xf32, #shared, #smem, mutable>
!wide = tensor<8192x!tt.ptr<f32>>
!large = !ttg.memdesc<8192xf32, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:89", "ttg.threads-per-warp" = 32 : i32} {

// The attribute says so.
// CHECK-LABEL: tt.func @one_stage
// CHECK: ttg.async_wait %{{.*}} {num = 0 : i32}
tt.func @one_stage(%p: !ptrs, %q: !ptrs, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = ttg.local_alloc : () -> !buf
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = ttg.async_copy_global_to_local %p, %b : !ptrs -> <64xf32, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %c {num = 0 : i32}
    %x = ttg.local_load %b : !buf -> tensor<64xf32>
    tt.store %q, %x : !ptrs
  } {tt.num_stages = 1 : i32}
  tt.return
}

// The last copy is read after the loop.
// CHECK-LABEL: tt.func @read_after
// CHECK: ttg.async_wait %{{.*}} {num = 0 : i32}
tt.func @read_after(%p: !ptrs, %n: i32) -> tensor<64xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = ttg.local_alloc : () -> !buf
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = ttg.async_copy_global_to_local %p, %b : !ptrs -> <64xf32, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %c {num = 0 : i32}
  }
  %x = ttg.local_load %b : !buf -> tensor<64xf32>
  tt.return %x : tensor<64xf32>
}

// The previous iteration's data is read.
// CHECK-LABEL: tt.func @read_before
// CHECK: ttg.async_wait %{{.*}} {num = 0 : i32}
tt.func @read_before(%p: !ptrs, %q: !ptrs, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = ttg.local_alloc : () -> !buf
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = ttg.local_load %b : !buf -> tensor<64xf32>
    tt.store %q, %x : !ptrs
    %t = ttg.async_copy_global_to_local %p, %b : !ptrs -> <64xf32, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %c {num = 0 : i32}
  }
  tt.return
}

// Each iteration writes what the next one copies, through another pointer to the same tensor.
// CHECK-LABEL: tt.func @written_tensor
// CHECK: ttg.async_wait %{{.*}} {num = 0 : i32}
tt.func @written_tensor(%x: !tt.ptr<f32>, %offsets: tensor<64xi32>, %which: i1, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = ttg.local_alloc : () -> !buf
  %xs = tt.splat %x : !tt.ptr<f32> -> !ptrs
  %moved = tt.addptr %xs, %offsets : !ptrs, tensor<64xi32>
  %q = arith.select %which, %xs, %moved : !ptrs
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %xs) -> (!ptrs) : i32 {
    %t = ttg.async_copy_global_to_local %p, %b : !ptrs -> <64xf32, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %c {num = 0 : i32}
    %v = ttg.local_load %b : !buf -> tensor<64xf32>
    tt.store %q, %v : !ptrs
    %next = tt.addptr %p, %offsets : !ptrs, tensor<64xi32>
    scf.yield %next : !ptrs
  }
  tt.return
}

// A pointer that comes of a number may lead anywhere.
// CHECK-LABEL: tt.func @written_somewhere
// CHECK: ttg.async_wait %{{.*}} {num = 0 : i32}
tt.func @written_somewhere(%p: !ptrs, %address: i64, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = ttg.local_alloc : () -> !buf
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = ttg.async_copy_global_to_local %p, %b : !ptrs -> <64xf32, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %c {num = 0 : i32}
    %v = ttg.local_load %b : !buf -> tensor<64xf32>
    %y = tt.int_to_ptr %address : i64 -> !tt.ptr<f32>
    %q = tt.splat %y : !tt.ptr<f32> -> !ptrs
    tt.store %q, %v : !ptrs
  }
  tt.return
}

// The loop may write the addresses that it loads.
// CHECK-LABEL: tt.func @written_table
// CHECK: ttg.async_wait %{{.*}} {num = 0 : i32}
tt.func @written_table(%p: !ptrs, %table: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = ttg.local_alloc : () -> !buf
  scf.for %i = %c0 to %n step %c1 : i32 {
    %page = tt.load %table : !tt.ptr<i32>
    %s = tt.splat %page : i32 -> tensor<64xi32>
    %q = tt.addptr %p, %s : !ptrs, tensor<64xi32>
    %t = ttg.async_copy_global_to_local %q, %b : !ptrs -> <64xf32, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %c {num = 0 : i32}
    %x = ttg.local_load %b : !buf -> tensor<64xf32>
    tt.store %q, %x : !ptrs
  }
  tt.return
}

// Three slots of 32 KiB do not fit into 99 KiB beside another buffer: there are two.
// CHECK-LABEL: tt.func @large
// CHECK: ttg.local_alloc : () -> !ttg.memdesc<2x8192xf32
tt.func @large(%p: !wide, %q: !wide, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = ttg.local_alloc : () -> !other
  %b = ttg.local_alloc : () -> !large
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = ttg.async_copy_global_to_local %p, %b : !wide -> <8192xf32, #shared, #smem, mutable>
    %c = ttg.async_commit_group tokens %t
    %w = ttg.async_wait %c {num = 0 : i32}
    %x = ttg.local_load %b : !large -> tensor<8192xf32>
    tt.store %q, %x : !wide
    %y = ttg.local_load %a : !other -> tensor<1024xf32>
    %z = math.exp2 %y : tensor<1024xf32>
    ttg.local_store %z, %a : tensor<1024xf32> -> !other
  }
  tt.return
}
}
