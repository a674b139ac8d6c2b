// RUN: jitk-opt %s --convert-scf-to-cf --convert-ttgir-to-llvm | FileCheck %s
// Narrow elements go from block to block in words, and are not taken apart where nobody needs them apart.

#l = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {

// CHECK-LABEL: @loop
tt.func private @loop(%a: tensor<256xf16, #l>, %b: tensor<256xf32, #l>, %n: i32) -> tensor<256xf16, #l> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK: llvm.br ^[[LOOP:bb[0-9]+]](%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, f32, f32)
  // CHECK: ^[[LOOP]](%{{.*}}: i32, %[[WORD:.*]]: i32, %{{.*}}: f32, %{{.*}}: f32)
  // CHECK: %[[PAIR:.*]] = llvm.bitcast %[[WORD]] : i32 to vector<2xf16>
  // CHECK: llvm.fadd
  // CHECK: %[[NEXT:.*]] = llvm.bitcast %{{.*}} : vector<2xf16> to i32
  // CHECK: llvm.br ^[[LOOP]](%{{.*}}, %[[NEXT]], %{{.*}}, %{{.*}} : i32, i32, f32, f32)
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<256xf16, #l>, tensor<256xf32, #l>) : i32 {
    %z = arith.addf %x, %x : tensor<256xf16, #l>
    scf.yield %z, %y : tensor<256xf16, #l>, tensor<256xf32, #l>
  }
  tt.return %r#0 : tensor<256xf16, #l>
}

}
