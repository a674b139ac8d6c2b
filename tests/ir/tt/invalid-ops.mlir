// Rules of single ops, one violation a function; the name is the op and the rule.
// RUN: %jitk-opt %s -split-input-file -verify-diagnostics

tt.func @load_other_needs_mask(%p: !tt.ptr<f16>, %o: f16) {
  // expected-error @+1 {{takes `other` only with a mask}}
  %0 = "tt.load"(%p, %o) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!tt.ptr<f16>, f16) -> f16
  tt.return
}

// -----

tt.func @load_result_is_pointee(%p: !tt.ptr<f16>) {
  // expected-error @+1 {{result type matches ptr type}}
  %0 = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f16>) -> f32
  tt.return
}

// -----

tt.func @load_mask_has_shape(%p: tensor<128x!tt.ptr<f16>>, %m: tensor<64xi1>) {
  // expected-error @+1 {{mask type matches ptr type}}
  %0 = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<128x!tt.ptr<f16>>, tensor<64xi1>) -> tensor<128xf16>
  tt.return
}

// -----

tt.func @store_value_is_pointee(%p: !tt.ptr<f16>, %v: f32) {
  // expected-error @+1 {{value type matches ptr type}}
  "tt.store"(%p, %v) : (!tt.ptr<f16>, f32) -> ()
  tt.return
}

// -----

tt.func @splat_source_is_element(%x: f32) {
  // expected-error @+1 {{source type must be the result's element type 'f16': got 'f32'}}
  %0 = tt.splat %x : f32 -> tensor<128xf16>
  tt.return
}

// -----

tt.func @unsplat_source_has_one_element(%x: tensor<2xf32>) {
  // expected-error @+1 {{source must have one element: got 'tensor<2xf32>'}}
  %0 = tt.unsplat %x : tensor<2xf32>
  tt.return
}

// -----

tt.func @expand_dims_axis(%x: tensor<128xf32>) {
  // expected-error @+1 {{axis must be at most the source rank 1: got 2}}
  %0 = tt.expand_dims %x {axis = 2 : i32} : tensor<128xf32> -> tensor<128x1xf32>
  tt.return
}

// -----

tt.func @expand_dims_shape(%x: tensor<128xf32>) {
  // expected-error @+1 {{result must be the source with a dimension of size 1 at the axis: got 'tensor<1x128xf32>'}}
  %0 = tt.expand_dims %x {axis = 1 : i32} : tensor<128xf32> -> tensor<1x128xf32>
  tt.return
}

// -----

#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @expand_dims_encoding(%x: tensor<128xf32, #ttg.slice<{dim = 0, parent = #b}>>) {
  // expected-error @+1 {{source encoding must be a slice along the axis: got #ttg.slice<{dim = 0}}
  %0 = tt.expand_dims %x {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 0, parent = #b}>> -> tensor<128x1xf32, #b>
  tt.return
}

// -----

tt.func @broadcast_only_ones(%x: tensor<2x64xf32>) {
  // expected-error @+1 {{repeats only dimensions of size 1: got 2}}
  %0 = tt.broadcast %x : tensor<2x64xf32> -> tensor<4x64xf32>
  tt.return
}

// -----

tt.func @reshape_elements(%x: tensor<128xf32>) {
  // expected-error @+1 {{result must have the source's number and type of elements: got 'tensor<8x8xf32>'}}
  %0 = tt.reshape %x : tensor<128xf32> -> tensor<8x8xf32>
  tt.return
}

// -----

#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @reshape_moves_nothing(%x: tensor<512xf32, #b1>) {
  // expected-error @+1 {{has the wrong encoding: expected #ttg.linear}}
  %0 = tt.reshape %x : tensor<512xf32, #b1> -> tensor<16x32xf32, #b2>
  tt.return
}

// -----

tt.func @trans_order(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{order must be a permutation of the source's dimensions}}
  %0 = tt.trans %x {order = array<i32: 1, 1>} : tensor<4x8xf32> -> tensor<8x4xf32>
  tt.return
}

// -----

#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @trans_moves_nothing(%x: tensor<32x32xf32, #b>) {
  // expected-error @+1 {{has the wrong encoding: expected #ttg.blocked<{sizePerThread = [4, 1]}}
  %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<32x32xf32, #b> -> tensor<32x32xf32, #b>
  tt.return
}

// -----

tt.func @join_shape(%x: tensor<128xf32>) {
  // expected-error @+1 {{needs a minor dimension of size 2 on one side}}
  %0 = tt.join %x, %x : tensor<128xf32> -> tensor<2x128xf32>
  tt.return
}

// -----

#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [1, 0]}>
tt.func @split_in_thread(%x: tensor<128x2xf32, #b>) {
  // expected-error @+1 {{both halves of an element must be in one thread}}
  %lhs, %rhs = tt.split %x : tensor<128x2xf32, #b> -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #b}>>
  tt.return
}

// -----

tt.func @cat_elements(%x: tensor<128xf32>) {
  // expected-error @+1 {{result must have twice the elements of an operand: got 'tensor<128xf32>'}}
  %0 = tt.cat %x, %x : tensor<128xf32> -> tensor<128xf32>
  tt.return
}
