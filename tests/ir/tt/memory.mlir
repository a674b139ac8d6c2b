// Loads, stores and atomics, with and without encodings. Effects are tested in effects.mlir.
// RUN: %jitk-opt %s | %jitk-opt | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32} {

// CHECK-LABEL: tt.func @load
// CHECK-SAME: (%[[P:.*]]: tensor<128x!tt.ptr<f16>>, %[[M:.*]]: tensor<128xi1>, %[[O:.*]]: tensor<128xf16>)
tt.func @load(%p: tensor<128x!tt.ptr<f16>>, %m: tensor<128xi1>, %o: tensor<128xf16>) {
  // CHECK-NEXT: tt.load %[[P]] : tensor<128x!tt.ptr<f16>>
  %0 = tt.load %p : tensor<128x!tt.ptr<f16>>
  // CHECK-NEXT: tt.load %[[P]], %[[M]] : tensor<128x!tt.ptr<f16>>
  %1 = tt.load %p, %m : tensor<128x!tt.ptr<f16>>
  // CHECK-NEXT: tt.load %[[P]], %[[M]], %[[O]] cacheModifier = cg evictionPolicy = evict_last {isVolatile = true}
  %2 = tt.load %p, %m, %o evictionPolicy = evict_last cacheModifier = cg {isVolatile = true} : tensor<128x!tt.ptr<f16>>
  tt.return
}

// CHECK-LABEL: tt.func @scalar
tt.func @scalar(%p: !tt.ptr<f32>, %q: !tt.ptr<f32, 3>, %m: i1, %v: f32) {
  // CHECK: tt.load %{{.*}}, %{{.*}} : !tt.ptr<f32>
  %0 = tt.load %p, %m : !tt.ptr<f32>
  // CHECK: tt.load %{{.*}} : !tt.ptr<f32, 3>
  %1 = tt.load %q : !tt.ptr<f32, 3>
  // CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} : !tt.ptr<f32>
  tt.store %p, %v, %m : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: tt.func @store
tt.func @store(%p: tensor<512x!tt.ptr<f16>, #b>, %v: tensor<512xf16, #b>, %m: tensor<512xi1, #b>) {
  // CHECK: tt.store %{{.*}}, %{{.*}} : tensor<512x!tt.ptr<f16>, #blocked>
  tt.store %p, %v : tensor<512x!tt.ptr<f16>, #b>
  // CHECK: tt.store %{{.*}}, %{{.*}}, %{{.*}} cacheModifier = wt evictionPolicy = evict_first :
  tt.store %p, %v, %m cacheModifier = wt evictionPolicy = evict_first : tensor<512x!tt.ptr<f16>, #b>
  tt.return
}

// CHECK-LABEL: tt.func @modifiers
tt.func @modifiers(%p: !tt.ptr<f32>) {
  // The defaults are not printed.
  // CHECK: tt.load %{{[^ ]*}} : !tt.ptr
  %0 = tt.load %p cacheModifier = none evictionPolicy = evict_normal : !tt.ptr<f32>
  // CHECK: cacheModifier = ca
  %1 = tt.load %p cacheModifier = ca : !tt.ptr<f32>
  // CHECK: cacheModifier = wb
  %2 = tt.load %p cacheModifier = wb : !tt.ptr<f32>
  // CHECK: cacheModifier = cs
  %3 = tt.load %p cacheModifier = cs : !tt.ptr<f32>
  // CHECK: cacheModifier = cv
  %4 = tt.load %p cacheModifier = cv : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: tt.func @atomics
tt.func @atomics(%p: !tt.ptr<i32>, %v: i32, %m: i1, %q: tensor<512x!tt.ptr<f32>, #b>, %w: tensor<512xf32, #b>) {
  // CHECK: tt.atomic_rmw add, relaxed, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32, i1) -> i32
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v, %m : (!tt.ptr<i32>, i32, i1) -> i32
  // CHECK: tt.atomic_rmw exch, acquire, cta, %{{.*}}, %{{.*}} : (!tt.ptr<i32>, i32) -> i32
  %1 = tt.atomic_rmw exch, acquire, cta, %p, %v : (!tt.ptr<i32>, i32) -> i32
  // CHECK: tt.atomic_rmw fadd, release, sys, %{{.*}} : (tensor<512x!tt.ptr<f32>, #blocked>, tensor<512xf32, #blocked>) -> tensor<512xf32, #blocked>
  %2 = tt.atomic_rmw fadd, release, sys, %q, %w : (tensor<512x!tt.ptr<f32>, #b>, tensor<512xf32, #b>) -> tensor<512xf32, #b>
  // CHECK: tt.atomic_cas acq_rel, gpu, %{{.*}} : (!tt.ptr<i32>, i32, i32) -> i32
  %3 = tt.atomic_cas acq_rel, gpu, %p, %v, %v : (!tt.ptr<i32>, i32, i32) -> i32
  tt.return
}

}
