// Effects of tile ops: what CSE may merge and what it must keep.
// RUN: %jitk-opt %s --cse | FileCheck %s

// Two equal buffers stay two.
// CHECK-LABEL: tt.func @allocs
tt.func @allocs(%t: tensor<16xf32>) {
  // CHECK-COUNT-2: tile.alloc
  %a = tile.alloc {space = 7 : i64} : <[16], f32, shared>
  %b = tile.alloc {space = 7 : i64} : <[16], f32, shared>
  tile.store_tensor %t -> %a : tensor<16xf32>, !tile.buf<[16], f32, shared>
  tile.store_tensor %t -> %b : tensor<16xf32>, !tile.buf<[16], f32, shared>
  tt.return
}

// Reads merge, but not over a copy.
// CHECK-LABEL: tt.func @reads
tt.func @reads(%b: !tile.buf<[16], f32, shared>, %p: tensor<16x!tt.ptr<f32>>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  // CHECK: %[[R:.*]] = tile.to_tensor
  %0 = tile.to_tensor %b : <[16], f32, shared> -> tensor<16xf32>
  %1 = tile.to_tensor %b : <[16], f32, shared> -> tensor<16xf32>
  // CHECK-NEXT: tile.copy
  tile.copy %p -> %b : tensor<16x!tt.ptr<f32>>, !tile.buf<[16], f32, shared>
  // CHECK-NEXT: %[[R2:.*]] = tile.to_tensor
  %2 = tile.to_tensor %b : <[16], f32, shared> -> tensor<16xf32>
  // CHECK-NEXT: tt.return %[[R]], %[[R]], %[[R2]]
  tt.return %0, %1, %2 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}

// Views merge.
// CHECK-LABEL: tt.func @views
tt.func @views(%b: !tile.buf<[2, 16], f32, shared>, %i: index) -> (!tile.buf<[16], f32, shared>, !tile.buf<[16], f32, shared>) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[V:.*]] = tile.subview
  %0 = tile.subview %b[%i, %c0] [[16]] [[1]] : <[2, 16], f32, shared> -> <[16], f32, shared>
  %1 = tile.subview %b[%i, %c0] [[16]] [[1]] : <[2, 16], f32, shared> -> <[16], f32, shared>
  // CHECK-NEXT: tt.return %[[V]], %[[V]]
  tt.return %0, %1 : !tile.buf<[16], f32, shared>, !tile.buf<[16], f32, shared>
}

// A copy out of a buffer writes global memory, where a load sees it.
// CHECK-LABEL: tt.func @copy_out
tt.func @copy_out(%b: !tile.buf<[16], f32, shared>, %p: tensor<16x!tt.ptr<f32>>) -> (tensor<16xf32>, tensor<16xf32>) {
  // CHECK: tt.load
  %0 = tt.load %p : tensor<16x!tt.ptr<f32>>
  // CHECK-NEXT: tile.copy
  tile.copy %b -> %p : !tile.buf<[16], f32, shared>, tensor<16x!tt.ptr<f32>>
  // CHECK-NEXT: tt.load
  %1 = tt.load %p : tensor<16x!tt.ptr<f32>>
  tt.return %0, %1 : tensor<16xf32>, tensor<16xf32>
}
