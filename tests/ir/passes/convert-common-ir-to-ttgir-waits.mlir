// RUN: jitk-opt --convert-common-ir-to-ttgir=enable-async-copy=true %s | FileCheck %s
//
// Neighbouring copies share one wait; what ends a group.

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#slots = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
!ptrs = tensor<16x!tt.ptr<f32>>
!buf = !tile.buf<[16], f32, shared>
!slots = !tile.buf<[2, 16], f32, shared>

// Pure address arithmetic and views do not end a group; the tokens keep their order.
// CHECK-LABEL: tt.func @three
// CHECK: %[[A:.*]] = ttg.async_copy_global_to_local
// CHECK-NOT: async_wait
// CHECK: %[[B:.*]] = ttg.async_copy_global_to_local
// CHECK-NOT: async_wait
// CHECK: %[[C:.*]] = ttg.async_copy_global_to_local
// CHECK-NEXT: %[[G:.*]] = ttg.async_commit_group tokens %[[A]], %[[B]], %[[C]]
// CHECK-NEXT: ttg.async_wait %[[G]] {num = 0 : i32}
// CHECK-NOT: async_
// CHECK: tt.return
tt.func @three(%p: !ptrs, %i: tensor<16xi32>) {
  %c0 = arith.constant 0 : index
  %a = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %c = tile.alloc {space = 7 : i64, tle.gpu_layout = #slots} : <[2, 16], f32, shared>
  tile.copy %p -> %a : !ptrs, !buf
  %q = tt.addptr %p, %i : !ptrs, tensor<16xi32>
  tile.copy %q -> %b : !ptrs, !buf
  %s = tile.subview %c[%c0, %c0] [[16]] [[1]] {tle.gpu_layout = #shared} : <[2, 16], f32, shared> -> <[16], f32, shared>
  tile.copy %p -> %s : !ptrs, !buf
  tt.return
}

// CHECK-LABEL: tt.func @ended_by_accesses
// CHECK-COUNT-7: ttg.async_wait %{{.*}} {num = 0 : i32}
tt.func @ended_by_accesses(%p: !ptrs, %q: !ptrs, %v: tensor<16xf32>) {
  %a = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  tile.copy %p -> %a : !ptrs, !buf
  %load = tt.load %p : !ptrs
  tile.copy %p -> %b : !ptrs, !buf
  tt.store %q, %v : !ptrs
  tile.copy %p -> %a : !ptrs, !buf
  %t = tile.to_tensor %a : <[16], f32, shared> -> tensor<16xf32>
  tile.copy %p -> %b : !ptrs, !buf
  tile.store_tensor %v -> %a : tensor<16xf32>, !buf
  tile.copy %p -> %a : !ptrs, !buf
  ttg.local_barrier
  tile.copy %p -> %b : !ptrs, !buf
  %c = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  tile.copy %p -> %c : !ptrs, !buf
  tt.return
}

// CHECK-LABEL: tt.func @ended_by_region
// CHECK-COUNT-2: ttg.async_wait
tt.func @ended_by_region(%p: !ptrs, %c: i1) {
  %a = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  tile.copy %p -> %a : !ptrs, !buf
  scf.if %c {
  }
  tile.copy %p -> %b : !ptrs, !buf
  tt.return
}

// CHECK-LABEL: tt.func @ended_by_block
// CHECK: ttg.async_wait
// CHECK: scf.if
// CHECK: ttg.async_wait
tt.func @ended_by_block(%p: !ptrs, %c: i1) {
  %a = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  tile.copy %p -> %a : !ptrs, !buf
  scf.if %c {
    tile.copy %p -> %b : !ptrs, !buf
  }
  tt.return
}

// Slots of one allocation end a group, disjoint or not; the later copy starts another.
// CHECK-LABEL: tt.func @same_allocation
// CHECK: ttg.async_wait
// CHECK: %[[B:.*]] = ttg.async_copy_global_to_local
// CHECK-NEXT: %[[C:.*]] = ttg.async_copy_global_to_local
// CHECK-NEXT: ttg.async_commit_group tokens %[[B]], %[[C]]
// CHECK-NEXT: ttg.async_wait
// CHECK-NOT: async_wait
tt.func @same_allocation(%p: !ptrs) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #slots} : <[2, 16], f32, shared>
  %c = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %s = tile.subview %b[%c0, %c0] [[16]] [[1]] {tle.gpu_layout = #shared} : <[2, 16], f32, shared> -> <[16], f32, shared>
  %t = tile.subview %b[%c1, %c0] [[16]] [[1]] {tle.gpu_layout = #shared} : <[2, 16], f32, shared> -> <[16], f32, shared>
  tile.copy %p -> %s : !ptrs, !buf
  tile.copy %p -> %t : !ptrs, !buf
  tile.copy %p -> %c : !ptrs, !buf
  tt.return
}

// What an argument may alias is not known.
// CHECK-LABEL: tt.func @argument
// CHECK-COUNT-3: ttg.async_wait
tt.func @argument(%arg: !buf, %p: !ptrs) {
  %d = builtin.unrealized_conversion_cast %arg : !buf to !ttg.memdesc<16xf32, #shared, #smem, mutable>
  %a = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[16], f32, shared>
  tile.copy %p -> %a : !ptrs, !buf
  tile.copy %p -> %arg : !ptrs, !buf
  tile.copy %p -> %b : !ptrs, !buf
  tt.return
}
