#!/usr/bin/env python3
"""torch_attention.py <problems> [--out FILE]: flash_attention beside torch's scaled_dot_product_attention in one process.

Each problem is compared with torch in float32 on rows of three heads, and its bits over repeated launches. Then CUDA graphs
of up to 20 calls take turns A B B A with rest in between; medians. Torch's backends: cuDNN and its own flash attention. Needs
torch, and jitk by PYTHONPATH=integrations/python and JITK_LIBRARY. Exit status 1 where a result is wrong."""
import argparse
import json
import math
import statistics
import sys

import jitk
import torch
import torch.nn.functional as functional
from contender import Contender, require_equal_bits, take_turns
from torch.nn.attention import SDPBackend, sdpa_kernel

BACKENDS = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "torch flash": SDPBackend.FLASH_ATTENTION}


class Problem:
    def __init__(self, line):
        self.text = line
        words = dict(word.split("=") for word in line.split()[1:])
        size = lambda name, default=None: int(words.get(name, default))
        self.batch, self.heads, self.queries, self.dim = (
            size("batch", 1), size("heads"), size("seq_q"), size("head_dim"))
        self.key_heads, self.keys = size("kv_heads", self.heads), size("seq_k", self.queries)
        self.value_dim = size("value_dim", self.dim)
        self.causal = words.get("causal") == "true"

    def tensors(self):
        def random(sequence, heads, dim):
            return torch.randn(self.batch, sequence, heads, dim, device="cuda", dtype=torch.bfloat16)
        return (random(self.queries, self.heads, self.dim), random(self.keys, self.key_heads, self.dim),
                random(self.keys, self.key_heads, self.value_dim))

    def flops(self):
        products = self.batch * self.heads * self.queries * self.keys * (self.dim + self.value_dim)
        return 2 * products * (0.5 if self.causal else 1)


def torch_contender(name, problem, q, k, v):
    views = [tensor.transpose(1, 2) for tensor in (q, k, v)]

    def work():
        with sdpa_kernel(BACKENDS[name]):
            return functional.scaled_dot_product_attention(
                *views, is_causal=problem.causal, enable_gqa=problem.heads != problem.key_heads)
    return Contender(name, work)


def check(problem, q, k, v, o, lse):
    """Rows at both ends of three heads, in float32."""
    for batch, head in {(0, 0), (problem.batch - 1, problem.heads - 1), (0, problem.heads // 2)}:
        key_head = head * problem.key_heads // problem.heads
        for first in {0, max(0, problem.queries - 256)}:
            rows = slice(first, min(first + 256, problem.queries))
            scores = q[batch, rows, head].float() @ k[batch, :, key_head].float().T / math.sqrt(problem.dim)
            if problem.causal:
                query = torch.arange(rows.start, rows.stop, device="cuda")[:, None]
                key = torch.arange(problem.keys, device="cuda")[None]
                scores = scores.masked_fill(key > query + problem.keys - problem.queries, -math.inf)
            wanted = torch.softmax(scores, -1) @ v[batch, :, key_head].float()
            error = (o[batch, rows, head].float() - wanted).norm() / wanted.norm()
            log_error = (lse[batch, head, rows] - torch.logsumexp(scores, -1)).abs().max()
            # A rounding of P and one of O to bf16: 2^-9 each at random.
            if not (error < 4e-3 and log_error < 1e-5):
                raise ArithmeticError(f"head {head}: relative error {error:.1e}, of lse {log_error:.1e}")


def measure(runtime, device, problem):
    q, k, v = problem.tensors()
    kernel = runtime.kernel(device, problem.text)
    o = torch.full((problem.batch, problem.queries, problem.heads, problem.value_dim), math.nan, device="cuda",
                   dtype=torch.bfloat16)
    lse = torch.full((problem.batch, problem.heads, problem.queries), math.nan, device="cuda")
    launch = lambda: kernel.launch(q, k, v, o, lse, stream=torch.cuda.current_stream().cuda_stream)
    launch()
    torch.cuda.synchronize()
    check(problem, q, k, v, o, lse)
    require_equal_bits(launch, o)
    contenders = [Contender("jitk", launch)]
    # torch's causal mask begins at the upper left: it is the same only where there are as many queries as keys.
    for name in BACKENDS if not problem.causal or problem.queries == problem.keys else ():
        try:
            contenders.append(torch_contender(name, problem, q, k, v))
        except RuntimeError as refusal:
            print(f"{name}: {str(refusal).splitlines()[0][:100]}", file=sys.stderr)
    take_turns(contenders)
    info = kernel.info()
    return {"problem": problem.text, "registers": info["registers"], "spill_bytes": info["spill_bytes"],
            "shared_bytes": info["shared_bytes"],
            "times": {contender.name: contender.times for contender in contenders}}


def row(problem, result):
    times = {name: statistics.median(times) for name, times in result["times"].items()}
    ours = times["jitk"]
    rate = problem.flops() / ours / 1e6
    peers = " | ".join(f"{times[name]:.1f} | {times[name] / ours:.3f}" if name in times else " | " for name in BACKENDS)
    return (f"| {problem.text.removeprefix('flash_attention ')} | {ours:.1f} | {rate:.0f} | {rate / 9.89:.0f} % | "
            f"{result['registers']} | {result['spill_bytes']} | {peers} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("problems")
    parser.add_argument("--out", help="write FILE.json and FILE.md")
    options = parser.parse_args()
    lines = [line.split("#")[0].strip() for line in open(options.problems, encoding="utf-8")]
    runtime = jitk.Runtime(store="")
    device = runtime.device("cuda:0")
    results, failed = [], False
    table = ["| problem | us | TFLOP/s | of 989 | registers | spills | " +
             " | ".join(f"{name} us | ratio" for name in BACKENDS) + " |", "|---" * (6 + 2 * len(BACKENDS)) + "|"]
    print("\n".join(table), flush=True)
    for problem in map(Problem, filter(None, lines)):
        try:
            results.append(measure(runtime, device, problem))
            table.append(row(problem, results[-1]))
        except (ArithmeticError, jitk.Error) as failure:
            failed = True
            table.append(f"| {problem.text} | {failure} |")
        print(table[-1], flush=True)
    if options.out:
        json.dump(results, open(options.out + ".json", "w", encoding="utf-8"))
        open(options.out + ".md", "w", encoding="utf-8").write("\n".join(table) + "\n")
    return int(failed)


sys.exit(main())
