// Rules of views and of warp specialization, one violation a function; the name is the op and the rule.
// RUN: %jitk-opt %s -split-input-file -verify-diagnostics

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
tt.func @index_shape(%m: !ttg.memdesc<2x8x8xf16, #s, #ttg.shared_memory>, %i: i32) {
  // expected-error @+1 {{result must have the source's shape without its first dimension}}
  %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x8x8xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<8x4xf16, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
tt.func @index_alloc_shape(%m: !ttg.memdesc<2x8x8xf16, #s, #ttg.shared_memory>, %i: i32) {
  // expected-error @+1 {{result must keep the alloc shape}}
  %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x8x8xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<8x8xf16, #s, #ttg.shared_memory, 8x16>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
tt.func @index_mutability(%m: !ttg.memdesc<2x8x8xf16, #s, #ttg.shared_memory>, %i: i32) {
  // expected-error @+1 {{a view of an immutable buffer must be immutable}}
  %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x8x8xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<8x8xf16, #s, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
tt.func @subslice_multiple(%m: !ttg.memdesc<8x8xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{offset must be a multiple of the result's size 4: got 2}}
  %0 = ttg.memdesc_subslice %m[2, 0] : !ttg.memdesc<8x8xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<4x8xf16, #s, #ttg.shared_memory, 8x8>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
tt.func @subslice_inside(%m: !ttg.memdesc<8x8xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{slice must lie inside the source: got offset 8 and size 4 of 8}}
  %0 = ttg.memdesc_subslice %m[8, 0] : !ttg.memdesc<8x8xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<4x8xf16, #s, #ttg.shared_memory, 8x8>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
tt.func @subslice_alloc_shape(%m: !ttg.memdesc<8x8xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{result must keep the alloc shape}}
  %0 = ttg.memdesc_subslice %m[4, 0] : !ttg.memdesc<8x8xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<4x8xf16, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
tt.func @subslice_swizzled_rows(%m: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{cannot split a swizzle pattern along dimension 0}}
  %0 = ttg.memdesc_subslice %m[4, 0] : !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<4x64xf16, #s, #ttg.shared_memory, 64x64>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
tt.func @subslice_swizzled_columns(%m: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{cannot split a swizzle pattern}}
  %0 = ttg.memdesc_subslice %m[0, 32] : !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<64x32xf16, #s, #ttg.shared_memory, 64x64>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
tt.func @subslice_cluster(%m: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{cannot slice a buffer that several CTAs share}}
  %0 = ttg.memdesc_subslice %m[32, 0] : !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<32x64xf16, #s, #ttg.shared_memory, 64x64>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
tt.func @trans_encoding(%m: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{has the wrong encoding: expected #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>}}
  %0 = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
tt.func @reshape_elements(%m: !ttg.memdesc<8x8xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{source and result must have as many elements: got 64 and 32}}
  %0 = ttg.memdesc_reshape %m : !ttg.memdesc<8x8xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<4x8xf16, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#t = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
tt.func @reshape_encoding(%m: !ttg.memdesc<8x8xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{has the wrong encoding: expected #ttg.shared_linear}}
  %0 = ttg.memdesc_reshape %m : !ttg.memdesc<8x8xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<4x16xf16, #t, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#t = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @trans_rank(%m: !ttg.memdesc<16x16xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{the result's encoding must have its rank 2: got 1}}
  %0 = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<16x16xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<16x16xf16, #t, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#t = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @reshape_rank(%m: !ttg.memdesc<16x16xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{the result's encoding must have its rank 2: got 1}}
  %0 = ttg.memdesc_reshape %m : !ttg.memdesc<16x16xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<8x32xf16, #t, #ttg.shared_memory>
  tt.return
}

// -----

#p = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
tt.func @index_element(%b: !ttg.memdesc<2x16x16xf16, #p, #ttg.shared_memory>, %i: i32) {
  // expected-error @+1 {{source and result must have one element type: got 'f16' and 'i16'}}
  %0 = ttg.memdesc_index %b[%i] : !ttg.memdesc<2x16x16xf16, #p, #ttg.shared_memory> -> !ttg.memdesc<16x16xi16, #p, #ttg.shared_memory>
  tt.return
}

// -----

#p = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
tt.func @index_encoding(%b: !ttg.memdesc<2x16x16xf16, #p, #ttg.shared_memory>, %i: i32) {
  // expected-error @+1 {{source and result must have one encoding}}
  %0 = ttg.memdesc_index %b[%i] : !ttg.memdesc<2x16x16xf16, #p, #ttg.shared_memory> -> !ttg.memdesc<16x16xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>, #ttg.shared_memory>
  tt.return
}

// -----

#l = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @index_rank(%b: !ttg.memdesc<16xf16, #l, #ttg.shared_memory>, %i: i32) {
  // expected-error @+1 {{source must have at least two dimensions: got 1}}
  %0 = ttg.memdesc_index %b[%i] : !ttg.memdesc<16xf16, #l, #ttg.shared_memory> -> !ttg.memdesc<1xf16, #l, #ttg.shared_memory>
  tt.return
}

// -----

#p = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
tt.func @subslice_rank(%b: !ttg.memdesc<16x16xf16, #p, #ttg.shared_memory>) {
  // expected-error @+1 {{result and offsets must have the source's rank 2}}
  %0 = ttg.memdesc_subslice %b[8] : !ttg.memdesc<16x16xf16, #p, #ttg.shared_memory> -> !ttg.memdesc<8x16xf16, #p, #ttg.shared_memory, 16x16>
  tt.return
}

// -----

#p = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#w = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
tt.func @subslice_encoding(%b: !ttg.memdesc<16x16xf16, #p, #ttg.shared_memory>) {
  // expected-error @+1 {{source and result must have one encoding}}
  %0 = ttg.memdesc_subslice %b[8, 0] : !ttg.memdesc<16x16xf16, #p, #ttg.shared_memory> -> !ttg.memdesc<8x16xf16, #w, #ttg.shared_memory, 16x16>
  tt.return
}

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @trans_memory(%b: !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory>) {
  // expected-error @+1 {{source must be in shared memory}}
  %0 = ttg.memdesc_trans %b {order = array<i32: 1, 0>} : !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory> -> !ttg.memdesc<64x128xf32, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #ttg.shared_memory>
  tt.return
}

// -----

#p = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
tt.func @trans_copies(%b: !ttg.memdesc<2x16x16xf16, #p, #ttg.shared_memory>) {
  // expected-error @+1 {{the source's encoding must have its rank 3: got 2}}
  %0 = ttg.memdesc_trans %b {order = array<i32: 0, 2, 1>} : !ttg.memdesc<2x16x16xf16, #p, #ttg.shared_memory> -> !ttg.memdesc<2x16x16xf16, #p, #ttg.shared_memory>
  tt.return
}

// -----

#p = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
tt.func @trans_shape(%b: !ttg.memdesc<16x32xf16, #p, #ttg.shared_memory>) {
  // expected-error @+1 {{has the wrong result shape}}
  %0 = ttg.memdesc_trans %b {order = array<i32: 1, 0>} : !ttg.memdesc<16x32xf16, #p, #ttg.shared_memory> -> !ttg.memdesc<16x32xf16, #p, #ttg.shared_memory>
  tt.return
}

// -----

#p = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
tt.func @reshape_slice(%b: !ttg.memdesc<8x16xf16, #p, #ttg.shared_memory, 16x16>) {
  // expected-error @+1 {{source must not be a slice}}
  %0 = ttg.memdesc_reshape %b : !ttg.memdesc<8x16xf16, #p, #ttg.shared_memory, 16x16> -> !ttg.memdesc<4x32xf16, #p, #ttg.shared_memory>
  tt.return
}

// -----

#cube = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [2, 1, 0]}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @index_space(%b: !ttg.memdesc<2x128x64xf32, #cube, #ttg.shared_memory>, %i: i32) {
  // expected-error @+1 {{source and result must be in one memory space: got #ttg.shared_memory and #ttng.tensor_memory}}
  %0 = ttg.memdesc_index %b[%i] : !ttg.memdesc<2x128x64xf32, #cube, #ttg.shared_memory> -> !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory>
  tt.return
}

// -----

// Four rows of a pattern of eight leave gaps.
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
tt.func @reshape_gaps(%b: !ttg.memdesc<4x64xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{no encoding says what this view of the source is}}
  %0 = ttg.memdesc_reshape %b : !ttg.memdesc<4x64xf16, #s, #ttg.shared_memory> -> !ttg.memdesc<2x128xf16, #s, #ttg.shared_memory>
  tt.return
}
