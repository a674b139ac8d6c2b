// RUN: jitk-opt --jitk-assign-layouts --canonicalize --cse %s | FileCheck %s
//
// Accesses to global memory, reductions and control flow; dots are tested in assign-layouts-dot.mlir.

// CHECK-DAG: #[[$ROWS:.*]] = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
// CHECK-DAG: #[[$COLUMNS:.*]] = #ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
// CHECK-DAG: #[[$VECTOR:.*]] = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
// CHECK-DAG: #[[$SCALAR:.*]] = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!rows = tensor<64x64x!tt.ptr<f16>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {

// The index computation is made once for each layout that wants it; the mask follows the access.
// CHECK-LABEL: tt.func @vectors
// CHECK: tt.make_range {{.*}} : tensor<512xi32, #[[$VECTOR]]>
// CHECK: tt.load %{{.*}}, %{{.*}}, %{{.*}} : tensor<512x!tt.ptr<f32>, #[[$VECTOR]]>
// CHECK-NOT: convert_layout
// CHECK: tt.store %{{.*}} : tensor<512x!tt.ptr<f32>, #[[$VECTOR]]>
tt.func @vectors(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}) {
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %ns = tt.splat %n : i32 -> tensor<512xi32>
  %mask = arith.cmpi slt, %r, %ns : tensor<512xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %pp = tt.addptr %ps, %r : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %v = tt.load %pp, %mask, %zero : tensor<512x!tt.ptr<f32>>
  %w = math.exp2 %v : tensor<512xf32>
  %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %qp = tt.addptr %qs, %r : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  tt.store %qp, %w, %mask : tensor<512x!tt.ptr<f32>>
  tt.return
}

// Where two anchors meet stands a conversion; a gather has scalar accesses.
// CHECK-LABEL: tt.func @meet
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[$ROWS]]>
// CHECK: tt.load %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[$COLUMNS]]>
// CHECK: ttg.convert_layout %{{.*}} : tensor<64x64xf16, #[[$COLUMNS]]> -> tensor<64x64xf16, #[[$ROWS]]>
// CHECK: arith.addf %{{.*}} : tensor<64x64xf16, #[[$ROWS]]>
// CHECK: tt.store %{{.*}} : tensor<64x64x!tt.ptr<f16>, #[[$ROWS]]>
tt.func @meet(%p: !rows {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[2, 16]> : tensor<2xi32>},
              %q: !rows {tt.contiguity = dense<[8, 1]> : tensor<2xi32>, tt.divisibility = dense<[16, 2]> : tensor<2xi32>}) {
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %pp = tt.addptr %p, %zero : !rows, tensor<64x64xi32>
  %qq = tt.addptr %q, %zero : !rows, tensor<64x64xi32>
  %a = tt.load %pp : !rows
  %b = tt.load %qq : !rows
  %c = arith.addf %a, %b : tensor<64x64xf16>
  tt.store %pp, %c : !rows
  tt.return
}

// A reduction follows its source, what is computed with it follows both; the vector is stored from where it is.
// CHECK-LABEL: tt.func @softmax
// CHECK: %[[X:.*]] = tt.load {{.*}}#[[$ROWS]]>
// CHECK: "tt.reduce"(%[[X]])
// CHECK: -> tensor<64xf16, #ttg.slice<{dim = 1, parent = #[[$ROWS]]}>>
// CHECK-NOT: convert_layout
// CHECK: tt.broadcast %{{.*}} : tensor<64x1xf16, #[[$ROWS]]> -> tensor<64x64xf16, #[[$ROWS]]>
// CHECK: tt.store %{{.*}} : tensor<64x!tt.ptr<f16>, #ttg.slice<{dim = 1, parent = #[[$ROWS]]}>>
tt.func @softmax(%p: !rows {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[2, 16]> : tensor<2xi32>}, %q: !tt.ptr<f16>) {
  %zero = arith.constant dense<0> : tensor<64x64xi32>
  %pp = tt.addptr %p, %zero : !rows, tensor<64x64xi32>
  %x = tt.load %pp : !rows
  %m = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f16, %b: f16):
    %c = arith.maxnumf %a, %b : f16
    tt.reduce.return %c : f16
  }) : (tensor<64x64xf16>) -> tensor<64xf16>
  %column = tt.expand_dims %m {axis = 1 : i32} : tensor<64xf16> -> tensor<64x1xf16>
  %spread = tt.broadcast %column : tensor<64x1xf16> -> tensor<64x64xf16>
  %y = arith.subf %x, %spread : tensor<64x64xf16>
  tt.store %pp, %y : !rows
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %qs = tt.splat %q : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  %qp = tt.addptr %qs, %r : tensor<64x!tt.ptr<f16>>, tensor<64xi32>
  tt.store %qp, %m : tensor<64x!tt.ptr<f16>>
  tt.return
}

// Carried pointers have the layout of the access; carried sums that of what is added.
// CHECK-LABEL: tt.func @carried
// CHECK: scf.for {{.*}} -> (tensor<512x!tt.ptr<f32>, #[[$VECTOR]]>, tensor<512xf32, #[[$VECTOR]]>)
// CHECK-NOT: convert_layout
// CHECK: scf.yield
// CHECK: scf.if {{.*}} -> (tensor<512xf32, #[[$VECTOR]]>)
tt.func @carried(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %step = arith.constant dense<512> : tensor<512xi32>
  %r = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>>
  %start = tt.addptr %ps, %r : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %end:2 = scf.for %i = %c0 to %n step %c1 iter_args(%q = %start, %sum = %zero) -> (tensor<512x!tt.ptr<f32>>, tensor<512xf32>) : i32 {
    %v = tt.load %q : tensor<512x!tt.ptr<f32>>
    %next = arith.addf %sum, %v : tensor<512xf32>
    %qn = tt.addptr %q, %step : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
    scf.yield %qn, %next : tensor<512x!tt.ptr<f32>>, tensor<512xf32>
  }
  %chosen = scf.if %c -> (tensor<512xf32>) {
    %power = math.exp2 %end#1 : tensor<512xf32>
    scf.yield %power : tensor<512xf32>
  } else {
    scf.yield %zero : tensor<512xf32>
  }
  tt.store %start, %chosen : tensor<512x!tt.ptr<f32>>
  tt.return
}

// A read of shared memory is made in the layout of its user; one that nothing shapes in vectors of 16 bytes.
// CHECK-LABEL: tt.func @buffers
// CHECK: ttg.local_load %{{.*}} -> tensor<512xf32, #[[$SCALAR]]>
// CHECK: tt.store %{{.*}}, %{{.*}} : tensor<512x!tt.ptr<f32>, #[[$SCALAR]]>
// CHECK: ttg.local_load %{{.*}} -> tensor<512xf32, #[[$VECTOR]]>
// CHECK: ttg.local_store %{{.*}} : tensor<512xf32, #[[$VECTOR]]>
tt.func @buffers(%p: tensor<512x!tt.ptr<f32>>) {
  %b = ttg.local_alloc : () -> !ttg.memdesc<512xf32, #shared, #smem, mutable>
  %zero = arith.constant dense<0> : tensor<512xi32>
  %pp = tt.addptr %p, %zero : tensor<512x!tt.ptr<f32>>, tensor<512xi32>
  %x = ttg.local_load %b : !ttg.memdesc<512xf32, #shared, #smem, mutable> -> tensor<512xf32>
  tt.store %pp, %x : tensor<512x!tt.ptr<f32>>
  %y = ttg.local_load %b : !ttg.memdesc<512xf32, #shared, #smem, mutable> -> tensor<512xf32>
  %z = math.exp2 %y : tensor<512xf32>
  ttg.local_store %z, %b : tensor<512xf32> -> !ttg.memdesc<512xf32, #shared, #smem, mutable>
  tt.return
}

// Encodings that are there stay.
// CHECK-LABEL: tt.func @explicit
// CHECK: tt.load %{{.*}} : tensor<512x!tt.ptr<f32>, #[[$SCALAR]]>
tt.func @explicit(%p: tensor<512x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>) {
  %x = tt.load %p : tensor<512x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>
  %y = math.exp2 %x : tensor<512xf32, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>
  tt.store %p, %y : tensor<512x!tt.ptr<f32>, #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>
  tt.return
}

tt.func private @scalar_callee(%x: tensor<512xf32>) -> f32 {
  %c = arith.constant 0.0 : f32
  tt.return %c : f32
}

// A call may give what is no tensor.
// CHECK-LABEL: tt.func @scalar_call
// CHECK: tt.call @scalar_callee(%{{.*}}) : (tensor<512xf32, #{{.*}}>) -> f32
tt.func @scalar_call(%x: tensor<512xf32>) -> f32 {
  %s = tt.call @scalar_callee(%x) : (tensor<512xf32>) -> f32
  tt.return %s : f32
}
}
