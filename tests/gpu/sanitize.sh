#!/bin/sh
# Runs compute-sanitizer over small problems of each family of kernels, from an unpacked bundle:
#
#   sanitize.sh [TOOL...]        memcheck, racecheck, synccheck and initcheck where none is named
#
# Results are checked too. JOBS runs go on at a time (4), each for at most RUN_SECONDS (120). Exit status 1 if a tool finds
# something, a result is wrong, or a run is not done in time.
cd "$(dirname "$0")" || exit 1
export RUN_SECONDS="${RUN_SECONDS:-120}"

# One run: "TOOL PROBLEM", or "TOOL cases FILTER" of the conformance suite.
one_run='
set -f
line=$1 tool=${1%% *} problem=${1#* }
log=$(mktemp)
case $problem in
cases*) set -- bin/jitk_conformance --device=cuda:0 "-tc=${problem#cases }" ;;
*) set -- bin/jitk run $problem --device cuda:0 --check --seed 1 ;;
esac
# The driver refuses the first call of a launch outside of any context, which is then made in the one of the device.
options=
[ "$tool" = memcheck ] && options="--report-api-errors no"
timeout "$RUN_SECONDS" compute-sanitizer --tool "$tool" $options --error-exitcode 9 "$@" > "$log" 2>&1
status=$?
# A filter that no test case has passes.
grep -q "test cases: *0 " "$log" && status=1
if [ $status = 0 ]; then
  echo "$tool: ok: $problem"
else
  echo "$tool: FAILED ($status): $problem"
  grep -v "^$" "$log" | head -30
fi
rm "$log"
[ $status = 0 ]
'

in_parts='matmul m=40 n=136 k=3000 b_layout=col configuration=64x64.k4
matmul m=1 n=264 k=4096 b_layout=col configuration=64x8.t.k8
fp8_block_matmul m=5 n=200 k=4080 configuration=64x8.t.k8'
problems='matmul m=300 n=328 k=200 b_layout=col bias=true residual=true
matmul m=1600 n=2816 k=72 b_layout=col
matmul m=40 n=136 k=3000 b_layout=col configuration=64x64.k4
matmul m=40 n=136 k=3000 b_layout=col configuration=64x64.c4
matmul m=1 n=264 k=4096 b_layout=col configuration=64x8.t.k8
matmul m=1 n=264 k=4096 b_layout=col configuration=64x8.t.c8
matmul m=1600 n=328 k=200 b_layout=col configuration=128x192
matmul m=4096 n=576 k=72 b_layout=col configuration=128x144
matmul m=4000 n=216 k=72 b_layout=col configuration=64x112
matmul m=200 n=328 k=200 a_layout=col b_layout=col
matmul m=*%128 n=*%256 k=*%64 b_layout=col --size m=256 --size n=512 --size k=320
matmul m=*%64 n=*%256 k=*%64 b_layout=col --size m=1600 --size n=2816 --size k=128
matmul m=* n=*%8 k=*%64 b_layout=col --size m=140 --size n=264 --size k=320
matmul m=200 n=264 k=136 out_dtype=fp32 accumulate=true
matmul m=33 n=65 k=47
matmul m=* n=256 k=512 b_layout=col --size m=70
matmul m=* n=* k=*%8 dtype=fp16 --size m=130 --size n=200 --size k=136
flash_attention heads=2 kv_heads=1 seq_q=150 seq_k=200 head_dim=128 causal=true configuration=128x128.q2.s2
flash_attention batch=3 heads=1 seq_q=100 seq_k=150 head_dim=64 varlen=true configuration=128x128.q2.s2
flash_attention batch=3 heads=2 kv_heads=1 seq_q=100 seq_k=150 total_q=230 total_k=310 head_dim=128 causal=true packed=true configuration=128x128.q2.s2
flash_attention batch=10 heads=8 kv_heads=2 seq_q=300 head_dim=64 causal=true configuration=192x128.q2.s2
flash_attention heads=1 seq_q=2100 seq_k=200 head_dim=64 configuration=192x128.q2.s2
flash_attention heads=1 seq_q=140 seq_k=200 head_dim=256 causal=true configuration=128x64.q1.s2
flash_attention heads=1 seq_q=140 seq_k=200 head_dim=192 value_dim=128 causal=true configuration=128x128.q1.s1
flash_attention heads=1 seq_q=20 seq_k=70 head_dim=48
flash_attention heads=2 seq_q=300 seq_k=350 head_dim=128 causal=true window_left=90 softcap=5 configuration=128x128.q2.s2
fp8_block_matmul m=200 n=328 k=272
fp8_block_matmul m=200 n=328 k=1024
fp8_block_matmul m=20 n=264 k=272
fp8_block_matmul m=200 n=328 k=1024 configuration=128x128
fp8_block_matmul m=200 n=328 k=1024 configuration=128x192
fp8_block_matmul m=200 n=328 k=1024 configuration=128x256
fp8_block_matmul m=256 n=328 k=1024 configuration=128x256
fp8_block_matmul m=200 n=328 k=1024 configuration=128x192.s2
fp8_block_matmul m=200 n=328 k=1024 configuration=128x256 out_dtype=fp32 a_scale_layout=col
fp8_block_matmul m=192 n=144 k=512 configuration=128x128
fp8_block_matmul m=5 n=200 k=4080 configuration=64x8.t.k8
fp8_block_matmul m=5 n=200 k=4080 configuration=64x8.t.c8
fp8_block_matmul m=40 n=200 k=4096 configuration=64x64.c2
fp8_block_matmul m=17 n=200 k=300
grouped_fp8_block_matmul groups=3 m=500 n=200 k=304
grouped_fp8_block_matmul masked=true groups=3 m=128 n=200 k=304
grouped_fp8_block_matmul groups=3 m=300 n=200 k=300
gated_delta_rule tokens=70 qk_heads=1 v_heads=2 key_dim=64 value_dim=80 initial_state=true
gated_delta_rule tokens=70 qk_heads=1 key_dim=64 dtype=fp32
gated_delta_rule mode=recurrent batch=2 tokens=3 qk_heads=1 key_dim=64 initial_state=true
mla_decode batch=3 heads=16 max_kv=200 num_pages=12 splits=4 causal=true seq_q=2
paged_attention batch=3 heads=8 kv_heads=2 max_kv=200 num_pages=12 head_dim=64 splits=4 causal=true seq_q=2
paged_attention batch=3 heads=8 kv_heads=2 max_kv=200 num_pages=48 page_size=16 head_dim=128 splits=4
paged_attention batch=3 heads=8 kv_heads=2 max_kv=200 num_pages=40 page_size=24 head_dim=80 splits=4
paged_attention batch=3 heads=8 kv_heads=2 max_kv=200 num_pages=200 page_size=5 head_dim=128 splits=4
cases a kernel in*
cases a product in CommonIR*'

# initcheck does not see what TMA writes: it would name the sums of parts of K that wait in the workspace. That no result
# depends on what a workspace held is shown by jitk_conformance --launches=200.
problems_of() {
  if [ "$1" = initcheck ]; then
    echo "$problems" | grep -vxF "$in_parts"
  else
    echo "$problems"
  fi
}

for tool in ${*:-memcheck racecheck synccheck initcheck}; do
  problems_of "$tool" | sed "s/^/$tool /"
done | xargs -P "${JOBS:-4}" -I{} sh -c "$one_run" sh {} || exit 1
