// RUN: jitk-opt %s --jitk-pipeline-copies -verify-diagnostics

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:80"} {
  tt.func public @stages(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // expected-error @+1 {{tt.num_stages must be an integer: got "two"}}
    scf.for %i = %c0 to %n step %c1 : i32 {
    } {tt.num_stages = "two"}
    tt.return
  }
}
