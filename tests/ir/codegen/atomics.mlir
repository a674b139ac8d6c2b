// RUN: sed s/TARGET/80/ %s | jitk-opt --convert-ttgir-to-llvm | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: sed s/TARGET/90/ %s | jitk-opt --convert-ttgir-to-llvm | FileCheck %s --check-prefixes=CHECK,SM90
//
// Which atomics are instructions and which are loops over compare and swap. What they do is tested on the emulator.

#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:TARGET"} {
  // CHECK-LABEL: llvm.func @f16
  // CHECK: ptx.inst "atom.relaxed.gpu.global.add.noftz.f16"
  tt.func public @f16(%p: tensor<128x!tt.ptr<f16>, #blocked>, %x: tensor<128xf16, #blocked>) {
    %old = tt.atomic_rmw fadd, relaxed, gpu, %p, %x : (tensor<128x!tt.ptr<f16>, #blocked>, tensor<128xf16, #blocked>) -> tensor<128xf16, #blocked>
    tt.return
  }

  // CHECK-LABEL: llvm.func @bf16
  // SM80: %[[GUESS:.*]] = ptx.inst "ld.global.b16"
  // SM80: llvm.br ^[[LOOP:.*]](%[[GUESS]] : i16)
  // SM80: ^[[LOOP]](%[[OLD:.*]]: i16)
  // SM80: %[[SUM:.*]] = llvm.fadd
  // SM80: %[[FOUND:.*]] = ptx.inst "atom.acq_rel.sys.global.cas.b16"(%{{.*}}, %{{.*}}, %[[OLD]], %{{.*}})
  // SM80: %[[DONE:.*]] = llvm.icmp "eq" %[[FOUND]], %[[OLD]]
  // SM80: llvm.cond_br %[[DONE]], ^{{.*}}(%[[FOUND]] : i16), ^[[LOOP]](%[[FOUND]] : i16)
  // SM90: ptx.inst "atom.acq_rel.sys.global.add.noftz.bf16"
  tt.func public @bf16(%p: tensor<128x!tt.ptr<bf16>, #blocked>, %x: tensor<128xbf16, #blocked>) {
    %old = tt.atomic_rmw fadd, acq_rel, sys, %p, %x : (tensor<128x!tt.ptr<bf16>, #blocked>, tensor<128xbf16, #blocked>) -> tensor<128xbf16, #blocked>
    tt.return
  }

  // CHECK-LABEL: llvm.func @i16
  // CHECK: llvm.intr.smax
  // CHECK: ptx.inst "atom.relaxed.cta.global.cas.b16"
  tt.func public @i16(%p: tensor<128x!tt.ptr<i16>, #blocked>, %x: tensor<128xi16, #blocked>) {
    %old = tt.atomic_rmw max, relaxed, cta, %p, %x : (tensor<128x!tt.ptr<i16>, #blocked>, tensor<128xi16, #blocked>) -> tensor<128xi16, #blocked>
    tt.return
  }
}
