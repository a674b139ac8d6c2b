// RUN: jitk-opt %s --jitk-allocate-shared-memory --convert-ttgir-to-llvm | FileCheck %s
// The way that a conversion goes. That each element arrives is tested on the emulator.

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#rows = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#columns = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // The accumulator of one product is the left operand of the next: names change, nothing moves.
  // CHECK-LABEL: llvm.func internal @renames
  // CHECK-NOT: ptx.inst
  // CHECK: llvm.return
  tt.func private @renames(%x: tensor<64x16xf16, #mma>) -> tensor<64x16xf16, #dot> {
    %y = ttg.convert_layout %x : tensor<64x16xf16, #mma> -> tensor<64x16xf16, #dot>
    tt.return %y : tensor<64x16xf16, #dot>
  }

  // CHECK-LABEL: llvm.func internal @through_memory
  // CHECK: ptx.inst "{{st.shared|stmatrix}}
  // CHECK: ptx.inst "bar.sync"
  // CHECK: ptx.inst "{{ld.shared|ldmatrix}}
  // CHECK: llvm.return
  tt.func private @through_memory(%x: tensor<64x64xf16, #rows>) -> tensor<64x64xf16, #columns> {
    %y = ttg.convert_layout %x : tensor<64x64xf16, #rows> -> tensor<64x64xf16, #columns>
    tt.return %y : tensor<64x64xf16, #columns>
  }
}
