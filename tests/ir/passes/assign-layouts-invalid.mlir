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

// -----

// expected-error @+1 {{ttg.num-warps must be an integer: got "x"}}
module attributes {"ttg.num-warps" = "x", ttg.target = "cuda:80"} {
  tt.func public @text() {
    tt.return
  }
}

// -----

// expected-error @+1 {{ttg.cluster-dim-x must be an integer: got 2.000000e+00 : f32}}
module attributes {"ttg.num-warps" = 4 : i32, "ttg.cluster-dim-x" = 2.0 : f32, ttg.target = "cuda:90"} {
  tt.func public @float() {
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:80"} {
  // expected-error @+1 {{ttg.maxnreg must be an integer: got [64]}}
  tt.func public @own_list() attributes {"ttg.maxnreg" = [64]} {
    tt.return
  }
}

// -----

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:80"} {
  // expected-error @+1 {{tt.divisibility of argument 1 must be an integer: got "16"}}
  tt.func public @hint(%x: i32, %y: !tt.ptr<f32> {tt.divisibility = "16"}) {
    tt.return
  }
}
