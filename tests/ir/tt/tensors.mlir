// Ops that make tensors and change their shape, without encodings (CommonIR) and with them (TTGIR).
// RUN: %jitk-opt %s | %jitk-opt | FileCheck %s

#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b2t = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#b1 = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#j = #ttg.blocked<{sizePerThread = [4, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32} {

// CHECK-LABEL: tt.func @common
tt.func @common(%x: f32, %p: !tt.ptr<f16>) {
  // CHECK: %[[R:.*]] = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  // CHECK: tt.splat %{{.*}} : f32 -> tensor<128x64xf32>
  %s = tt.splat %x : f32 -> tensor<128x64xf32>
  // CHECK: %[[P:.*]] = tt.splat %{{.*}} : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>>
  %ps = tt.splat %p : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>>
  // CHECK: tt.addptr %[[P]], %[[R]] : tensor<128x!tt.ptr<f16>>, tensor<128xi32>
  %a = tt.addptr %ps, %r : tensor<128x!tt.ptr<f16>>, tensor<128xi32>
  // CHECK: %[[E:.*]] = tt.expand_dims %[[R]] {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %e = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  // CHECK: tt.broadcast %[[E]] : tensor<128x1xi32> -> tensor<128x64xi32>
  %b = tt.broadcast %e : tensor<128x1xi32> -> tensor<128x64xi32>
  // CHECK: tt.trans %{{.*}} {order = array<i32: 1, 0>} : tensor<128x64xi32> -> tensor<64x128xi32>
  %t = tt.trans %b {order = array<i32: 1, 0>} : tensor<128x64xi32> -> tensor<64x128xi32>
  // CHECK: tt.reshape %[[R]] : tensor<128xi32> -> tensor<8x16xi32>
  %h = tt.reshape %r : tensor<128xi32> -> tensor<8x16xi32>
  // CHECK: tt.reshape %[[R]] allow_reorder efficient_layout : tensor<128xi32> -> tensor<8x16xi32>
  %h2 = tt.reshape %r allow_reorder efficient_layout : tensor<128xi32> -> tensor<8x16xi32>
  // CHECK: %[[J:.*]] = tt.join %[[R]], %[[R]] : tensor<128xi32> -> tensor<128x2xi32>
  %j = tt.join %r, %r : tensor<128xi32> -> tensor<128x2xi32>
  // CHECK: tt.split %[[J]] : tensor<128x2xi32> -> tensor<128xi32>
  %lhs, %rhs = tt.split %j : tensor<128x2xi32> -> tensor<128xi32>
  // CHECK: tt.cat %[[R]], %[[R]] : tensor<128xi32> -> tensor<256xi32>
  %c = tt.cat %r, %r : tensor<128xi32> -> tensor<256xi32>
  // CHECK: tt.gather %[[R]][%[[R]]] {axis = 0 : i32} : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi32>
  %g = tt.gather %r[%r] {axis = 0 : i32} : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi32>
  // CHECK: tt.histogram %[[R]] : tensor<128xi32> -> tensor<16xi32>
  %hist = tt.histogram %r : tensor<128xi32> -> tensor<16xi32>
  tt.return
}

// CHECK-LABEL: tt.func @unsplat
tt.func @unsplat(%x: tensor<1x1xf32>) -> f32 {
  // CHECK: tt.unsplat %{{.*}} : tensor<1x1xf32>
  %0 = tt.unsplat %x : tensor<1x1xf32>
  tt.return %0 : f32
}

// CHECK-LABEL: tt.func @encoded
tt.func @encoded(%x: tensor<16x!tt.ptr<f16>, #ttg.slice<{dim = 1, parent = #b2}>>, %y: tensor<16x32xf16, #b2>,
                 %z: tensor<512xf16, #b1>) {
  // CHECK: tt.expand_dims %{{.*}} : tensor<16x!tt.ptr<f16>, #ttg.slice<{dim = 1, parent = #[[B:.*]]}>> -> tensor<16x1x!tt.ptr<f16>, #[[B]]>
  %0 = tt.expand_dims %x {axis = 1 : i32} : tensor<16x!tt.ptr<f16>, #ttg.slice<{dim = 1, parent = #b2}>> -> tensor<16x1x!tt.ptr<f16>, #b2>
  // CHECK: tt.trans %{{.*}} : tensor<16x32xf16, #[[B]]> -> tensor<32x16xf16, #{{.*}}>
  %1 = tt.trans %y {order = array<i32: 1, 0>} : tensor<16x32xf16, #b2> -> tensor<32x16xf16, #b2t>
  // The rows of 16 x 32 are what a thread of the one-dimensional layout holds, too.
  // CHECK: tt.reshape %{{.*}} : tensor<512xf16, #{{.*}}> -> tensor<16x32xf16, #[[B]]>
  %2 = tt.reshape %z : tensor<512xf16, #b1> -> tensor<16x32xf16, #b2>
  // CHECK: %[[J:.*]] = tt.join %{{.*}} : tensor<512xf16, #[[B1:.*]]> -> tensor<512x2xf16, #[[B2:.*]]>
  %3 = tt.join %z, %z : tensor<512xf16, #b1> -> tensor<512x2xf16, #j>
  // CHECK: tt.split %[[J]] : tensor<512x2xf16, #[[B2]]> -> tensor<512xf16, #[[B1]]>
  %lhs, %rhs = tt.split %3 : tensor<512x2xf16, #j> -> tensor<512xf16, #b1>
  tt.return
}

}
