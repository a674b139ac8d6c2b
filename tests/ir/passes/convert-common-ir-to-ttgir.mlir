// RUN: jitk-opt --convert-common-ir-to-ttgir %s | FileCheck %s
// RUN: jitk-opt --convert-common-ir-to-ttgir=enable-async-copy=true %s | FileCheck %s --check-prefix=ASYNC
//
// One function for each rule, with asynchronous copies and without. When a copy may be asynchronous is tested in
// convert-common-ir-to-ttgir-async.mlir.

#row = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#mat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#cube = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [2, 1, 0]}>

// CHECK-LABEL: tt.func @copies
// CHECK-SAME: %[[IN:.*]]: tensor<16x!tt.ptr<f32>>, %[[OUT:.*]]: tensor<16x!tt.ptr<f32>>
// CHECK: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<16xf32, #shared, #smem, mutable>
// CHECK-NEXT: %[[V:.*]] = tt.load %[[IN]] : tensor<16x!tt.ptr<f32>>
// CHECK-NEXT: ttg.local_store %[[V]], %[[B]] : tensor<16xf32> -> !ttg.memdesc<16xf32, #shared, #smem, mutable>
// CHECK-NEXT: %[[T:.*]] = ttg.local_load %[[B]] : !ttg.memdesc<16xf32, #shared, #smem, mutable> -> tensor<16xf32>
// CHECK-NEXT: ttg.local_store %[[T]], %[[B]]
// CHECK-NEXT: %[[W:.*]] = ttg.local_load %[[B]]
// CHECK-NEXT: tt.store %[[OUT]], %[[W]] : tensor<16x!tt.ptr<f32>>
// CHECK-NEXT: tt.return

// ASYNC-LABEL: tt.func @copies
// ASYNC-SAME: %[[IN:.*]]: tensor<16x!tt.ptr<f32>>, %[[OUT:.*]]: tensor<16x!tt.ptr<f32>>
// ASYNC: %[[T:.*]] = ttg.async_copy_global_to_local %[[IN]], %[[B:.*]] : tensor<16x!tt.ptr<f32>> -> <16xf32, #shared, #smem, mutable>
// ASYNC-NEXT: %[[C:.*]] = ttg.async_commit_group tokens %[[T]]
// ASYNC-NEXT: ttg.async_wait %[[C]] {num = 0 : i32}
// ASYNC-NEXT: ttg.local_load %[[B]] :
// ASYNC: %[[W:.*]] = ttg.local_load %[[B]] :
// ASYNC-NEXT: tt.store %[[OUT]], %[[W]] : tensor<16x!tt.ptr<f32>>
// ASYNC-NEXT: tt.return
tt.func @copies(%in: tensor<16x!tt.ptr<f32>>, %out: tensor<16x!tt.ptr<f32>>) {
  %b = tile.alloc {layout = 0 : i64, space = 7 : i64, tle.gpu_layout = #row} : <[16], f32, shared>
  tile.copy %in -> %b {src_layout = 0 : i64} : tensor<16x!tt.ptr<f32>>, !tile.buf<[16], f32, shared>
  %t = tile.to_tensor %b : <[16], f32, shared> -> tensor<16xf32>
  tile.store_tensor %t -> %b : tensor<16xf32>, !tile.buf<[16], f32, shared>
  tile.copy %b -> %out : !tile.buf<[16], f32, shared>, tensor<16x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: tt.func @slots
// CHECK-SAME: %[[I:.*]]: index, %[[J:.*]]: i32
// CHECK: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x16xf32,
// CHECK: %[[C1:.*]] = arith.constant 1 : i32
// CHECK-NEXT: ttg.memdesc_index %[[B]][%[[C1]]] : !ttg.memdesc<2x16xf32, {{.*}} -> !ttg.memdesc<16xf32, #{{.*}}, #smem, mutable>
// CHECK: %[[CAST:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK-NEXT: ttg.memdesc_index %[[B]][%[[CAST]]]
// CHECK: ttg.memdesc_index %[[B]][%[[J]]]
tt.func @slots(%i: index, %j: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #mat} : <[2, 16], f32, shared>
  %last = tile.subview %b[%c1, %c0] [[16]] [[1]] {tle.gpu_layout = #row} : <[2, 16], f32, shared> -> <[16], f32, shared>
  %dynamic = tile.subview %b[%i, %c0] [[16]] [[1]] {tle.gpu_layout = #row} : <[2, 16], f32, shared> -> <[16], f32, shared>
  %narrow = tile.subview %b[%j, %zero : i32, i32] [[16]] [[1]] {tle.gpu_layout = #row} : <[2, 16], f32, shared> -> <[16], f32, shared>
  tt.return
}

// A slice keeps its allocation's shape, and so does a slot of a slice and a slice of a slot.
// CHECK-LABEL: tt.func @slices
// CHECK: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<2x16x16xf16,
// CHECK: %[[S:.*]] = ttg.memdesc_subslice %[[B]][0, 8, 0] : {{.*}} -> !ttg.memdesc<2x8x16xf16, #{{.*}}, #smem, mutable, 2x16x16>
// CHECK: ttg.memdesc_index %[[S]][%{{.*}}] : {{.*}} -> !ttg.memdesc<8x16xf16, #{{.*}}, #smem, mutable, 16x16>
// CHECK: %[[SLOT:.*]] = ttg.memdesc_index %[[B]][%{{.*}}] : {{.*}} -> !ttg.memdesc<16x16xf16, #{{.*}}, #smem, mutable>
// CHECK: ttg.memdesc_subslice %[[SLOT]][0, 8] : {{.*}} -> !ttg.memdesc<16x8xf16, #{{.*}}, #smem, mutable, 16x16>
tt.func @slices(%i: i32) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %cast = arith.index_cast %zero : i32 to index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #cube} : <[2, 16, 16], f16, shared>
  %s = tile.subview %b[%cast, %c8, %c0] [[2, 8, 16]] [[1, 1, 1]] {tle.gpu_layout = #cube} : <[2, 16, 16], f16, shared> -> <[2, 8, 16], f16, shared>
  %t = tile.subview %s[%i, %zero, %zero : i32, i32, i32] [[8, 16]] [[1, 1]] {tle.gpu_layout = #mat} : <[2, 8, 16], f16, shared> -> <[8, 16], f16, shared>
  %slot = tile.subview %b[%i, %zero, %zero : i32, i32, i32] [[16, 16]] [[1, 1]] {tle.gpu_layout = #mat} : <[2, 16, 16], f16, shared> -> <[16, 16], f16, shared>
  %columns = tile.subview %slot[%c0, %c8] [[16, 8]] [[1, 1]] {tle.gpu_layout = #mat} : <[16, 16], f16, shared> -> <[16, 8], f16, shared>
  tt.return
}

// CHECK-LABEL: tt.func @bridge
// CHECK: %[[B:.*]] = ttg.local_alloc
// CHECK-NEXT: ttg.local_load %[[B]]
// CHECK-NOT: unrealized_conversion_cast
tt.func @bridge() -> tensor<16xf32> {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #row} : <[16], f32, shared>
  %d = builtin.unrealized_conversion_cast %b : !tile.buf<[16], f32, shared> to !ttg.memdesc<16xf32, #row, #ttg.shared_memory, mutable>
  %t = ttg.local_load %d : !ttg.memdesc<16xf32, #row, #ttg.shared_memory, mutable> -> tensor<16xf32>
  tt.return %t : tensor<16xf32>
}
