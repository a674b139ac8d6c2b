// Ops of ttg, forms that the corpus does not show among them.
// RUN: %jitk-opt %s | %jitk-opt | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b1 = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-warps" = 4 : i32} {

// CHECK-LABEL: tt.func @elided
tt.func @elided(%p: tensor<128x64x!tt.ptr<f16>, #b>, %d: !ttg.memdesc<128x64xf16, #s, #smem, mutable>) {
  // Both spellings of the buffer's type parse; the short one prints.
  // CHECK-COUNT-2: ttg.async_copy_global_to_local %{{.*}}, %{{.*}} : tensor<128x64x!tt.ptr<f16>, #{{.*}}> -> <128x64xf16, #{{.*}}, #smem, mutable>
  %0 = ttg.async_copy_global_to_local %p, %d : tensor<128x64x!tt.ptr<f16>, #b> -> <128x64xf16, #s, #smem, mutable>
  %1 = ttg.async_copy_global_to_local %p, %d : tensor<128x64x!tt.ptr<f16>, #b> -> !ttg.memdesc<128x64xf16, #s, #smem, mutable>
  // CHECK: ttg.async_commit_group tokens %{{.*}}, %{{.*}}
  %2 = ttg.async_commit_group tokens %0, %1
  // CHECK: ttg.async_wait %{{.*}} {num = 1 : i32}
  %3 = ttg.async_wait %2 {num = 1 : i32}
  tt.return
}

// CommonIR's pointers have no encoding when their copy is converted.
// CHECK-LABEL: tt.func @pointers_without_encoding
tt.func @pointers_without_encoding(%p: tensor<128x64x!tt.ptr<f16>>, %d: !ttg.memdesc<128x64xf16, #plain, #smem, mutable>) {
  // CHECK: ttg.async_copy_global_to_local %{{.*}}, %{{.*}} : tensor<128x64x!tt.ptr<f16>> -> <128x64xf16
  %0 = ttg.async_copy_global_to_local %p, %d : tensor<128x64x!tt.ptr<f16>> -> <128x64xf16, #plain, #smem, mutable>
  // CHECK: ttg.local_load %{{.*}} : !ttg.memdesc<{{.*}}> -> tensor<128x64xf16>
  %1 = ttg.local_load %d : !ttg.memdesc<128x64xf16, #plain, #smem, mutable> -> tensor<128x64xf16>
  tt.return
}

// CHECK-LABEL: tt.func @views
tt.func @views(%a: !ttg.memdesc<3x128x64xf16, #s, #smem, mutable>, %i: i32) {
  // CHECK: %[[I:.*]] = ttg.memdesc_index %{{.*}}[%{{.*}}] : {{.*}} -> !ttg.memdesc<128x64xf16, #[[S:[a-z0-9]*]], #smem, mutable>
  %0 = ttg.memdesc_index %a[%i] : !ttg.memdesc<3x128x64xf16, #s, #smem, mutable> -> !ttg.memdesc<128x64xf16, #s, #smem, mutable>
  // A slice of stages, and one of them.
  // CHECK: %[[T:.*]] = ttg.memdesc_subslice %{{.*}}[2, 0, 0] : {{.*}} -> !ttg.memdesc<1x128x64xf16, #[[S]], #smem, mutable, 3x128x64>
  %1 = ttg.memdesc_subslice %a[2, 0, 0] : !ttg.memdesc<3x128x64xf16, #s, #smem, mutable> -> !ttg.memdesc<1x128x64xf16, #s, #smem, mutable, 3x128x64>
  // CHECK: ttg.memdesc_index %[[T]][%{{.*}}] : {{.*}} -> !ttg.memdesc<128x64xf16, #[[S]], #smem, mutable>
  %2 = ttg.memdesc_index %1[%i] : !ttg.memdesc<1x128x64xf16, #s, #smem, mutable, 3x128x64> -> !ttg.memdesc<128x64xf16, #s, #smem, mutable>
  // CHECK: ttg.memdesc_subslice %[[I]][64, 0] : {{.*}} -> !ttg.memdesc<64x64xf16, #[[S]], #smem, mutable, 128x64>
  %3 = ttg.memdesc_subslice %0[64, 0] : !ttg.memdesc<128x64xf16, #s, #smem, mutable> -> !ttg.memdesc<64x64xf16, #s, #smem, mutable, 128x64>
  tt.return
}

// An encoding that no other kind can say becomes shared_linear.
// CHECK-LABEL: tt.func @shared_linear
tt.func @shared_linear(%a: !ttg.memdesc<8x8xf16, #plain, #smem>) {
  // CHECK: ttg.memdesc_reshape %{{.*}} : !ttg.memdesc<8x8xf16, #{{.*}}, #smem> -> !ttg.memdesc<4x16xf16, #{{.*}}, #smem>
  %0 = ttg.memdesc_reshape %a : !ttg.memdesc<8x8xf16, #plain, #smem> -> !ttg.memdesc<4x16xf16, #ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0]]}, alignment = 16>, #smem>
  tt.return
}

// CHECK-LABEL: tt.func @mask
tt.func @mask(%c: i1, %x: f32) -> f32 {
  // CHECK: "ttg.mask"(%{{.*}}) ({
  // CHECK: ttg.mask.return %{{.*}} : f32
  %0 = "ttg.mask"(%c) ({
    ttg.mask.return %x : f32
  }) : (i1) -> f32
  tt.return %0 : f32
}

}
