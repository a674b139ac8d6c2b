// RUN: jitk-opt %s --jitk-allocate-shared-memory --convert-ttgir-to-llvm | FileCheck %s

// Views change the base address or the XOR offset of a buffer; a memory barrier's address shows the outcome.

#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#sharedT = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // A slot has 16 KiB.
  // CHECK-LABEL: llvm.func @index(
  // CHECK-SAME: %[[BASE:[a-z0-9]+]]: i32, %[[VIEW:[a-z0-9]+]]: i32, %[[INDEX:[a-z0-9]+]]: i32
  // CHECK: %[[LOG:.*]] = llvm.mlir.constant(14 : i32)
  // CHECK: %[[MOVED:.*]] = llvm.shl %[[INDEX]], %[[LOG]]
  // CHECK: %[[ADDRESS:.*]] = llvm.add %[[BASE]], %[[MOVED]]
  // CHECK: llvm.insertvalue %[[ADDRESS]]
  // CHECK: llvm.insertvalue %[[VIEW]]
  tt.func @index(%a: !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>, %i: i32) -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable> {
    %0 = ttg.memdesc_index %a[%i] : !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
    tt.return %0 : !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
  }

  // Row 64 of 64 columns is element 4096.
  // CHECK-LABEL: llvm.func @subslice(
  // CHECK-SAME: %[[BASE:[a-z0-9]+]]: i32, %[[VIEW:[a-z0-9]+]]: i32
  // CHECK: %[[OFFSET:.*]] = llvm.mlir.constant(4096 : i32)
  // CHECK: %[[MOVED:.*]] = llvm.xor %[[VIEW]], %[[OFFSET]]
  // CHECK: llvm.insertvalue %[[BASE]]
  // CHECK: llvm.insertvalue %[[MOVED]]
  tt.func @subslice(%a: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>) -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable, 128x64> {
    %0 = ttg.memdesc_subslice %a[64, 0] : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable, 128x64>
    tt.return %0 : !ttg.memdesc<64x64xf16, #shared, #smem, mutable, 128x64>
  }

  // CHECK-LABEL: llvm.func @trans(
  // CHECK-SAME: %[[BASE:[a-z0-9]+]]: i32, %[[VIEW:[a-z0-9]+]]: i32
  // CHECK: llvm.insertvalue %[[BASE]]
  // CHECK: llvm.insertvalue %[[VIEW]]
  tt.func @trans(%a: !ttg.memdesc<128x64xf16, #shared, #smem, mutable>) -> !ttg.memdesc<64x128xf16, #sharedT, #smem, mutable> {
    %0 = ttg.memdesc_trans %a {order = array<i32: 1, 0>} : !ttg.memdesc<128x64xf16, #shared, #smem, mutable> -> !ttg.memdesc<64x128xf16, #sharedT, #smem, mutable>
    tt.return %0 : !ttg.memdesc<64x128xf16, #sharedT, #smem, mutable>
  }
}
