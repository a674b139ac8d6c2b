// Rules of ops on buffers, one violation a function; the name is the op and the rule.
// RUN: %jitk-opt %s -split-input-file -verify-diagnostics

#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @convert_layout_shape(%x: tensor<8x8xf16, #b>) {
  // expected-error @+1 {{requires the same shape for all operands and results}}
  %0 = ttg.convert_layout %x : tensor<8x8xf16, #b> -> tensor<8x16xf16, #b>
  tt.return
}

// -----

#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @convert_layout_element(%x: tensor<8x8xf16, #b>) {
  // expected-error @+1 {{requires the same element type for all operands and results}}
  %0 = ttg.convert_layout %x : tensor<8x8xf16, #b> -> tensor<8x8xf32, #b>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @async_copy_mutable(%p: tensor<8x!tt.ptr<f16>>, %m: !ttg.memdesc<8xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{cannot write to an immutable buffer}}
  %0 = ttg.async_copy_global_to_local %p, %m : tensor<8x!tt.ptr<f16>> -> <8xf16, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @async_copy_shape(%p: tensor<8x!tt.ptr<f32>>, %m: !ttg.memdesc<8xf16, #s, #ttg.shared_memory, mutable>) {
  // expected-error @+1 {{pointers and buffer must have one shape and element type}}
  %0 = ttg.async_copy_global_to_local %p, %m : tensor<8x!tt.ptr<f32>> -> <8xf16, #s, #ttg.shared_memory, mutable>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @local_alloc_mutable() {
  // expected-error @+1 {{a buffer without initial value must be mutable}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<8xf16, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @local_alloc_slice() {
  // expected-error @+1 {{result must not be a slice}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<8xf16, #s, #ttg.shared_memory, mutable, 16>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @local_alloc_encoding_rank(%x: tensor<2x8xf16>) {
  // expected-error @+1 {{the buffer's encoding must have the tensor's rank 2: got 1}}
  %0 = ttg.local_alloc %x : (tensor<2x8xf16>) -> !ttg.memdesc<2x8xf16, #s, #ttg.shared_memory>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @local_load_shape(%m: !ttg.memdesc<8xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{tensor and buffer must have one shape}}
  %0 = ttg.local_load %m : !ttg.memdesc<8xf16, #s, #ttg.shared_memory> -> tensor<16xf16>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @local_load_element(%m: !ttg.memdesc<8xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{tensor and buffer must have one element type: got 'f32' and 'f16'}}
  %0 = ttg.local_load %m : !ttg.memdesc<8xf16, #s, #ttg.shared_memory> -> tensor<8xf32>
  tt.return
}

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
tt.func @local_store_mutable(%x: tensor<8xf16>, %m: !ttg.memdesc<8xf16, #s, #ttg.shared_memory>) {
  // expected-error @+1 {{cannot write to an immutable buffer}}
  ttg.local_store %x, %m : tensor<8xf16> -> !ttg.memdesc<8xf16, #s, #ttg.shared_memory>
  tt.return
}

// -----

#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @fp4_to_fp_shape(%x: tensor<128x32xi8, #b>) {
  // expected-error @+1 {{result must have the source's shape with the axis doubled}}
  %0 = ttg.fp4_to_fp %x {axis = 0 : i32} : tensor<128x32xi8, #b> -> tensor<128x64xbf16, #b>
  tt.return
}

// -----

#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @fp4_to_fp_layout(%x: tensor<128x32xi8, #b>) {
  // expected-error @+1 {{has the wrong encoding}}
  %0 = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<128x32xi8, #b> -> tensor<128x64xbf16, #b>
  tt.return
}

// -----

tt.func @fp4_to_fp_element(%x: tensor<128x32xi8>) {
  // expected-error @+1 {{result #0 must be ranked tensor of 16-bit float or bfloat16 type values}}
  %0 = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<128x32xi8> -> tensor<128x64xf32>
  tt.return
}

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
tt.func @alloc_memory() {
  // expected-error @+1 {{allocates in shared memory: got #ttng.tensor_memory}}
  %0 = ttg.local_alloc : () -> !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable>
  tt.return
}
