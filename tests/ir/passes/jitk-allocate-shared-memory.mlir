// RUN: %jitk-opt %s --jitk-allocate-shared-memory --split-input-file | FileCheck %s
// Offsets and sizes. Bytes of a buffer: the product of its shape and element, for all encodings but padded ones.

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
// CHECK: module attributes {{.*}}ttg.shared = 24576 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Memory is used again after the last use; a loop keeps what it uses from outside to its end.
  // CHECK-LABEL: tt.func public @lives
  tt.func public @lives(%x: tensor<64x64xf16, #blocked>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // CHECK: %[[A:.*]] = ttg.local_alloc %{{.*}} {allocation.offset = 0 : i32}
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 8192 : i32}
    %b = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %vb = ttg.local_load %b : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %va = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
      // CHECK: ttg.local_alloc %{{.*}} {allocation.offset = 8192 : i32}
      %c = ttg.local_alloc %va : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
      %vc = ttg.local_load %c : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
    }
    tt.return
  }

  // A view keeps its buffer alive; a choice between two keeps both.
  // CHECK-LABEL: tt.func public @views
  tt.func public @views(%x: tensor<64x64xf16, #blocked>, %choose: i1) {
    // CHECK: allocation.offset = 0 : i32
    %a = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    // CHECK: allocation.offset = 8192 : i32
    %b = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %s = arith.select %choose, %a, %b : !ttg.memdesc<64x64xf16, #shared, #smem>
    // CHECK: allocation.offset = 16384 : i32
    %c = ttg.local_alloc %x : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #shared, #smem>
    %v = ttg.local_load %s : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
    %w = ttg.local_load %c : !ttg.memdesc<64x64xf16, #shared, #smem> -> tensor<64x64xf16, #blocked>
    tt.return
  }

  // A buffer without initial value lives from its first use on: the second follows the first in its memory.
  // CHECK-LABEL: tt.func public @first_use
  tt.func public @first_use(%x: tensor<64x64xf16, #blocked>) {
    // CHECK: allocation.offset = 0 : i32
    %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    // CHECK: allocation.offset = 0 : i32
    %b = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttg.local_store %x, %a : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %v = ttg.local_load %a : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #blocked>
    ttg.local_store %v, %b : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK: module attributes {{.*}}ttg.shared = 2064 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // A partial result of each of the four warps. A callee's memory is part of the caller's, aligned to the largest
  // pattern; while there is little of it, memory is not shared over time, since sharing takes barriers.
  // CHECK-LABEL: tt.func private @callee
  tt.func private @callee(%x: tensor<512xf32, #blocked>) -> f32 {
    // CHECK: "tt.reduce"
    // CHECK: {allocation.offset = 0 : i32}
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<512xf32, #blocked>) -> f32
    tt.return %s : f32
  }
  // CHECK-LABEL: tt.func public @caller
  tt.func public @caller(%x: tensor<512xf32, #blocked>) -> f32 {
    %shared = ttg.local_alloc %x : (tensor<512xf32, #blocked>) -> !ttg.memdesc<512xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #ttg.shared_memory>
    %y = ttg.local_load %shared : !ttg.memdesc<512xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #ttg.shared_memory> -> tensor<512xf32, #blocked>
    // CHECK: tt.call @callee(%{{.*}}) {allocation.offset = 2048 : i32}
    %s = tt.call @callee(%y) : (tensor<512xf32, #blocked>) -> f32
    tt.return %s : f32
  }
}
