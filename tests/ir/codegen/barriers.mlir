// RUN: jitk-opt %s --convert-ttgir-to-llvm | FileCheck %s

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // One thread changes the barrier, all wait. One fence follows several initializations.
  // CHECK-LABEL: llvm.func @barriers
  // CHECK-SAME: %{{.*}}: i32, %{{.*}}: i32, %[[PHASE:.*]]: i32, %[[PRED:.*]]: i1
  // CHECK: %[[FIRST:.*]] = llvm.icmp "eq" %{{.*}}, %{{.*}} : i32
  // CHECK: ptx.inst "mbarrier.init"(%{{.*}}, %{{.*}}, %{{.*}})
  // CHECK-NOT: ptx.inst "fence
  // CHECK: ptx.inst "mbarrier.init"
  // CHECK-NEXT: ptx.inst "fence.mbarrier_init"
  // CHECK: ptx.inst "mbarrier.arrive.expect_tx"
  // CHECK: %[[PARITY:.*]] = llvm.and %[[PHASE]], %{{.*}} : i32
  // CHECK: ptx.inst "mbarrier.wait.parity"(%{{.*}}, %{{.*}}, %[[PARITY]])
  // CHECK: ptx.inst "mbarrier.wait.parity"(%[[PRED]], %{{.*}}, %{{.*}})
  // CHECK: ptx.inst "mbarrier.arrive"(
  // CHECK: ptx.inst "cp.async.mbarrier.arrive.noinc"
  // CHECK: ptx.inst "cp.async.mbarrier.arrive"(
  // CHECK: ptx.inst "mbarrier.inval"
  // CHECK-NEXT: ptx.inst "fence.proxy.async.shared::cta"
  tt.func @barriers(%b: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %phase: i32, %p: i1) {
    ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.init_barrier %b, 2 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.barrier_expect %b, 16384, %p : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.wait_barrier %b, %phase : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.wait_barrier %b, %phase, %p : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.arrive_barrier %b, 2, %p : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_copy_mbarrier_arrive %b {noIncrement} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_copy_mbarrier_arrive %b : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.inval_barrier %b : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }

  // CHECK-LABEL: llvm.func @fences
  // CHECK: ptx.inst "fence.proxy.async.shared::cta"
  // CHECK: ptx.inst "fence.proxy.async.shared::cluster"
  // CHECK: ptx.inst "barrier.cluster.arrive"()
  // CHECK: ptx.inst "barrier.cluster.arrive.relaxed"()
  // CHECK: ptx.inst "barrier.cluster.wait"()
  tt.func @fences() {
    ttng.fence_async_shared {bCluster = false}
    ttng.fence_async_shared {bCluster = true}
    ttng.cluster_arrive {relaxed = false}
    ttng.cluster_arrive {relaxed = true}
    ttng.cluster_wait
    tt.return
  }
}
