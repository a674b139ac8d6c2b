// Syntax of warp specialization: any number of partitions and captures, results, nesting in control flow, attributes.
// RUN: %jitk-opt %s | %jitk-opt | FileCheck %s

module attributes {"ttg.num-warps" = 4 : i32} {

// CHECK-LABEL: tt.func @none
tt.func @none() {
  // CHECK: ttg.warp_specialize()
  // CHECK-NEXT: default {
  // CHECK-NEXT:   ttg.warp_yield
  // CHECK-NEXT: }
  // CHECK-NEXT: partition0() num_warps(1) {
  // CHECK-NEXT:   ttg.warp_return
  // CHECK-NEXT: } : () -> ()
  ttg.warp_specialize()
  default {
    ttg.warp_yield
  }
  partition0() num_warps(1) {
    ttg.warp_return
  } : () -> ()
  tt.return
}

// CHECK-LABEL: tt.func @results
// CHECK-SAME: (%[[A:.*]]: i32, %[[C:.*]]: i1)
tt.func @results(%a: i32, %c: i1) {
  scf.if %c {
    // The default region captures implicitly.
    // CHECK: %{{.*}}:2 = ttg.warp_specialize(%[[A]]) attributes {actualRegisters = array<i32: 152, 40, 232>, requestedRegisters = array<i32: 40, 232>, ttg.partition = array<i32: 0>}
    // CHECK: ttg.warp_yield %[[A]], %[[C]] : i32, i1
    // CHECK: partition0(%[[X:.*]]: i32) num_warps(4) {
    // CHECK: arith.addi %[[X]], %[[X]]
    // CHECK: partition1(%{{.*}}: i32) num_warps(8) {
    // CHECK: } : (i32) -> (i32, i1)
    %0:2 = ttg.warp_specialize(%a) attributes {actualRegisters = array<i32: 152, 40, 232>, requestedRegisters = array<i32: 40, 232>, ttg.partition = array<i32: 0>}
    default {
      ttg.warp_yield %a, %c : i32, i1
    }
    partition0(%x: i32) num_warps(4) {
      %1 = arith.addi %x, %x : i32
      ttg.warp_return
    }
    partition1(%x: i32) num_warps(8) {
      ttg.warp_return
    } : (i32) -> (i32, i1)
  }
  tt.return
}

}
