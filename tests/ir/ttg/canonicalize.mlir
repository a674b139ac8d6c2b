// Folds and canonicalizations of ttg.
// RUN: %jitk-opt %s --canonicalize | FileCheck %s

#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory

// CHECK-LABEL: tt.func @same_layout
// CHECK-SAME: (%[[X:.*]]: tensor<512xf32, #blocked>)
tt.func @same_layout(%x: tensor<512xf32, #a>) -> (tensor<512xf32, #a>, tensor<512xf32, #a>) {
  %0 = ttg.convert_layout %x : tensor<512xf32, #a> -> tensor<512xf32, #a>
  %1 = ttg.convert_layout %x : tensor<512xf32, #a> -> tensor<512xf32, #b>
  %2 = ttg.convert_layout %1 : tensor<512xf32, #b> -> tensor<512xf32, #a>
  // CHECK-NEXT: tt.return %[[X]], %[[X]]
  tt.return %0, %2 : tensor<512xf32, #a>, tensor<512xf32, #a>
}

// CHECK-LABEL: tt.func @made_in_place
tt.func @made_in_place(%x: f32) -> (tensor<512xf32, #b>, tensor<512xi32, #b>, tensor<512xf32, #b>) {
  // CHECK-NOT: ttg.convert_layout
  %c = arith.constant dense<1.0> : tensor<512xf32, #a>
  %s = tt.splat %x : f32 -> tensor<512xf32, #a>
  %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #a>
  %0 = ttg.convert_layout %s : tensor<512xf32, #a> -> tensor<512xf32, #b>
  %1 = ttg.convert_layout %r : tensor<512xi32, #a> -> tensor<512xi32, #b>
  %2 = ttg.convert_layout %c : tensor<512xf32, #a> -> tensor<512xf32, #b>
  tt.return %0, %1, %2 : tensor<512xf32, #b>, tensor<512xi32, #b>, tensor<512xf32, #b>
}

// CHECK-LABEL: tt.func @immutable_buffer
// CHECK-SAME: (%[[X:.*]]: tensor<512xf32, #blocked>)
tt.func @immutable_buffer(%x: tensor<512xf32, #a>) -> (tensor<512xf32, #a>, !ttg.memdesc<512xf32, #s, #smem>) {
  // CHECK-NEXT: %[[M:.*]] = ttg.local_alloc %[[X]]
  %m = ttg.local_alloc %x : (tensor<512xf32, #a>) -> !ttg.memdesc<512xf32, #s, #smem>
  %0 = ttg.local_load %m : !ttg.memdesc<512xf32, #s, #smem> -> tensor<512xf32, #a>
  %1 = ttg.local_load %m : !ttg.memdesc<512xf32, #s, #smem> -> tensor<512xf32, #b>
  %2 = ttg.local_alloc %1 : (tensor<512xf32, #b>) -> !ttg.memdesc<512xf32, #s, #smem>
  // CHECK-NEXT: tt.return %[[X]], %[[M]]
  tt.return %0, %2 : tensor<512xf32, #a>, !ttg.memdesc<512xf32, #s, #smem>
}

// Mutability included: a mutable copy is another buffer.
// CHECK-LABEL: tt.func @mutable_buffer
tt.func @mutable_buffer(%m: !ttg.memdesc<512xf32, #s, #smem, mutable>) -> !ttg.memdesc<512xf32, #s, #smem> {
  // CHECK: %[[L:.*]] = ttg.local_load
  %0 = ttg.local_load %m : !ttg.memdesc<512xf32, #s, #smem, mutable> -> tensor<512xf32, #a>
  // CHECK: %[[A:.*]] = ttg.local_alloc %[[L]]
  %1 = ttg.local_alloc %0 : (tensor<512xf32, #a>) -> !ttg.memdesc<512xf32, #s, #smem>
  // CHECK: tt.return %[[A]]
  tt.return %1 : !ttg.memdesc<512xf32, #s, #smem>
}

// The load takes the layout that is wanted, and its place: the buffer is written afterwards.
// CHECK-LABEL: tt.func @load_converted
tt.func @load_converted(%m: !ttg.memdesc<512xf32, #s, #smem, mutable>, %x: tensor<512xf32, #a>) -> tensor<512xf32, #b> {
  // CHECK: %[[L:.*]] = ttg.local_load %{{.*}} -> tensor<512xf32, #[[B:.*]]>
  %0 = ttg.local_load %m : !ttg.memdesc<512xf32, #s, #smem, mutable> -> tensor<512xf32, #a>
  // CHECK-NEXT: ttg.local_store
  ttg.local_store %x, %m : tensor<512xf32, #a> -> !ttg.memdesc<512xf32, #s, #smem, mutable>
  %1 = ttg.convert_layout %0 : tensor<512xf32, #a> -> tensor<512xf32, #b>
  // CHECK-NEXT: tt.return %[[L]] : tensor<512xf32, #[[B]]>
  tt.return %1 : tensor<512xf32, #b>
}
