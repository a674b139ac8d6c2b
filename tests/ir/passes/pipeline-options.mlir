// A pipeline says what is wrong with an option, and runs nothing.
// RUN: not jitk-opt %s --jitk-commonir-to-ttgir-pipeline=target=foo 2>&1 | FileCheck %s --check-prefix=FOO
// RUN: not jitk-opt %s --jitk-commonir-to-ttgir-pipeline=target= 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not jitk-opt %s --jitk-commonir-to-ttgir-pipeline=target=sm_75 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not jitk-opt %s --jitk-commonir-to-ttgir-pipeline=targets=sm_80 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not jitk-opt %s --jitk-pipeline-copies=num-stages=0 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not jitk-opt %s --jitk-pipeline-copies=num-stages=many 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not jitk-opt %s --jitk-pipeline-copies=most-stages=-1 2>&1 | FileCheck %s --check-prefix=MOST
// RUN: jitk-opt %s --jitk-commonir-to-ttgir-pipeline=target=emulator:sm_80

// FOO: target must be sm_NN or emulator:sm_NN{{.*}}: got 'foo'
// EMPTY: target must be sm_NN or emulator:sm_NN{{.*}}: got ''
// OLD: target must be one of sm_80, {{.*}}: got 'sm_75'
// NAME: no such option targets
// STAGES: error: num-stages must be 1 or more: got 0
// WORD: 'many'
// MOST: error: most-stages must be 0 or more: got -1
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:80"} {
}
