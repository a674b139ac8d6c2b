// RUN: jitk-opt %s --jitk-assign-layouts --split-input-file -verify-diagnostics

// expected-error @+1 {{needs the module attribute ttg.target = "cuda:<capability>": got}}
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func private @target() {
    tt.return
  }
}

// -----

// expected-error @+1 {{needs the module attribute ttg.target = "cuda:<capability>": got "hip:gfx942"}}
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942"} {
  tt.func private @other_target() {
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func private @sparse_constant() -> tensor<16xi32> {
    // expected-error @+1 {{of a tensor must have dense elements}}
    %c = arith.constant sparse<[[0], [3]], [1, 2]> : tensor<16xi32>
    tt.return %c : tensor<16xi32>
  }
}
