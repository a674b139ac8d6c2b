// Every form of the ops that GPUs support: elided and full buffer types, optional attributes.
// RUN: %jitk-opt %s | %jitk-opt | FileCheck %s

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>

// CHECK-LABEL: tt.func @forms
tt.func @forms(%ptrs: tensor<16x!tt.ptr<f32>>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  // CHECK: %[[B:.*]] = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared{{[0-9]*}}} : <[16], f32, shared>
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared1} : <[16], f32, shared>
  // CHECK: %[[B2:.*]] = tile.alloc {layout = 0 : i64, space = 7 : i64, tle.gpu_layout = #shared{{[0-9]*}}} : <[2, 16], f32, shared>
  %b2 = tile.alloc {layout = 0 : i64, space = 7 : i64, tle.gpu_layout = #shared} : !tile.buf<[2, 16], f32, shared>
  // CHECK: tile.subview %[[B2]][%{{.*}}, %{{.*}}] {{\[\[}}16]] {{\[\[}}1]] {tle.gpu_layout = #shared{{[0-9]*}}} : <[2, 16], f32, shared> -> <[16], f32, shared>
  %s = tile.subview %b2[%c0, %c0] [[16]] [[1]] {tle.gpu_layout = #shared1} : <[2, 16], f32, shared> -> <[16], f32, shared>
  // CHECK: tile.subview %[[B]][%{{.*}}] {{\[\[}}8]] {{\[\[}}1]]
  %v = tile.subview %b[%c8] [[8]] [[1]] {tle.gpu_layout = #shared1} : !tile.buf<[16], f32, shared> -> !tile.buf<[8], f32, shared>
  // CHECK: tile.copy %{{.*}} -> %[[B]] : tensor<16x!tt.ptr<f32>>, !tile.buf<[16], f32, shared>
  tile.copy %ptrs -> %b : tensor<16x!tt.ptr<f32>>, !tile.buf<[16], f32, shared>
  // CHECK: tile.copy %[[B]] -> %{{.*}} {src_layout = 0 : i64} : !tile.buf<[16], f32, shared>, tensor<16x!tt.ptr<f32>>
  tile.copy %b -> %ptrs {src_layout = 0 : i64} : !tile.buf<[16], f32, shared>, tensor<16x!tt.ptr<f32>>
  // CHECK: %[[T:.*]] = tile.to_tensor %[[B]] : <[16], f32, shared> -> tensor<16xf32>
  %t = tile.to_tensor %b : <[16], f32, shared> -> tensor<16xf32>
  // CHECK: tile.store_tensor %[[T]] -> %[[B]] : tensor<16xf32>, !tile.buf<[16], f32, shared>
  tile.store_tensor %t -> %b : tensor<16xf32>, !tile.buf<[16], f32, shared>
  // CHECK: builtin.unrealized_conversion_cast %[[B]] : !tile.buf<[16], f32, shared> to !ttg.memdesc<16xf32, #{{.*}}, #smem, mutable>
  %d = builtin.unrealized_conversion_cast %b : !tile.buf<[16], f32, shared> to !ttg.memdesc<16xf32, #shared1, #ttg.shared_memory, mutable>
  tt.return
}

// Offsets of another type than index name their types.
// CHECK-LABEL: tt.func @i32_offset
tt.func @i32_offset(%b: !tile.buf<[2, 16], f32, shared>, %i: i32) {
  %c0 = arith.constant 0 : index
  // CHECK: tile.subview %{{.*}}[%{{.*}}, %{{.*}} : i32, index] {{\[\[}}16]] {{\[\[}}1]]
  %s = tile.subview %b[%i, %c0 : i32, index] [[16]] [[1]] : <[2, 16], f32, shared> -> <[16], f32, shared>
  tt.return
}

// CHECK-LABEL: tt.func @attributes
tt.func @attributes(%ptrs: tensor<16x!tt.ptr<f32>>) {
  // CHECK: tile.alloc {comment = "ring", dtype = f32, layout = 1 : i64, lifetime = 1 : i64, policy = 1 : i64, shape = [16], space = 7 : i64} : <[16], f32, shared>
  %b = tile.alloc {comment = "ring", dtype = f32, layout = 1 : i64, lifetime = 1 : i64, policy = 1 : i64, shape = [16], space = 7 : i64} : <[16], f32, shared>
  // CHECK: tile.copy %{{.*}} -> %{{.*}} {comment = "in", dst_nz_layout = #tile.nz<16 x 16>, engine = 2 : i64, src_layout = 1 : i64, transpose} :
  tile.copy %ptrs -> %b {comment = "in", dst_nz_layout = #tile.nz<16 x 16>, engine = 2 : i64, src_layout = 1 : i64, transpose} : tensor<16x!tt.ptr<f32>>, !tile.buf<[16], f32, shared>
  tt.return
}
