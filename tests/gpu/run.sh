#!/bin/sh
# Runs every test that needs a GPU, from an unpacked bundle, to the end: a program that fails does not hide what the
# next ones find. Nothing is skipped: a missing device fails.
cd "$(dirname "$0")" || exit 1
failed=0
bin/jitk_gpu_test "$@" || failed=1
bin/jitk_conformance --device=cuda:0 || failed=1
bin/jitk_conformance --device=cuda:0 --configurations \
  "-tc=matmul,flash_attention,fp8_block_matmul,grouped_fp8_block_matmul" || failed=1
bin/jitk_conformance --device=cuda:0 --full || failed=1
exit $failed
