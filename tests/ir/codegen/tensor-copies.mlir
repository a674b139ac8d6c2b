// RUN: jitk-opt %s --jitk-allocate-shared-memory --convert-ttgir-to-llvm | FileCheck %s

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A block of 128 columns is two boxes of 64: the second lies 16 KiB behind the first and begins at column y + 64.
  // Coordinates are given innermost first.
  // CHECK-LABEL: llvm.func @load(
  // CHECK-SAME: %[[MAP:[a-z0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
  // CHECK-SAME: %[[X:[a-z0-9]+]]: i32, %[[Y:[a-z0-9]+]]: i32, %{{.*}}: i32, %{{.*}}: i32, %[[BASE:[a-z0-9]+]]: i32
  // CHECK-DAG: %[[PANEL:.*]] = llvm.mlir.constant(16384 : i32)
  // CHECK-DAG: %[[COLUMNS:.*]] = llvm.mlir.constant(64 : i32)
  // CHECK: ptx.inst "elect.sync"
  // CHECK: ptx.inst "cp.async.bulk.tensor.2d.shared.global"(%[[PRED:.*]], %{{.*}}, %[[MAP]], %[[Y]], %[[X]], %[[BAR:.*]])
  // CHECK: %[[SECOND:.*]] = llvm.add %{{.*}}, %[[PANEL]]
  // CHECK: %[[NEXT:.*]] = llvm.add %[[Y]], %[[COLUMNS]]
  // CHECK: ptx.inst "cp.async.bulk.tensor.2d.shared.global"(%[[PRED]], %[[SECOND]], %[[MAP]], %[[NEXT]], %[[X]], %[[BAR]])
  // CHECK-NOT: cp.async.bulk
  // CHECK: llvm.return
  tt.func @load(%t: !tt.tensordesc<tensor<128x128xf16, #shared>>, %x: i32, %y: i32, %b: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %d: !ttg.memdesc<128x128xf16, #shared, #smem, mutable>, %p: i1) {
    ttng.async_tma_copy_global_to_local %t[%x, %y] %d, %b, %p : !tt.tensordesc<tensor<128x128xf16, #shared>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<128x128xf16, #shared, #smem, mutable>
    tt.return
  }

  // In a cluster of two: the copy names both CTAs by a mask; lane r of a warp arrives in CTA r.
  // CHECK-LABEL: llvm.func @multicast(
  // CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
  // CHECK-DAG: %[[BOTH:.*]] = llvm.mlir.constant(3 : i16)
  // CHECK-DAG: %[[TWO:.*]] = llvm.mlir.constant(2 : i32)
  // CHECK: ptx.inst "cp.async.bulk.tensor.2d.shared.global.multicast::cluster"({{.*}}, %[[BOTH]])
  // CHECK: %[[ARRIVES:.*]] = llvm.icmp "ult" %[[LANE:.*]], %[[TWO]]
  // CHECK: %[[RANK:.*]] = llvm.select %[[ARRIVES]], %[[LANE]]
  // CHECK: %[[THERE:.*]] = ptx.inst "mapa"(%{{.*}}, %[[RANK]])
  // CHECK: ptx.inst "mbarrier.arrive.cluster"(%[[ARRIVES]], %[[THERE]],
  tt.func public @multicast(%t: !tt.tensordesc<tensor<128x64xf16, #shared>>, %x: i32, %y: i32, %p: i1) attributes {"ttg.cluster-dim-x" = 2 : i32} {
    %d = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.async_tma_copy_global_to_local %t[%x, %y] %d, %b, %p {multicast} : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ttng.arrive_barrier %b, 1 {perWarp, multicast} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    tt.return
  }

  // CHECK-LABEL: llvm.func @store(
  // CHECK: ptx.inst "cp.async.bulk.tensor.2d.global.shared"
  // CHECK: ptx.inst "cp.async.bulk.commit_group"
  // CHECK: ptx.inst "cp.reduce.async.bulk.tensor.2d.add"
  // CHECK: ptx.inst "cp.async.bulk.commit_group"
  // CHECK: ptx.inst "cp.async.bulk.wait_group.read"() {imms = array<i64: 1>}
  tt.func @store(%t: !tt.tensordesc<tensor<128x64xf16, #shared>>, %x: i32, %y: i32, %d: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>) {
    ttng.async_tma_copy_local_to_global %t[%x, %y] %d : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ttng.async_tma_reduce add, %t[%x, %y] %d : !tt.tensordesc<tensor<128x64xf16, #shared>>, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 1 : i32}
    tt.return
  }

  // The first warp builds the map in shared memory, then publishes it.
  // CHECK-LABEL: llvm.func @create(
  // CHECK: llvm.cond_br
  // CHECK: ptx.inst "st.shared.b32"
  // CHECK: ptx.inst "bar.warp.sync"
  // CHECK: ptx.inst "tensormap.replace.tile.global_address"
  // CHECK: ptx.inst "tensormap.replace.tile.rank"(%{{.*}}, %{{.*}}) {imms = array<i64: 1>}
  // CHECK: ptx.inst "tensormap.replace.tile.box_dim.0"
  // CHECK: ptx.inst "tensormap.replace.tile.box_dim.1"
  // CHECK: ptx.inst "tensormap.replace.tile.global_stride.0"
  // CHECK: ptx.inst "tensormap.replace.tile.elemtype"(%{{.*}}, %{{.*}}) {imms = array<i64: 6>}
  // CHECK: ptx.inst "bar.warp.sync"
  // CHECK: ptx.inst "tensormap.cp_fenceproxy"
  // CHECK: llvm.br
  // CHECK: ptx.inst "fence.proxy.tensormap.acquire"
  tt.func @create(%p: !tt.ptr<i8>, %g: !tt.ptr<f16>, %a: i32, %s: i64) {
    ttng.tensormap_create %p, %g, [%a, %a], [%a, %a], [%s], [%a, %a] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %p : !tt.ptr<i8>
    tt.return
  }
}
