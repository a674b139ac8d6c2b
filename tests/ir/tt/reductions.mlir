// Reductions and scans in generic form, with several operands and with encodings.
// RUN: %jitk-opt %s | %jitk-opt | FileCheck %s

#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32} {

// CHECK-LABEL: tt.func @to_scalar
tt.func @to_scalar(%x: tensor<512xf32>) -> f32 {
  // CHECK: "tt.reduce"(%{{.*}}) <{axis = 0 : i32}> ({
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[B]] : f32
  // CHECK-NEXT: tt.reduce.return %[[S]] : f32
  // CHECK-NEXT: }) : (tensor<512xf32>) -> f32
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.reduce.return %s : f32
  }) : (tensor<512xf32>) -> f32
  tt.return %0 : f32
}

// CHECK-LABEL: tt.func @with_index
tt.func @with_index(%x: tensor<16x32xf32, #b>, %i: tensor<16x32xi32, #b>) {
  // CHECK: }) : (tensor<16x32xf32, #[[B:.*]]>, tensor<16x32xi32, #[[B]]>) -> (tensor<16xf32, #ttg.slice<{dim = 1, parent = #[[B]]}>>, tensor<16xi32, #ttg.slice<{dim = 1, parent = #[[B]]}>>)
  %0:2 = "tt.reduce"(%x, %i) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %c = arith.cmpf ogt, %a, %b : f32
    %v = arith.select %c, %a, %b : f32
    %vi = arith.select %c, %ai, %bi : i32
    tt.reduce.return %v, %vi : f32, i32
  }) : (tensor<16x32xf32, #b>, tensor<16x32xi32, #b>) -> (tensor<16xf32, #ttg.slice<{dim = 1, parent = #b}>>, tensor<16xi32, #ttg.slice<{dim = 1, parent = #b}>>)
  tt.return
}

// CHECK-LABEL: tt.func @scan
tt.func @scan(%x: tensor<16x32xf32, #b>) -> tensor<16x32xf32, #b> {
  // CHECK: "tt.scan"(%{{.*}}) <{axis = 1 : i32, reverse = true}> ({
  // CHECK: tt.scan.return %{{.*}} : f32
  %0 = "tt.scan"(%x) <{axis = 1 : i32, reverse = true}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<16x32xf32, #b>) -> tensor<16x32xf32, #b>
  tt.return %0 : tensor<16x32xf32, #b>
}

// CHECK-LABEL: tt.func @map
tt.func @map(%x: tensor<128xf32>) -> tensor<128xf32> {
  // CHECK: "tt.map_elementwise"(%{{.*}}) <{pack = 1 : i32}> ({
  // CHECK: tt.map_elementwise.return %{{.*}} : f32
  %0 = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
  ^bb0(%a: f32):
    tt.map_elementwise.return %a : f32
  }) : (tensor<128xf32>) -> tensor<128xf32>
  tt.return %0 : tensor<128xf32>
}

}
