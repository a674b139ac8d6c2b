#!/usr/bin/env python3
"""torch_paged.py <problems> [--out FILE]: paged_attention on torch's tensors, beside a large copy and torch's own attention.

Keys and values that sequences have are counted once, with queries and results; sequences are as long as they may be, and with
--mixed of any length. Rows of three heads are compared with torch in float32, and bits over repeated launches; pages lie in no
order, rows past an end are NaN. Then CUDA graphs of 10 calls take turns A B B A; medians. The copy is one of 512 MB,
read and written. torch has no paged cache: its attention (flash and cuDNN, the faster one counts) reads the same keys and values
where sequences lie one after the other, and are as long. Needs torch, and jitk by PYTHONPATH=integrations/python and JITK_LIBRARY. Exit status 1 where a result is wrong."""
import argparse
import json
import math
import statistics
import sys

import jitk
import torch
import torch.nn.functional as functional
from contender import Contender, bound, require_equal_bits, take_turns
from torch.nn.attention import SDPBackend, sdpa_kernel

CALLS, TURNS = 10, {"rounds": 2, "replays": 3, "rest": 0.02}
COPIED = 1 << 29
BACKENDS = {"torch flash": SDPBackend.FLASH_ATTENTION, "torch cuDNN": SDPBackend.CUDNN_ATTENTION}


class Problem:
    def __init__(self, line, mixed):
        self.text = line
        words = dict(word.split("=") for word in line.split()[1:])
        size = lambda name, default=None: int(words.get(name, default))
        self.batch, self.heads, self.queries, self.longest = size("batch", 1), size("heads"), size("seq_q", 1), size("max_kv")
        self.key_heads, self.pages, self.page_size = size("kv_heads", self.heads), size("num_pages"), size("page_size", 64)
        self.dim, self.splits = size("head_dim"), size("splits", 64)
        self.value_dim = size("value_dim", self.dim)
        self.causal, self.reuses = words.get("causal") == "true", words.get("reuse_schedule") == "true"
        generator = torch.Generator().manual_seed(7)
        lengths = torch.randint(1, self.longest + 1, (self.batch,), generator=generator) if mixed else None
        self.lengths = lengths if mixed else torch.full((self.batch,), self.longest)
        columns = -(-self.longest // self.page_size)
        self.table = torch.randperm(self.pages, generator=generator)[:self.batch * columns].reshape(self.batch, columns)

    def tensors(self):
        def cache(dim):
            return torch.randn(self.pages, self.page_size, self.key_heads, dim, device="cuda", dtype=torch.bfloat16)
        q = torch.randn(self.batch, self.queries, self.heads, self.dim, device="cuda", dtype=torch.bfloat16)
        k, v = cache(self.dim), cache(self.value_dim)
        for sequence, length in enumerate(self.lengths.tolist()):
            if length % self.page_size:
                page = self.table[sequence, length // self.page_size]
                k[page, length % self.page_size:] = math.nan
                v[page, length % self.page_size:] = math.nan
        return q, k, v

    def bytes(self):
        keys = int(self.lengths.sum()) * self.key_heads * (self.dim + self.value_dim)
        return 2 * (keys + self.batch * self.queries * self.heads * (self.dim + self.value_dim))


def check(problem, q, k, v, o, lse):
    """Rows of three heads, in float32."""
    for sequence, head in {(0, 0), (problem.batch - 1, problem.heads - 1), (problem.batch // 2, problem.heads // 2)}:
        length, key_head = int(problem.lengths[sequence]), head * problem.key_heads // problem.heads
        pages = problem.table[sequence].cuda()
        keys = k[pages, :, key_head].flatten(0, 1)[:length].float()
        values = v[pages, :, key_head].flatten(0, 1)[:length].float()
        scores = q[sequence, :, head].float() @ keys.T / math.sqrt(problem.dim)
        if problem.causal:
            query = torch.arange(problem.queries, device="cuda")[:, None]
            scores = scores.masked_fill(torch.arange(length, device="cuda")[None] > query + length - problem.queries,
                                        -math.inf)
        wanted = torch.softmax(scores, -1) @ values
        error = (o[sequence, :, head].float() - wanted).norm() / wanted.norm()
        log_error = (lse[sequence, head] - torch.logsumexp(scores, -1)).abs().max()
        if not (error < 6e-3 and log_error < 2e-5):
            raise ArithmeticError(f"sequence {sequence}, head {head}: relative error {error:.1e}, of lse {log_error:.1e}")


def torch_contenders(problem, q, k, v):
    """torch's attention over contiguous copies of the caches; none where it has no such mask or lengths."""
    if (problem.causal and problem.queries > 1) or (problem.lengths != problem.longest).any() or problem.longest % problem.page_size:
        return
    table = problem.table.cuda()
    views = [tensor.transpose(1, 2) for tensor in (q, k[table].flatten(1, 2), v[table].flatten(1, 2))]
    for name, backend in BACKENDS.items():
        def attend(backend=backend):
            with sdpa_kernel(backend):
                return functional.scaled_dot_product_attention(*views, enable_gqa=problem.heads != problem.key_heads)
        try:
            yield Contender(name, attend, CALLS)
        except RuntimeError as refusal:
            print(f"{name}: {str(refusal).splitlines()[0][:100]}", file=sys.stderr)


def measure(runtime, device, problem):
    torch.manual_seed(1)
    q, k, v = problem.tensors()
    table, lengths = problem.table.int().cuda(), problem.lengths.int().cuda()
    o = torch.full((problem.batch, problem.queries, problem.heads, problem.value_dim), math.nan, device="cuda",
                   dtype=torch.bfloat16)
    lse = torch.full((problem.batch, problem.heads, problem.queries), math.nan, device="cuda")
    schedule = torch.zeros((problem.splits, 8), device="cuda", dtype=torch.int32)
    offsets = torch.zeros((problem.batch + 1,), device="cuda", dtype=torch.int32)

    def kernel_and_launch(text):
        kernel = runtime.kernel(device, text)
        return kernel, bound(kernel, q, k, v, table, lengths, schedule, offsets, o, lse,
                                scalars=(1 / math.sqrt(problem.dim),))

    if problem.reuses:
        kernel_and_launch(problem.text.replace("reuse_schedule=true", ""))[1]()
        o.fill_(math.nan)
    kernel, launch = kernel_and_launch(problem.text)
    launch()
    torch.cuda.synchronize()
    check(problem, q, k, v, o, lse)
    require_equal_bits(launch, o)
    source = torch.empty((COPIED,), device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    contenders = [Contender("jitk", launch, CALLS), Contender("copy", lambda: target.copy_(source), CALLS),
                  *torch_contenders(problem, q, k, v)]
    take_turns(contenders, **TURNS)
    info = kernel.info()
    return {"problem": problem.text, "bytes": problem.bytes(), "registers": info["registers"],
            "spill_bytes": info["spill_bytes"], "times": {each.name: each.times for each in contenders}}


def row(result):
    times = {name: statistics.median(values) for name, values in result["times"].items()}
    ours, copy = times["jitk"], times["copy"]
    peers = [times[name] for name in BACKENDS if name in times]
    rate, copy_rate = result["bytes"] / ours / 1e3, 2 * COPIED / copy / 1e3
    return (f"| {result['problem'].removeprefix('paged_attention ')} | {ours:.1f} | {rate:.0f} | {rate / 48:.0f} % | "
            f"{rate / copy_rate:.3f} | {f'{min(peers) / ours:.2f}' if peers else ''} | {result['registers']} | {result['spill_bytes']} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("problems")
    parser.add_argument("--mixed", action="store_true", help="sequences of any length up to max_kv")
    parser.add_argument("--out", help="write FILE.json and FILE.md")
    options = parser.parse_args()
    lines = [line.split("#")[0].strip() for line in open(options.problems, encoding="utf-8")]
    runtime = jitk.Runtime()
    device = runtime.device("cuda:0")
    results, failed = [], False
    table = ["| problem | us | GB/s | of 4.8 TB/s | of a copy's speed | torch / jitk | registers | spills |", "|---" * 8 + "|"]
    print("\n".join(table), flush=True)
    for line in filter(None, lines):
        try:
            results.append(measure(runtime, device, Problem(line, options.mixed)))
            table.append(row(results[-1]))
        except (ArithmeticError, jitk.Error) as failure:
            failed = True
            table.append(f"| {line} | {failure} |")
        print(table[-1], flush=True)
    if options.out:
        json.dump(results, open(options.out + ".json", "w", encoding="utf-8"))
        open(options.out + ".md", "w", encoding="utf-8").write("\n".join(table) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
