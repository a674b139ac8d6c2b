// RUN: %jitk-opt %s --lower-ptx-for-emulator | FileCheck %s
// RUN: %jitk-opt %s --lower-ptx-for-emulator --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=SITE

// What the calls do is tested by running them (tests/unit/emulator).

// The location's text and the immediates lie side by side; the call gets the address of the immediates.
// SITE: llvm.mlir.global internal constant @jitk.location.1("lower-ptx-for-emulator.mlir:{{[0-9]+:[0-9]+}}\00")
// SITE: llvm.mlir.global internal constant @jitk.site.1() {{.*}} : !llvm.struct<(ptr, i64, i64)>

// CHECK-LABEL: llvm.func @registers
// CHECK-SAME: (%[[THREAD:.*]]: !llvm.ptr, %[[P:.*]]: i1, %[[F:.*]]: f32)
llvm.func @registers(%p: i1, %f: f32) -> f32 {
  // CHECK: %[[OPERANDS:.*]] = llvm.alloca {{.*}} x i64
  // CHECK: %[[RESULTS:.*]] = llvm.alloca {{.*}} x i64
  // CHECK: %[[BITS:.*]] = llvm.bitcast %[[F]] : f32 to i32
  // CHECK: %[[WORD:.*]] = llvm.zext %[[BITS]] : i32 to i64
  // CHECK: llvm.store %[[WORD]]
  // CHECK: llvm.call @jitk_emulator_execute(%[[THREAD]], {{.*}}, %[[RESULTS]], %[[OPERANDS]], {{.*}})
  // CHECK: %[[LOADED:.*]] = llvm.load
  // CHECK: %[[LOW:.*]] = llvm.trunc %[[LOADED]] : i64 to i32
  // CHECK: %[[RESULT:.*]] = llvm.bitcast %[[LOW]] : i32 to f32
  // CHECK: llvm.return %[[RESULT]]
  ptx.inst "bar.sync.n"() {imms = array<i64: 1, 64>} : () -> ()
  %r = ptx.inst "ex2.approx.f32"(%f) : (f32) -> f32
  llvm.return %r : f32
}

// CHECK-LABEL: llvm.func @calls
// CHECK-SAME: (%[[CALLER:.*]]: !llvm.ptr, %{{.*}}: i1)
// CHECK-NOT: nvvm.kernel
llvm.func @calls(%p: i1) attributes {nvvm.kernel} {
  // CHECK: llvm.call @registers(%[[CALLER]], %{{.*}}, %{{.*}})
  %c = llvm.mlir.constant(1.0 : f32) : f32
  %r = llvm.call @registers(%p, %c) : (i1, f32) -> f32
  llvm.return
}

// A divisor that may be zero is replaced by one; so is -1 under the dividend whose quotient overflows.
// CHECK-LABEL: llvm.func @divides
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %[[D:[a-z0-9]+]]: i32
llvm.func @divides(%n: i32, %d: i32) -> i32 {
  // CHECK: %[[ZERO:.*]] = llvm.icmp "eq" %[[D]]
  // CHECK: %[[TRAPS:.*]] = llvm.or %[[ZERO]]
  // CHECK: %[[SAFE:.*]] = llvm.select %[[TRAPS]], %{{.*}}, %[[D]]
  // CHECK: llvm.sdiv %[[N]], %[[SAFE]]
  %q = llvm.sdiv %n, %d : i32
  // CHECK: llvm.sdiv %{{.*}}, %[[SEVEN:.*]] : i32
  %seven = llvm.mlir.constant(7 : i32) : i32
  %r = llvm.sdiv %q, %seven : i32
  llvm.return %r : i32
}

// A loop that executes no instruction calls the emulator in each round; one that does is counted by it.
// CHECK-LABEL: llvm.func @loops
// CHECK-SAME: %[[LOOPER:[a-z0-9]+]]: !llvm.ptr
llvm.func @loops(%n: i32) {
  %one = llvm.mlir.constant(1 : i32) : i32
  // CHECK: llvm.br ^[[SPIN:bb[0-9]+]](
  llvm.br ^spin(%n : i32)
^spin(%i: i32):
  %j = llvm.sub %i, %one : i32
  %more = llvm.icmp "ne" %j, %one : i32
  // CHECK: llvm.call @jitk_emulator_loop(%[[LOOPER]], %{{.*}}) : (!llvm.ptr, !llvm.ptr) -> ()
  // CHECK-NEXT: llvm.cond_br %{{.*}}, ^[[SPIN]]
  llvm.cond_br %more, ^spin(%j : i32), ^wait
^wait:
  // CHECK: llvm.call @jitk_emulator_execute
  ptx.inst "bar.sync"() {imms = array<i64: 0>} : () -> ()
  %again = llvm.icmp "eq" %n, %one : i32
  // CHECK-NOT: @jitk_emulator_loop
  // CHECK: llvm.cond_br
  llvm.cond_br %again, ^wait, ^end
^end:
  llvm.return
}

// CHECK-LABEL: llvm.func @traps
llvm.func @traps(%p: i1) {
  // CHECK: %[[NO:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK: llvm.call @jitk_emulator_trap(%{{.*}}, %{{.*}}, %[[NO]])
  // CHECK-NOT: llvm.intr.trap
  llvm.cond_br %p, ^trap, ^never
^trap:
  llvm.intr.trap
  llvm.return
^never:
  // CHECK: %[[YES:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK: llvm.call @jitk_emulator_trap(%{{.*}}, %{{.*}}, %[[YES]])
  // CHECK-NEXT: llvm.unreachable
  llvm.unreachable
}

// CHECK-LABEL: llvm.func @recurses
// CHECK: llvm.call @jitk_emulator_loop
// CHECK: llvm.call @recurses
llvm.func @recurses(%p: i1) {
  llvm.call @recurses(%p) : (i1) -> ()
  llvm.return
}
