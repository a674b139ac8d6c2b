// Rules of shared and tensor-memory encodings, one violation a case; the alias is named after the rule.
// RUN: %jitk-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{unexpected key: hasLeadingOffset}}
#swizzled_keys = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], hasLeadingOffset = false}>

// -----

// expected-error @+1 {{vec, perPhase and maxPhase must be powers of two: got 3}}
#swizzled_powers = #ttg.swizzled_shared<{vec = 3, perPhase = 1, maxPhase = 1, order = [0]}>

// -----

// expected-error @+1 {{order must be a permutation of the dimensions}}
#swizzled_order = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1]}>

// -----

// expected-error @+1 {{swizzlingByteWidth must be 0, 32, 64 or 128: got 16}}
#nvmma_swizzle = #ttg.nvmma_shared<{swizzlingByteWidth = 16, transposed = false, elementBitWidth = 16}>

// -----

// expected-error @+1 {{elementBitWidth must be 8, 16, 32 or 64: got 4}}
#nvmma_width = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 4}>

// -----

// expected-error @+1 {{transposed must be a bool: got 0 : i64}}
#nvmma_transposed = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = 0, elementBitWidth = 16}>

// -----

// expected-error @+1 {{fp4Padded needs elements of 8 bits: got 16}}
#nvmma_fp4_padded = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, fp4Padded = true}>

// -----

// expected-error @+1 {{intervals and paddings must be powers of two: got 3}}
#padded_powers = #ttg.padded_shared<[128:+3] {order = [1, 0], shape = [128, 64]}>

// -----

// expected-error @+1 {{bases must reach every element once}}
#padded_invertible = #ttg.padded_shared<[16:+1] {offset = [[0, 1], [0, 1]], block = []}>

// -----

// expected-error @+1 {{bases must reach every element}}
#shared_linear_surjective = #ttg.shared_linear<{offset = [[0, 2]]}, alignment = 16>

// -----

// expected-error @+1 {{bases other than zero must be independent}}
#shared_linear_independent = #ttg.shared_linear<{offset = [[0, 1], [0, 1]]}, alignment = 16>

// -----

// expected-error @+1 {{alignment must be a power of two: got 24}}
#shared_linear_alignment = #ttg.shared_linear<{offset = [[0, 1]]}, alignment = 24>

// -----

// expected-error @+1 {{blockM must be 64 or 128: got 32}}
#tmem_block_m = #ttng.tensor_memory_encoding<blockM = 32, blockN = 64, colStride = 1>

// -----

// expected-error @+1 {{blockN must be a power of two of at most 512: got 1024}}
#tmem_block_n = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1024, colStride = 1>

// -----

// expected-error @+1 {{colStride must be 1, 2 or 4: got 3}}
#tmem_col_stride = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 3>

// -----

// expected-error @+1 {{a basis of offset must step by at most 536870912: got 2147483648}}
#s = #ttg.shared_linear<{offset = [[0, 1], [0, 2147483648]], block = []}, alignment = 16>

// -----

// expected-error @+1 {{shape must be powers of two up to 1073741824: got 2147483648}}
#s = #ttg.padded_shared<[128:+8] {order = [1, 0], shape = [2147483648, 64]}>

// -----

// expected-error @+1 {{shape must be powers of two up to 1073741824: got 48}}
#s = #ttg.padded_shared<[128:+8] {order = [1, 0], shape = [48, 64]}>

// -----

// expected-error @+1 {{a basis of register must step by at most 536870912: got 2147483648}}
#s = #ttg.linear<{register = [[2147483648]], lane = [], warp = [], block = []}>

// -----

// expected-error @+1 {{needs as many paddings as intervals, and one at least}}
#pad = #ttg.padded_shared<[] {order = [1, 0], shape = [16, 16]}>
tt.func private @padded_intervals(!ttg.memdesc<16x16xf16, #pad, #ttg.shared_memory>)
