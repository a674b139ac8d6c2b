// RUN: jitk-opt %s --jitk-allocate-shared-memory --convert-ttgir-to-llvm --split-input-file | FileCheck %s
// How values meet: in registers, by shuffles, through shared memory. Results are tested on the emulator.

#rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A row lies in eight lanes of one warp: three shuffles, no shared memory.
  // CHECK-LABEL: llvm.func internal @within_warps
  // CHECK-COUNT-3: ptx.inst "shfl.sync.bfly"
  // CHECK-NOT: ptx.inst
  // CHECK: llvm.return
  tt.func private @within_warps(%x: tensor<16x32xf32, #rows>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #rows}>> {
    %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<16x32xf32, #rows>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #rows}>>
    tt.return %s : tensor<16xf32, #ttg.slice<{dim = 1, parent = #rows}>>
  }
}

// -----

#flat = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Halves travel in pairs; the four warps' parts are loaded at once.
  // CHECK-LABEL: llvm.func internal @across_warps
  // CHECK-COUNT-5: ptx.inst "shfl.sync.bfly"
  // CHECK-NOT: ptx.inst "shfl
  // CHECK: ptx.inst "st.shared.b16"
  // CHECK: ptx.inst "bar.sync"() {imms = array<i64: 0>}
  // CHECK: ptx.inst "ld.shared.v2.b32"
  // CHECK-NOT: ptx.inst
  tt.func private @across_warps(%x: tensor<512xf16, #flat>) -> f16 {
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f16, %b: f16):
      %c = arith.maxnumf %a, %b : f16
      tt.reduce.return %c : f16
    }) : (tensor<512xf16, #flat>) -> f16
    tt.return %s : f16
  }
}
