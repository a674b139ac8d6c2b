#!/bin/sh
# Runs every test that needs a GPU, from an unpacked bundle. Nothing is skipped: a missing device fails.
set -e
cd "$(dirname "$0")"
bin/jitk_gpu_test "$@"
bin/jitk_conformance --device=cuda:0
bin/jitk_conformance --device=cuda:0 --full
