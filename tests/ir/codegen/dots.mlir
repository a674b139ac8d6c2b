// RUN: jitk-opt %s --split-input-file --convert-ttgir-to-llvm | FileCheck %s

// tt.dot: which products, and how many. Whether registers meet the right elements is shown on the emulator.

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a16 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b16 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#a8 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b8 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
#a32 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b32 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // A warp has 32 x 32 of the result: 2 x 4 tiles, K in two steps.
  // CHECK-LABEL: llvm.func @half
  // CHECK-COUNT-16: ptx.inst "mma.m16n8k16.f32.f16"
  // CHECK-NOT: ptx.inst "mma
  // CHECK: llvm.return
  tt.func @half(%a: tensor<64x32xf16, #a16>, %b: tensor<32x64xf16, #b16>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %0 = tt.dot %a, %b, %c : tensor<64x32xf16, #a16> * tensor<32x64xf16, #b16> -> tensor<64x64xf32, #mma>
    tt.return %0 : tensor<64x64xf32, #mma>
  }

  // CHECK-LABEL: llvm.func @half_accumulator
  // CHECK-COUNT-16: ptx.inst "mma.m16n8k16.f16.f16"{{.*}} : (i32, i32, i32, i32, i32, i32, i32, i32) -> (i32, i32)
  // CHECK: llvm.return
  tt.func @half_accumulator(%a: tensor<64x32xf16, #a16>, %b: tensor<32x64xf16, #b16>, %c: tensor<64x64xf16, #mma>) -> tensor<64x64xf16, #mma> {
    %0 = tt.dot %a, %b, %c : tensor<64x32xf16, #a16> * tensor<32x64xf16, #b16> -> tensor<64x64xf16, #mma>
    tt.return %0 : tensor<64x64xf16, #mma>
  }

  // CHECK-LABEL: llvm.func @tf32
  // CHECK-COUNT-16: ptx.inst "mma.m16n8k8.f32.tf32"
  // CHECK: llvm.return
  tt.func @tf32(%a: tensor<64x16xf32, #a32>, %b: tensor<16x64xf32, #b32>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %0 = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x16xf32, #a32> * tensor<16x64xf32, #b32> -> tensor<64x64xf32, #mma>
    tt.return %0 : tensor<64x64xf32, #mma>
  }

  // What tf32 leaves of a word is computed once: of the four words of A, then of B's in the second pass. The two tiles
  // of columns take turns.
  // CHECK-LABEL: llvm.func @split
  // CHECK-COUNT-4: llvm.fsub
  // CHECK-NOT: llvm.fsub
  // CHECK-COUNT-2: ptx.inst "mma.m16n8k8.f32.tf32"
  // CHECK-NOT: ptx.inst
  // CHECK-COUNT-2: llvm.fsub
  // CHECK: ptx.inst "mma.m16n8k8.f32.tf32"
  // CHECK-COUNT-2: llvm.fsub
  // CHECK-COUNT-3: ptx.inst "mma.m16n8k8.f32.tf32"
  // CHECK-NOT: llvm.fsub
  // CHECK-NOT: ptx.inst "mma
  // CHECK: llvm.return
  tt.func @split(%a: tensor<32x8xf32, #a32>, %b: tensor<8x32xf32, #b32>, %c: tensor<32x32xf32, #mma>) -> tensor<32x32xf32, #mma> {
    %0 = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<32x8xf32, #a32> * tensor<8x32xf32, #b32> -> tensor<32x32xf32, #mma>
    tt.return %0 : tensor<32x32xf32, #mma>
  }

  // CHECK-LABEL: llvm.func @bytes
  // CHECK-COUNT-8: ptx.inst "mma.m16n8k32.s32.s8"
  // CHECK: llvm.return
  tt.func @bytes(%a: tensor<64x32xi8, #a8>, %b: tensor<32x64xi8, #b8>, %c: tensor<64x64xi32, #mma>) -> tensor<64x64xi32, #mma> {
    %0 = tt.dot %a, %b, %c : tensor<64x32xi8, #a8> * tensor<32x64xi8, #b8> -> tensor<64x64xi32, #mma>
    tt.return %0 : tensor<64x64xi32, #mma>
  }

  // sm_80 has no fp8: the operands are decoded to f16, and each word becomes two.
  // CHECK-LABEL: llvm.func @decoded_fp8
  // CHECK-COUNT-16: ptx.inst "mma.m16n8k16.f32.f16"
  // CHECK-NOT: ptx.inst "mma
  // CHECK: llvm.return
  tt.func @decoded_fp8(%a: tensor<64x32xf8E4M3FN, #a8>, %b: tensor<32x64xf8E5M2, #b8>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %0 = tt.dot %a, %b, %c : tensor<64x32xf8E4M3FN, #a8> * tensor<32x64xf8E5M2, #b8> -> tensor<64x64xf32, #mma>
    tt.return %0 : tensor<64x64xf32, #mma>
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#a8 = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#b8 = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:89", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func @fp8
  // CHECK-COUNT-8: ptx.inst "mma.m16n8k32.f32.e4m3.e5m2"
  // CHECK: llvm.return
  tt.func @fp8(%a: tensor<64x32xf8E4M3FN, #a8>, %b: tensor<32x64xf8E5M2, #b8>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %0 = tt.dot %a, %b, %c : tensor<64x32xf8E4M3FN, #a8> * tensor<32x64xf8E5M2, #b8> -> tensor<64x64xf32, #mma>
    tt.return %0 : tensor<64x64xf32, #mma>
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #blocked}>
#b = #ttg.dot_op<{opIdx = 1, parent = #blocked}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // A thread has 2 x 2 of the result and four products for each.
  // CHECK-LABEL: llvm.func @scalars
  // CHECK-COUNT-16: llvm.intr.fma
  // CHECK-NOT: llvm.intr.fma
  // CHECK: llvm.return
  tt.func @scalars(%x: tensor<32x4xf32, #a>, %y: tensor<4x16xf32, #b>, %z: tensor<32x16xf32, #blocked>) -> tensor<32x16xf32, #blocked> {
    %0 = tt.dot %x, %y, %z : tensor<32x4xf32, #a> * tensor<4x16xf32, #b> -> tensor<32x16xf32, #blocked>
    tt.return %0 : tensor<32x16xf32, #blocked>
  }
}
