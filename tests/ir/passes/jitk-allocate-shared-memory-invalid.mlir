// RUN: jitk-opt %s --jitk-allocate-shared-memory --split-input-file -verify-diagnostics

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  // expected-error @+1 {{is recursive}}
  tt.func private @recursive() {
    tt.call @recursive() : () -> ()
    tt.return
  }
}
