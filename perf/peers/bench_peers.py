#!/usr/bin/env python3
"""bench_peers.py LISTS... --out FILE.jsonl: jitk beside Triton and torch, in one process on one stream.

LISTS are as `bench_kernels` takes them, of matmul, fp8_block_matmul and flash_attention in bf16. All contenders are
checked against torch first; what is wrong is not timed. Of Triton the fastest of several configurations runs
(triton_kernels.py). Then CUDA graphs of up to 20 calls take turns A B C C B A three times, with rest before each turn;
30 replays each. Writes JSON lines, which `perf/report/report.py` reads. Needs torch and Triton, and jitk by
PYTHONPATH=integrations/python and JITK_LIBRARY. Exit status 1 where a result is wrong."""
import concurrent.futures
import math
import sys

import torch
import triton
import triton_kernels as kernels
from contender import Contender
from harness import PEAK_8_BIT, ROUNDED, Problem, checked, parser, random, relative_error, run
from torch_attention import FlashAttention
from triton.tools.tensor_descriptor import TensorDescriptor


def descriptor(tensor, *block):
    return TensorDescriptor.from_tensor(tensor, list(block))


class Matmul(Problem):
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

    def check_peer(self, result):
        self.check()  # what it wrote

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


class TritonAttention(FlashAttention):
    lse_tolerance = 1e-4

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


OPS = {"matmul": Matmul, "fp8_block_matmul": Fp8BlockMatmul, "flash_attention": TritonAttention}


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


def main():
    options = parser(__doc__.splitlines()[0])
    options.add_argument("--specialized", action="store_true", help="also time Triton's kernels with specialized warps")
    options = options.parse_args()
    problems = {}

    def before(lines):
        problems.update((line, OPS[line.split()[0]](line)) for line in lines)
        compile_candidates(problems.values(), options.specialized)

    def contenders(problem):
        best = fastest_triton(problem, options.specialized)
        return [best] if best else []
    return run(options, problems.get, f"torch {torch.__version__}, Triton {triton.__version__}", before=before,
               contenders=contenders)


if __name__ == "__main__":
    sys.exit(main())
