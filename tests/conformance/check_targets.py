#!/usr/bin/env python3
"""check_targets.py <jitk> <plan> <target> <store>: every kernel of the plan compiles for the target, and keeps its
registers: what spills, and how much, is known here. Exit status 77 where there is no assembler."""
import json
import subprocess
import sys

SKIPPED = 77

# Words of the description, and the bytes that it may spill. Where mma.sync holds its operands in registers, heads of 256
# and the states of the gated delta rule fill what there is. Operands of fp32 are held twice, as the two numbers that tensor
# cores take of each.
KNOWN_SPILLS = [({"flash_attention", "head_dim=256"}, 512), ({"gated_delta_rule", "mode=chunk"}, 128),
                ({"gated_delta_rule", "mode=chunk", "dtype=fp32"}, 512)]
KNOWN_SPILLS_OF_SM_90A = [({"gated_delta_rule", "mode=chunk", "dtype=fp32"}, 512)]


def allowed(description, target):
    words = set(description.split())
    table = KNOWN_SPILLS_OF_SM_90A if target == "sm_90a" else KNOWN_SPILLS
    return max((most for known, most in table if known <= words), default=0)


def main():
    jitk, plan, target, store = sys.argv[1:]
    done = subprocess.run([jitk, "prepare", plan, "--target", target, "--store", store, "--json"], capture_output=True,
                          text=True)
    if done.returncode:
        print(done.stderr)
        return SKIPPED if "no assembler found" in done.stderr else 1
    kernels = json.loads(done.stdout)
    spilling = [k for k in kernels if k["spill_bytes"] > allowed(k["description"], target)]
    for kernel in spilling:
        print(f"{kernel['description']}: spills {kernel['spill_bytes']} bytes, may spill "
              f"{allowed(kernel['description'], target)}")
    print(f"{len(kernels)} kernels for {target}, {len(spilling)} of them with spills that are not known")
    return 1 if spilling or not kernels else 0


sys.exit(main())
