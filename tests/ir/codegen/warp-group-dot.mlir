// RUN: jitk-opt %s --convert-ttgir-to-llvm | FileCheck %s

#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#mma8 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 32]}>
#dot = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#shared8T = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // Two tiles of 64 rows, K in four steps. A is K-major; B is N-major, so that its transpose immediate is set.
  // 0x4000004000000000: 128-byte swizzle, 1024 bytes between groups of eight rows.
  // CHECK-LABEL: llvm.func @async
  // CHECK-DAG: llvm.mlir.constant(4611686293305294848 : i64)
  // CHECK: ptx.inst "wgmma.fence"
  // CHECK-COUNT-8: ptx.inst "wgmma.m64n64k16.f32.f16.ss"{{.*}} {imms = array<i64: 1, 1, 0, 1>}
  // CHECK-NOT: ptx.inst "wgmma.m64
  // CHECK: ptx.inst "wgmma.commit_group"
  // CHECK: ptx.inst "wgmma.wait_group.f32x64"{{.*}} {imms = array<i64: 1>}
  tt.func @async(%a: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %c: tensor<128x64xf32, #mma>, %u: i1) -> tensor<128x64xf32, #mma> {
    %0 = ttng.warp_group_dot %a, %b, %c, %u {isAsync = true} : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<128x64xf32, #mma>
    %1:2 = ttng.warp_group_dot_wait %0, %a {pendings = 1 : i32} : tensor<128x64xf32, #mma>, !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    tt.return %1#0 : tensor<128x64xf32, #mma>
  }

  // A in registers. A wait for nothing pending follows a synchronous product.
  // CHECK-LABEL: llvm.func @registers
  // CHECK-COUNT-4: ptx.inst "wgmma.m64n64k16.f32.f16.rs"
  // CHECK: ptx.inst "wgmma.commit_group"
  // CHECK-NEXT: ptx.inst "wgmma.wait_group.f32x32"{{.*}} {imms = array<i64: 0>}
  tt.func @registers(%a: tensor<64x64xf16, #dot>, %b: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %c: tensor<64x64xf32, #mma>) -> tensor<64x64xf32, #mma> {
    %0 = ttng.warp_group_dot %a, %b, %c : tensor<64x64xf16, #dot> * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> tensor<64x64xf32, #mma>
    tt.return %0 : tensor<64x64xf32, #mma>
  }

  // Every 64 of K the partial sums are waited for and added.
  // CHECK-LABEL: llvm.func @promoted
  // CHECK-COUNT-2: ptx.inst "wgmma.m64n64k32.f32.e4m3.ss"
  // CHECK: ptx.inst "wgmma.wait_group.f32x32"{{.*}} {imms = array<i64: 0>}
  // CHECK-COUNT-32: llvm.fadd
  // CHECK-COUNT-2: ptx.inst "wgmma.m64n64k32.f32.e4m3.ss"
  // CHECK-COUNT-32: llvm.fadd
  tt.func @promoted(%a: !ttg.memdesc<64x128xf8E4M3FN, #shared8, #smem>, %b: !ttg.memdesc<128x64xf8E4M3FN, #shared8T, #smem>, %c: tensor<64x64xf32, #mma8>) -> tensor<64x64xf32, #mma8> {
    %0 = ttng.warp_group_dot %a, %b, %c {maxNumImpreciseAcc = 64 : i32} : !ttg.memdesc<64x128xf8E4M3FN, #shared8, #smem> * !ttg.memdesc<128x64xf8E4M3FN, #shared8T, #smem> -> tensor<64x64xf32, #mma8>
    tt.return %0 : tensor<64x64xf32, #mma8>
  }
}
