// Rules of the type of buffers, one violation a function; the name is the rule.
// RUN: %jitk-opt %s -split-input-file -verify-diagnostics

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @+1 {{dimensions of a buffer but the first must be powers of two}}
tt.func private @shape(!ttg.memdesc<3x3xf16, #s, #ttg.shared_memory>)

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// expected-error @+1 {{alloc shape must have at least the rank 2: got 1}}
tt.func private @alloc_rank(!ttg.memdesc<2x2xf16, #s, #ttg.shared_memory, mutable, 2>)

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @+1 {{alloc shape must be at least the shape: got 2 for 4}}
tt.func private @alloc_size(!ttg.memdesc<4xf16, #s, #ttg.shared_memory, mutable, 2>)

// -----

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// expected-error @+1 {{shared memory needs a shared encoding}}
tt.func private @encoding(!ttg.memdesc<4xf16, #b, #ttg.shared_memory>)

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @+1 {{encoding must have the buffer's rank 3, or one less: got 1}}
tt.func private @encoding_rank(!ttg.memdesc<2x4x4xf16, #s, #ttg.shared_memory>)

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @+1 {{memory space must be shared or tensor memory: got 3 : i64}}
tt.func private @space(!ttg.memdesc<4xf16, #s, 3>)

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
// expected-error @+1 {{element must be an integer, a float or a pointer: got 'index'}}
tt.func private @element(!ttg.memdesc<4xindex, #s, #ttg.shared_memory>)

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// expected-error @+1 {{tensor memory needs a tensor memory encoding}}
tt.func private @tmem_encoding(!ttg.memdesc<128x64xf16, #s, #ttng.tensor_memory>)

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
// expected-error @+1 {{a buffer in tensor memory must have 2 or 3 dimensions: got 1}}
tt.func private @tmem_rank(!ttg.memdesc<128xf16, #t, #ttng.tensor_memory>)

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 2>
// expected-error @+1 {{element width times colStride must be at most 32 bits: got 64}}
tt.func private @tmem_width(!ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory>)

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CTASplitN = 2>
// expected-error @+1 {{alloc shape must hold a block of 128 by 128: got 128, 64}}
tt.func private @tmem_block(!ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory>)

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 512, colStride = 1>
// expected-error @+1 {{tensor memory has 512 columns: got 1024}}
tt.func private @tmem_columns(!ttg.memdesc<128x1024xf32, #t, #ttng.tensor_memory>)

// -----

#ts = #ttng.tensor_memory_scales_encoding<>
// expected-error @+1 {{scales must be two-dimensional i8}}
tt.func private @tmem_scales(!ttg.memdesc<128x4xf16, #ts, #ttng.tensor_memory>)

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
// expected-error @+1 {{dimensions that the encoding places must be powers of two: got 7}}
tt.func private @placed_shape(!ttg.memdesc<7x64xf16, #s, #ttg.shared_memory>)

// -----

#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
// expected-error @+1 {{tensor memory holds integers and floats: got '!tt.ptr<f32>'}}
tt.func private @tmem_pointers(!ttg.memdesc<128x64x!tt.ptr<f32>, #t, #ttng.tensor_memory>)

// -----

#l = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>

// expected-error @+1 {{a buffer must have at least one dimension}}
tt.func private @no_dimension(!ttg.memdesc<f32, #l, #ttg.shared_memory>)
