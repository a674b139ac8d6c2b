// RUN: jitk-opt %s --jitk-allocate-warp-groups -split-input-file -verify-diagnostics

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @partitions() {
    // expected-error @+1 {{has more than 14 partitions: got 15}}
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    }
    partition1() num_warps(1) {
      ttg.warp_return
    }
    partition2() num_warps(1) {
      ttg.warp_return
    }
    partition3() num_warps(1) {
      ttg.warp_return
    }
    partition4() num_warps(1) {
      ttg.warp_return
    }
    partition5() num_warps(1) {
      ttg.warp_return
    }
    partition6() num_warps(1) {
      ttg.warp_return
    }
    partition7() num_warps(1) {
      ttg.warp_return
    }
    partition8() num_warps(1) {
      ttg.warp_return
    }
    partition9() num_warps(1) {
      ttg.warp_return
    }
    partition10() num_warps(1) {
      ttg.warp_return
    }
    partition11() num_warps(1) {
      ttg.warp_return
    }
    partition12() num_warps(1) {
      ttg.warp_return
    }
    partition13() num_warps(1) {
      ttg.warp_return
    }
    partition14() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @replicas() {
    // expected-error @+1 {{has more than 14 partitions: got 15}}
    ttg.warp_specialize() attributes {partitionReplicas = array<i32: 14, 1>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    }
    partition1() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @registers() {
    // 65536 registers are 168 for each of 384 threads: 504 for a thread of each warpgroup.
    // expected-error @+1 {{requests more registers than there are, by 1024}}
    ttg.warp_specialize() attributes {partitionReplicas = array<i32: 2, 1>, requestedRegisters = array<i32: 240, 32>, warpGroupStartIds = array<i32: 0, 8>}
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
