// Rules of warp specialization, one violation a function; the name is the rule.
// RUN: %jitk-opt %s -split-input-file -verify-diagnostics

tt.func @num_warps_is_power_of_two() {
  // expected-error @+1 {{num_warps of partition 0 must be a power of two: got 3}}
  ttg.warp_specialize()
  default { ttg.warp_yield }
  partition0() num_warps(3) { ttg.warp_return } : () -> ()
  tt.return
}

// -----

tt.func @arguments_are_captures(%x: i32) {
  // expected-error @+1 {{arguments of partition 0 must have the types of the captures}}
  ttg.warp_specialize(%x)
  default { ttg.warp_yield }
  partition0(%y: f32) num_warps(4) { ttg.warp_return } : (i32) -> ()
  tt.return
}

// -----

tt.func @requested_registers() {
  // expected-error @+1 {{requestedRegisters must have a number for each of 1 partitions: got 2}}
  ttg.warp_specialize() attributes {requestedRegisters = array<i32: 24, 24>}
  default { ttg.warp_yield }
  partition0() num_warps(4) { ttg.warp_return } : () -> ()
  tt.return
}

// -----

tt.func @actual_registers() {
  // expected-error @+1 {{actualRegisters must have 2 numbers: got 1}}
  ttg.warp_specialize() attributes {actualRegisters = array<i32: 24>}
  default { ttg.warp_yield }
  partition0() num_warps(4) { ttg.warp_return } : () -> ()
  tt.return
}

// -----

tt.func @partition_num_warps() {
  // expected-error @+1 {{needs num_warps for each of 1 partitions: got 2}}
  "ttg.warp_specialize"() <{partitionNumWarps = array<i32: 4, 4>}> ({
    ttg.warp_yield
  }, {
    "ttg.warp_specialize.partitions"() ({
      ttg.warp_return
    }) : () -> ()
  }) : () -> ()
  tt.return
}

// -----

tt.func @no_nesting() {
  ttg.warp_specialize()
  default {
    // expected-error @+1 {{cannot be nested in another ttg.warp_specialize}}
    ttg.warp_specialize()
    default { ttg.warp_yield }
    partition0() num_warps(4) { ttg.warp_return } : () -> ()
    ttg.warp_yield
  }
  partition0() num_warps(4) { ttg.warp_return } : () -> ()
  tt.return
}

// -----

module attributes {"ttg.num-warps" = 2 : i32} {
tt.func @module_warps() {
  // expected-error @+1 {{needs a multiple of 4 warps in the module: got 2}}
  ttg.warp_specialize()
  default { ttg.warp_yield }
  partition0() num_warps(4) { ttg.warp_return } : () -> ()
  tt.return
}
}

// -----

tt.func @yield_types(%x: i32) {
  %0 = ttg.warp_specialize()
  default {
    // expected-error @+1 {{operand types must be the result types of ttg.warp_specialize}}
    ttg.warp_yield %x : i32
  }
  partition0() num_warps(4) { ttg.warp_return } : () -> f32
  tt.return
}

// -----

tt.func @partitions_are_isolated(%x: i32) {
  ttg.warp_specialize()
  default { ttg.warp_yield }
  partition0() num_warps(4) {
    // expected-error @+1 {{use of undeclared SSA value name}}
    %0 = arith.addi %x, %x : i32
    ttg.warp_return
  } : () -> ()
  tt.return
}

// -----

tt.func @partition_holder() {
  // expected-error @+1 {{second region must hold ttg.warp_specialize.partitions}}
  "ttg.warp_specialize"() <{partitionNumWarps = array<i32>}> ({
    ttg.warp_yield
  }, {
    ttg.warp_yield
  }) : () -> ()
  tt.return
}

// -----

tt.func @replicas_of_each_partition() {
  // expected-error @+1 {{partitionReplicas must have a number for each of 1 partitions: got 2}}
  ttg.warp_specialize() attributes {partitionReplicas = array<i32: 2, 1>}
  default { ttg.warp_yield }
  partition0() num_warps(4) { ttg.warp_return } : () -> ()
  tt.return
}

// -----

tt.func @replicas_are_positive() {
  // expected-error @+1 {{partitionReplicas must be positive}}
  ttg.warp_specialize() attributes {partitionReplicas = array<i32: 0>}
  default { ttg.warp_yield }
  partition0() num_warps(4) { ttg.warp_return } : () -> ()
  tt.return
}

// -----

tt.func @joined_default_is_empty() {
  // expected-error @+1 {{has a partition at warp 0: its default region must be empty}}
  ttg.warp_specialize() attributes {warpGroupStartIds = array<i32: 0>}
  default {
    %0 = arith.constant 0 : i32
    ttg.warp_yield
  }
  partition0() num_warps(4) { ttg.warp_return } : () -> ()
  tt.return
}

// -----

tt.func @replica_id_in_partition() {
  // expected-error @+1 {{stands in a partition of ttg.warp_specialize only}}
  %0 = ttg.replica_id
  tt.return
}
