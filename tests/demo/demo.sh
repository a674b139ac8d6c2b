#!/usr/bin/env bash
# The main job, shown: plans of two models are made and prepared, then each op runs and is checked on the emulator.
#
#   demo.sh <path of the jitk program>
set -euo pipefail
jitk=$1
cd "$(dirname "$0")/../.."
work=build/demo
mkdir -p "$work"

show() {
  printf '\n\033[1m$ jitk %s\033[0m\n' "$*"
  "$jitk" "$@"
}

# For the GPU; where no assembler is installed, for the emulator. Whatever else goes wrong is a failure.
target=sm_90a
report=$("$jitk" doctor --json)
if [[ $report == *'"sm_90a": "no assembler found'* ]]; then
  echo "no assembler for sm_90a here: preparing for the emulator"
  target=emulator:sm_90a
fi

prepare() {
  show prepare "$1" --target "$target" --store "$work/store"
}

for model in deepseek-v3 qwen3-next-80b-a3b; do
  show plan "tests/data/models/$model.json" --tp 8 --max-tokens 256 --output "$work/$model.plan.json"
  prepare "$work/$model.plan.json"
done
# A second run is all hits.
prepare "$work/deepseek-v3.plan.json"

for device in emulator:sm_80 emulator:sm_90a; do
  show run matmul m=100 n=192 k=136 dtype=bf16 b_layout=col --device "$device" --check --store "$work/store"
  show run flash_attention batch=1 heads=4 kv_heads=2 seq_q=70 seq_k=100 head_dim=64 causal=true dtype=bf16 \
    --device "$device" --check --store "$work/store"
  show run fp8_block_matmul m=17 n=200 k=300 out_dtype=bf16 --device "$device" --check --store "$work/store"
  show run grouped_fp8_block_matmul groups=2 m=256 n=200 k=300 --device "$device" --check --store "$work/store"
  show run gated_delta_rule batch=3 tokens=150 qk_heads=2 v_heads=4 key_dim=64 qk_l2norm=true varlen=true \
    initial_state=true --device "$device" --check --store "$work/store"
  show run gated_delta_rule mode=recurrent batch=3 tokens=1 qk_heads=2 v_heads=4 key_dim=128 qk_l2norm=true \
    state_pool=true slots=6 state_layout=value-major --device "$device" --check --store "$work/store"
  show run paged_attention batch=3 heads=8 kv_heads=2 max_kv=300 num_pages=20 splits=4 head_dim=128 --device "$device" \
    --check --store "$work/store"
  show run mla_decode batch=3 heads=16 max_kv=150 num_pages=9 splits=4 latent_dim=128 rope_dim=64 causal=true \
    --device "$device" --check --store "$work/store"
done
printf '\ndemo: everything ran and was checked\n'
