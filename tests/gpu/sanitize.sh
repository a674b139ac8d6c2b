#!/bin/sh
# Runs compute-sanitizer over one small problem of each family of kernels, from an unpacked bundle:
#
#   sanitize.sh [TOOL...]        memcheck, racecheck and synccheck where none is named
#
# Results are checked too. JOBS runs go on at a time (4). Exit status 1 if a tool finds something, or a result is wrong.
cd "$(dirname "$0")" || exit 1

# One run: "TOOL PROBLEM".
one_run='
set -- $1
tool=$1 && shift
log=$(mktemp)
if compute-sanitizer --tool "$tool" --error-exitcode 9 bin/jitk run "$@" --device cuda:0 --check --seed 1 > "$log" 2>&1; then
  echo "$tool: ok: $*"
else
  echo "$tool: FAILED: $*"
  grep -v "^$" "$log" | head -30
  rm "$log" && exit 1
fi
rm "$log"
'

problems='matmul m=300 n=328 k=200 b_layout=col bias=true residual=true
matmul m=40 n=136 k=3000 b_layout=col
matmul m=33 n=65 k=47
flash_attention heads=2 kv_heads=1 seq_q=150 seq_k=200 head_dim=128 causal=true
flash_attention batch=3 heads=1 seq_q=100 seq_k=150 head_dim=64 varlen=true
flash_attention heads=1 seq_q=20 seq_k=70 head_dim=48
fp8_block_matmul m=200 n=328 k=272
fp8_block_matmul m=20 n=264 k=272
fp8_block_matmul m=17 n=200 k=300
grouped_fp8_block_matmul groups=3 m=500 n=200 k=304
grouped_fp8_block_matmul masked=true groups=3 m=128 n=200 k=304
gated_delta_rule tokens=70 qk_heads=1 v_heads=2 key_dim=64 value_dim=80 initial_state=true
gated_delta_rule mode=recurrent batch=2 tokens=3 qk_heads=1 key_dim=64 initial_state=true
mla_decode batch=3 heads=16 max_kv=200 num_pages=12 splits=4 causal=true seq_q=2
paged_attention batch=3 heads=8 kv_heads=2 max_kv=200 num_pages=12 head_dim=64 splits=4 causal=true seq_q=2'

for tool in ${*:-memcheck racecheck synccheck}; do
  echo "$problems" | sed "s/^/$tool /"
done | xargs -P "${JOBS:-4}" -I{} sh -c "$one_run" sh {} || exit 1
