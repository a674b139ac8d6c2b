// RUN: jitk-opt %s --split-input-file --jitk-allocate-shared-memory --convert-ttgir-to-llvm | FileCheck %s

// Which instructions move a tensor between registers and a buffer. Addresses are not tested here: the emulator is where
// each element is seen to arrive.

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Eight elements of 16 bits a thread are one access of 16 bytes: 64 registers, eight accesses.
  // CHECK-LABEL: llvm.func @vectors
  // CHECK-COUNT-8: ptx.inst "st.shared.v4.b32"
  // CHECK-NOT: ptx.inst "st.shared
  // CHECK-COUNT-8: ptx.inst "ld.shared.v4.b32"
  // CHECK-NOT: ptx.inst "ld.shared
  // CHECK: llvm.return
  tt.func @vectors(%a: tensor<128x64xf16, #blocked>) -> tensor<128x64xf16, #blocked> {
    %0 = ttg.local_alloc %a : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %1 = ttg.local_load %0 : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> tensor<128x64xf16, #blocked>
    ttg.local_dealloc %0 : !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    tt.return %1 : tensor<128x64xf16, #blocked>
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#shared = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // A is contiguous along K, B along N.
  // CHECK-LABEL: llvm.func @fragments
  // CHECK-COUNT-8: ptx.inst "ldmatrix.x4"
  // CHECK-NOT: ptx.inst "ld
  // CHECK-COUNT-8: ptx.inst "ldmatrix.x4.trans"
  // CHECK-NOT: ptx.inst "ld
  // CHECK: llvm.return
  tt.func @fragments(%x: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %y: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>) -> (tensor<64x64xf16, #a>, tensor<64x64xf16, #b>) {
    %0 = ttg.local_load %x : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #a>
    %1 = ttg.local_load %y : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf16, #b>
    tt.return %0, %1 : tensor<64x64xf16, #a>, tensor<64x64xf16, #b>
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func @accumulator
  // CHECK-COUNT-8: ptx.inst "stmatrix.x4"
  // CHECK-NOT: ptx.inst "st
  // CHECK: llvm.return
  tt.func @accumulator(%c: tensor<128x64xf16, #mma>) {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ttg.local_store %c, %0 : tensor<128x64xf16, #mma> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#padded = #ttg.padded_shared<[64:+8] {order = [1, 0], shape = [64, 64]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Eight elements of padding follow every 64: the element's number, divided by 64, times 8 is added.
  // CHECK-LABEL: llvm.func @padded
  // CHECK: %[[SIX:.*]] = llvm.mlir.constant(6 : i32)
  // CHECK: %[[COUNT:.*]] = llvm.lshr %[[NUMBER:.*]], %[[SIX]]
  // CHECK: %[[PADDING:.*]] = llvm.shl %[[COUNT]], %{{.*}}
  // CHECK: llvm.add %[[NUMBER]], %[[PADDING]]
  // CHECK-COUNT-4: ptx.inst "st.shared.v4.b32"
  tt.func @padded(%a: tensor<64x64xf16, #blocked>) {
    %0 = ttg.local_alloc %a : (tensor<64x64xf16, #blocked>) -> !ttg.memdesc<64x64xf16, #padded, #smem, mutable>
    tt.return
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Into the memory of the CTA of rank 2: 16 registers, two neighbors at a time, at addresses from one that mapa makes.
  // CHECK-LABEL: llvm.func @remote
  // CHECK: %[[THERE:.*]] = ptx.inst "mapa"(%{{.*}}, %{{.*}})
  // CHECK-NOT: mapa
  // CHECK-COUNT-8: ptx.inst "st.shared::cluster.v2.b32"
  // CHECK-NOT: ptx.inst "st.
  // CHECK: llvm.return
  tt.func public @remote(%a: !tt.ptr<f32>) attributes {"ttg.cluster-dim-x" = 4 : i32} {
    %rank = arith.constant 2 : i32
    %sum = arith.constant dense<1.0> : tensor<64x32xf32, #mma>
    %slot = ttg.local_alloc : () -> !ttg.memdesc<64x32xf32, #shared, #smem, mutable>
    ttng.remote_shmem_store %sum, %slot, %rank : tensor<64x32xf32, #mma> -> !ttg.memdesc<64x32xf32, #shared, #smem, mutable>
    tt.return
  }
}
