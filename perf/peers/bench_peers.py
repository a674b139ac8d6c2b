#!/usr/bin/env python3
"""bench_peers.py PROBLEMS --out FILE.jsonl: jitk beside Triton and torch, in one process on one stream.

PROBLEMS is a list as `bench_kernels` takes it, of matmul, fp8_block_matmul and flash_attention in bf16. All contenders are
checked against torch first; what is wrong is not timed. Of Triton the fastest of several configurations runs
(triton_kernels.py). Then CUDA graphs of up to 20 calls take turns A B C C B A three times, with rest before each turn;
30 replays each. Writes JSON lines, which `perf/report/report.py` reads. Needs torch and Triton, and jitk by
PYTHONPATH=integrations/python and JITK_LIBRARY. Exit status 1 where a result is wrong."""
import argparse
import concurrent.futures
import json
import math
import os
import statistics
import sys

import jitk
import torch
import torch.nn.functional as functional
import triton
import triton_kernels as kernels
from contender import MOST_CALLS, REPLAYS, REST_S, ROUNDS, Contender, bound, require_equal_bits, take_turns
from torch.nn.attention import SDPBackend, sdpa_kernel
from triton.tools.tensor_descriptor import TensorDescriptor

PEAK_16_BIT, PEAK_8_BIT, MEMORY = 989e12, 1979e12, 4.8e12
# Two sums of k products of N(0, 1) in fp32, each rounded to bf16, relative to their norm: two roundings of 2^-9 at most.
ROUNDED = 4e-3


def random(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def descriptor(tensor, *block):
    return TensorDescriptor.from_tensor(tensor, list(block))


def relative_error(found, wanted):
    return ((found.float() - wanted.float()).norm() / wanted.float().norm()).item()


class Problem:
    """Of one line: tensors, jitk's arguments, what peers there are, and how a result is checked."""

    def __init__(self, line):
        self.text = line
        self.words = dict(word.split("=") for word in line.split()[1:])

    def size(self, name, default=None):
        return int(self.words.get(name, default))

    def flag(self, name):
        return self.words.get(name) == "true"


class Matmul(Problem):
    peak = PEAK_16_BIT

    def __init__(self, line):
        super().__init__(line)
        self.m, self.n, self.k = (self.size(name) for name in "mnk")
        self.column_major = self.words.get("b_layout") == "col"
        self.a, self.b = random(self.m, self.k), random(*(self.n, self.k) if self.column_major else (self.k, self.n))
        self.c = torch.full((self.m, self.n), math.nan, device="cuda", dtype=torch.bfloat16)
        self.arguments = (self.a, self.b, self.c)
        self.outputs = [self.c]
        self.flops = 2 * self.m * self.n * self.k
        self.wanted = self.a.float() @ self.right().float()

    def right(self):
        return self.b.T if self.column_major else self.b

    def check(self):
        error = relative_error(self.c, self.wanted)
        if not error < ROUNDED:
            raise ArithmeticError(f"relative error {error:.1e}")

    def torch_peers(self):
        return {"cuBLAS (torch.mm)": lambda: torch.mm(self.a, self.right(), out=self.c)}

    def triton_peers(self):
        multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
        for each in kernels.matmul_candidates(self.m):
            tiles = triton.cdiv(self.m, each.bm) * triton.cdiv(self.n, each.bn)
            right = (each.bn, each.bk) if self.column_major else (each.bk, each.bn)
            arguments = (descriptor(self.a, each.bm, each.bk), descriptor(self.b, *right),
                         self.c if each.specialize else descriptor(self.c, each.bm, each.bn), self.m, self.n, self.k)
            yield each, kernels.matmul, (min(tiles, multiprocessors) if each.persistent else tiles,), arguments, {
                "BM": each.bm, "BN": each.bn, "BK": each.bk, "GROUP": 8, "B_COLUMN_MAJOR": self.column_major,
                "FLATTEN": each.flatten, "SPECIALIZE": each.specialize}


class Fp8BlockMatmul(Problem):
    peak = PEAK_8_BIT

    def __init__(self, line):
        super().__init__(line)
        self.m, self.n, self.k = (self.size(name) for name in "mnk")
        blocks, row_blocks = -(-self.k // 128), -(-self.n // 128)
        self.a, self.b = (random(rows, self.k).to(torch.float8_e4m3fn) for rows in (self.m, self.n))
        self.a_scale = torch.rand(self.m, blocks, device="cuda") + 0.5
        self.b_scale = torch.rand(row_blocks, blocks, device="cuda") + 0.5
        self.c = torch.full((self.m, self.n), math.nan, device="cuda", dtype=torch.bfloat16)
        self.arguments = (self.a.view(torch.uint8), self.a_scale, self.b.view(torch.uint8), self.b_scale, self.c)
        self.outputs = [self.c]
        self.flops = 2 * self.m * self.n * self.k
        columns = self.a_scale.repeat_interleave(128, 1)[:, :self.k]
        both = self.b_scale.repeat_interleave(128, 0)[:self.n].repeat_interleave(128, 1)[:, :self.k]
        self.wanted = (self.a.float() * columns) @ (self.b.float() * both).T
        self.a16, self.b16, self.c16 = random(self.m, self.k), random(self.n, self.k), torch.empty_like(self.c)

    def check(self):
        # Tensor cores keep 14 bits of a sum of 128 products, of which there are k / 128.
        error = relative_error(self.c, self.wanted)
        if not error < 2 * ROUNDED:
            raise ArithmeticError(f"relative error {error:.1e}")

    def torch_peers(self):
        return {"cuBLAS bf16 (torch.mm)": lambda: torch.mm(self.a16, self.b16.T, out=self.c16)}

    def triton_peers(self):
        multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
        for each in kernels.fp8_candidates(self.m):
            tiles = triton.cdiv(self.m, each.bm) * triton.cdiv(self.n, each.bn)
            arguments = (descriptor(self.a, each.bm, 128), descriptor(self.b, each.bn, 128),
                         self.c if each.specialize else descriptor(self.c, each.bm, each.bn), self.a_scale, self.b_scale,
                         self.m, self.n, self.k)
            yield each, kernels.fp8_block_matmul, (min(tiles, multiprocessors) if each.persistent else tiles,), arguments, {
                "BM": each.bm, "BN": each.bn, "GROUP": 8, "FLATTEN": each.flatten, "SPECIALIZE": each.specialize}


class FlashAttention(Problem):
    peak = PEAK_16_BIT
    BACKENDS = {"cuDNN (torch)": SDPBackend.CUDNN_ATTENTION, "flash (torch)": SDPBackend.FLASH_ATTENTION}

    def __init__(self, line):
        super().__init__(line)
        self.batch, self.heads, self.queries, self.dim = (
            self.size("batch", 1), self.size("heads"), self.size("seq_q"), self.size("head_dim"))
        self.key_heads, self.keys = self.size("kv_heads", self.heads), self.size("seq_k", self.queries)
        self.value_dim, self.causal = self.size("value_dim", self.dim), self.flag("causal")
        self.q = random(self.batch, self.queries, self.heads, self.dim)
        self.k = random(self.batch, self.keys, self.key_heads, self.dim)
        self.v = random(self.batch, self.keys, self.key_heads, self.value_dim)
        self.o = torch.full((self.batch, self.queries, self.heads, self.value_dim), math.nan, device="cuda",
                            dtype=torch.bfloat16)
        self.lse = torch.full((self.batch, self.heads, self.queries), math.nan, device="cuda")
        self.arguments = (self.q, self.k, self.v, self.o, self.lse)
        self.outputs = [self.o, self.lse]
        products = self.batch * self.heads * self.queries * self.keys * (self.dim + self.value_dim)
        self.flops = 2 * products * (0.5 if self.causal else 1)

    def check(self):
        """Rows at both ends of three heads, in float32. A rounding of P and one of O to bf16: 2^-9 each at random."""
        for batch, head in {(0, 0), (self.batch - 1, self.heads - 1), (0, self.heads // 2)}:
            key_head = head * self.key_heads // self.heads
            for first in {0, max(0, self.queries - 256)}:
                rows = slice(first, min(first + 256, self.queries))
                scores = self.q[batch, rows, head].float() @ self.k[batch, :, key_head].float().T / math.sqrt(self.dim)
                if self.causal:
                    query = torch.arange(rows.start, rows.stop, device="cuda")[:, None]
                    key = torch.arange(self.keys, device="cuda")[None]
                    scores = scores.masked_fill(key > query + self.keys - self.queries, -math.inf)
                wanted = torch.softmax(scores, -1) @ self.v[batch, :, key_head].float()
                error = relative_error(self.o[batch, rows, head], wanted)
                log_error = (self.lse[batch, head, rows] - torch.logsumexp(scores, -1)).abs().max().item()
                if not (error < ROUNDED and log_error < 1e-4):
                    raise ArithmeticError(f"head {head}: relative error {error:.1e}, of lse {log_error:.1e}")

    def torch_peers(self):
        # torch's causal mask begins at the upper left: it is the same only where there are as many queries as keys.
        if self.causal and self.queries != self.keys:
            return {}
        views = [tensor.transpose(1, 2) for tensor in (self.q, self.k, self.v)]

        def attend(backend):
            with sdpa_kernel(backend):
                return functional.scaled_dot_product_attention(*views, is_causal=self.causal,
                                                               enable_gqa=self.heads != self.key_heads)
        return {name: lambda backend=backend: attend(backend) for name, backend in self.BACKENDS.items()}

    def triton_peers(self):
        if self.dim & (self.dim - 1) or self.value_dim != self.dim:
            return
        q, k, v, o = (tensor.flatten(2).flatten(0, 1) for tensor in (self.q, self.k, self.v, self.o))
        factor = math.log2(math.e) / math.sqrt(self.dim)
        for each in kernels.attention_candidates(self.dim):
            if self.queries % each.bm or self.keys % each.bn:
                continue
            arguments = (descriptor(q, each.bm, self.dim), descriptor(k, each.bn, self.dim), descriptor(v, each.bn, self.dim),
                         descriptor(o, each.bm, self.dim), self.lse, factor, self.heads, self.heads // self.key_heads,
                         self.queries, self.keys)
            yield each, kernels.flash_attention, (self.queries // each.bm, self.batch * self.heads), arguments, {
                "D": self.dim, "DV": self.dim, "BM": each.bm, "BN": each.bn, "CAUSAL": self.causal}


OPS = {"matmul": Matmul, "fp8_block_matmul": Fp8BlockMatmul, "flash_attention": FlashAttention}


def checked(problem, work):
    """The outputs are poisoned first, so that what is not written is wrong."""
    for output in problem.outputs:
        output.fill_(math.nan)
    work()
    torch.cuda.synchronize()
    problem.check()


def launcher(kernel, grid, arguments, constants, candidate):
    return lambda: kernel[grid](*arguments, **constants, num_warps=candidate.warps, num_stages=candidate.stages)


def candidates(problem, specialized):
    """Candidates of Triton's with specialized warps are tried where that is asked for: one that hangs hangs the program."""
    return (peer for peer in problem.triton_peers() if specialized or not peer[0].specialize)


def compile_candidates(problems, specialized):
    """On all cores; what Triton cannot compile is left out when its turn comes."""
    with concurrent.futures.ThreadPoolExecutor() as pool, triton.AsyncCompileMode(pool, ignore_errors=True):
        for problem in problems:
            for each, kernel, grid, arguments, constants in candidates(problem, specialized):
                kernel.warmup(*arguments, grid=grid, num_warps=each.warps, num_stages=each.stages, **constants)


def fastest_triton(problem, specialized):
    """The best right candidate, or None."""
    best, least = None, math.inf
    for each, kernel, grid, arguments, constants in candidates(problem, specialized):
        work = launcher(kernel, grid, arguments, constants, each)
        print(f"  Triton {each}: ", end="", file=sys.stderr, flush=True)
        try:
            checked(problem, work)
            contender = Contender("Triton", work)
        except Exception as failure:  # of Triton's compiler or of a launch
            print(f"{type(failure).__name__}: {str(failure).splitlines()[0][:100]}", file=sys.stderr)
            continue
        contender.configuration = str(each)
        us = contender.take_turn(rest=0)
        print(f"{us:.2f} us", file=sys.stderr)
        if us < least:
            best, least = contender, us
        contender.times = []
    return best


def measure(runtime, device, problem, specialized):
    kernel = runtime.kernel(device, problem.text)
    launch = bound(kernel, *problem.arguments)
    checked(problem, launch)
    require_equal_bits(launch, problem.outputs[0])
    ours = Contender("jitk", launch)
    contenders = [ours]
    if best := fastest_triton(problem, specialized):
        contenders.append(best)
    for name, work in problem.torch_peers().items():
        try:
            contenders.append(Contender(name, work))
        except RuntimeError as refusal:
            print(f"  {name}: {str(refusal).splitlines()[0][:100]}", file=sys.stderr)
    take_turns(contenders)
    return row(problem, kernel.info(), ours, contenders[1:])


def row(problem, info, ours, peers):
    us = statistics.median(ours.times)
    moved = sum(tensor.numel() * tensor.element_size() for tensor in problem.arguments)
    return {"problem": problem.text, "median_us": us, "least_us": min(ours.times),
            "tflops": problem.flops / us * 1e-6, "gb_per_s": moved / us * 1e-3,
            "roof_us": 1e6 * max(problem.flops / problem.peak, moved / MEMORY), "peak_tflops": problem.peak * 1e-12,
            "registers": info["registers"], "spill_bytes": info["spill_bytes"], "shared_bytes": info["shared_bytes"],
            "threads": info["threads"], "compile_ms": info["build_ms"] + info["lower_ms"] + info["llvm_ms"],
            "assemble_ms": info["assemble_ms"], "check": "against torch in float32", "times_us": ours.times,
            "peers": {peer.name: {"median_us": statistics.median(peer.times), "times_us": peer.times,
                                  **({"configuration": peer.configuration} if hasattr(peer, "configuration") else {})}
                      for peer in peers}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("problems")
    parser.add_argument("--out", required=True, help="file of JSON lines")
    parser.add_argument("--specialized", action="store_true", help="also time Triton's kernels with specialized warps")
    options = parser.parse_args()
    with open(options.problems, encoding="utf-8") as file:
        lines = list(filter(None, (line.split("#")[0].strip() for line in file)))
    problems = [OPS[line.split()[0]](line) for line in lines]
    runtime = jitk.Runtime(store="")
    device = runtime.device("cuda:0")
    runtime.plan(lines).prepare(device)  # on all cores
    compile_candidates(problems, options.specialized)
    failed = False
    with open(options.out, "w", encoding="utf-8") as out:
        header = {"device": device.name, "driver": torch.version.cuda, "build": jitk.build_id(),
                  "command": f"bench_peers.py {os.path.basename(options.problems)} --out {os.path.basename(options.out)}",
                  "protocol": f"Graphs of up to {MOST_CALLS} calls, {2 * ROUNDS * REPLAYS} replays, median; contenders take turns "
                              f"A B C C B A, three times, {REST_S * 1e3:.0f} ms of rest and one replay before each turn; "
                              f"warm L2. torch {torch.__version__}, Triton {triton.__version__}."}
        print(json.dumps(header), file=out, flush=True)
        for problem in problems:
            line = problem.text
            try:
                result = measure(runtime, device, problem, options.specialized)
                ratios = "  ".join(f"{name} {peer['median_us'] / result['median_us']:.3f}"
                                   for name, peer in result["peers"].items())
                print(f"{line:88} {result['median_us']:9.2f} us  {ratios}", flush=True)
            except (ArithmeticError, jitk.Error) as failure:
                failed = True
                result = {"problem": line, "failure": str(failure)}
                print(f"{line:88} {failure}", flush=True)
            print(json.dumps(result), file=out, flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
