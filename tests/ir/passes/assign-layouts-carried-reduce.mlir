// RUN: jitk-opt %s --jitk-assign-layouts | FileCheck %s

// A carried tensor begins as a constant and is reduced before the loop's body gives it a layout: the reduction has the
// layout of what it reduces, not one of its own that came first.

// CHECK-DAG: #[[LOADED:.*]] = #ttg.blocked
// CHECK-LABEL: tt.func @carried
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}) -> (tensor<16x16xf32, #[[LAYOUT:.*]]>)
// CHECK: "tt.reduce"(%[[X]])
// CHECK: (tensor<16x16xf32, #[[LAYOUT]]>) -> tensor<16xf32, #ttg.slice<{dim = 0, parent = #[[LAYOUT]]}>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:80"} {
  tt.func @carried(%base: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant dense<1.0> : tensor<16x16xf32>
    %r = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
    %row = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %rows = tt.broadcast %row : tensor<16x1xi32> -> tensor<16x16xi32>
    %p = tt.splat %base : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>>
    %pointers = tt.addptr %p, %rows : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
    %loaded = tt.load %pointers : tensor<16x16x!tt.ptr<f32>>
    %result = scf.for %i = %c0 to %n step %c1 iter_args(%x = %one) -> (tensor<16x16xf32>) : i32 {
      %sum = "tt.reduce"(%x) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        tt.reduce.return %c : f32
      }) : (tensor<16x16xf32>) -> tensor<16xf32>
      %e = tt.expand_dims %sum {axis = 0 : i32} : tensor<16xf32> -> tensor<1x16xf32>
      %s = tt.broadcast %e : tensor<1x16xf32> -> tensor<16x16xf32>
      %m = arith.mulf %s, %loaded : tensor<16x16xf32>
      scf.yield %m : tensor<16x16xf32>
    }
    tt.store %pointers, %result : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}
