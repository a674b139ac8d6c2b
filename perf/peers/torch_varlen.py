#!/usr/bin/env python3
"""torch_varlen.py <problems> [--out FILE]: flash_attention with varlen=true beside torch's varlen_attn.

Each problem runs with all sequences as long as they may be, beside the kernel without lengths, and with lengths that are
drawn evenly, beside torch's flash attention of packed sequences where this torch has it. Rows of three sequences are compared
with torch in float32; rows past an end must keep their bytes, keys and values past one are NaN. Timing as in torch_paged.py.
Operations are those of the rows and keys that sequences have. Exit status 1 where a result is wrong."""
import argparse
import json
import math
import statistics
import sys

import jitk
import torch

from contender import Contender, bound, require_equal_bits, take_turns
from torch_paged import CALLS, TURNS

try:
    from torch.nn.attention.varlen import varlen_attn
except ImportError:
    varlen_attn = None


class Problem:
    def __init__(self, line, mixed):
        self.text, self.mixed = line, mixed
        words = dict(word.split("=") for word in line.split()[1:])
        size = lambda name, default=None: int(words.get(name, default))
        self.batch, self.heads, self.longest, self.dim = size("batch"), size("heads"), size("seq_q"), size("head_dim")
        self.key_heads = size("kv_heads", self.heads)
        self.causal = words.get("causal") == "true"
        generator = torch.Generator().manual_seed(11)
        drawn = torch.randint(1, self.longest + 1, (self.batch,), generator=generator)
        self.lengths = drawn.tolist() if mixed else [self.longest] * self.batch

    def flops(self):
        return 4 * self.heads * self.dim * (0.5 if self.causal else 1) * sum(length * length for length in self.lengths)


def check(problem, q, k, v, o):
    for sequence in {0, problem.batch // 2, problem.batch - 1}:
        head, length = sequence % problem.heads, problem.lengths[sequence]
        key_head = head * problem.key_heads // problem.heads
        first = max(0, length - 300)
        scores = q[sequence, first:length, head].float() @ k[sequence, :length, key_head].float().T / math.sqrt(problem.dim)
        if problem.causal:
            query = torch.arange(first, length, device="cuda")[:, None]
            scores = scores.masked_fill(torch.arange(length, device="cuda")[None] > query, -math.inf)
        wanted = torch.softmax(scores, -1) @ v[sequence, :length, key_head].float()
        error = (o[sequence, first:length, head].float() - wanted).norm() / wanted.norm()
        if not error < 5e-3:
            raise ArithmeticError(f"sequence {sequence}: relative error {error:.1e}")
        if not (o[sequence, length:] == 7).all():
            raise ArithmeticError(f"sequence {sequence}: rows past its end are written")


def packed(problem, q, k, v):
    parts = [torch.cat([tensor[i, :length] for i, length in enumerate(problem.lengths)]) for tensor in (q, k, v)]
    ends = torch.tensor([0] + problem.lengths).cumsum(0).int().cuda()
    if problem.heads != problem.key_heads:
        parts[1:] = [part.repeat_interleave(problem.heads // problem.key_heads, 1) for part in parts[1:]]
    longest = max(problem.lengths)
    try:
        varlen_attn(*parts, ends, ends, longest, longest, is_causal=problem.causal)
        return lambda: varlen_attn(*parts, ends, ends, longest, longest, is_causal=problem.causal)
    except TypeError:
        window = (-1, 0) if problem.causal else (-1, -1)
        return lambda: varlen_attn(*parts, ends, ends, longest, longest, window_size=window)


def measure(runtime, device, problem):
    torch.manual_seed(1)
    random = lambda heads: torch.randn(problem.batch, problem.longest, heads, problem.dim, device="cuda",
                                       dtype=torch.bfloat16)
    q, k, v = random(problem.heads), random(problem.key_heads), random(problem.key_heads)
    for sequence, length in enumerate(problem.lengths):
        k[sequence, length:] = math.nan
        v[sequence, length:] = math.nan
    lengths = torch.tensor(problem.lengths, device="cuda", dtype=torch.int32)
    o = torch.full_like(q, 7)
    lse = torch.full((problem.batch, problem.heads, problem.longest), math.nan, device="cuda")
    kernel = runtime.kernel(device, problem.text)
    launch = bound(kernel, q, k, v, lengths, lengths, o, lse)
    launch()
    torch.cuda.synchronize()
    check(problem, q, k, v, o)
    require_equal_bits(launch, o)
    contenders = [Contender("varlen", launch, CALLS)]
    if not problem.mixed:
        plain = runtime.kernel(device, problem.text.replace("varlen=true", ""))
        contenders.append(Contender("fixed", bound(plain, q, k, v, o, lse), CALLS))
    if varlen_attn:
        try:
            contenders.append(Contender("torch", packed(problem, q, k, v), CALLS))
        except RuntimeError as refusal:
            print(f"torch: {str(refusal).splitlines()[0][:100]}", file=sys.stderr)
    take_turns(contenders, **TURNS)
    info = kernel.info()
    return {"problem": problem.text, "mixed": problem.mixed, "registers": info["registers"],
            "spill_bytes": info["spill_bytes"], "times": {each.name: each.times for each in contenders}}


def row(problem, result):
    times = {name: statistics.median(values) for name, values in result["times"].items()}
    ours = times["varlen"]
    ratio = lambda name: f"{times[name] / ours:.3f}" if name in times else ""
    return (f"| {problem.text.removeprefix('flash_attention ')} | {'drawn' if problem.mixed else 'all'} | {ours:.1f} | "
            f"{problem.flops() / ours / 1e6:.0f} | {ratio('fixed')} | {ratio('torch')} | {result['spill_bytes']} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("problems")
    parser.add_argument("--out", help="write FILE.json and FILE.md")
    options = parser.parse_args()
    lines = [line.split("#")[0].strip() for line in open(options.problems, encoding="utf-8")]
    runtime = jitk.Runtime()
    device = runtime.device("cuda:0")
    results, failed = [], False
    table = ["| problem | lengths | us | TFLOP/s | fixed / varlen | torch / varlen | spills |", "|---" * 7 + "|"]
    print("\n".join(table), flush=True)
    for line in filter(lambda line: "varlen=true" in line, lines):
        for mixed in (False, True):
            problem = Problem(line, mixed)
            try:
                results.append(measure(runtime, device, problem))
                table.append(row(problem, results[-1]))
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
