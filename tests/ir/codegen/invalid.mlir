// RUN: jitk-opt %s --convert-ttgir-to-llvm --split-input-file -verify-diagnostics

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @constant() {
    // expected-error @+1 {{of a tensor must have dense elements}}
    %c = arith.constant sparse<[[0], [3]], [1, 2]> : tensor<16xi32, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @cache_and_eviction(%p: tensor<128x!tt.ptr<f16>, #blocked>) {
    // expected-error @+1 {{has a cache modifier and an eviction policy: no instruction has both}}
    %v = tt.load %p cacheModifier = cg evictionPolicy = evict_first : tensor<128x!tt.ptr<f16>, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @unknown_function(%x: tensor<128xf32, #blocked>) {
    // expected-error @+1 {{names a function that has no equivalent: __nv_lgammaf}}
    %v = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_lgammaf"} : (tensor<128xf32, #blocked>) -> tensor<128xf32, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @wide_function(%x: tensor<128xf64, #blocked>) {
    // expected-error @+1 {{is supported on f16, bf16 and f32: got 'f64'}}
    %v = math.tanh %x : tensor<128xf64, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @narrow_atomic(%p: tensor<128x!tt.ptr<i8>, #blocked>, %v: tensor<128xi8, #blocked>) {
    // expected-error @+1 {{is not supported for add on 'i8'}}
    %o = tt.atomic_rmw add, relaxed, gpu, %p, %v : (tensor<128x!tt.ptr<i8>, #blocked>, tensor<128xi8, #blocked>) -> tensor<128xi8, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @across_ctas(%x: tensor<128xf32, #blocked>) {
    // expected-error @+1 {{across the CTAs of a cluster is not supported}}
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<128xf32, #blocked>) -> f32
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @not_allocated(%x: tensor<128xf32, #blocked>) {
    // expected-error @+1 {{has no place in shared memory: it is allocated before the lowering}}
    %m = ttg.local_alloc %x : (tensor<128xf32, #blocked>) -> !ttg.memdesc<128xf32, #shared, #ttg.shared_memory>
    tt.return
  }
}

// -----

// expected-error @+1 {{ttg.target must be "cuda:<capability>": got "hip:gfx942"}}
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942"} {
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @no_warps() {
    // expected-error @+1 {{has no warps: warp groups are allocated before the lowering}}
    ttg.warp_specialize()
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  // expected-error @+1 {{has no place in shared memory}}
  tt.func public @no_number() {
    ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 4>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    } : () -> ()
    ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 4>}
    default {
      ttg.warp_yield
    }
    partition0() num_warps(4) {
      ttg.warp_return
    } : () -> ()
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  // expected-error @+1 {{has no body: there is nothing to link it with}}
  tt.func private @declaration(%v: f32)
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @without_layout(%v: f32) {
    // expected-error @+1 {{has a tensor without a layout: got 'tensor<512xf32>'}}
    %x = tt.splat %v : f32 -> tensor<512xf32>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  // expected-error @+1 {{a tensor may have at most 1048576 elements: got 2147483648}}
  tt.func private @argument(%x: tensor<2147483648xf32, #blocked>) {
    tt.return
  }
}

// -----

// expected-error @+1 {{ttg.num-warps must be a power of two from 1 to 32: got 0}}
module attributes {"ttg.num-warps" = 0 : i32, ttg.target = "cuda:90"} {
  tt.func public @warps() {
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  // expected-error @+1 {{ttg.num-warps must be a power of two from 1 to 32: got 7}}
  tt.func public @own_warps() attributes {"ttg.num-warps" = 7 : i32} {
    tt.return
  }
}

// -----

// expected-error @+1 {{ttg.threads-per-warp must be 32: got 64}}
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @lanes() {
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [4], warpsPerCTA = [4], order = [0]}>
module attributes {ttg.target = "cuda:90"} {
  tt.func public @nothing_stated(%v: f32) {
    // expected-error @+1 {{layout must have 32 lanes and 4 warps: got}}
    %x = tt.splat %v : f32 -> tensor<512xf32, #blocked>
    tt.return
  }
}
// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @print_signs(%n: i32) {
    // expected-error @+1 {{needs isSigned for each of 1 operands: got 0}}
    tt.print " n: " {hex = false, isSigned = array<i32>} : %n : i32
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @atomic_operation(%p: tensor<128x!tt.ptr<f32>, #blocked>, %x: tensor<128xf32, #blocked>) {
    // expected-error @+1 {{is not supported for max on 'f32'}}
    %old = tt.atomic_rmw max, relaxed, gpu, %p, %x : (tensor<128x!tt.ptr<f32>, #blocked>, tensor<128xf32, #blocked>) -> tensor<128xf32, #blocked>
    tt.return
  }
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @swap_width(%p: tensor<128x!tt.ptr<i8>, #blocked>, %x: tensor<128xi8, #blocked>) {
    // expected-error @+1 {{needs elements of 16, 32 or 64 bits: got 8}}
    %old = tt.atomic_cas relaxed, gpu, %p, %x, %x : (tensor<128x!tt.ptr<i8>, #blocked>, tensor<128xi8, #blocked>, tensor<128xi8, #blocked>) -> tensor<128xi8, #blocked>
    tt.return
  }
}

// -----

#split = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @scan_across_ctas(%x: tensor<256xf32, #split>) {
    // expected-error @+1 {{across the CTAs of a cluster is not supported}}
    %r = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tt.scan.return %s : f32
    }) : (tensor<256xf32, #split>) -> tensor<256xf32, #split>
    tt.return
  }
}

// -----

#split = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[1]]}>
#whole = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @convert_across_ctas(%x: tensor<256xf32, #split>) {
    // expected-error @+1 {{between the CTAs of a cluster is not supported}}
    %r = ttg.convert_layout %x : tensor<256xf32, #split> -> tensor<256xf32, #whole>
    tt.return
  }
}

// -----

// expected-error @+1 {{ttg.num-ctas must be an integer: got "two"}}
module attributes {"ttg.num-warps" = 4 : i32, "ttg.num-ctas" = "two", ttg.target = "cuda:90"} {
  tt.func public @text() {
    tt.return
  }
}

// -----

// A lies between the parts of B.
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#t = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @parts_apart(%c: tensor<64x64xf32, #mma>) {
    %b0 = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x64xf16, #t, #smem, mutable>
    %a = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
    %b1 = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> !ttg.memdesc<64x64xf16, #t, #smem, mutable>
    // expected-error @+1 {{must have parts of B one behind the other in one buffer: part 1 is not known to lie where columns of the first one would go on}}
    %d:2 = ttng.warp_group_dot_parts %a, [%b0, %b1], [%c, %c] : (!ttg.memdesc<64x64xf16, #s, #smem, mutable>, !ttg.memdesc<64x64xf16, #t, #smem, mutable>, !ttg.memdesc<64x64xf16, #t, #smem, mutable>, tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>)
    tt.return
  }
}

// -----

// Nobody knows how far apart the parts lie.
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#t = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @parts_anywhere(%c: tensor<64x64xf32, #mma>, %i: i32, %j: i32) {
    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x64xf16, #s, #smem, mutable>
    %b = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> !ttg.memdesc<4x64x64xf16, #t, #smem, mutable>
    %b0 = ttg.memdesc_index %b[%i] : !ttg.memdesc<4x64x64xf16, #t, #smem, mutable> -> !ttg.memdesc<64x64xf16, #t, #smem, mutable>
    %b1 = ttg.memdesc_index %b[%j] : !ttg.memdesc<4x64x64xf16, #t, #smem, mutable> -> !ttg.memdesc<64x64xf16, #t, #smem, mutable>
    // expected-error @+1 {{part 1 is not known to lie}}
    %d:2 = ttng.warp_group_dot_parts %a, [%b0, %b1], [%c, %c] : (!ttg.memdesc<64x64xf16, #s, #smem, mutable>, !ttg.memdesc<64x64xf16, #t, #smem, mutable>, !ttg.memdesc<64x64xf16, #t, #smem, mutable>, tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>)
    tt.return
  }
}

// -----

// The second panel of K of the first part lies before the second part.
#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#t = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @parts_of_panels(%c: tensor<64x64xf32, #mma>) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x128xf16, #s, #smem, mutable>
    %b = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> !ttg.memdesc<2x128x64xf16, #t, #smem, mutable>
    %b0 = ttg.memdesc_index %b[%zero] : !ttg.memdesc<2x128x64xf16, #t, #smem, mutable> -> !ttg.memdesc<128x64xf16, #t, #smem, mutable>
    %b1 = ttg.memdesc_index %b[%one] : !ttg.memdesc<2x128x64xf16, #t, #smem, mutable> -> !ttg.memdesc<128x64xf16, #t, #smem, mutable>
    // expected-error @+1 {{part 1 is not known to lie}}
    %d:2 = ttng.warp_group_dot_parts %a, [%b0, %b1], [%c, %c] : (!ttg.memdesc<64x128xf16, #s, #smem, mutable>, !ttg.memdesc<128x64xf16, #t, #smem, mutable>, !ttg.memdesc<128x64xf16, #t, #smem, mutable>, tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>) -> (tensor<64x64xf32, #mma>, tensor<64x64xf32, #mma>)
    tt.return
  }
}
