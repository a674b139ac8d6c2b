// Rules of tensor memory and of what accumulates in it, one violation a function; the name is the op and the rule. More in
// invalid-dots.mlir.
// RUN: %jitk-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{CTASplitM and CTASplitN must be powers of two: got 3 and 1}}
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CTASplitM = 3>
tt.func private @encoding_split(!ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory>)

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!a = !ttg.memdesc<128x64xf16, #s, #ttg.shared_memory>
!b = !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>
!d = !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
!bar = !ttg.memdesc<1xi64, #bar, #ttg.shared_memory, mutable>
tt.func @mma_predicates(%a: !a, %b: !b, %d: !d, %bar: !bar, %p: i1) {
  // expected-error @+1 {{needs a predicate for each barrier}}
  "ttng.tc_gen5_mma"(%a, %b, %d, %p, %p, %bar) <{is_async, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 1, 1, 0>}> : (!a, !b, !d, i1, i1, !bar) -> ()
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!a = !ttg.memdesc<128x64xf16, #s, #ttg.shared_memory>
!b = !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>
!d = !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>
#t2 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 2>
!t = !ttg.memdesc<128x64xf16, #t2, #ttng.tensor_memory>
tt.func @mma_a_stride(%a: !t, %b: !b, %d: !d, %p: i1) {
  // expected-error @+1 {{a in tensor memory must have colStride 1}}
  ttng.tc_gen5_mma %a, %b, %d, %p, %p : !t, !b, !d
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!a = !ttg.memdesc<128x64xf16, #s, #ttg.shared_memory>
!b = !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>
!d = !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>
!t = !ttg.memdesc<128x64xf16, #t, #ttng.tensor_memory>
tt.func @mma_b_place(%a: !a, %b: !t, %d: !d, %p: i1) {
  // expected-error @+1 {{b must be in shared memory}}
  ttng.tc_gen5_mma %a, %b, %d, %p, %p : !a, !t, !d
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!a = !ttg.memdesc<128x64xf16, #s, #ttg.shared_memory>
!b = !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>
!d = !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>
!r = !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory>
tt.func @mma_d_mutable(%a: !a, %b: !b, %d: !r, %p: i1) {
  // expected-error @+1 {{d must be mutable and in tensor memory}}
  ttng.tc_gen5_mma %a, %b, %d, %p, %p : !a, !b, !r
  tt.return
}

// -----

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 1]]}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!a = !ttg.memdesc<256x64xf16, #a, #ttg.shared_memory>
!b = !ttg.memdesc<64x64xf16, #b, #ttg.shared_memory>
!d = !ttg.memdesc<256x64xf32, #t, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
tt.func @mma_two_d(%a: !a, %b: !b, %d: !d, %p: i1) {
  // expected-error @+1 {{with two CTAs d must be split 2 x 1 and have twoCTAs}}
  ttng.tc_gen5_mma %a, %b, %d, %p, %p {two_ctas} : !a, !b, !d
  tt.return
}
}

// -----

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CTASplitM = 2, twoCTAs = true>
!a = !ttg.memdesc<256x64xf16, #a, #ttg.shared_memory>
!b = !ttg.memdesc<64x64xf16, #b, #ttg.shared_memory>
!d = !ttg.memdesc<256x64xf32, #t, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
tt.func @mma_two_b(%a: !a, %b: !b, %d: !d, %p: i1) {
  // expected-error @+1 {{with two CTAs b must be split 1 x 2}}
  ttng.tc_gen5_mma %a, %b, %d, %p, %p {two_ctas} : !a, !b, !d
  tt.return
}
}

// -----

#a = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[0, 1]]}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CTASplitM = 2, twoCTAs = true>
!a = !ttg.memdesc<256x64xf16, #a, #ttg.shared_memory>
!b = !ttg.memdesc<64x64xf16, #b, #ttg.shared_memory>
!d = !ttg.memdesc<256x64xf32, #t, #ttng.tensor_memory, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
tt.func @mma_two_a(%a: !a, %b: !b, %d: !d, %p: i1) {
  // expected-error @+1 {{with two CTAs a must be split 2 x 1}}
  ttng.tc_gen5_mma %a, %b, %d, %p, %p {two_ctas} : !a, !b, !d
  tt.return
}
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#ts = #ttng.tensor_memory_scales_encoding<>
!m = !ttg.memdesc<128x128xf8E4M3FN, #s, #ttg.shared_memory>
!d = !ttg.memdesc<128x128xf32, #t, #ttng.tensor_memory, mutable>
#l = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
!x = !ttg.memdesc<128x4xi8, #l, #ttg.shared_memory>
tt.func @mma_scales(%m: !m, %d: !d, %x: !x, %p: i1) {
  // expected-error @+1 {{scales must be i8 in tensor memory}}
  ttng.tc_gen5_mma_scaled %m, %m, %d, %x, %x, %p, %p lhs = e4m3 rhs = e4m3 : !m, !m, !d, !x, !x
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#ts = #ttng.tensor_memory_scales_encoding<>
!m = !ttg.memdesc<128x128xf8E4M3FN, #s, #ttg.shared_memory>
!d = !ttg.memdesc<128x128xf32, #t, #ttng.tensor_memory, mutable>
!x = !ttg.memdesc<64x4xi8, #ts, #ttng.tensor_memory>
tt.func @mma_scale_rows(%m: !m, %d: !d, %x: !x, %p: i1) {
  // expected-error @+1 {{scales must have a row for each of M and N}}
  ttng.tc_gen5_mma_scaled %m, %m, %d, %x, %x, %p, %p lhs = e4m3 rhs = e4m3 : !m, !m, !d, !x, !x
  tt.return
}

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
!d = !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>
#l = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
!m = !ttg.memdesc<128x64xf32, #s, #ttg.shared_memory>
tt.func @load_place(%m: !m) {
  // expected-error @+1 {{buffer must be in tensor memory}}
  %0 = ttng.tmem_load %m : !m -> tensor<128x64xf32, #l>
  tt.return
}

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
!d = !ttg.memdesc<2x128x64xf32, #t, #ttng.tensor_memory, mutable>
tt.func @load_rank(%d: !d) {
  // expected-error @+1 {{tensor must have two dimensions: got 3}}
  %0 = ttng.tmem_load %d : !d -> tensor<2x128x64xf32>
  tt.return
}

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
!d = !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>
tt.func @alloc_place() {
  // expected-error @+1 {{allocates in tensor memory: got #ttg.shared_memory}}
  %0 = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #s, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
!d = !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>
!m = !ttg.memdesc<128x64xf32, #s, #ttg.shared_memory, mutable>
tt.func @subslice_place(%m: !m) {
  // expected-error @+1 {{source and result must have a tensor memory encoding}}
  %0 = ttng.tmem_subslice %m {N = 0 : i32} : !m -> !m
  tt.return
}

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
!d = !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>
#u = #ttng.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
tt.func @subslice_rows(%d: !d) {
  // expected-error @+1 {{result must have the source's rows}}
  %0 = ttng.tmem_subslice %d {N = 0 : i32} : !d -> !ttg.memdesc<64x32xf32, #u, #ttng.tensor_memory, mutable, 128x64>
  tt.return
}

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
!d = !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>
#u = #ttng.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
tt.func @subslice_columns(%d: !d) {
  // expected-error @+1 {{slice must lie inside the source: got column 48 and 32 columns}}
  %0 = ttng.tmem_subslice %d {N = 48 : i32} : !d -> !ttg.memdesc<128x32xf32, #u, #ttng.tensor_memory, mutable, 128x64>
  tt.return
}

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
!d = !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>
tt.func @copy_places(%d: !d) {
  // expected-error @+1 {{copies from shared to mutable tensor memory}}
  ttng.tmem_copy %d, %d : !d, !d
  tt.return
}

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
!d = !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>
#turned = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 32}>
!m = !ttg.memdesc<128x64xf32, #turned, #ttg.shared_memory>
tt.func @copy_transposed(%m: !m, %d: !d) {
  // expected-error @+1 {{source must be neither transposed nor fp4Padded}}
  ttng.tmem_copy %m, %d : !m, !d
  tt.return
}

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
!d = !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>
!m = !ttg.memdesc<128x32xf32, #s, #ttg.shared_memory>
tt.func @copy_shape(%m: !m, %d: !d) {
  // expected-error @+1 {{source and destination must have one shape}}
  ttng.tmem_copy %m, %d : !m, !d
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 2>
!m = !ttg.memdesc<128x64xf16, #s, #ttg.shared_memory>
!d = !ttg.memdesc<128x64xf16, #t, #ttng.tensor_memory, mutable>
tt.func @copy_elements(%m: !m, %d: !d) {
  // expected-error @+1 {{destination must have blockM 128 and elements of 32 bits}}
  ttng.tmem_copy %m, %d : !m, !d
  tt.return
}
