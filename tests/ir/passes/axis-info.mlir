// RUN: jitk-opt --test-print-axis-info --split-input-file --verify-diagnostics %s

tt.func @indices(%p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %stride: i32 {tt.divisibility = 8 : i32}) {
  // expected-remark @+1 {{contiguity = [64], divisibility = [1073741824], constancy = [1]}}
  %rows = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64], divisibility = [32], constancy = [1]}}
  %late = tt.make_range {start = 32 : i32, end = 96 : i32} : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64, 1], divisibility = [1073741824, 1], constancy = [1, 1]}}
  %column = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  // expected-remark @+1 {{contiguity = [1, 64], divisibility = [1, 32], constancy = [1, 1]}}
  %row = tt.expand_dims %late {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [8, 8], constancy = [64, 1]}}
  %strides = tt.splat %stride : i32 -> tensor<64x1xi32>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [8, 8], constancy = [1, 1]}}
  %scaled = arith.muli %column, %strides : tensor<64x1xi32>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [16, 16], constancy = [64, 1]}}
  %base = tt.splat %p : !tt.ptr<f16> -> tensor<64x1x!tt.ptr<f16>>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [16, 16], constancy = [1, 1]}}
  %starts = tt.addptr %base, %scaled : tensor<64x1x!tt.ptr<f16>>, tensor<64x1xi32>
  // expected-remark @+1 {{contiguity = [1, 1], divisibility = [16, 16], constancy = [1, 64]}}
  %spread = tt.broadcast %starts : tensor<64x1x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  // expected-remark @+1 {{contiguity = [1, 64], divisibility = [1, 32], constancy = [64, 1]}}
  %columns = tt.broadcast %row : tensor<1x64xi32> -> tensor<64x64xi32>
  // expected-remark @+1 {{contiguity = [1, 64], divisibility = [2, 16], constancy = [1, 1]}}
  %pointers = tt.addptr %spread, %columns : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
  // expected-remark @+1 {{contiguity = [64, 1], divisibility = [16, 2], constancy = [1, 1]}}
  %turned = tt.trans %pointers {order = array<i32: 1, 0>} : tensor<64x64x!tt.ptr<f16>> -> tensor<64x64x!tt.ptr<f16>>
  tt.return
}

// -----

tt.func @arithmetic(%n: i32 {tt.divisibility = 16 : i32}) {
  // expected-remark @+1 {{contiguity = [128]}}
  %i = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  // expected-remark @+1 {{constancy = [128], constant = 8}}
  %c8 = arith.constant dense<8> : tensor<128xi32>
  // expected-remark @+1 {{constancy = [128], constant = 1}}
  %c1 = arith.constant dense<1> : tensor<128xi32>
  // expected-remark @+1 {{constancy = [128], constant = 15}}
  %c15 = arith.constant dense<15> : tensor<128xi32>
  // expected-remark @+1 {{constancy = [128], constant = 3}}
  %c3 = arith.constant dense<3> : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [128], divisibility = [8], constancy = [1]}}
  %sum = arith.addi %i, %c8 : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %descending = arith.subi %c8, %i : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [128], divisibility = [8], constancy = [1]}}
  %difference = arith.subi %i, %c8 : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [128], divisibility = [1073741824], constancy = [1]}}
  %same = arith.muli %i, %c1 : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [8], constancy = [1]}}
  %shifted = arith.shli %i, %c3 : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [8]}}
  %quotient = arith.divsi %i, %c8 : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [8], divisibility = [8], constancy = [1]}}
  %remainder = arith.remsi %i, %c8 : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [16], divisibility = [16], constancy = [1]}}
  %low = arith.andi %i, %c15 : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [16], constancy = [128]}}
  %bound = tt.splat %n : i32 -> tensor<128xi32>
  // Runs end at multiples of 16: whole runs are in range, or none of them.
  // expected-remark @+1 {{constancy = [16]}}
  %mask = arith.cmpi slt, %i, %bound : tensor<128xi32>
  // expected-remark @+1 {{constancy = [16]}}
  %mirrored = arith.cmpi sgt, %bound, %i : tensor<128xi32>
  // expected-remark @+1 {{constancy = [1]}}
  %inclusive = arith.cmpi sle, %i, %bound : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [16], divisibility = [8], constancy = [1]}}
  %chosen = arith.select %mask, %i, %sum : tensor<128xi1>, tensor<128xi32>
  // expected-remark @+1 {{contiguity = [128], divisibility = [8], constancy = [1]}}
  %least = arith.minsi %i, %sum : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [128], divisibility = [1073741824], constancy = [1]}}
  %wide = arith.extsi %i : tensor<128xi32> to tensor<128xi64>
  tt.return
}

// -----

// Division rounds to zero: -1 / 8 is 0 as 1 / 8 is, so that runs that may be negative are not even.
tt.func @signs(%n: i32) {
  // expected-remark @+1 {{contiguity = [128]}}
  %i = tt.make_range {start = -64 : i32, end = 64 : i32} : tensor<128xi32>
  // expected-remark @+1 {{constant = 8}}
  %c8 = arith.constant dense<8> : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %quotient = arith.divsi %i, %c8 : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [1]}}
  %remainder = arith.remsi %i, %c8 : tensor<128xi32>
  // expected-remark @+1 {{contiguity = [1], divisibility = [1], constancy = [8]}}
  %floor = arith.divui %i, %c8 : tensor<128xi32>
  tt.return
}

// -----

// A pointer that a loop advances keeps what holds for its start and for each step.
tt.func @loop(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  // expected-remark @+1 {{constant = 0}}
  %c0 = arith.constant 0 : i32
  // expected-remark @+1 {{constant = 64}}
  %c64 = arith.constant 64 : i32
  // expected-remark @+1 {{constant = 2}}
  %step = arith.constant dense<2> : tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64]}}
  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  // expected-remark @+1 {{constancy = [64]}}
  %s = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
  // expected-remark @+1 {{contiguity = [64], divisibility = [16], constancy = [1]}}
  %start = tt.addptr %s, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
  // expected-remark @+1 {{contiguity = [64], divisibility = [8], constancy = [1]}}
  %end = scf.for %k = %c0 to %n step %c64 iter_args(%q = %start) -> (tensor<64x!tt.ptr<f32>>) : i32 {
    // expected-remark @+1 {{contiguity = [1], divisibility = [64], constancy = [64]}}
    %ks = tt.splat %k : i32 -> tensor<64xi32>
    // expected-remark @+1 {{contiguity = [64], divisibility = [8], constancy = [1]}}
    %next = tt.addptr %q, %step : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    scf.yield %next : tensor<64x!tt.ptr<f32>>
  }
  tt.return
}

// -----

// Stated facts of arguments, also of tensors, and of ops.
tt.func @stated(%p: tensor<8x64x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>, tt.divisibility = dense<[1, 16]> : tensor<2xi32>}) {
  // expected-remark @+1 {{constant = 0}}
  %zero = arith.constant dense<0> : tensor<8x64xi32>
  // expected-remark @+1 {{contiguity = [1, 8], divisibility = [1, 16], constancy = [1, 1]}}
  %q = tt.addptr %p, %zero : tensor<8x64x!tt.ptr<f16>>, tensor<8x64xi32>
  // expected-remark @+1 {{constancy = [1, 4]}}
  %v = tt.addptr %q, %zero {tt.constancy = dense<[1, 4]> : tensor<2xi32>} : tensor<8x64x!tt.ptr<f16>>, tensor<8x64xi32>
  tt.return
}

// -----

// What a partition is handed keeps what holds for it.
module attributes {"ttg.num-warps" = 4 : i32} {
tt.func @captures(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  ttg.warp_specialize(%p, %n)
  default {
    ttg.warp_yield
  }
  partition0(%q: !tt.ptr<f32>, %m: i32) num_warps(1) {
    // expected-remark @+1 {{constant = 4}}
    %c4 = arith.constant 4 : i32
    // expected-remark @+1 {{divisibility = [4]}}
    %i = arith.muli %m, %c4 : i32
    // expected-remark @+1 {{divisibility = [16]}}
    %r = tt.addptr %q, %i : !tt.ptr<f32>, i32
    ttg.warp_return
  } : (!tt.ptr<f32>, i32) -> ()
  tt.return
}
}
