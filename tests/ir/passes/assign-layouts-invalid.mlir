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

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:80"} {
  // expected-error @+1 {{ttg.num-warps must be a power of two from 1 to 32: got 0}}
  tt.func private @own_warps(%x: tensor<64x64xf32>) attributes {"ttg.num-warps" = 0 : i32} {
    %d = tt.dot %x, %x, %x : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>
    tt.return
  }
}
