// Effects of tt, ttg and ttng ops: what CSE may merge and what it must keep.
// RUN: %jitk-opt %s --cse | FileCheck %s

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// CHECK-LABEL: tt.func @loads
tt.func @loads(%p: !tt.ptr<f32>, %v: f32) -> (f32, f32, f32, f32) {
  // CHECK: %[[L:.*]] = tt.load
  %0 = tt.load %p : !tt.ptr<f32>
  %1 = tt.load %p : !tt.ptr<f32>
  // CHECK-NEXT: tt.load %{{.*}} {isVolatile = true}
  %2 = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  // CHECK-NEXT: tt.load %{{.*}} {isVolatile = true}
  %3 = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  // CHECK-NEXT: tt.return %[[L]], %[[L]]
  tt.return %0, %1, %2, %3 : f32, f32, f32, f32
}

// CHECK-LABEL: tt.func @atomics
tt.func @atomics(%p: !tt.ptr<i32>, %v: i32) -> (i32, i32) {
  // CHECK-COUNT-2: tt.atomic_rmw
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  %1 = tt.atomic_rmw add, relaxed, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  tt.return %0, %1 : i32, i32
}

// CHECK-LABEL: tt.func @inline_asm
tt.func @inline_asm(%x: f32) -> (f32, f32, f32, f32) {
  // CHECK: %[[P:.*]] = tt.elementwise_inline_asm {{.*}}pure = true
  %0 = tt.elementwise_inline_asm "" {constraints = "=f,f", packed_element = 1 : i32, pure = true} %x : f32 -> f32
  %1 = tt.elementwise_inline_asm "" {constraints = "=f,f", packed_element = 1 : i32, pure = true} %x : f32 -> f32
  // CHECK-COUNT-2: tt.elementwise_inline_asm {{.*}}pure = false
  %2 = tt.elementwise_inline_asm "" {constraints = "=f,f", packed_element = 1 : i32, pure = false} %x : f32 -> f32
  %3 = tt.elementwise_inline_asm "" {constraints = "=f,f", packed_element = 1 : i32, pure = false} %x : f32 -> f32
  // CHECK: tt.return %[[P]], %[[P]]
  tt.return %0, %1, %2, %3 : f32, f32, f32, f32
}

// CHECK-LABEL: tt.func @allocs
tt.func @allocs(%x: tensor<128xf32, #a>) -> (!ttg.memdesc<128xf32, #s, #smem>, !ttg.memdesc<128xf32, #s, #smem>, !ttg.memdesc<128xf32, #s, #smem, mutable>, !ttg.memdesc<128xf32, #s, #smem, mutable>) {
  // CHECK: %[[I:.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<128xf32, #shared, #smem>
  %0 = ttg.local_alloc %x : (tensor<128xf32, #a>) -> !ttg.memdesc<128xf32, #s, #smem>
  %1 = ttg.local_alloc %x : (tensor<128xf32, #a>) -> !ttg.memdesc<128xf32, #s, #smem>
  // CHECK-COUNT-2: ttg.local_alloc {{.*}}, mutable>
  %2 = ttg.local_alloc %x : (tensor<128xf32, #a>) -> !ttg.memdesc<128xf32, #s, #smem, mutable>
  %3 = ttg.local_alloc %x : (tensor<128xf32, #a>) -> !ttg.memdesc<128xf32, #s, #smem, mutable>
  // CHECK: tt.return %[[I]], %[[I]]
  tt.return %0, %1, %2, %3 : !ttg.memdesc<128xf32, #s, #smem>, !ttg.memdesc<128xf32, #s, #smem>, !ttg.memdesc<128xf32, #s, #smem, mutable>, !ttg.memdesc<128xf32, #s, #smem, mutable>
}

// Shared reads merge until something writes shared memory or synchronizes.
// CHECK-LABEL: tt.func @shared_reads
tt.func @shared_reads(%m: !ttg.memdesc<128xf32, #s, #smem, mutable>, %b: !ttg.memdesc<1xi64, #s, #smem, mutable>, %ph: i32) -> (tensor<128xf32, #a>, tensor<128xf32, #a>, tensor<128xf32, #a>, tensor<128xf32, #a>, tensor<128xf32, #a>) {
  // CHECK: %[[L:.*]] = ttg.local_load
  %0 = ttg.local_load %m : !ttg.memdesc<128xf32, #s, #smem, mutable> -> tensor<128xf32, #a>
  %1 = ttg.local_load %m : !ttg.memdesc<128xf32, #s, #smem, mutable> -> tensor<128xf32, #a>
  // CHECK-NEXT: ttng.wait_barrier
  ttng.wait_barrier %b, %ph : !ttg.memdesc<1xi64, #s, #smem, mutable>
  // CHECK-NEXT: ttg.local_load
  %2 = ttg.local_load %m : !ttg.memdesc<128xf32, #s, #smem, mutable> -> tensor<128xf32, #a>
  // CHECK-NEXT: ttg.async_wait
  %t = ttg.async_wait {num = 0 : i32}
  // CHECK-NEXT: ttg.local_load
  %3 = ttg.local_load %m : !ttg.memdesc<128xf32, #s, #smem, mutable> -> tensor<128xf32, #a>
  // CHECK-NEXT: ttg.local_barrier
  ttg.local_barrier
  // CHECK-NEXT: ttg.local_load
  %4 = ttg.local_load %m : !ttg.memdesc<128xf32, #s, #smem, mutable> -> tensor<128xf32, #a>
  tt.return %0, %1, %2, %3, %4 : tensor<128xf32, #a>, tensor<128xf32, #a>, tensor<128xf32, #a>, tensor<128xf32, #a>, tensor<128xf32, #a>
}
