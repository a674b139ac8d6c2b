// RUN: jitk-opt %s --convert-ttgir-to-llvm | FileCheck %s
// Widths of global accesses. That each element arrives is tested on the emulator.

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#few = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  // Contiguous and aligned: 16 bytes at a time.
  // CHECK-LABEL: llvm.func @vectors
  // CHECK-COUNT-2: ptx.inst "ld.global.v4.b32"
  // CHECK-NOT: ptx.inst "ld.global
  // CHECK-COUNT-2: ptx.inst "st.global.v4.b32"
  tt.func @vectors(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %b = tt.splat %p : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>, #blocked>
    %q = tt.addptr %b, %i : tensor<1024x!tt.ptr<f32>, #blocked>, tensor<1024xi32, #blocked>
    %v = tt.load %q : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.store %q, %v : tensor<1024x!tt.ptr<f32>, #blocked>
    tt.return
  }

  // The mask n < N is the same for four elements if N is a multiple of four; the other value makes the .else form.
  // CHECK-LABEL: llvm.func @masked
  // CHECK-COUNT-2: ptx.inst "ld.global.cg.v2.b32.else"
  // CHECK-NOT: ptx.inst "ld.global
  tt.func @masked(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 4 : i32}) -> tensor<1024xf16, #blocked> {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %b = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
    %q = tt.addptr %b, %i : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
    %s = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %m = arith.cmpi slt, %i, %s : tensor<1024xi32, #blocked>
    %o = arith.constant dense<0.0> : tensor<1024xf16, #blocked>
    %v = tt.load %q, %m, %o cacheModifier = cg : tensor<1024x!tt.ptr<f16>, #blocked>
    tt.return %v : tensor<1024xf16, #blocked>
  }

  // Nothing known of the mask: element by element.
  // CHECK-LABEL: llvm.func @unknown_mask
  // CHECK-COUNT-8: ptx.inst "ld.global.b16"
  tt.func @unknown_mask(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) -> tensor<1024xf16, #blocked> {
    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32, #blocked>
    %b = tt.splat %p : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>, #blocked>
    %q = tt.addptr %b, %i : tensor<1024x!tt.ptr<f16>, #blocked>, tensor<1024xi32, #blocked>
    %s = tt.splat %n : i32 -> tensor<1024xi32, #blocked>
    %m = arith.cmpi slt, %i, %s : tensor<1024xi32, #blocked>
    %v = tt.load %q, %m evictionPolicy = evict_normal : tensor<1024x!tt.ptr<f16>, #blocked>
    tt.return %v : tensor<1024xf16, #blocked>
  }

  // Sixteen elements in 128 threads: the first half of the first warp stores.
  // CHECK-LABEL: llvm.func @copies
  // CHECK: %[[OWNS:.*]] = llvm.icmp "eq"
  // CHECK-NOT: llvm.icmp
  // CHECK: ptx.inst "st.global.b32"(%[[OWNS]],
  // CHECK-NOT: ptx.inst "st.global
  tt.func @copies(%p: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #few>
    %b = tt.splat %p : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>, #few>
    %q = tt.addptr %b, %i : tensor<16x!tt.ptr<i32>, #few>, tensor<16xi32, #few>
    tt.store %q, %i : tensor<16x!tt.ptr<i32>, #few>
    tt.return
  }
}
