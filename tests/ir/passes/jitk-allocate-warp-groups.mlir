// RUN: %jitk-opt %s --jitk-allocate-warp-groups --split-input-file -verify-diagnostics | FileCheck %s

// The largest partition first, so that it begins at a warpgroup; twelve warps in all. 65536 registers over 384 threads
// leave each 168; the two small partitions share a warpgroup and its larger request, and what both warpgroups do not want
// is the default region's: 3 * 168 - 104 - 40.
// CHECK: module attributes {{{.*}}ttg.maxnreg = 168 : i32{{.*}}"ttg.total-num-warps" = 12 : i32}
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    // CHECK: actualRegisters = array<i32: 256, 40, 104, 40>
    // CHECK-SAME: warpGroupStartIds = array<i32: 10, 4, 8>
    ttg.warp_specialize() attributes {requestedRegisters = array<i32: 24, 104, 40>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    }
    partition1() num_warps(4) {
      ttg.warp_return
    }
    partition2() num_warps(2) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

// Without requests every thread keeps what it starts with.
// CHECK: module attributes {
// CHECK-NOT: ttg.maxnreg
// CHECK-SAME: "ttg.total-num-warps" = 8 : i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    // CHECK-NOT: actualRegisters
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(2) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

// The kernel's warps are the first replica: partitions have the registers that they ask for, in warpgroups from warp 0 on.
// CHECK: module attributes {{{.*}}ttg.maxnreg = 128 : i32{{.*}}"ttg.total-num-warps" = 16 : i32}
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    // CHECK: actualRegisters = array<i32: 128, 160, 32>
    // CHECK-SAME: warpGroupStartIds = array<i32: 0, 12>
    ttg.warp_specialize() attributes {partitionReplicas = array<i32: 3, 1>, requestedRegisters = array<i32: 160, 32>, warpGroupStartIds = array<i32: 0, 12>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    }
    partition1() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
