// RUN: jitk-opt %s --jitk-allocate-warp-groups --jitk-allocate-shared-memory --jitk-insert-barriers --convert-ttgir-to-llvm | FileCheck %s
// The protocol between the kernel's warps and the others. It is run on the emulator.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Four warps of the kernel, one of the partition and three that fill its warpgroup. 256 threads start with 255 registers
  // rounded down; the partition's warpgroup gives up what it does not want. All meet once, to begin: nothing follows.
  // CHECK-LABEL: llvm.func @kernel
  // CHECK-SAME: nvvm.maxnreg = 256 : i32
  // CHECK-SAME: nvvm.reqntid = array<i32: 256>
  // CHECK: %[[WARP:.*]] = ptx.inst "shfl.sync.idx"
  // CHECK: %[[KERNEL:.*]] = llvm.icmp "ult" %[[WARP]]
  // CHECK: llvm.cond_br %[[KERNEL]], ^[[MAIN:.*]], ^[[WORKERS:.*]]
  // CHECK: ^[[MAIN]]:
  // CHECK-NOT: st.shared
  // CHECK: ptx.inst "barrier.sync"() {imms = array<i64: 1>}
  // CHECK: ^[[WORKERS]]:
  // CHECK-NEXT: ptx.inst "barrier.sync"() {imms = array<i64: 1>}
  // CHECK-NOT: barrier
  // CHECK: ptx.inst "setmaxnreg.dec"() {imms = array<i64: 24>}
  // CHECK-NOT: {{barrier|setmaxnreg}}
  tt.func public @kernel(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    ttg.warp_specialize(%p) attributes {requestedRegisters = array<i32: 24>}
    default {
      %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
      %b = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #blocked>
      %q = tt.addptr %b, %i : tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, #blocked>
      tt.store %q, %i : tensor<128x!tt.ptr<i32>, #blocked>
      ttg.warp_yield
    }
    partition0(%a: !tt.ptr<i32>) num_warps(1) {
      %i = tt.make_range {end = 160 : i32, start = 128 : i32} : tensor<32xi32, #one>
      %b = tt.splat %a : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #one>
      %q = tt.addptr %b, %i : tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>
      tt.store %q, %i : tensor<32x!tt.ptr<i32>, #one>
      ttg.warp_return
    } : (!tt.ptr<i32>) -> ()
    tt.return
  }

  // Before the kernel goes on, all meet again.
  // CHECK-LABEL: llvm.func @goes_on
  // CHECK: llvm.cond_br %{{.*}}, ^{{.*}}, ^[[WORKERS:.*]]
  // CHECK: ^[[WORKERS]]:
  // CHECK-NEXT: ptx.inst "barrier.sync"() {imms = array<i64: 1>}
  // CHECK: ptx.inst "barrier.sync"() {imms = array<i64: 1>}
  // CHECK-NEXT: llvm.icmp
  // CHECK: llvm.return
  // CHECK: ptx.inst "setmaxnreg.dec"() {imms = array<i64: 24>}
  // CHECK: ptx.inst "barrier.sync"() {imms = array<i64: 1>}
  // CHECK-NEXT: llvm.br
  // CHECK: ptx.inst "barrier.sync"() {imms = array<i64: 1>}
  // CHECK-NEXT: ptx.inst "setmaxnreg.inc"() {imms = array<i64: 256>}
  tt.func public @goes_on(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    ttg.warp_specialize(%p) attributes {requestedRegisters = array<i32: 24>}
    default {
      %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
      %b = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #blocked>
      %q = tt.addptr %b, %i : tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, #blocked>
      tt.store %q, %i : tensor<128x!tt.ptr<i32>, #blocked>
      ttg.warp_yield
    }
    partition0(%a: !tt.ptr<i32>) num_warps(1) {
      %i = tt.make_range {end = 160 : i32, start = 128 : i32} : tensor<32xi32, #one>
      %b = tt.splat %a : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #one>
      %q = tt.addptr %b, %i : tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>
      tt.store %q, %i : tensor<32x!tt.ptr<i32>, #one>
      ttg.warp_return
    } : (!tt.ptr<i32>) -> ()
    %z = arith.constant 0 : i32
    tt.store %p, %z : !tt.ptr<i32>
    tt.return
  }

  // Where the kernel has more of them the other warps wait for a number.
  // CHECK-LABEL: llvm.func @again
  // CHECK: %[[WARP:.*]] = ptx.inst "shfl.sync.idx"
  // CHECK: %[[KERNEL:.*]] = llvm.icmp "ult" %[[WARP]]
  // CHECK: llvm.cond_br %[[KERNEL]], ^[[MAIN:.*]], ^[[LOOP:.*]]
  // CHECK: ^[[MAIN]]:
  // CHECK: ptx.inst "st.shared.b32"
  // CHECK-NEXT: ptx.inst "barrier.sync"() {imms = array<i64: 1>}
  // CHECK: ^[[LOOP]]:
  // CHECK-NEXT: ptx.inst "barrier.sync"() {imms = array<i64: 1>}
  // CHECK: %[[NUMBER:.*]] = ptx.inst "ld.shared.b32"
  // CHECK: llvm.switch %[[NUMBER]] : i32, ^[[LEAVE:.*]] [
  // CHECK-NEXT: 0: ^{{.*}},
  // CHECK-NEXT: 1: ^{{.*}}
  // CHECK: ptx.inst "barrier.sync"() {imms = array<i64: 1>}
  // CHECK: ptx.inst "st.shared.b32"
  // CHECK: ptx.inst "barrier.sync"() {imms = array<i64: 1>}
  // CHECK: llvm.return
  // CHECK: ^[[LEAVE]]:
  // CHECK-NEXT: llvm.return
  // The registers that the partition's warpgroup gives up are taken again when all warps have met.
  // CHECK: ptx.inst "setmaxnreg.dec"() {imms = array<i64: 24>}
  // CHECK: llvm.cond_br %{{.*}}, ^{{.*}}, ^[[NOTHING:.*]]
  // CHECK: ptx.inst "barrier.sync"() {imms = array<i64: 1>}
  // CHECK-NEXT: llvm.br
  // CHECK: ^[[DONE:.*]]: // 2 preds
  // CHECK-NEXT: ptx.inst "barrier.sync"() {imms = array<i64: 1>}
  // CHECK-NEXT: ptx.inst "setmaxnreg.inc"() {imms = array<i64: 256>}
  // CHECK: ^[[NOTHING]]:
  // CHECK-NEXT: llvm.br ^[[DONE]]
  tt.func public @again(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    ttg.warp_specialize(%p) attributes {requestedRegisters = array<i32: 24>}
    default {
      %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #blocked>
      %b = tt.splat %p : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #blocked>
      %q = tt.addptr %b, %i : tensor<128x!tt.ptr<i32>, #blocked>, tensor<128xi32, #blocked>
      tt.store %q, %i : tensor<128x!tt.ptr<i32>, #blocked>
      ttg.warp_yield
    }
    partition0(%a: !tt.ptr<i32>) num_warps(1) {
      %i = tt.make_range {end = 160 : i32, start = 128 : i32} : tensor<32xi32, #one>
      %b = tt.splat %a : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #one>
      %q = tt.addptr %b, %i : tensor<32x!tt.ptr<i32>, #one>, tensor<32xi32, #one>
      tt.store %q, %i : tensor<32x!tt.ptr<i32>, #one>
      ttg.warp_return
    } : (!tt.ptr<i32>) -> ()
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(1) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }

  // Where CTAs of a cluster are programs of their own, those of the cluster meet around the regions too.
  // CHECK-LABEL: llvm.func @cluster
  // CHECK: ptx.inst "barrier.sync"() {imms = array<i64: 1>}
  // CHECK-NEXT: ptx.inst "barrier.cluster.arrive.relaxed"
  // CHECK-NEXT: ptx.inst "barrier.cluster.wait"
  // CHECK: ptx.inst "barrier.sync"() {imms = array<i64: 1>}
  // CHECK-NEXT: ptx.inst "barrier.cluster.arrive.relaxed"
  // CHECK-NEXT: ptx.inst "barrier.cluster.wait"
  // CHECK: ptx.inst "barrier.cluster.arrive"
  // CHECK-NEXT: ptx.inst "barrier.cluster.wait"
  // CHECK-NEXT: llvm.return
  tt.func public @cluster() attributes {"ttg.cluster-dim-x" = 2 : i32} {
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}
