#!/bin/sh
# Runs every test that needs a GPU, from an unpacked bundle, to the end: a program that fails does not hide what the
# next ones find. Nothing is skipped: a missing device fails. Tests of two GPUs are left out by name where there is one.
cd "$(dirname "$0")" || exit 1
failed=0
suites=
if [ "$(nvidia-smi -L | grep -c '^GPU')" -lt 2 ]; then
  echo "run.sh: one GPU: the suite gpu/SeveralDevices is left out; it needs two"
  suites=-tse=gpu/SeveralDevices
fi
bin/jitk_gpu_test $suites "$@" || failed=1
bin/jitk_conformance --device=cuda:0 --launches=200 || failed=1
bin/jitk_conformance --device=cuda:0 --configurations --launches=200 \
  "-tc=matmul,flash_attention,fp8_block_matmul,grouped_fp8_block_matmul" || failed=1
bin/jitk_conformance --device=cuda:0 --full || failed=1
exit $failed
