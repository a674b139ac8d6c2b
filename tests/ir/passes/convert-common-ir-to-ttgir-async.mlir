// RUN: jitk-opt --convert-common-ir-to-ttgir=enable-async-copy=true %s | FileCheck %s
//
// A copy is asynchronous where at least four bytes are contiguous, in global and in shared memory; else it is a load and a
// store.

#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#scattered = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 8, order = [1, 0]}>

// CHECK-LABEL: tt.func @f32
// CHECK-COUNT-4: ttg.async_copy_global_to_local
tt.func @f32(%p1: tensor<64x!tt.ptr<f32>>, %p2: tensor<64x!tt.ptr<f32>> {tt.contiguity = 2 : i32, tt.divisibility = 8 : i32},
             %p4: tensor<64x!tt.ptr<f32>> {tt.contiguity = 4 : i32, tt.divisibility = 16 : i32},
             %p8: tensor<64x!tt.ptr<f32>> {tt.contiguity = 8 : i32, tt.divisibility = 16 : i32}) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[64], f32, shared>
  tile.copy %p1 -> %b : tensor<64x!tt.ptr<f32>>, !tile.buf<[64], f32, shared>
  tile.copy %p2 -> %b : tensor<64x!tt.ptr<f32>>, !tile.buf<[64], f32, shared>
  tile.copy %p4 -> %b : tensor<64x!tt.ptr<f32>>, !tile.buf<[64], f32, shared>
  tile.copy %p8 -> %b : tensor<64x!tt.ptr<f32>>, !tile.buf<[64], f32, shared>
  tt.return
}

// CHECK-LABEL: tt.func @f16
// CHECK: tt.load
// CHECK: ttg.local_store
// CHECK: tt.load
// CHECK: ttg.local_store
// CHECK-COUNT-3: ttg.async_copy_global_to_local
tt.func @f16(%p1: tensor<64x!tt.ptr<f16>>, %unaligned: tensor<64x!tt.ptr<f16>> {tt.contiguity = 8 : i32, tt.divisibility = 2 : i32},
             %p2: tensor<64x!tt.ptr<f16>> {tt.contiguity = 2 : i32, tt.divisibility = 4 : i32},
             %p4: tensor<64x!tt.ptr<f16>> {tt.contiguity = 4 : i32, tt.divisibility = 8 : i32},
             %p8: tensor<64x!tt.ptr<f16>> {tt.contiguity = 8 : i32, tt.divisibility = 16 : i32}) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[64], f16, shared>
  tile.copy %p1 -> %b : tensor<64x!tt.ptr<f16>>, !tile.buf<[64], f16, shared>
  tile.copy %unaligned -> %b : tensor<64x!tt.ptr<f16>>, !tile.buf<[64], f16, shared>
  tile.copy %p2 -> %b : tensor<64x!tt.ptr<f16>>, !tile.buf<[64], f16, shared>
  tile.copy %p4 -> %b : tensor<64x!tt.ptr<f16>>, !tile.buf<[64], f16, shared>
  tile.copy %p8 -> %b : tensor<64x!tt.ptr<f16>>, !tile.buf<[64], f16, shared>
  tt.return
}

// CHECK-LABEL: tt.func @i8
// CHECK-COUNT-2: tt.load
// CHECK-COUNT-2: ttg.async_copy_global_to_local
tt.func @i8(%p1: tensor<64x!tt.ptr<i8>>, %p2: tensor<64x!tt.ptr<i8>> {tt.contiguity = 2 : i32, tt.divisibility = 2 : i32},
            %p4: tensor<64x!tt.ptr<i8>> {tt.contiguity = 4 : i32, tt.divisibility = 4 : i32},
            %p8: tensor<64x!tt.ptr<i8>> {tt.contiguity = 8 : i32, tt.divisibility = 8 : i32}) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[64], i8, shared>
  tile.copy %p1 -> %b : tensor<64x!tt.ptr<i8>>, !tile.buf<[64], i8, shared>
  tile.copy %p2 -> %b : tensor<64x!tt.ptr<i8>>, !tile.buf<[64], i8, shared>
  tile.copy %p4 -> %b : tensor<64x!tt.ptr<i8>>, !tile.buf<[64], i8, shared>
  tile.copy %p8 -> %b : tensor<64x!tt.ptr<i8>>, !tile.buf<[64], i8, shared>
  tt.return
}

// What the kernel's arguments say decides: rows of f16 from an aligned pointer.
// CHECK-LABEL: tt.func @rows
// CHECK: ttg.async_copy_global_to_local
tt.func @rows(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #shared} : <[64], f16, shared>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %s = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %q = tt.addptr %s, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  tile.copy %q -> %b : tensor<64x!tt.ptr<f16>>, !tile.buf<[64], f16, shared>
  tt.return
}

// A swizzle of single elements leaves nothing contiguous in shared memory.
// CHECK-LABEL: tt.func @scattered
// CHECK: tt.load
// CHECK: ttg.local_store
tt.func @scattered(%p: tensor<64x64x!tt.ptr<f16>> {tt.contiguity = 8 : i32, tt.divisibility = 16 : i32}) {
  %b = tile.alloc {space = 7 : i64, tle.gpu_layout = #scattered} : <[64, 64], f16, shared>
  tile.copy %p -> %b : tensor<64x64x!tt.ptr<f16>>, !tile.buf<[64, 64], f16, shared>
  tt.return
}
