// Folds and canonicalizations of tt.
// RUN: %jitk-opt %s --canonicalize | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>

// CHECK-LABEL: tt.func @addptr_zero
// CHECK-SAME: (%[[P:.*]]: tensor<128x!tt.ptr<f16>>, %[[Q:.*]]: !tt.ptr<f16>)
tt.func @addptr_zero(%p: tensor<128x!tt.ptr<f16>>, %q: !tt.ptr<f16>) -> (tensor<128x!tt.ptr<f16>>, !tt.ptr<f16>) {
  %zeros = arith.constant dense<0> : tensor<128xi32>
  %zero = arith.constant 0 : i64
  %0 = tt.addptr %p, %zeros : tensor<128x!tt.ptr<f16>>, tensor<128xi32>
  %1 = tt.addptr %q, %zero : !tt.ptr<f16>, i64
  // CHECK-NEXT: tt.return %[[P]], %[[Q]]
  tt.return %0, %1 : tensor<128x!tt.ptr<f16>>, !tt.ptr<f16>
}

// CHECK-LABEL: tt.func @constants
tt.func @constants() -> (tensor<128xf32>, tensor<128x64xf32, #b>, tensor<64x128xi32>) {
  %x = arith.constant 1.0 : f32
  %i = arith.constant dense<3> : tensor<128xi32>
  // CHECK-DAG: %[[S:.*]] = arith.constant dense<1.000000e+00> : tensor<128xf32>
  %0 = tt.splat %x : f32 -> tensor<128xf32>
  // CHECK-DAG: %[[E:.*]] = arith.constant dense<1.000000e+00> : tensor<128x64xf32, #blocked>
  %1 = tt.splat %x : f32 -> tensor<128xf32, #ttg.slice<{dim = 1, parent = #b}>>
  %2 = tt.expand_dims %1 {axis = 1 : i32} : tensor<128xf32, #ttg.slice<{dim = 1, parent = #b}>> -> tensor<128x1xf32, #b>
  %3 = tt.broadcast %2 : tensor<128x1xf32, #b> -> tensor<128x64xf32, #b>
  // CHECK-DAG: %[[T:.*]] = arith.constant dense<3> : tensor<64x128xi32>
  %4 = tt.reshape %i : tensor<128xi32> -> tensor<128x1xi32>
  %5 = tt.broadcast %4 : tensor<128x1xi32> -> tensor<128x64xi32>
  %6 = tt.trans %5 {order = array<i32: 1, 0>} : tensor<128x64xi32> -> tensor<64x128xi32>
  // CHECK: tt.return %[[S]], %[[E]], %[[T]]
  tt.return %0, %3, %6 : tensor<128xf32>, tensor<128x64xf32, #b>, tensor<64x128xi32>
}

// CHECK-LABEL: tt.func @splats
// CHECK-SAME: (%[[X:.*]]: i32)
tt.func @splats(%x: i32) -> tensor<64x128xi32> {
  // CHECK-NEXT: %[[S:.*]] = tt.splat %[[X]] : i32 -> tensor<64x128xi32>
  %0 = tt.splat %x : i32 -> tensor<128xi32>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %2 = tt.broadcast %1 : tensor<1x128xi32> -> tensor<64x128xi32>
  // CHECK-NEXT: tt.return %[[S]]
  tt.return %2 : tensor<64x128xi32>
}

// CHECK-LABEL: tt.func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<8x8xf32>)
tt.func @identities(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = tt.broadcast %x : tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = tt.reshape %x : tensor<8x8xf32> -> tensor<8x8xf32>
  %2 = tt.trans %x {order = array<i32: 0, 1>} : tensor<8x8xf32> -> tensor<8x8xf32>
  %3 = tt.bitcast %x : tensor<8x8xf32> -> tensor<8x8xf32>
  // A permutation that keeps the type is not the identity.
  // CHECK: %[[T:.*]] = tt.trans %[[X]]
  %4 = tt.trans %x {order = array<i32: 1, 0>} : tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: tt.return %[[X]], %[[X]], %[[X]], %[[X]], %[[T]]
  tt.return %0, %1, %2, %3, %4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
