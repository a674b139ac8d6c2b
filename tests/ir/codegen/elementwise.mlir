// RUN: jitk-opt %s --convert-ttgir-to-llvm | FileCheck %s
// One operation an element, and no more than there are different elements. Results are tested on the emulator.

#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func internal @fused
  // CHECK-COUNT-4: llvm.fmul {{.*}} {fastmathFlags = #llvm.fastmath<contract>} : f32
  // CHECK-NOT: llvm.fmul
  // CHECK-COUNT-4: llvm.fadd {{.*}} {fastmathFlags = #llvm.fastmath<contract>} : f32
  tt.func private @fused(%x: tensor<4x128xf32, #blocked>) -> tensor<4x128xf32, #blocked> {
    %y = arith.mulf %x, %x : tensor<4x128xf32, #blocked>
    %z = arith.addf %y, %x : tensor<4x128xf32, #blocked>
    tt.return %z : tensor<4x128xf32, #blocked>
  }

  // The four elements of a thread lie in one row: what depends on the row alone is computed once.
  // CHECK-LABEL: llvm.func internal @shared_rows
  // CHECK: llvm.mul
  // CHECK-NOT: llvm.mul
  // CHECK: llvm.return
  tt.func private @shared_rows(%s: i32) -> tensor<4x128xi32, #blocked> {
    %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %e = tt.expand_dims %r {axis = 1 : i32} : tensor<4xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<4x1xi32, #blocked>
    %b = tt.broadcast %e : tensor<4x1xi32, #blocked> -> tensor<4x128xi32, #blocked>
    %t = tt.splat %s : i32 -> tensor<4x128xi32, #blocked>
    %m = arith.muli %b, %t : tensor<4x128xi32, #blocked>
    tt.return %m : tensor<4x128xi32, #blocked>
  }

  // CHECK-LABEL: llvm.func internal @instructions
  // CHECK-COUNT-4: ptx.inst "ex2.approx.f32"
  // CHECK-COUNT-4: ptx.inst "div.full.f32"
  // CHECK-COUNT-2: ptx.inst "cvt.rn.satfinite.e4m3x2.f32"
  // CHECK-NOT: ptx.inst
  tt.func private @instructions(%x: tensor<4x128xf32, #blocked>) -> tensor<4x128xf8E4M3FN, #blocked> {
    %e = math.exp2 %x : tensor<4x128xf32, #blocked>
    %d = arith.divf %e, %x : tensor<4x128xf32, #blocked>
    %f = tt.fp_to_fp %d, rounding = rtne : tensor<4x128xf32, #blocked> -> tensor<4x128xf8E4M3FN, #blocked>
    tt.return %f : tensor<4x128xf8E4M3FN, #blocked>
  }

  // Constants of fp8 are their bits.
  // CHECK-LABEL: llvm.func internal @constant
  // CHECK: llvm.mlir.constant(56 : i8) : i8
  tt.func private @constant() -> tensor<4x128xf8E4M3FN, #blocked> {
    %c = arith.constant dense<1.0> : tensor<4x128xf8E4M3FN, #blocked>
    tt.return %c : tensor<4x128xf8E4M3FN, #blocked>
  }
}
