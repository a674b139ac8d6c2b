// Layouts and element types that pass the verifiers and have no lowering.
// RUN: jitk-opt %s --convert-ttgir-to-llvm --split-input-file -verify-diagnostics

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @from_format(%x: tensor<128xf8E4M3FNUZ, #blocked>) {
    // expected-error @+1 {{cannot convert from 'f8E4M3FNUZ'}}
    %y = tt.fp_to_fp %x : tensor<128xf8E4M3FNUZ, #blocked> -> tensor<128xf16, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @to_format(%x: tensor<128xf16, #blocked>) {
    // expected-error @+1 {{cannot convert to 'f8E4M3FNUZ'}}
    %y = tt.fp_to_fp %x, rounding = rtne : tensor<128xf16, #blocked> -> tensor<128xf8E4M3FNUZ, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @toward_zero(%x: tensor<128xf32, #blocked>) {
    // expected-error @+1 {{rounds toward zero from f32 to f16 and bf16 only}}
    %y = tt.fp_to_fp %x, rounding = rtz : tensor<128xf32, #blocked> -> tensor<128xf8E4M3FN, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @wide_counts(%x: tensor<128xi32, #blocked>) {
    // expected-error @+1 {{counts in i32: got 'i64'}}
    %y = tt.histogram %x : tensor<128xi32, #blocked> -> tensor<16xi64, #blocked>
    tt.return
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @dot_types(%x: tensor<64x16xi16, #a>, %y: tensor<16x8xi16, #b>, %c: tensor<64x8xi32, #mma>) {
    // expected-error @+1 {{multiplies element types that no tensor core takes: got 'i16' and 'i16' into 'i32'}}
    %d = tt.dot %x, %y, %c : tensor<64x16xi16, #a> * tensor<16x8xi16, #b> -> tensor<64x8xi32, #mma>
    tt.return
  }
}

// -----

#cube = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 4, 8], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #cube}>
#b = #ttg.dot_op<{opIdx = 1, parent = #cube}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @batched_dot(%x: tensor<2x16x8xf32, #a>, %y: tensor<2x8x8xf32, #b>, %c: tensor<2x16x8xf32, #cube>) {
    // expected-error @+1 {{multiplies matrices alone: got}}
    %d = tt.dot %x, %y, %c : tensor<2x16x8xf32, #a> * tensor<2x8x8xf32, #b> -> tensor<2x16x8xf32, #cube>
    tt.return
  }
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 32]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @wgmma_k(%a: !ttg.memdesc<64x64xf8E4M3FN, #s, #ttg.shared_memory>, %c: tensor<64x64xf32, #mma>) {
    // expected-error @+1 {{needs K contiguous in both operands unless they have 16 bits: got 'f8E4M3FN'}}
    %0 = ttng.warp_group_dot %a, %a, %c {maxNumImpreciseAcc = 32 : i32} : !ttg.memdesc<64x64xf8E4M3FN, #s, #ttg.shared_memory> * !ttg.memdesc<64x64xf8E4M3FN, #s, #ttg.shared_memory> -> tensor<64x64xf32, #mma>
    tt.return
  }
}

// -----

#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#l = #ttg.shared_linear<{offset = [[1, 0], [0, 1], [2, 0], [0, 2], [4, 0], [0, 4], [8, 0], [0, 8], [16, 0], [0, 16], [32, 0], [0, 32]]}, alignment = 1024>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @wgmma_buffer(%a: !ttg.memdesc<64x64xf16, #l, #ttg.shared_memory>, %b: !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory>, %c: tensor<64x64xf32, #mma>) {
    // expected-error @+1 {{reads a buffer whose layout no matrix descriptor can say}}
    %0 = ttng.warp_group_dot %a, %b, %c : !ttg.memdesc<64x64xf16, #l, #ttg.shared_memory> * !ttg.memdesc<64x64xf16, #s, #ttg.shared_memory> -> tensor<64x64xf32, #mma>
    tt.return
  }
}

// -----

#warps = #ttg.linear<{register = [], lane = [[1], [4], [16], [32], [64]], warp = [[2], [8]], block = []}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @scan_runs(%x: tensor<128xf32, #warps>) {
    // expected-error @+1 {{along this axis needs a layout whose warps hold one run of bits}}
    %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.scan.return %s : f32
    }) : (tensor<128xf32, #warps>) -> tensor<128xf32, #warps>
    tt.return
  }
}

// -----

#twice = #ttg.linear<{register = [[1]], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]], block = []}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @scan_bits(%x: tensor<128xf32, #twice>) {
    // expected-error @+1 {{along this axis needs a layout whose bits are single coordinates}}
    %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.scan.return %s : f32
    }) : (tensor<128xf32, #twice>) -> tensor<128xf32, #twice>
    tt.return
  }
}

// -----

#split = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}>
#whole = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @store_elsewhere(%x: tensor<256xf32, #split>, %m: !ttg.memdesc<256xf32, #whole, #ttg.shared_memory, mutable>) {
    // expected-error @+1 {{stores to the shared memory of other CTAs}}
    ttg.local_store %x, %m : tensor<256xf32, #split> -> !ttg.memdesc<256xf32, #whole, #ttg.shared_memory, mutable>
    tt.return
  }
}

// -----

#part = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#copies = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @load_elsewhere(%m: !ttg.memdesc<256xf32, #part, #ttg.shared_memory>) {
    // expected-error @+1 {{loads from the shared memory of other CTAs}}
    %x = ttg.local_load %m : !ttg.memdesc<256xf32, #part, #ttg.shared_memory> -> tensor<256xf32, #copies>
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @scratch() {
    // expected-error @+1 {{has no place: global scratch is allocated before the lowering}}
    %p = ttg.global_scratch_alloc {alignment = 8 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    tt.return
  }
}

// -----

#b = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @cat(%x: tensor<64xf32, #b>) {
    // expected-error @+1 {{needs as many registers in the result as in the operands: got 2 and 4}}
    %y = tt.cat %x, %x : tensor<64xf32, #b> -> tensor<128xf32, #b>
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @other_dialect() {
    // expected-error @+1 {{cannot be lowered to LLVM}}
    "tile.pipe_barrier"() {pipe = 1 : i64} : () -> ()
    tt.return
  }
}

// -----

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @packs(%x: tensor<128xf32, #b>) {
    // expected-error @+1 {{needs whole packs in each thread: got 1 elements in packs of 2}}
    %0 = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
    ^bb0(%a: f32, %c: f32):
      tt.map_elementwise.return %a, %c : f32, f32
    }) : (tensor<128xf32, #b>) -> tensor<128xf32, #b>
    tt.return
  }
}

// -----

#split = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @shared_result(%p: tensor<128x!tt.ptr<i32>, #split>, %x: tensor<128xi32, #split>) -> tensor<128xi32, #split> {
    // expected-error @+1 {{gives its result to several CTAs of a cluster, which is not supported}}
    %old = tt.atomic_rmw add, relaxed, gpu, %p, %x : (tensor<128x!tt.ptr<i32>, #split>, tensor<128xi32, #split>) -> tensor<128xi32, #split>
    tt.return %old : tensor<128xi32, #split>
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 8 : i32, ttg.target = "cuda:90"} {
  tt.func private @helper() {
    tt.return
  }
  tt.func public @partition_call() attributes {allocation.offset = 0 : i32} {
    ttg.warp_specialize() attributes {allocation.offset = 16 : i32, warpGroupStartIds = array<i32: 4>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      // expected-error @+1 {{in a partition of warp specialization is not supported}}
      tt.call @helper() : () -> ()
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func @full_precision(%x: tensor<64x16xf32, #a>, %y: tensor<16x64xf32, #b>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    // expected-error @+1 {{multiplies f32 on tensor cores in tf32 or tf32x3 alone: got ieee}}
    %d = tt.dot %x, %y, %c : tensor<64x16xf32, #a> * tensor<16x64xf32, #b> -> tensor<64x64xf32, #mma>
    tt.return %d : tensor<64x64xf32, #mma>
  }
}
