// Ops of ttng, forms that the corpus does not show among them.
// RUN: %jitk-opt %s | %jitk-opt | FileCheck %s

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32} {

// CHECK-LABEL: tt.func @barriers
tt.func @barriers(%b: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %ph: i32, %p: i1, %m: !ttg.memdesc<64x64xf16, #s, #smem, mutable>) {
  // CHECK: ttng.wait_barrier %{{.*}}, %{{.*}} deps %{{.*}}, %{{.*}} : !ttg.memdesc<1xi64, {{.*}}>, !ttg.memdesc<64x64xf16, {{.*}}>, !ttg.memdesc<64x64xf16, {{.*}}>
  ttng.wait_barrier %b, %ph deps %m, %m : !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<64x64xf16, #s, #smem, mutable>, !ttg.memdesc<64x64xf16, #s, #smem, mutable>
  // The attributes of barrier_expect stand before the predicate.
  // CHECK: ttng.barrier_expect %{{.*}}, 8192 {async_task_id = array<i32: 0>}, %{{.*}} : !ttg.memdesc<1xi64
  ttng.barrier_expect %b, 8192 {async_task_id = array<i32: 0>}, %p : !ttg.memdesc<1xi64, #bar, #smem, mutable>
  // CHECK: ttng.arrive_barrier %{{.*}}, 2, %{{.*}} {perWarp} : !ttg.memdesc<1xi64
  ttng.arrive_barrier %b, 2, %p {perWarp} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
  // CHECK: ttng.arrive_barrier %{{.*}}, 1 {perThread} : !ttg.memdesc<1xi64
  ttng.arrive_barrier %b, 1 {perThread} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
  // CHECK: ttng.arrive_barrier %{{.*}}, 1 {multicast, perWarp} : !ttg.memdesc<1xi64
  ttng.arrive_barrier %b, 1 {perWarp, multicast} : !ttg.memdesc<1xi64, #bar, #smem, mutable>
  // CHECK: ttng.fence_async_shared {bCluster = true}
  ttng.fence_async_shared {bCluster = true}
  // CHECK: ttng.cluster_arrive {relaxed = true}
  ttng.cluster_arrive {relaxed = true}
  tt.return
}

// CHECK-LABEL: tt.func @tma
tt.func @tma(%d: !tt.tensordesc<tensor<64x64xf16, #s>>, %i: i32, %b: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %m: !ttg.memdesc<64x64xf16, #s, #smem, mutable>, %p: i1) {
  // CHECK: ttng.async_tma_copy_global_to_local %{{.*}}[%{{.*}}, %{{.*}}] %{{.*}}, %{{.*}}, %{{.*}} evictionPolicy = evict_first : !tt.tensordesc
  ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %p evictionPolicy = evict_first : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
  // CHECK: ttng.async_tma_copy_global_to_local %{{.*}}[%{{.*}}, %{{.*}}] %{{.*}}, %{{.*}}, %{{.*}} {multicast} : !tt.tensordesc
  ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %p {multicast} : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<1xi64, #bar, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
  // CHECK: ttng.async_tma_reduce min, %{{.*}}[%{{.*}}, %{{.*}}] %{{.*}} :
  ttng.async_tma_reduce min, %d[%i, %i] %m : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<64x64xf16, #s, #smem, mutable>
  // CHECK: ttng.async_tma_reduce xor
  ttng.async_tma_reduce xor, %d[%i, %i] %m : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<64x64xf16, #s, #smem, mutable>
  tt.return
}

// CHECK-LABEL: tt.func @wgmma_open
tt.func @wgmma_open(%a: tensor<64x64xf16>, %b: !ttg.memdesc<64x64xf16, #s, #smem>, %c: tensor<64x64xf32>, %p: tensor<64xi1>) {
  // Before layouts are assigned neither the accumulator nor a left operand in registers has one.
  // CHECK: ttng.warp_group_dot %{{.*}}, %{{.*}}, %{{.*}} {isAsync = true} : tensor<64x64xf16> * !ttg.memdesc<64x64xf16, {{.*}}> -> tensor<64x64xf32>
  %0 = ttng.warp_group_dot %a, %b, %c {isAsync = true} : tensor<64x64xf16> * !ttg.memdesc<64x64xf16, #s, #smem> -> tensor<64x64xf32>
  // CHECK: ttng.warp_any %{{.*}} : tensor<64xi1>
  %1 = ttng.warp_any %p : tensor<64xi1>
  tt.return
}

// CHECK-LABEL: tt.func @remote
tt.func @remote(%a: tensor<64x64xf16, #mma>, %m: !ttg.memdesc<64x64xf16, #s, #smem, mutable>, %rank: i32) {
  // CHECK: ttng.remote_shmem_store %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x64xf16, #mma> -> !ttg.memdesc<64x64xf16, {{.*}}>
  ttng.remote_shmem_store %a, %m, %rank : tensor<64x64xf16, #mma> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
  tt.return
}

// CHECK-LABEL: tt.func @wgmma
tt.func @wgmma(%a: !ttg.memdesc<64x64xf16, #s, #smem>, %c: tensor<64x64xf32, #mma>, %u: i1) {
  // CHECK: %[[D:.*]] = ttng.warp_group_dot %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !ttg.memdesc<64x64xf16, {{.*}}> * !ttg.memdesc<64x64xf16, {{.*}}> -> tensor<64x64xf32, #mma>
  %0 = ttng.warp_group_dot %a, %a, %c, %u : !ttg.memdesc<64x64xf16, #s, #smem> * !ttg.memdesc<64x64xf16, #s, #smem> -> tensor<64x64xf32, #mma>
  // CHECK: ttng.warp_group_dot_wait %[[D]] {pendings = 1 : i32} : tensor<64x64xf32, #mma>
  %1 = ttng.warp_group_dot_wait %0 {pendings = 1 : i32} : tensor<64x64xf32, #mma>
  tt.return
}

// CHECK-LABEL: tt.func @wgmma_parts
tt.func @wgmma_parts(%a: !ttg.memdesc<64x64xf16, #s, #smem>, %b: !ttg.memdesc<64x128xf16, #s, #smem>, %c: tensor<64x64xf32>, %d: tensor<64x128xf32>, %u: i1) {
  // CHECK: %[[D:.*]]:2 = ttng.warp_group_dot_parts %{{.*}}, [%{{.*}}, %{{.*}}], [%{{.*}}, %{{.*}}], %{{.*}} : (!ttg.memdesc<64x64xf16, {{.*}}>, !ttg.memdesc<64x128xf16, {{.*}}>, !ttg.memdesc<64x64xf16, {{.*}}>, tensor<64x128xf32>, tensor<64x64xf32>, i1) -> (tensor<64x128xf32>, tensor<64x64xf32>)
  %0:2 = ttng.warp_group_dot_parts %a, [%b, %a], [%d, %c], %u : (!ttg.memdesc<64x64xf16, #s, #smem>, !ttg.memdesc<64x128xf16, #s, #smem>, !ttg.memdesc<64x64xf16, #s, #smem>, tensor<64x128xf32>, tensor<64x64xf32>, i1) -> (tensor<64x128xf32>, tensor<64x64xf32>)
  tt.return
}

// A token may be given without being taken.
// CHECK-LABEL: tt.func @tokens
tt.func @tokens(%t: !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>, %a: !ttg.memdesc<128x64xf16, #s, #smem>, %b: !ttg.memdesc<64x128xf16, #s, #smem>, %p: i1, %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>) {
  // CHECK: %[[TOKEN:.*]] = ttng.tc_gen5_mma %{{.*}}, %{{.*}}, %[[T:.*]][], %{{.*}}, %{{.*}} :
  %0 = ttng.tc_gen5_mma %a, %b, %t[], %p, %p : !ttg.memdesc<128x64xf16, #s, #smem>, !ttg.memdesc<64x128xf16, #s, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
  // CHECK: ttng.tc_gen5_mma %{{.*}}, %{{.*}}, %[[T]][%[[TOKEN]]], %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] {is_async} :
  %1 = ttng.tc_gen5_mma %a, %b, %t[%0], %p, %p, %bar[%p], %bar[%p] {is_async} : !ttg.memdesc<128x64xf16, #s, #smem>, !ttg.memdesc<64x128xf16, #s, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>, !ttg.memdesc<1xi64, #bar, #smem, mutable>
  tt.return
}

}
