// RUN: jitk-opt --jitk-assign-layouts --canonicalize --cse %s | FileCheck %s
//
// Changes of shape keep elements where they are; what they cannot keep is converted.

// CHECK-DAG: #[[$VECTOR:.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[$PAIRS:.*]] = #ttg.blocked<{sizePerThread = [4, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[$MATRIX:.*]] = #ttg.linear<{register = {{\[\[}}0, 1], [0, 2]], lane = {{\[\[}}0, 4], [0, 8], [0, 16], [1, 0], [2, 0]], warp = {{\[\[}}4, 0], [8, 0]], block = []}>
// CHECK-DAG: #[[$TURNED:.*]] = #ttg.linear<{register = {{\[\[}}1, 0], [2, 0]], lane = {{\[\[}}4, 0], [8, 0], [16, 0], [0, 1], [0, 2]], warp = {{\[\[}}0, 4], [0, 8]], block = []}>
!ptrs = tensor<512x!tt.ptr<f32>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {

// CHECK-LABEL: tt.func @shapes
// CHECK: tt.reshape %{{.*}} : tensor<512xf32, #[[$VECTOR]]> -> tensor<16x32xf32, #[[$MATRIX]]>
// CHECK-NEXT: tt.trans %{{.*}} -> tensor<32x16xf32, #[[$TURNED]]>
// CHECK-NEXT: "tt.scan"
// CHECK: tt.reshape %{{.*}} : tensor<32x16xf32, #[[$TURNED]]> -> tensor<512xf32, #[[$BACK:.*]]>
// CHECK-NEXT: ttg.convert_layout %{{.*}} : tensor<512xf32, #[[$BACK]]> -> tensor<512xf32, #[[$VECTOR]]>
// CHECK-NEXT: tt.join %{{.*}} -> tensor<512x2xf32, #[[$PAIRS]]>
// CHECK-NEXT: tt.split %{{.*}} -> tensor<512xf32, #[[$VECTOR]]>
// CHECK-NOT: convert_layout
// CHECK: tt.gather %{{.*}} -> tensor<512xf32, #[[$VECTOR]]>
// CHECK: tt.store
tt.func @shapes(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> !ptrs
  %pp = tt.addptr %ps, %r : !ptrs, tensor<512xi32>
  %x = tt.load %pp : !ptrs
  %m = tt.reshape %x : tensor<512xf32> -> tensor<16x32xf32>
  %t = tt.trans %m {order = array<i32: 1, 0>} : tensor<16x32xf32> -> tensor<32x16xf32>
  %s = "tt.scan"(%t) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.scan.return %c : f32
  }) : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %y = tt.reshape %s : tensor<32x16xf32> -> tensor<512xf32>
  %j = tt.join %x, %y : tensor<512xf32> -> tensor<512x2xf32>
  %lhs, %rhs = tt.split %j : tensor<512x2xf32> -> tensor<512xf32>
  %z = arith.addf %lhs, %rhs : tensor<512xf32>
  %g = tt.gather %z[%r] {axis = 0 : i32} : (tensor<512xf32>, tensor<512xi32>) -> tensor<512xf32>
  tt.store %pp, %g : !ptrs
  tt.return
}

// What is reduced together has one layout; a reduction of one dimension gives a scalar.
// CHECK-LABEL: tt.func @together
// CHECK: %{{.*}}:2 = "tt.reduce"
// CHECK: (tensor<512xf32, #[[$VECTOR]]>, tensor<512xi32, #[[$VECTOR]]>) -> (f32, i32)
// CHECK: scf.while {{.*}} : (tensor<512xf32, #[[$VECTOR]]>) -> tensor<512xf32, #[[$VECTOR]]>
tt.func @together(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<i32>) {
  %one = arith.constant 1.0 : f32
  %half = arith.constant dense<0.5> : tensor<512xf32>
  %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> !ptrs
  %pp = tt.addptr %ps, %r : !ptrs, tensor<512xi32>
  %x = tt.load %pp : !ptrs
  %best:2 = "tt.reduce"(%x, %r) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %c = arith.cmpf ogt, %a, %b : f32
    %v = arith.select %c, %a, %b : f32
    %i = arith.select %c, %ai, %bi : i32
    tt.reduce.return %v, %i : f32, i32
  }) : (tensor<512xf32>, tensor<512xi32>) -> (f32, i32)
  tt.store %q, %best#1 : !tt.ptr<i32>
  %w = scf.while (%k = %x) : (tensor<512xf32>) -> tensor<512xf32> {
    %go = arith.cmpf ogt, %best#0, %one : f32
    scf.condition(%go) %k : tensor<512xf32>
  } do {
  ^bb0(%k: tensor<512xf32>):
    %n = arith.mulf %k, %half : tensor<512xf32>
    scf.yield %n : tensor<512xf32>
  }
  tt.store %pp, %w : !ptrs
  tt.return
}

// A function and its callers agree.
// CHECK: tt.func private @callee(%{{.*}}: tensor<512xf32, #[[$VECTOR]]>) -> tensor<512xf32, #[[$VECTOR]]>
tt.func private @callee(%x: tensor<512xf32>) -> tensor<512xf32> attributes {noinline = true} {
  %y = math.exp2 %x : tensor<512xf32>
  tt.return %y : tensor<512xf32>
}
// CHECK-LABEL: tt.func @caller
// CHECK: tt.call @callee(%{{.*}}) : (tensor<512xf32, #[[$VECTOR]]>) -> tensor<512xf32, #[[$VECTOR]]>
tt.func @caller(%pp: !ptrs) {
  %zero = arith.constant dense<0> : tensor<512xi32>
  %q = tt.addptr %pp, %zero : !ptrs, tensor<512xi32>
  %x = tt.load %q : !ptrs
  %y = tt.call @callee(%x) : (tensor<512xf32>) -> tensor<512xf32>
  tt.store %q, %y : !ptrs
  tt.return
}
}
