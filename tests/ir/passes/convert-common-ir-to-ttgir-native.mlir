// RUN: jitk-opt --convert-common-ir-to-ttgir=enable-async-copy=true %s | FileCheck %s
// RUN: jitk-opt --jitk-commonir-to-ttgir-pipeline=target=sm_80 %s | jitk-opt --jitk-ttgir-to-llvm-pipeline -o /dev/null
// RUN: jitk-opt --jitk-commonir-to-ttgir-pipeline=target=sm_90a %s | jitk-opt --jitk-ttgir-to-llvm-pipeline -o /dev/null
//
// Two whole programs with explicit layouts: how many copies and waits they come to, and that they compile.

// CHECK-NOT: tile.
// CHECK-NOT: unrealized_conversion_cast
#nvmma = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
!p32 = tensor<32x32x!tt.ptr<f16>>
!b32 = !tile.buf<[32, 32], f16, shared>
!p16 = tensor<16x32x!tt.ptr<f16>>
!b16 = !tile.buf<[16, 32], f16, shared>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {

// CHECK-LABEL: tt.func public @matmul
// CHECK-COUNT-2: ttg.async_copy_global_to_local
// CHECK-NOT: ttg.async_copy_global_to_local
// CHECK-COUNT-1: ttg.async_wait
// CHECK-NOT: ttg.async_wait
// CHECK: tt.return
tt.func public @matmul(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %width = arith.constant dense<128> : tensor<32x1xi32>
  %along = arith.constant dense<32> : tensor<32x32xi32>
  %down = arith.constant dense<4096> : tensor<32x32xi32>
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %column = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %rows = arith.muli %column, %width : tensor<32x1xi32>
  %rowsb = tt.broadcast %rows : tensor<32x1xi32> -> tensor<32x32xi32>
  %row = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %cols = tt.broadcast %row : tensor<1x32xi32> -> tensor<32x32xi32>
  %offsets = arith.addi %rowsb, %cols : tensor<32x32xi32>
  %as = tt.splat %a : !tt.ptr<f16> -> !p32
  %ap = tt.addptr %as, %offsets : !p32, tensor<32x32xi32>
  %bs = tt.splat %b : !tt.ptr<f16> -> !p32
  %bp = tt.addptr %bs, %offsets : !p32, tensor<32x32xi32>
  %abuf = tile.alloc {space = 7 : i64, tle.gpu_layout = #nvmma} : <[32, 32], f16, shared>
  %bbuf = tile.alloc {space = 7 : i64, tle.gpu_layout = #nvmma} : <[32, 32], f16, shared>
  %sum:3 = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %zero, %an = %ap, %bn = %bp) -> (tensor<32x32xf32>, !p32, !p32) : i32 {
    tile.copy %an -> %abuf : !p32, !b32
    tile.copy %bn -> %bbuf : !p32, !b32
    %x = tile.to_tensor %abuf : <[32, 32], f16, shared> -> tensor<32x32xf16>
    %y = tile.to_tensor %bbuf : <[32, 32], f16, shared> -> tensor<32x32xf16>
    %d = tt.dot %x, %y, %acc : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>
    %a2 = tt.addptr %an, %along : !p32, tensor<32x32xi32>
    %b2 = tt.addptr %bn, %down : !p32, tensor<32x32xi32>
    scf.yield %d, %a2, %b2 : tensor<32x32xf32>, !p32, !p32
  } {tt.num_stages = 3 : i32}
  %h = arith.truncf %sum#0 : tensor<32x32xf32> to tensor<32x32xf16>
  %cs = tt.splat %c : !tt.ptr<f16> -> !p32
  %cp = tt.addptr %cs, %offsets : !p32, tensor<32x32xi32>
  tt.store %cp, %h : !p32
  tt.return
}

// K and V of a block are waited for together.
// CHECK-LABEL: tt.func public @flash
// CHECK: ttg.async_copy_global_to_local
// CHECK: ttg.async_wait
// CHECK: %[[K:.*]] = ttg.async_copy_global_to_local
// CHECK: %[[V:.*]] = ttg.async_copy_global_to_local
// CHECK: ttg.async_commit_group tokens %[[K]], %[[V]]
// CHECK: ttg.async_wait
// CHECK-NOT: ttg.async_wait
// CHECK-NOT: ttg.async_copy_global_to_local
// CHECK: tt.return
tt.func public @flash(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %v: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %width = arith.constant dense<32> : tensor<16x1xi32>
  %zeroS = arith.constant dense<0.0> : tensor<16x16xf32>
  %zeroO = arith.constant dense<0.0> : tensor<16x32xf32>
  %least = arith.constant dense<0xFF800000> : tensor<16xf32>
  %none = arith.constant dense<0.0> : tensor<16xf32>
  %rr = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %cr = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %column = tt.expand_dims %rr {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %rows = arith.muli %column, %width : tensor<16x1xi32>
  %rowsb = tt.broadcast %rows : tensor<16x1xi32> -> tensor<16x32xi32>
  %row = tt.expand_dims %cr {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %cols = tt.broadcast %row : tensor<1x32xi32> -> tensor<16x32xi32>
  %offsets = arith.addi %rowsb, %cols : tensor<16x32xi32>
  %qs = tt.splat %q : !tt.ptr<f16> -> !p16
  %qp = tt.addptr %qs, %offsets : !p16, tensor<16x32xi32>
  %qbuf = tile.alloc {space = 7 : i64, tle.gpu_layout = #plain} : <[16, 32], f16, shared>
  %kbuf = tile.alloc {space = 7 : i64, tle.gpu_layout = #plain} : <[16, 32], f16, shared>
  %vbuf = tile.alloc {space = 7 : i64, tle.gpu_layout = #plain} : <[16, 32], f16, shared>
  %obuf = tile.alloc {space = 7 : i64, tle.gpu_layout = #plain} : <[16, 32], f32, shared>
  tile.copy %qp -> %qbuf : !p16, !b16
  %qt = tile.to_tensor %qbuf : <[16, 32], f16, shared> -> tensor<16x32xf16>
  %r:3 = scf.for %n = %c0 to %c32 step %c16 iter_args(%m = %least, %l = %none, %acc = %zeroO) -> (tensor<16xf32>, tensor<16xf32>, tensor<16x32xf32>) : i32 {
    %first = arith.muli %n, %c32 : i32
    %firsts = tt.splat %first : i32 -> tensor<16x32xi32>
    %there = arith.addi %offsets, %firsts : tensor<16x32xi32>
    %ks = tt.splat %k : !tt.ptr<f16> -> !p16
    %kp = tt.addptr %ks, %there : !p16, tensor<16x32xi32>
    tile.copy %kp -> %kbuf : !p16, !b16
    %vs = tt.splat %v : !tt.ptr<f16> -> !p16
    %vp = tt.addptr %vs, %there : !p16, tensor<16x32xi32>
    tile.copy %vp -> %vbuf : !p16, !b16
    %kt = tile.to_tensor %kbuf : <[16, 32], f16, shared> -> tensor<16x32xf16>
    %kT = tt.trans %kt {order = array<i32: 1, 0>} : tensor<16x32xf16> -> tensor<32x16xf16>
    %s = tt.dot %qt, %kT, %zeroS : tensor<16x32xf16> * tensor<32x16xf16> -> tensor<16x16xf32>
    %top = "tt.reduce"(%s) <{axis = 1 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %z = arith.maxnumf %x, %y : f32
      tt.reduce.return %z : f32
    }) : (tensor<16x16xf32>) -> tensor<16xf32>
    %mn = arith.maxnumf %m, %top : tensor<16xf32>
    %mc = tt.expand_dims %mn {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
    %mb = tt.broadcast %mc : tensor<16x1xf32> -> tensor<16x16xf32>
    %d = arith.subf %s, %mb : tensor<16x16xf32>
    %p = math.exp2 %d : tensor<16x16xf32>
    %sum = "tt.reduce"(%p) <{axis = 1 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tt.reduce.return %z : f32
    }) : (tensor<16x16xf32>) -> tensor<16xf32>
    %md = arith.subf %m, %mn : tensor<16xf32>
    %alpha = math.exp2 %md : tensor<16xf32>
    %la = arith.mulf %l, %alpha : tensor<16xf32>
    %ln = arith.addf %la, %sum : tensor<16xf32>
    %ac = tt.expand_dims %alpha {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
    %ab = tt.broadcast %ac : tensor<16x1xf32> -> tensor<16x32xf32>
    %scaled = arith.mulf %acc, %ab : tensor<16x32xf32>
    %ph = arith.truncf %p : tensor<16x16xf32> to tensor<16x16xf16>
    %vt = tile.to_tensor %vbuf : <[16, 32], f16, shared> -> tensor<16x32xf16>
    %on = tt.dot %ph, %vt, %scaled : tensor<16x16xf16> * tensor<16x32xf16> -> tensor<16x32xf32>
    scf.yield %mn, %ln, %on : tensor<16xf32>, tensor<16xf32>, tensor<16x32xf32>
  } {tt.num_stages = 2 : i32}
  %lc = tt.expand_dims %r#1 {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
  %lb = tt.broadcast %lc : tensor<16x1xf32> -> tensor<16x32xf32>
  %out = arith.divf %r#2, %lb : tensor<16x32xf32>
  tile.store_tensor %out -> %obuf : tensor<16x32xf32>, !tile.buf<[16, 32], f32, shared>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
  %op = tt.addptr %os, %offsets : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  tile.copy %obuf -> %op : !tile.buf<[16, 32], f32, shared>, tensor<16x32x!tt.ptr<f32>>
  tt.return
}
}
