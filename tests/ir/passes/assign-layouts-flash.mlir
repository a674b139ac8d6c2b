// RUN: sed s/TARGET/80/ %s | jitk-opt --jitk-commonir-to-ttgir-pipeline=target=sm_80 | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: sed s/TARGET/90/ %s | jitk-opt --jitk-commonir-to-ttgir-pipeline=target=sm_90a | FileCheck %s --check-prefixes=CHECK,SM90
//
// The loop of flash attention on a block of 64 queries: rows stay in their warps, and of tiles only the weights are
// converted, from the accumulator of one product to the left operand of the next.

!kv = tensor<64x128x!tt.ptr<f16>>
!buf = !tile.buf<[64, 128], f16, shared>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:TARGET", "ttg.threads-per-warp" = 32 : i32} {

// SM80-DAG: #[[$MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
// SM90-DAG: #[[$MMA:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
// SM90-DAG: #[[$MMA1:.*]] = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
// CHECK-LABEL: tt.func @flash
// CHECK: %[[Q:.*]] = ttg.local_alloc
// CHECK: %[[K:.*]] = ttg.local_alloc
// CHECK: %[[V:.*]] = ttg.local_alloc
// SM80: ttg.local_load %[[Q]] {{.*}}#ttg.dot_op<{opIdx = 0
// CHECK: %[[KT:.*]] = ttg.memdesc_trans %[[K]]
// SM80: scf.for {{.*}}(tensor<64xf32, #ttg.slice<{dim = 1, parent = #[[$MMA]]}>>, tensor<64xf32, #ttg.slice<{dim = 1, parent = #[[$MMA]]}>>, tensor<64x128xf32, #[[$MMA]]>,
// SM90: scf.for {{.*}}(tensor<64xf32, #ttg.slice<{dim = 1, parent = #[[$MMA]]}>>, tensor<64xf32, #ttg.slice<{dim = 1, parent = #[[$MMA]]}>>, tensor<64x128xf32, #[[$MMA1]]>,
// CHECK: ttg.async_wait
// CHECK-NOT: convert_layout {{.*}}<64x{{[0-9]}}
// SM80: tt.dot
// SM90: ttng.warp_group_dot %[[Q]], %[[KT]],
// CHECK-NOT: convert_layout {{.*}}<64x{{[0-9]}}
// SM80: %[[P:.*]] = ttg.convert_layout %{{.*}} : tensor<64x64xf16, #[[$MMA]]> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #[[$MMA]], kWidth = 2}>>
// SM90: %[[P:.*]] = ttg.convert_layout %{{.*}} : tensor<64x64xf16, #[[$MMA]]> -> tensor<64x64xf16, #ttg.dot_op<{opIdx = 0, parent = #[[$MMA1]], kWidth = 2}>>
// CHECK-NOT: convert_layout {{.*}}<64x{{[0-9]}}
// SM80: tt.dot %[[P]],
// SM90: ttng.warp_group_dot %[[P]], %[[V]],
// CHECK-NOT: convert_layout
// CHECK: scf.yield
tt.func @flash(%qp: !kv {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[2, 16]> : tensor<2xi32>},
               %kp: !kv {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[2, 16]> : tensor<2xi32>},
               %vp: !kv {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[2, 16]> : tensor<2xi32>},
               %op: tensor<64x128x!tt.ptr<f32>>, %step: tensor<64x128xi32> {tt.constancy = 64 : i32, tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %least = arith.constant dense<0xFF800000> : tensor<64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %zeroS = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeroO = arith.constant dense<0.0> : tensor<64x128xf32>
  %q = tile.alloc {space = 7 : i64} : <[64, 128], f16, shared>
  %k = tile.alloc {space = 7 : i64} : <[64, 128], f16, shared>
  %v = tile.alloc {space = 7 : i64} : <[64, 128], f16, shared>
  tile.copy %qp -> %q : !kv, !buf
  %qt = tile.to_tensor %q : <[64, 128], f16, shared> -> tensor<64x128xf16>
  %r:5 = scf.for %i = %c0 to %n step %c1 iter_args(%m = %least, %l = %none, %acc = %zeroO, %kn = %kp, %vn = %vp)
      -> (tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, !kv, !kv) : i32 {
    tile.copy %kn -> %k : !kv, !buf
    tile.copy %vn -> %v : !kv, !buf
    %kt = tile.to_tensor %k : <[64, 128], f16, shared> -> tensor<64x128xf16>
    %kT = tt.trans %kt {order = array<i32: 1, 0>} : tensor<64x128xf16> -> tensor<128x64xf16>
    %s = tt.dot %qt, %kT, %zeroS : tensor<64x128xf16> * tensor<128x64xf16> -> tensor<64x64xf32>
    %row = "tt.reduce"(%s) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.maxnumf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x64xf32>) -> tensor<64xf32>
    %mn = arith.maxnumf %m, %row : tensor<64xf32>
    %mc = tt.expand_dims %mn {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %mb = tt.broadcast %mc : tensor<64x1xf32> -> tensor<64x64xf32>
    %d = arith.subf %s, %mb : tensor<64x64xf32>
    %p = math.exp2 %d : tensor<64x64xf32>
    %sum = "tt.reduce"(%p) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<64x64xf32>) -> tensor<64xf32>
    %md = arith.subf %m, %mn : tensor<64xf32>
    %alpha = math.exp2 %md : tensor<64xf32>
    %la = arith.mulf %l, %alpha : tensor<64xf32>
    %ln = arith.addf %la, %sum : tensor<64xf32>
    %ac = tt.expand_dims %alpha {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    %ab = tt.broadcast %ac : tensor<64x1xf32> -> tensor<64x128xf32>
    %scaled = arith.mulf %acc, %ab : tensor<64x128xf32>
    %ph = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %vt = tile.to_tensor %v : <[64, 128], f16, shared> -> tensor<64x128xf16>
    %o = tt.dot %ph, %vt, %scaled : tensor<64x64xf16> * tensor<64x128xf16> -> tensor<64x128xf32>
    %k2 = tt.addptr %kn, %step : !kv, tensor<64x128xi32>
    %v2 = tt.addptr %vn, %step : !kv, tensor<64x128xi32>
    scf.yield %mn, %ln, %o, %k2, %v2 : tensor<64xf32>, tensor<64xf32>, tensor<64x128xf32>, !kv, !kv
  } {tt.num_stages = 1 : i32}
  %lc = tt.expand_dims %r#1 {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  %lb = tt.broadcast %lc : tensor<64x1xf32> -> tensor<64x128xf32>
  %out = arith.divf %r#2, %lb : tensor<64x128xf32>
  tt.store %op, %out : tensor<64x128x!tt.ptr<f32>>
  tt.return
}
}
