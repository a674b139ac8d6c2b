// Rules of barriers and bulk copies, one violation a function; the name is the op and the rule.
// RUN: %jitk-opt %s -split-input-file -verify-diagnostics

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @barrier_shape(%b: !ttg.memdesc<2xi64, #bar, #ttg.shared_memory, mutable>) {
  // expected-error @+1 {{a barrier must be a buffer of 1xi64}}
  ttng.init_barrier %b, 1 : !ttg.memdesc<2xi64, #bar, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @barrier_element(%b: !ttg.memdesc<1xi32, #bar, #ttg.shared_memory, mutable>, %p: i1) {
  // expected-error @+1 {{a barrier must be a buffer of 1xi64}}
  ttng.barrier_expect %b, 16, %p : !ttg.memdesc<1xi32, #bar, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @barrier_mutable(%b: !ttg.memdesc<1xi64, #bar, #ttg.shared_memory>, %ph: i32) {
  // expected-error @+1 {{a barrier must be mutable and in shared memory}}
  ttng.wait_barrier %b, %ph : !ttg.memdesc<1xi64, #bar, #ttg.shared_memory>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @arrive_count(%b: !ttg.memdesc<1xi64, #bar, #ttg.shared_memory, mutable>) {
  // expected-error @+1 {{count must be at least 1: got 0}}
  ttng.arrive_barrier %b, 0 : !ttg.memdesc<1xi64, #bar, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @arrive_twofold(%b: !ttg.memdesc<1xi64, #bar, #ttg.shared_memory, mutable>) {
  // expected-error @+1 {{arrives by warps or by threads, not both}}
  ttng.arrive_barrier %b, 1 {perWarp, perThread} : !ttg.memdesc<1xi64, #bar, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
tt.func @remote_immutable(%a: tensor<64x32xf32>, %m: !ttg.memdesc<64x32xf32, #s, #ttg.shared_memory>, %rank: i32) {
  // expected-error @+1 {{the buffer must be mutable and in shared memory}}
  ttng.remote_shmem_store %a, %m, %rank : tensor<64x32xf32> -> !ttg.memdesc<64x32xf32, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
tt.func @remote_shape(%a: tensor<64x64xf32>, %m: !ttg.memdesc<64x32xf32, #s, #ttg.shared_memory, mutable>, %rank: i32) {
  // expected-error @+1 {{tensor and buffer must have one shape}}
  ttng.remote_shmem_store %a, %m, %rank : tensor<64x64xf32> -> !ttg.memdesc<64x32xf32, #s, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @arrive_in_cluster(%b: !ttg.memdesc<1xi64, #bar, #ttg.shared_memory, mutable>) {
  // expected-error @+1 {{arrives at the barriers of several CTAs by warps only: wants perWarp}}
  ttng.arrive_barrier %b, 1 {multicast} : !ttg.memdesc<1xi64, #bar, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @tma_coordinates(%d: !tt.tensordesc<tensor<64x64xf16, #s>>, %i: i32, %m: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{needs one coordinate for each dimension of the block: wanted 2, got 1}}
  ttng.async_tma_copy_local_to_global %d[%i] %m : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @tma_mutable(%d: !tt.tensordesc<tensor<64x64xf16, #s>>, %i: i32, %b: !ttg.memdesc<1xi64, #bar, #ttg.shared_memory, mutable>, %m: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, %p: i1) {
  // expected-error @+1 {{cannot write to an immutable buffer}}
  ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %p : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<1xi64, #bar, #ttg.shared_memory, mutable> -> !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#w = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
tt.func @tma_encoding(%d: !tt.tensordesc<tensor<64x64xf16, #s>>, %i: i32, %m: !ttg.memdesc<64x64xf16, #w, #ttg.shared_memory>) {
  // expected-error @+1 {{buffer must have an nvmma_shared encoding}}
  ttng.async_tma_copy_local_to_global %d[%i, %i] %m : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<64x64xf16, #w, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
tt.func @scatter_block(%d: !tt.tensordesc<tensor<8x32xf32, #s>>, %x: tensor<8xi32>, %y: i32, %m: !ttg.memdesc<8x32xf32, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{the descriptor's block must be one row}}
  ttng.async_tma_scatter %d[%x, %y] %m : !tt.tensordesc<tensor<8x32xf32, #s>>, tensor<8xi32>, i32, !ttg.memdesc<8x32xf32, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
tt.func @scatter_rows(%d: !tt.tensordesc<tensor<1x32xf32, #s>>, %x: tensor<4xi32>, %y: i32, %m: !ttg.memdesc<4x32xf32, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{needs at least 8 rows: got 4}}
  ttng.async_tma_scatter %d[%x, %y] %m : !tt.tensordesc<tensor<1x32xf32, #s>>, tensor<4xi32>, i32, !ttg.memdesc<4x32xf32, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @scatter_fours(%d: !tt.tensordesc<tensor<1x32xf32, #s>>, %x: tensor<8xi32, #b>, %y: i32, %m: !ttg.memdesc<8x32xf32, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{x offsets must come four to a thread}}
  ttng.async_tma_scatter %d[%x, %y] %m : !tt.tensordesc<tensor<1x32xf32, #s>>, tensor<8xi32, #b>, i32, !ttg.memdesc<8x32xf32, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#b = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @scatter_lanes(%d: !tt.tensordesc<tensor<1x32xf32, #s>>, %x: tensor<8xi32, #b>, %y: i32, %m: !ttg.memdesc<8x32xf32, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{x offsets must be the same in all lanes}}
  ttng.async_tma_scatter %d[%x, %y] %m : !tt.tensordesc<tensor<1x32xf32, #s>>, tensor<8xi32, #b>, i32, !ttg.memdesc<8x32xf32, #s, #ttg.shared_memory>
  tt.return
}

// -----

tt.func @tensormap_strides(%p: !tt.ptr<i8>, %g: !tt.ptr<f16>, %a: i32, %s: i64) {
  // expected-error @+1 {{needs one stride fewer than dimensions: wanted 1, got 2}}
  ttng.tensormap_create %p, %g, [%a, %a], [%a, %a], [%s, %s], [%a, %a] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i64, i32, i32) -> ()
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#l = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @tma_no_coordinates(%d: !tt.tensordesc<tensor<64x64xf16, #s>>, %m: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{takes 1 to 5 coordinates: got 0}}
  ttng.async_tma_copy_local_to_global %d[] %m : !tt.tensordesc<tensor<64x64xf16, #s>>, !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
tt.func @scatter_offset_rank(%d: !tt.tensordesc<tensor<1x32xf32, #s>>, %x: tensor<8x1xi32>, %y: i32, %m: !ttg.memdesc<8x32xf32, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{x offsets must have one dimension: got 2}}
  ttng.async_tma_scatter %d[%x, %y] %m : !tt.tensordesc<tensor<1x32xf32, #s>>, tensor<8x1xi32>, i32, !ttg.memdesc<8x32xf32, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
tt.func @scatter_buffer(%d: !tt.tensordesc<tensor<1x32xf32, #s>>, %x: tensor<8xi32>, %y: i32, %m: !ttg.memdesc<16x32xf32, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{buffer must have a row of the block for each x offset}}
  ttng.async_tma_scatter %d[%x, %y] %m : !tt.tensordesc<tensor<1x32xf32, #s>>, tensor<8xi32>, i32, !ttg.memdesc<16x32xf32, #s, #ttg.shared_memory>
  tt.return
}

// -----

tt.func @tensormap_rank(%p: !tt.ptr<i8>, %g: !tt.ptr<f16>) {
  // expected-error @+1 {{a tensor map has 1 to 5 dimensions: got 0}}
  ttng.tensormap_create %p, %g, [], [], [], [] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>) -> ()
  tt.return
}

// -----

tt.func @tensormap_ranks(%p: !tt.ptr<i8>, %g: !tt.ptr<f16>, %a: i32, %s: i64) {
  // expected-error @+1 {{box, dimensions and element strides must have one rank: got 2, 1 and 2}}
  ttng.tensormap_create %p, %g, [%a, %a], [%a], [%s], [%a, %a] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i64, i32, i32) -> ()
  tt.return
}
