// RUN: jitk-opt %s --split-input-file --convert-ttgir-to-llvm | FileCheck %s

// A kernel that may begin early waits ahead of its first access to global memory, once, and after what needs none.
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  // CHECK-LABEL: llvm.func @waits
  // CHECK: ptx.inst "mbarrier.init"
  // CHECK: ptx.inst "griddepcontrol.wait"
  // CHECK-NEXT: ptx.inst "griddepcontrol.launch_dependents"
  // CHECK: ptx.inst "ld.global
  // CHECK-NOT: griddepcontrol
  // CHECK: llvm.return
  tt.func public @waits(%in: !tt.ptr<f32>, %out: !tt.ptr<f32>) attributes {jitk.programmatic_launch} {
    %one = arith.constant 1.0 : f32
    %bar = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<1xi64, #bar, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #bar, #smem, mutable>
    %x = tt.load %in : !tt.ptr<f32>
    %y = arith.addf %x, %one : f32
    tt.store %out, %y : !tt.ptr<f32>
    tt.return
  }

  // Where the access is not in the entry block, the wait is at its end: every thread comes by.
  // CHECK-LABEL: llvm.func @branches
  // CHECK: ptx.inst "griddepcontrol.wait"
  // CHECK-NEXT: ptx.inst "griddepcontrol.launch_dependents"
  // CHECK-NEXT: llvm.cond_br
  // CHECK-NOT: griddepcontrol
  tt.func public @branches(%out: !tt.ptr<f32>, %write: i1) attributes {jitk.programmatic_launch} {
    %one = arith.constant 1.0 : f32
    cf.cond_br %write, ^store, ^end
  ^store:
    tt.store %out, %one : !tt.ptr<f32>
    cf.br ^end
  ^end:
    tt.return
  }

  // Others have nothing of it.
  // CHECK-LABEL: llvm.func @plain
  // CHECK-NOT: griddepcontrol
  tt.func public @plain(%out: !tt.ptr<f32>) {
    %one = arith.constant 1.0 : f32
    tt.store %out, %one : !tt.ptr<f32>
    tt.return
  }
}
