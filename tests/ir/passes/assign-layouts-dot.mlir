// RUN: jitk-opt --jitk-assign-layouts --canonicalize --cse --split-input-file %s | FileCheck %s
//
// How dots run on the target. Whole kernels are in assign-layouts-matmul.mlir and assign-layouts-flash.mlir.

#rows = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
// CHECK: #[[$MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
// Fragments are read from the buffers; a transposed read is a read of the transposed buffer.
// CHECK-LABEL: tt.func @transposed
// CHECK: ttg.local_load %{{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #[[$MMA]], kWidth = 2}>>
// CHECK: %[[T:.*]] = ttg.memdesc_trans %{{.*}} {order = array<i32: 1, 0>}
// CHECK: ttg.local_load %[[T]] : {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #[[$MMA]], kWidth = 2}>>
// CHECK-NOT: convert_layout
// CHECK: tt.dot
tt.func @transposed(%a: !ttg.memdesc<64x64xf16, #rows, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #rows, #smem, mutable>, %c: !ttg.memdesc<64x64xf32, #rows, #smem, mutable>) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = ttg.local_load %a : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf16>
  %y = ttg.local_load %b : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf16>
  %t = tt.trans %y {order = array<i32: 1, 0>} : tensor<64x64xf16> -> tensor<64x64xf16>
  %d = tt.dot %x, %t, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  ttg.local_store %d, %c : tensor<64x64xf32> -> !ttg.memdesc<64x64xf32, #rows, #smem, mutable>
  tt.return
}
}

// -----

#rows = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
// CHECK: #[[$CHAIN:.*]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
// A product whose left operand was computed keeps rows in a warp, and so does the product that it is added to.
// CHECK-LABEL: tt.func @chained_sum
// CHECK: %[[READ:.*]] = tt.dot {{.*}} -> tensor<64x64xf32, #[[$CHAIN]]>
// CHECK: %[[TWICE:.*]] = arith.addf %[[READ]], %[[READ]]
// CHECK: tt.dot %{{.*}}, %{{.*}}, %[[TWICE]] : {{.*}} -> tensor<64x64xf32, #[[$CHAIN]]>
tt.func @chained_sum(%a: !ttg.memdesc<64x64xf16, #rows, #smem, mutable>, %x: tensor<64x64xf16>, %c: !ttg.memdesc<64x64xf32, #rows, #smem, mutable>) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %y = ttg.local_load %a : !ttg.memdesc<64x64xf16, #rows, #smem, mutable> -> tensor<64x64xf16>
  %read = tt.dot %y, %y, %zero : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  %twice = arith.addf %read, %read : tensor<64x64xf32>
  %d = tt.dot %x, %y, %twice : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  ttg.local_store %d, %c : tensor<64x64xf32> -> !ttg.memdesc<64x64xf32, #rows, #smem, mutable>
  tt.return
}
}

// -----

#rows = #ttg.swizzled_shared<{vec = 16, perPhase = 2, maxPhase = 4, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
// Without fp8 products operands are widened, as fragments of whole words of fp8. Warps are arranged as for operands
// that no conversion stands before.
// CHECK: #[[$WIDE:.*]] = #ttg.nvidia_mma<{{.*}}warpsPerCTA = [2, 2]
// CHECK-LABEL: tt.func @fp8_widened
// CHECK: ttg.local_load %{{.*}} -> tensor<64x64xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #[[$WIDE]], kWidth = 4}>>
// CHECK: tt.fp_to_fp %{{.*}} : tensor<64x64xf8E4M3FN, #ttg.dot_op<{opIdx = 0, {{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #[[$WIDE]], kWidth = 4}>>
// CHECK: tt.dot %{{.*}} : tensor<64x64xf16, {{.*}} * tensor<64x64xf16,
tt.func @fp8_widened(%a: !ttg.memdesc<64x64xf8E4M3FN, #rows, #smem, mutable>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = ttg.local_load %a : !ttg.memdesc<64x64xf8E4M3FN, #rows, #smem, mutable> -> tensor<64x64xf8E4M3FN>
  %d = tt.dot %x, %x, %c : tensor<64x64xf8E4M3FN> * tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
  tt.return %d : tensor<64x64xf32>
}
}

// -----

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:89", "ttg.threads-per-warp" = 32 : i32} {
// CHECK-LABEL: tt.func @fp8_native
// CHECK: tt.dot %{{.*}} : tensor<64x64xf8E4M3FN, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>> * tensor<64x64xf8E4M3FN,
tt.func @fp8_native(%x: tensor<64x64xf8E4M3FN>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = tt.dot %x, %x, %c : tensor<64x64xf8E4M3FN> * tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
  tt.return %d : tensor<64x64xf32>
}

// f32 at full precision runs without tensor cores, and so do tiles that no instruction takes; tf32 runs on them. Of
// tf32x3 a thread has neighbours along K, as accumulators have them, so that those become operands in place.
// CHECK-LABEL: tt.func @precision
// CHECK: tt.dot %{{.*}} : tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #blocked{{[0-9]*}}}>>
// CHECK: tt.dot %{{.*}}, inputPrecision = tf32 : tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #{{mma[0-9]*}}, kWidth = 1}>>
// CHECK: tt.dot %{{.*}}, inputPrecision = tf32x3 : tensor<64x64xf32, #ttg.dot_op<{opIdx = 0, parent = #{{mma[0-9]*}}, kWidth = 2}>>
tt.func @precision(%x: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %d = tt.dot %x, %x, %c : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  %e = tt.dot %x, %x, %d, inputPrecision = tf32 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  %f = tt.dot %e, %x, %c, inputPrecision = tf32x3 : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
  tt.return %f : tensor<64x64xf32>
}

// CHECK-LABEL: tt.func @small
// CHECK: tt.dot {{.*}} -> tensor<8x8xf32, #blocked{{[0-9]*}}>
// CHECK: tt.dot {{.*}} -> tensor<16x16xf32, #mma{{[0-9]*}}>
tt.func @small(%x: tensor<8x8xf16>, %c: tensor<8x8xf32>, %y: tensor<16x16xf16>, %e: tensor<16x16xf32>) -> (tensor<8x8xf32>, tensor<16x16xf32>) {
  %d = tt.dot %x, %x, %c : tensor<8x8xf16> * tensor<8x8xf16> -> tensor<8x8xf32>
  %f = tt.dot %y, %y, %e : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<16x16xf32>
  tt.return %d, %f : tensor<8x8xf32>, tensor<16x16xf32>
}
}

// -----

#panel = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#panel32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#bytes = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#smem = #ttg.shared_memory
// CHECK: #[[$MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
// A in registers, B computed: it goes through a buffer of its own.
// CHECK-LABEL: tt.func @registers
// CHECK: ttg.convert_layout %{{.*}} -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #[[$MMA]], kWidth = 2}>>
// CHECK: %[[B:.*]] = ttg.local_alloc %{{.*}} -> !ttg.memdesc<64x64xf16, #shared, #smem>
// CHECK: %[[D:.*]] = ttng.warp_group_dot %{{.*}}, %[[B]], %{{.*}} {isAsync = true}
// CHECK: ttng.warp_group_dot_wait %[[D]] {pendings = 0 : i32}
tt.func @registers(%x: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = arith.addf %x, %x : tensor<64x64xf16>
  %d = tt.dot %x, %y, %c : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  tt.return %d : tensor<64x64xf32>
}

// A warpgroup product without encoding is given its instruction's; the wait hands it through, halves follow it.
// CHECK-LABEL: tt.func @open
// CHECK: %[[D:.*]] = ttng.warp_group_dot %{{.*}}, %{{.*}}, %{{.*}} -> tensor<64x64xf32, #[[$MMA]]>
// CHECK: %[[W:.*]] = ttng.warp_group_dot_wait %[[D]] {pendings = 1 : i32} : tensor<64x64xf32, #[[$MMA]]>
// CHECK-NOT: ttg.convert_layout
// CHECK: tt.split
// CHECK-NOT: ttg.convert_layout
// CHECK: ttg.local_store
tt.func @open(%a: !ttg.memdesc<64x64xf16, #panel, #smem, mutable>, %o: !ttg.memdesc<64x32xf32, #panel32, #smem, mutable>) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = ttng.warp_group_dot %a, %a, %zero {isAsync = true} : !ttg.memdesc<64x64xf16, #panel, #smem, mutable> * !ttg.memdesc<64x64xf16, #panel, #smem, mutable> -> tensor<64x64xf32>
  %w = ttng.warp_group_dot_wait %d {pendings = 1 : i32} : tensor<64x64xf32>
  %r = tt.reshape %w : tensor<64x64xf32> -> tensor<64x2x32xf32>
  %t = tt.trans %r {order = array<i32: 0, 2, 1>} : tensor<64x2x32xf32> -> tensor<64x32x2xf32>
  %left, %right = tt.split %t : tensor<64x32x2xf32> -> tensor<64x32xf32>
  ttg.local_store %left, %o : tensor<64x32xf32> -> !ttg.memdesc<64x32xf32, #panel32, #smem, mutable>
  tt.return
}

// A buffer that is written before the product is read first.
// CHECK-LABEL: tt.func @overwritten
// CHECK: ttg.local_load
// CHECK: ttg.local_store
// CHECK: ttng.warp_group_dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x64xf16,
tt.func @overwritten(%a: !ttg.memdesc<64x64xf16, #panel, #smem, mutable>, %x: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = ttg.local_load %a : !ttg.memdesc<64x64xf16, #panel, #smem, mutable> -> tensor<64x64xf16>
  ttg.local_store %x, %a : tensor<64x64xf16> -> !ttg.memdesc<64x64xf16, #panel, #smem, mutable>
  %d = tt.dot %y, %x, %c : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
  tt.return %d : tensor<64x64xf32>
}

// Bytes are multiplied with K contiguous in both buffers; else without wgmma.
// CHECK-LABEL: tt.func @bytes
// CHECK: %[[T:.*]] = ttg.memdesc_trans
// CHECK: ttng.warp_group_dot %{{.*}}, %[[T]], %{{.*}} {isAsync = true, maxNumImpreciseAcc = 128 : i32}
// CHECK: tt.dot
tt.func @bytes(%a: !ttg.memdesc<64x64xf8E4M3FN, #bytes, #smem, mutable>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = ttg.local_load %a : !ttg.memdesc<64x64xf8E4M3FN, #bytes, #smem, mutable> -> tensor<64x64xf8E4M3FN>
  %t = tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
  %d = tt.dot %x, %t, %c : tensor<64x64xf8E4M3FN> * tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
  %e = tt.dot %x, %x, %d : tensor<64x64xf8E4M3FN> * tensor<64x64xf8E4M3FN> -> tensor<64x64xf32>
  tt.return %e : tensor<64x64xf32>
}
}
