// RUN: jitk-opt %s --jitk-allocate-warp-groups -verify-diagnostics

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
