// Rules of matrix products and tensor memory, one violation a function; the name is the op and the rule.
// RUN: %jitk-opt %s -split-input-file -verify-diagnostics

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
tt.func @wgmma_accumulator(%a: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, %c: tensor<64x64xf32, #mma>) {
  // expected-error @+1 {{accumulator must have an nvidia_mma encoding of version 3}}
  %0 = ttng.warp_group_dot %a, %a, %c : !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory> * !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory> -> tensor<64x64xf32, #mma>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
tt.func @wgmma_shapes(%a: !ttg.memdesc<64x32xf16, #s, #ttg.shared_memory>, %c: tensor<64x32xf32, #mma>) {
  // expected-error @+1 {{shapes must be M x K, K x N and M x N}}
  %0 = ttng.warp_group_dot %a, %a, %c : !ttg.memdesc<64x32xf16, #s, #ttg.shared_memory> * !ttg.memdesc<64x32xf16, #s, #ttg.shared_memory> -> tensor<64x32xf32, #mma>
  tt.return
}

// -----

#w = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
tt.func @wgmma_shared_encoding(%a: !ttg.memdesc<64x64xf16, #w, #ttg.shared_memory>, %c: tensor<64x64xf32, #mma>) {
  // expected-error @+1 {{a in shared memory must have an nvmma_shared or shared_linear encoding}}
  %0 = ttng.warp_group_dot %a, %a, %c : !ttg.memdesc<64x64xf16, #w, #ttg.shared_memory> * !ttg.memdesc<64x64xf16, #w, #ttg.shared_memory> -> tensor<64x64xf32, #mma>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
tt.func @wgmma_k_width(%a: tensor<64x64xf16, #a>, %b: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, %c: tensor<64x64xf32, #mma>) {
  // expected-error @+1 {{a in registers must have kWidth 2: got 4}}
  %0 = ttng.warp_group_dot %a, %b, %c : tensor<64x64xf16, #a> * !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory> -> tensor<64x64xf32, #mma>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
tt.func @wgmma_m(%a: !ttg.memdesc<32x64xf16, #s, #ttg.shared_memory>, %b: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, %c: tensor<32x64xf32, #mma>) {
  // expected-error @+1 {{M must be a multiple of 64: got 32}}
  %0 = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<32x64xf16, #s, #ttg.shared_memory> * !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory> -> tensor<32x64xf32, #mma>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8, 16]}>
tt.func @wgmma_n(%a: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, %b: !ttg.memdesc<64x4xf16, #s, #ttg.shared_memory>, %c: tensor<64x4xf32, #mma>) {
  // expected-error @+1 {{N must be a multiple of 8: got 4}}
  %0 = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory> * !ttg.memdesc<64x4xf16, #s, #ttg.shared_memory> -> tensor<64x4xf32, #mma>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 32]}>
tt.func @wgmma_fp8(%a: !ttg.memdesc<64x64xf8E4M3FN, #s, #ttg.shared_memory>, %c: tensor<64x64xf32, #mma>) {
  // expected-error @+1 {{fp8 to f32 needs maxNumImpreciseAcc of at least 32: got 0}}
  %0 = ttng.warp_group_dot %a, %a, %c : !ttg.memdesc<64x64xf8E4M3FN, #s, #ttg.shared_memory> * !ttg.memdesc<64x64xf8E4M3FN, #s, #ttg.shared_memory> -> tensor<64x64xf32, #mma>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [2, 1], instrShape = [16, 64, 16]}>
module attributes {"ttg.num-warps" = 2 : i32} {
tt.func @wgmma_warps(%a: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, %c: tensor<64x64xf32, #mma>) {
  // expected-error @+1 {{needs a multiple of 4 warps: got 2}}
  %0 = ttng.warp_group_dot %a, %a, %c : !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory> * !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory> -> tensor<64x64xf32, #mma>
  tt.return
}
}

// -----

tt.func @wgmma_wait_operands() {
  // expected-error @+1 {{needs at least one operand}}
  "ttng.warp_group_dot_wait"() <{pendings = 0 : i32}> : () -> ()
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @mma_sync_barrier(%a: !ttg.memdesc<128x64xf16, #s, #ttg.shared_memory>, %b: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, %d: !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>, %p: i1, %bar: !ttg.memdesc<1xi64, #bar, #ttg.shared_memory, mutable>) {
  // expected-error @+1 {{a synchronous product has no barriers: got 1}}
  ttng.tc_gen5_mma %a, %b, %d, %p, %p, %bar[%p] : !ttg.memdesc<128x64xf16, #s, #ttg.shared_memory>, !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>, !ttg.memdesc<1xi64, #bar, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @mma_kind(%a: !ttg.memdesc<128x64xi8, #s, #ttg.shared_memory>, %b: !ttg.memdesc<64x64xi8, #s, #ttg.shared_memory>, %d: !ttg.memdesc<128x64xi32, #t, #ttng.tensor_memory, mutable>, %p: i1) {
  // expected-error @+1 {{has no instruction for 'i8' times 'i8' to 'i32'}}
  ttng.tc_gen5_mma %a, %b, %d, %p, %p : !ttg.memdesc<128x64xi8, #s, #ttg.shared_memory>, !ttg.memdesc<64x64xi8, #s, #ttg.shared_memory>, !ttg.memdesc<128x64xi32, #t, #ttng.tensor_memory, mutable>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @mma_col_stride(%a: !ttg.memdesc<128x64xf16, #s, #ttg.shared_memory>, %b: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, %d: !ttg.memdesc<128x64xf16, #t, #ttng.tensor_memory, mutable>, %p: i1) {
  // expected-error @+1 {{d must have colStride 2: got 1}}
  ttng.tc_gen5_mma %a, %b, %d, %p, %p : !ttg.memdesc<128x64xf16, #s, #ttg.shared_memory>, !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, !ttg.memdesc<128x64xf16, #t, #ttng.tensor_memory, mutable>
  tt.return
}

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#t2 = #ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>
tt.func @tmem_subslice(%d: !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>) {
  // expected-error @+1 {{source and result must agree in blockM, CTA split and colStride}}
  %0 = ttng.tmem_subslice %d {N = 32 : i32} : !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable> -> !ttg.memdesc<128x32xf32, #t2, #ttng.tensor_memory, mutable, 128x64>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 32}>
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 32, colStride = 1>
tt.func @tmem_copy_swizzle(%a: !ttg.memdesc<128x32xf32, #s, #ttg.shared_memory>, %d: !ttg.memdesc<128x32xf32, #t, #ttng.tensor_memory, mutable>) {
  // expected-error @+1 {{source must be swizzled}}
  ttng.tmem_copy %a, %d : !ttg.memdesc<128x32xf32, #s, #ttg.shared_memory>, !ttg.memdesc<128x32xf32, #t, #ttng.tensor_memory, mutable>
  tt.return
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 64}>
tt.func @elements(%a: !ttg.memdesc<64x64x!tt.ptr<f32>, #s, #ttg.shared_memory>, %c: tensor<64x64xf32, #mma>) {
  // expected-error @+1 {{multiplies integers and floats: got '!tt.ptr<f32>'}}
  %0 = ttng.warp_group_dot %a, %a, %c : !ttg.memdesc<64x64x!tt.ptr<f32>, #s, #ttg.shared_memory> * !ttg.memdesc<64x64x!tt.ptr<f32>, #s, #ttg.shared_memory> -> tensor<64x64xf32, #mma>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#other = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #other, kWidth = 2}>
tt.func @wgmma_register_operand(%a: tensor<64x64xf16, #a>, %b: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, %c: tensor<64x64xf32, #mma>) {
  // expected-error @+1 {{a in registers must have the dot_op encoding of operand 0 of the accumulator's}}
  %0 = ttng.warp_group_dot %a, %b, %c : tensor<64x64xf16, #a> * !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory> -> tensor<64x64xf32, #mma>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
tt.func @wgmma_rank(%a: !ttg.memdesc<2x64x64xf16, #s, #ttg.shared_memory>, %c: tensor<64x64xf32, #mma>) {
  // expected-error @+1 {{operands must have two dimensions}}
  %0 = ttng.warp_group_dot %a, %a, %c : !ttg.memdesc<2x64x64xf16, #s, #ttg.shared_memory> * !ttg.memdesc<2x64x64xf16, #s, #ttg.shared_memory> -> tensor<64x64xf32, #mma>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
tt.func @parts_and_accumulators(%a: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{needs a part of B for each accumulator: got 2 and 1}}
  %0 = ttng.warp_group_dot_parts %a, [%a, %a], [%c] : (!ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, tensor<64x64xf32>) -> tensor<64x64xf32>
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#t = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
tt.func @parts_layout(%a: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, %b: !ttg.memdesc<64x16xf16, #t, #ttg.shared_memory>, %c: tensor<64x64xf32>, %d: tensor<64x16xf32>) {
  // expected-error @+1 {{parts must have one layout}}
  %0:2 = ttng.warp_group_dot_parts %a, [%a, %b], [%c, %d] : (!ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, !ttg.memdesc<64x16xf16, #t, #ttg.shared_memory>, tensor<64x64xf32>, tensor<64x16xf32>) -> (tensor<64x64xf32>, tensor<64x16xf32>)
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
tt.func @parts_columns(%a: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, %b: !ttg.memdesc<64x256xf16, #s, #ttg.shared_memory>, %c: tensor<64x64xf32>, %d: tensor<64x256xf32>) {
  // expected-error @+1 {{multiplies at most 256 columns: got 320}}
  %0:2 = ttng.warp_group_dot_parts %a, [%b, %a], [%d, %c] : (!ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, !ttg.memdesc<64x256xf16, #s, #ttg.shared_memory>, !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, tensor<64x256xf32>, tensor<64x64xf32>) -> (tensor<64x256xf32>, tensor<64x64xf32>)
  tt.return
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
tt.func @parts_element_types(%a: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, %c: tensor<64x64xf32>, %d: tensor<64x64xf16>) {
  // expected-error @+1 {{accumulators must have one element type: got 'f16' beside 'f32'}}
  %0:2 = ttng.warp_group_dot_parts %a, [%a, %a], [%c, %d] : (!ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, tensor<64x64xf32>, tensor<64x64xf16>) -> (tensor<64x64xf32>, tensor<64x64xf16>)
  tt.return
}
