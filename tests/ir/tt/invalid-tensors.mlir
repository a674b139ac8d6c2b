// Rules of tensors, one violation a function; the name is the rule.
// RUN: %jitk-opt %s -split-input-file -verify-diagnostics

tt.func @shape_is_power_of_two(%x: f32) {
  // expected-error @+1 {{tensor dimensions must be powers of two: got 'tensor<96xf32>'}}
  %0 = tt.splat %x : f32 -> tensor<96xf32>
  tt.return
}

// -----

tt.func @size_is_bounded(%x: f32) {
  // expected-error @+1 {{a tensor may have at most 1048576 elements: got 2097152}}
  %0 = tt.splat %x : f32 -> tensor<2048x1024xf32>
  tt.return
}

// -----

tt.func @rank_is_bounded(%x: f32) {
  // expected-error @+1 {{a tensor may have at most 20 dimensions: got 21}}
  %0 = tt.splat %x : f32 -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
  tt.return
}

// -----

#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
tt.func @layout_is_distributed(%x: f16) {
  // expected-error @+1 {{a tensor needs a distributed encoding: got #ttg.nvmma_shared}}
  %0 = tt.splat %x : f16 -> tensor<128x64xf16, #shared>
  tt.return
}

// -----

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @layout_has_rank(%x: f16) {
  // expected-error @+1 {{encoding must have the tensor's rank 2: got 1}}
  %0 = tt.splat %x : f16 -> tensor<128x64xf16, #b>
  tt.return
}

// -----

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [16], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.threads-per-warp" = 32 : i32} {
tt.func @layout_has_lanes(%x: f16) {
  // expected-error @+1 {{layout must have 32 lanes: got 16}}
  %0 = tt.splat %x : f16 -> tensor<128xf16, #b>
  tt.return
}
}

// -----

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 8 : i32} {
tt.func @layout_has_warps(%x: f16) {
  // expected-error @+1 {{layout must have 8 warps: got 4}}
  %0 = tt.splat %x : f16 -> tensor<128xf16, #b>
  tt.return
}
}

// -----

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32} {
tt.func @layout_has_warps_of_partition(%x: f16) {
  ttg.warp_specialize(%x)
  default {
    %0 = tt.splat %x : f16 -> tensor<128xf16, #b>
    ttg.warp_yield
  }
  partition0(%y: f16) num_warps(2) {
    // expected-error @+1 {{layout must have 2 warps: got 4}}
    %0 = tt.splat %y : f16 -> tensor<128xf16, #b>
    ttg.warp_return
  } : (f16) -> ()
  tt.return
}
}

// -----

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 2 : i32} {
tt.func @layout_has_ctas(%x: f16) {
  // expected-error @+1 {{layout must have 2 CTAs: got 1}}
  %0 = tt.splat %x : f16 -> tensor<128xf16, #b>
  tt.return
}
}

// -----

#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
tt.func @operands_have_one_encoding(%p: tensor<128x!tt.ptr<f16>, #b>, %i: tensor<128xi32>) {
  // expected-error @+1 {{requires the same encoding for all operands and results}}
  %0 = tt.addptr %p, %i : tensor<128x!tt.ptr<f16>, #b>, tensor<128xi32>
  tt.return
}

// -----

tt.func @broadcast_rank(%x: tensor<1xf32>) {
  // expected-error @+1 {{result must have the source's rank and element type: got 'tensor<16x16xf32>'}}
  %0 = tt.broadcast %x : tensor<1xf32> -> tensor<16x16xf32>
  tt.return
}

// -----

tt.func @trans_result(%x: tensor<16x32xf32>) {
  // expected-error @+1 {{result must be the permuted source: got 'tensor<16x32xf32>'}}
  %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<16x32xf32> -> tensor<16x32xf32>
  tt.return
}

// -----

#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @trans_encodings(%x: tensor<16x32xf32>) {
  // expected-error @+1 {{takes an encoding on both sides or on neither}}
  %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<16x32xf32> -> tensor<32x16xf32, #blocked>
  tt.return
}

// -----

tt.func @gather_rank(%x: tensor<16x16xf32>, %i: tensor<16xi32>) {
  // expected-error @+1 {{indices must have the source's rank 2: got 1}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<16x16xf32>, tensor<16xi32>) -> tensor<16xf32>
  tt.return
}

// -----

tt.func @gather_shape(%x: tensor<16x16xf32>, %i: tensor<8x8xi32>) {
  // expected-error @+1 {{source and indices may differ along the axis only: they differ along 1}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<16x16xf32>, tensor<8x8xi32>) -> tensor<8x8xf32>
  tt.return
}

// -----

tt.func @descriptor_base(%p: !tt.ptr<f32>, %n: i32, %s: i64) {
  // expected-error @+1 {{base must point to the block's element type 'f16': got '!tt.ptr<f32>'}}
  %0 = tt.make_tensor_descriptor %p, [%n, %n], [%s, %s] : <f32>, <tensor<16x16xf16>>
  tt.return
}
