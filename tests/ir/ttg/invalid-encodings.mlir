// Rules of encodings, one violation a case; the alias or the function is named after the rule.
// RUN: %jitk-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{unexpected key: CTAsPerCGA}}
#blocked_keys = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CTAsPerCGA = [1]}>

// -----

// expected-error @+1 {{missing key: order}}
#blocked_missing = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4]}>

// -----

// expected-error @+1 {{sizePerThread, threadsPerWarp, warpsPerCTA, order and CGALayout must have one rank}}
#blocked_rank = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

// -----

// expected-error @+1 {{sizePerThread, threadsPerWarp and warpsPerCTA must be powers of two}}
#blocked_powers = #ttg.blocked<{sizePerThread = [3], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

// -----

// expected-error @+1 {{order must be a permutation of the dimensions}}
#blocked_order = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 1]}>

// -----

// expected-error @+1 {{order must be an array of non-negative integers: got [-1]}}
#blocked_integers = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [-1]}>

// -----

// expected-error @+1 {{a basis of CGALayout must have one number for each of 1 dimensions: got 2}}
#cga_rank = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[0, 1]]}>

// -----

// expected-error @+1 {{a basis of CGALayout must be a power of two of its own: got 1}}
#cga_distinct = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1], [1]]}>

// -----

// expected-error @+1 {{a basis of CGALayout may move along one dimension only: got [1, 1]}}
#cga_one_dimension = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 1]]}>

// -----

// expected-error @+1 {{bases of CGALayout must reach every piece of a dimension}}
#cga_dense = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[2]]}>

// -----

// expected-error @+1 {{missing key: block}}
#linear_inputs = #ttg.linear<{register = [[1]], lane = [], warp = []}>

// -----

// expected-error @+1 {{a basis may move along one dimension only: got [1, 1]}}
#linear_one_dimension = #ttg.linear<{register = [[1, 1]], lane = [], warp = [], block = []}>

// -----

// expected-error @+1 {{a basis must be a power of two: got [0, 3]}}
#linear_powers = #ttg.linear<{register = [[0, 3]], lane = [], warp = [], block = []}>

// -----

// expected-error @+1 {{an encoding must have 1 to 20 dimensions: got 0}}
#linear_rank = #ttg.linear<{register = [], lane = [], warp = [], block = []}>

// -----

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// expected-error @+1 {{parent must have at least two dimensions: got 1}}
#slice_rank = #ttg.slice<{dim = 0, parent = #b}>

// -----

#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
// expected-error @+1 {{dim must be less than the parent's rank 2: got 2}}
#slice_dim = #ttg.slice<{dim = 2, parent = #b}>

// -----

#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
// expected-error @+1 {{parent must be a distributed encoding}}
#slice_parent = #ttg.slice<{dim = 0, parent = #s}>

// -----

// expected-error @+1 {{versionMajor must be 2 or 3: got 1}}
#mma_version = #ttg.nvidia_mma<{versionMajor = 1, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>

// -----

// expected-error @+1 {{instrShape must be [16, n, k]: got [16, 8]}}
#mma_instr_shape = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>

// -----

// expected-error @+1 {{warpsPerCTA must be powers of two}}
#mma_warps = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [3, 1], instrShape = [16, 8]}>

// -----

// expected-error @+1 {{instrShape must be [1, 16, 8]: got [16, 8]}}
#mma_batch_shape = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 4, 1], instrShape = [16, 8]}>

// -----

// expected-error @+1 {{n must be a power of two from 8 to 256 and k a power of two: got [16, 48, 16]}}
#mma_wgmma_n = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 48, 16]}>

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
// expected-error @+1 {{opIdx must be 0 or 1: got 2}}
#dot_op_index = #ttg.dot_op<{opIdx = 2, parent = #mma, kWidth = 2}>

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
// expected-error @+1 {{needs a kWidth, a power of two, under an nvidia_mma parent: got 0}}
#dot_op_k_width = #ttg.dot_op<{opIdx = 0, parent = #mma}>

// -----

#l = #ttg.linear<{register = [[0, 1]], lane = [], warp = [], block = []}>
// expected-error @+1 {{parent must be an nvidia_mma or a blocked encoding}}
#dot_op_parent = #ttg.dot_op<{opIdx = 0, parent = #l, kWidth = 2}>

// -----

#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
// expected-error @+1 {{takes no kWidth under a blocked parent: got 2}}
#dot_op_blocked = #ttg.dot_op<{opIdx = 0, parent = #b, kWidth = 2}>

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// expected-error @+1 {{only operand 0 may be in registers under an nvidia_mma parent of version 3}}
#dot_op_wgmma = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>

// -----

// expected-error @+1 {{sizePerThread, threadsPerWarp and warpsPerCTA must cover at most 1073741824 elements of a dimension}}
#blocked_extent = #ttg.blocked<{sizePerThread = [268435456], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>

// -----

// expected-error @+1 {{warpsPerCTA must be at most 64: got}}
#mma_warps = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [128, 1], instrShape = [16, 8]}>

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
// expected-error @+1 {{kWidth must be at most 16: got 2147483648}}
#dot_width = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2147483648}>

// -----

// expected-error @+1 {{bases must have 2 numbers each: got 3 numbers}}
#cga = #ttg.cga<2, [0, 1, 0]>
tt.func private @cga_numbers() attributes {layout = #cga}

// -----

// expected-error @+1 {{warpsPerCTA and CGALayout must have one rank of at least 2}}
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4], instrShape = [16, 8]}>
tt.func private @mma_rank(tensor<16xf32, #mma>)

// -----

// expected-error @+1 {{opIdx must be a non-negative integer: got 4294967296}}
#dot = #ttg.dot_op<{opIdx = 4294967296, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>, kWidth = 2}>
tt.func private @field_integer(tensor<16x16xf16, #dot>)

// -----

// expected-error @+1 {{register must be an array of bases: got [1, 2]}}
#linear = #ttg.linear<{register = [1, 2], lane = [], warp = [], block = []}>
tt.func private @field_bases(tensor<16xf32, #linear>)
