// RUN: jitk-opt --convert-common-ir-to-ttgir --canonicalize --cse %s | FileCheck %s
// RUN: jitk-opt --canonicalize --cse --convert-common-ir-to-ttgir --canonicalize --cse %s | FileCheck %s
// RUN: jitk-opt --convert-common-ir-to-ttgir --canonicalize --cse %s > %t.after
// RUN: jitk-opt --canonicalize --cse --convert-common-ir-to-ttgir --canonicalize --cse %s | diff %t.after -
//
// The effects of CommonIR are exact: equal allocations stay two, a read stays behind the copy that it reads, and the
// conversion gives the same program before and after CSE.

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>

// CHECK-LABEL: tt.func @kept
// CHECK: %[[A:.*]] = ttg.local_alloc
// CHECK: %[[B:.*]] = ttg.local_alloc
// CHECK: ttg.local_store %{{.*}}, %[[A]]
// CHECK: %[[FIRST:.*]] = ttg.local_load %[[A]]
// CHECK: ttg.local_store %{{.*}}, %[[A]]
// CHECK: ttg.local_store %[[FIRST]], %[[B]]
// CHECK: %[[SECOND:.*]] = ttg.local_load %[[A]]
// CHECK-NEXT: %[[THIRD:.*]] = ttg.local_load %[[B]]
// CHECK: %[[SUM:.*]] = arith.addf %[[SECOND]], %[[THIRD]]
// CHECK: tt.store %{{.*}}, %[[SUM]]
tt.func @kept(%p: tensor<16x!tt.ptr<f32>>, %q: tensor<16x!tt.ptr<f32>>) {
  %a = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  tile.copy %p -> %a : tensor<16x!tt.ptr<f32>>, !tile.buf<[16], f32, shared>
  %first = tile.to_tensor %a : <[16], f32, shared> -> tensor<16xf32>
  tile.copy %q -> %a : tensor<16x!tt.ptr<f32>>, !tile.buf<[16], f32, shared>
  tile.store_tensor %first -> %b : tensor<16xf32>, !tile.buf<[16], f32, shared>
  %second = tile.to_tensor %a : <[16], f32, shared> -> tensor<16xf32>
  %third = tile.to_tensor %b : <[16], f32, shared> -> tensor<16xf32>
  %sum = arith.addf %second, %third : tensor<16xf32>
  tt.store %p, %sum : tensor<16x!tt.ptr<f32>>
  tt.return
}
