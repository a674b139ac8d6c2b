// RUN: sed s/TARGET/80/ %s | jitk-opt --jitk-infer-buffer-layouts | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: sed s/TARGET/90/ %s | jitk-opt --jitk-infer-buffer-layouts | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: not jitk-opt --jitk-infer-buffer-layouts=require-explicit-layouts=true %s 2>&1 | FileCheck %s --check-prefix=EXPLICIT

// EXPLICIT: 'tile.alloc' op is missing the preserved tle.gpu_layout attribute

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:TARGET", "ttg.threads-per-warp" = 32 : i32} {

// SM80-DAG: #[[$A:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>
// SM90-DAG: #[[$A:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
// SM80-DAG: #[[$B:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>
// SM90-DAG: #[[$B:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
// CHECK-DAG: #[[$LINE:.*]] = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// CHECK-DAG: #[[$OUT:.*]] = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>

// Slots have the layout of what is read of them; a buffer that is filled along its first dimension is stored along it.
// CHECK-LABEL: tt.func @operands
// CHECK: tile.alloc {{.*}}tle.gpu_layout = #[[$A]]} : <[3, 64, 32], f16, shared>
// CHECK: tile.alloc {{.*}}tle.gpu_layout = #[[$B]]} : <[64, 64], f16, shared>
// CHECK: tile.alloc {{.*}}tle.gpu_layout = #[[$OUT]]} : <[64, 64], f32, shared>
// CHECK: tile.subview {{.*}}tle.gpu_layout = #[[$A]]}
tt.func @operands(%i: i32, %columns: tensor<64x64x!tt.ptr<f16>> {tt.contiguity = dense<[8, 1]> : tensor<2xi32>, tt.divisibility = dense<[16, 2]> : tensor<2xi32>},
                  %c: tensor<64x64xf32>, %p: tensor<64x64x!tt.ptr<f32>>) {
  %zero = arith.constant 0 : i32
  %a = tile.alloc {space = 7 : i64} : <[3, 64, 32], f16, shared>
  %b = tile.alloc {space = 7 : i64} : <[64, 64], f16, shared>
  %out = tile.alloc {space = 7 : i64} : <[64, 64], f32, shared>
  %slot = tile.subview %a[%i, %zero, %zero : i32, i32, i32] [[64, 32]] [[1, 1]] : <[3, 64, 32], f16, shared> -> <[64, 32], f16, shared>
  tile.copy %columns -> %b : tensor<64x64x!tt.ptr<f16>>, !tile.buf<[64, 64], f16, shared>
  %x = tile.to_tensor %slot : <[64, 32], f16, shared> -> tensor<64x32xf16>
  %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x32xf16> -> tensor<32x64xf16>
  %y = tile.to_tensor %b : <[64, 64], f16, shared> -> tensor<64x64xf16>
  %d = tt.dot %x, %t, %c : tensor<64x32xf16> * tensor<32x64xf16> -> tensor<64x64xf32>
  %e = tt.dot %y, %y, %d : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  tile.store_tensor %e -> %out : tensor<64x64xf32>, !tile.buf<[64, 64], f32, shared>
  tile.copy %out -> %p : !tile.buf<[64, 64], f32, shared>, tensor<64x64x!tt.ptr<f32>>
  tt.return
}

// One dimension is stored plainly; a layout that is given serves the whole group, through calls and loops.
// CHECK-LABEL: tt.func @given
// CHECK: tile.alloc {{.*}}tle.gpu_layout = #[[$LINE]]} : <[64], f32, shared>
// CHECK: tile.alloc {{.*}}tle.gpu_layout = #[[$GIVEN:.*]]} : <[64, 64], f32, shared>
// CHECK: tile.alloc {{.*}}tle.gpu_layout = #[[$GIVEN]]} : <[64, 64], f32, shared>
tt.func @given(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %line = tile.alloc {space = 7 : i64} : <[64], f32, shared>
  %l = tile.to_tensor %line : <[64], f32, shared> -> tensor<64xf32>
  %a = tile.alloc {space = 7 : i64, tle.gpu_layout = #ttg.swizzled_shared<{vec = 2, perPhase = 1, maxPhase = 2, order = [1, 0]}>} : <[64, 64], f32, shared>
  %b = tile.alloc {space = 7 : i64} : <[64, 64], f32, shared>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (!tile.buf<[64, 64], f32, shared>, !tile.buf<[64, 64], f32, shared>) : i32 {
    %t = tile.to_tensor %x : <[64, 64], f32, shared> -> tensor<64x64xf32>
    tile.store_tensor %t -> %y : tensor<64x64xf32>, !tile.buf<[64, 64], f32, shared>
    scf.yield %y, %x : !tile.buf<[64, 64], f32, shared>, !tile.buf<[64, 64], f32, shared>
  }
  tt.return
}

// A buffer that is read whole and by slots is stored plainly.
// CHECK-LABEL: tt.func @mixed
// CHECK: tile.alloc {{.*}}tle.gpu_layout = #[[$CUBE:.*]]} : <[2, 64, 64], f32, shared>
// CHECK: tile.subview
tt.func @mixed() {
  %c0 = arith.constant 0 : index
  %a = tile.alloc {space = 7 : i64} : <[2, 64, 64], f32, shared>
  %s = tile.subview %a[%c0, %c0, %c0] [[64, 64]] [[1, 1]] : <[2, 64, 64], f32, shared> -> <[64, 64], f32, shared>
  %t = tile.to_tensor %a : <[2, 64, 64], f32, shared> -> tensor<2x64x64xf32>
  %u = tile.to_tensor %s : <[64, 64], f32, shared> -> tensor<64x64xf32>
  tt.return
}
}
