// RUN: sed s/TARGET/80/ %s | jitk-opt --jitk-commonir-to-ttgir-pipeline=target=sm_80 | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: sed s/TARGET/90/ %s | jitk-opt --jitk-commonir-to-ttgir-pipeline=target=sm_90a | FileCheck %s --check-prefixes=CHECK,SM90
//
// A matmul in CommonIR, without layouts: swizzled buffers, coalesced copies of 16 bytes, one wait, and nothing converted in
// the loop.

// SM80-DAG: #[[$SHARED:.*]] = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
// SM80-DAG: #[[$MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// SM90-DAG: #[[$SHARED:.*]] = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// SM90-DAG: #[[$MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
// CHECK-DAG: #[[$WIDE:.*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[$NARROW:.*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-LABEL: tt.func public @matmul
// CHECK-DAG: %[[A:.*]] = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #[[$SHARED]], #smem, mutable>
// CHECK-DAG: %[[B:.*]] = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #[[$SHARED]], #smem, mutable>
// CHECK: scf.for {{.*}} -> (tensor<128x128xf32, #[[$MMA]]>)
// CHECK-NOT: convert_layout
// CHECK: ttg.async_copy_global_to_local %{{.*}}, %[[A]] : tensor<128x64x!tt.ptr<f16>, #[[$NARROW]]>
// CHECK: ttg.async_copy_global_to_local %{{.*}}, %[[B]] : tensor<64x128x!tt.ptr<f16>, #[[$WIDE]]>
// CHECK-NEXT: ttg.async_commit_group
// CHECK-NEXT: ttg.async_wait
// SM80-NEXT: ttg.local_load %[[A]] : {{.*}} -> tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #[[$MMA]], kWidth = 2}>>
// SM80-NEXT: ttg.local_load %[[B]] : {{.*}} -> tensor<64x128xf16, #ttg.dot_op<{opIdx = 1, parent = #[[$MMA]], kWidth = 2}>>
// SM80-NEXT: tt.dot
// SM90-NEXT: ttng.warp_group_dot %[[A]], %[[B]], %{{.*}} {isAsync = true}
// SM90-NEXT: ttng.warp_group_dot_wait
// CHECK-NEXT: scf.yield
// CHECK: ttg.convert_layout %{{.*}} : tensor<128x128xf16, #[[$MMA]]> -> tensor<128x128xf16, #[[$WIDE]]>
// CHECK: tt.store %{{.*}} : tensor<128x128x!tt.ptr<f16>, #[[$WIDE]]>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:TARGET", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @matmul(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i64 {tt.divisibility = 16 : i32}, %k: i64 {tt.divisibility = 16 : i32}, %steps: i32) {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %zero = arith.constant dense<0.0> : tensor<128x128xf32>
    %pm = tt.get_program_id x : i32
    %pn = tt.get_program_id y : i32
    %m0 = arith.muli %pm, %c128 : i32
    %n0 = arith.muli %pn, %c128 : i32
    %abuf = tile.alloc {space = 7 : i64} : <[128, 64], f16, shared>
    %bbuf = tile.alloc {space = 7 : i64} : <[64, 128], f16, shared>
    %r128 = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
    %r64 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
    %m0s = tt.splat %m0 : i32 -> tensor<128xi32>
    %n0s = tt.splat %n0 : i32 -> tensor<128xi32>
    %rows = arith.addi %m0s, %r128 : tensor<128xi32>
    %cols = arith.addi %n0s, %r128 : tensor<128xi32>
    %sum = scf.for %k0 = %c0 to %steps step %c64 iter_args(%acc = %zero) -> (tensor<128x128xf32>) : i32 {
      %k0s = tt.splat %k0 : i32 -> tensor<64xi32>
      %ks = arith.addi %k0s, %r64 : tensor<64xi32>
      // a pointers
      %rows1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
      %rows64 = arith.extsi %rows1 : tensor<128x1xi32> to tensor<128x1xi64>
      %kst = tt.splat %k : i64 -> tensor<128x1xi64>
      %rowoff = arith.muli %rows64, %kst : tensor<128x1xi64>
      %as = tt.splat %a : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
      %arow = tt.addptr %as, %rowoff : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi64>
      %arowb = tt.broadcast %arow : tensor<128x1x!tt.ptr<f16>> -> tensor<128x64x!tt.ptr<f16>>
      %k1 = tt.expand_dims %ks {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
      %k1b = tt.broadcast %k1 : tensor<1x64xi32> -> tensor<128x64xi32>
      %aptr = tt.addptr %arowb, %k1b : tensor<128x64x!tt.ptr<f16>>, tensor<128x64xi32>
      tile.copy %aptr -> %abuf : tensor<128x64x!tt.ptr<f16>>, !tile.buf<[128, 64], f16, shared>
      // b pointers
      %kr = tt.expand_dims %ks {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
      %kr64 = arith.extsi %kr : tensor<64x1xi32> to tensor<64x1xi64>
      %nst = tt.splat %n : i64 -> tensor<64x1xi64>
      %koff = arith.muli %kr64, %nst : tensor<64x1xi64>
      %bs = tt.splat %b : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
      %brow = tt.addptr %bs, %koff : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi64>
      %browb = tt.broadcast %brow : tensor<64x1x!tt.ptr<f16>> -> tensor<64x128x!tt.ptr<f16>>
      %c1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
      %c1b = tt.broadcast %c1 : tensor<1x128xi32> -> tensor<64x128xi32>
      %bptr = tt.addptr %browb, %c1b : tensor<64x128x!tt.ptr<f16>>, tensor<64x128xi32>
      tile.copy %bptr -> %bbuf : tensor<64x128x!tt.ptr<f16>>, !tile.buf<[64, 128], f16, shared>
      %av = tile.to_tensor %abuf : <[128, 64], f16, shared> -> tensor<128x64xf16>
      %bv = tile.to_tensor %bbuf : <[64, 128], f16, shared> -> tensor<64x128xf16>
      %d = tt.dot %av, %bv, %acc : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>
      scf.yield %d : tensor<128x128xf32>
    } {tt.num_stages = 1 : i32}
    %h = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
    %crow = tt.expand_dims %rows {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
    %crow64 = arith.extsi %crow : tensor<128x1xi32> to tensor<128x1xi64>
    %nst2 = tt.splat %n : i64 -> tensor<128x1xi64>
    %croff = arith.muli %crow64, %nst2 : tensor<128x1xi64>
    %cs = tt.splat %c : !tt.ptr<f16> -> tensor<128x1x!tt.ptr<f16>>
    %cp = tt.addptr %cs, %croff : tensor<128x1x!tt.ptr<f16>>, tensor<128x1xi64>
    %cpb = tt.broadcast %cp : tensor<128x1x!tt.ptr<f16>> -> tensor<128x128x!tt.ptr<f16>>
    %ccol = tt.expand_dims %cols {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
    %ccolb = tt.broadcast %ccol : tensor<1x128xi32> -> tensor<128x128xi32>
    %cptr = tt.addptr %cpb, %ccolb : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    tt.store %cptr, %h : tensor<128x128x!tt.ptr<f16>>
    tt.return
  }
}
