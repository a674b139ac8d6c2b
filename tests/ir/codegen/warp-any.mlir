// RUN: jitk-opt %s --convert-scf-to-cf --convert-ttgir-to-llvm | FileCheck %s

#l = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {

// The elements of a thread are put together before the warp votes.
// CHECK-LABEL: @any
tt.func @any(%a: tensor<256xi1, #l>, %p: !tt.ptr<i32>, %v: i32) {
  // CHECK: %[[OR:.*]] = llvm.or %{{.*}}, %{{.*}} : i1
  // CHECK: ptx.inst "vote.sync.any"(%[[OR]]) : (i1) -> i1
  %0 = ttng.warp_any %a : tensor<256xi1, #l>
  scf.if %0 {
    tt.store %p, %v : !tt.ptr<i32>
  }
  tt.return
}

}
