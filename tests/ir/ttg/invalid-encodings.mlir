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

// expected-error @+1 {{instrShape must have 3 numbers: got 2}}
#mma_instr_shape = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>

// -----

// expected-error @+1 {{warpsPerCTA must be powers of two}}
#mma_warps = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [3, 1], instrShape = [16, 8]}>

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
// expected-error @+1 {{opIdx must be 0 or 1: got 2}}
#dot_op_index = #ttg.dot_op<{opIdx = 2, parent = #mma, kWidth = 2}>

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
// expected-error @+1 {{needs a kWidth under an nvidia_mma parent}}
#dot_op_k_width = #ttg.dot_op<{opIdx = 0, parent = #mma}>

// -----

#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
// expected-error @+1 {{takes no kWidth under a blocked parent: got 2}}
#dot_op_blocked = #ttg.dot_op<{opIdx = 0, parent = #b, kWidth = 2}>

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// expected-error @+1 {{only operand 0 may be in registers under an nvidia_mma parent of version 3}}
#dot_op_wgmma = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
