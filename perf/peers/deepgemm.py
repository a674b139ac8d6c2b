#!/usr/bin/env python3
"""Compiles DeepGEMM's products of fp8 with scales of blocks, of groups too, into a folder that `bench_kernels --deepgemm` takes.

usage: deepgemm.py DEEPGEMM CUTLASS --out FOLDER [--nvcc nvcc] [--jobs 2] [--only NAME ...]

DEEPGEMM and CUTLASS are checkouts: https://github.com/deepseek-ai/DeepGEMM and https://github.com/NVIDIA/cutlass. What a file's
name says, m4096.n7168.k2048.256x128.s3.c2.cubin, is the product, the tile, the stages and the CTAs that share an operand: those
that the heuristics of commit 54e22612 choose on 132 multiprocessors. contiguous4. before it are four groups of rows, of all of
which m counts the rows; masked32. are 32 groups, of each of which m counts the rows that are expected. --only takes those whose
name begins so. sources.json says what all of the folder were compiled of.
"""
import argparse
import concurrent.futures
import dataclasses
import json
import pathlib
import re
import subprocess
import sys

# (n, k): for each m tile, stages, CTAs of a cluster, and whether these share rows of A.
M = (1, 8, 64, 128, 1024, 4096)
CHOICES = {
    (2112, 7168): ((16, 16, 16, 1, 0), (16, 16, 16, 1, 0), (64, 16, 16, 1, 0),
                   (64, 32, 16, 1, 0), (128, 144, 5, 1, 0), (128, 192, 4, 2, 0)),
    (576, 7168): ((16, 16, 16, 1, 0), (16, 16, 16, 1, 0), (64, 16, 16, 1, 0),
                  (64, 16, 16, 1, 0), (64, 80, 11, 1, 0), (128, 144, 5, 1, 0)),
    (24576, 1536): ((16, 96, 15, 2, 0), (16, 96, 15, 2, 0), (64, 96, 10, 2, 0),
                    (128, 192, 4, 1, 0), (256, 128, 3, 2, 1), (256, 128, 3, 2, 1)),
    (32768, 512): ((16, 128, 12, 2, 0), (16, 128, 12, 2, 0), (64, 128, 8, 2, 0),
                   (128, 128, 5, 2, 1), (256, 128, 3, 2, 1), (256, 128, 3, 2, 1)),
    (7168, 16384): ((16, 64, 16, 1, 0), (16, 64, 16, 1, 0), (64, 64, 13, 1, 0),
                    (64, 112, 9, 1, 0), (256, 112, 3, 2, 1), (256, 128, 3, 2, 1)),
    (4096, 7168): ((16, 32, 16, 1, 0), (16, 32, 16, 1, 0), (64, 32, 16, 1, 0),
                   (64, 64, 13, 1, 0), (256, 128, 3, 1, 0), (256, 128, 3, 2, 1)),
    (7168, 2048): ((16, 64, 16, 1, 0), (16, 64, 16, 1, 0), (64, 64, 13, 1, 0),
                   (64, 112, 9, 1, 0), (256, 112, 3, 2, 1), (256, 128, 3, 2, 1)),
    (7168, 18432): ((16, 64, 16, 1, 0), (16, 64, 16, 1, 0), (64, 64, 13, 1, 0),
                    (64, 112, 9, 1, 0), (256, 112, 3, 2, 1), (256, 128, 3, 2, 1)),
    (36864, 7168): ((16, 144, 10, 2, 0), (16, 144, 10, 2, 0), (64, 144, 7, 2, 0),
                    (128, 144, 5, 2, 0), (256, 128, 3, 2, 1), (256, 128, 3, 2, 1)),
}

# Of groups: kind, how many, (n, k), rows: the same of one m. Tiles of contiguous groups have 128 rows.
GROUPED = {}
for groups in (4, 8):
    for sizes in ((4096, 7168), (7168, 2048), (6144, 7168), (7168, 3072)):
        GROUPED["contiguous", groups, sizes, 32768] = (128, 192, 4, 2, 0)
GROUPED.update({
    ("masked", 32, (4096, 7168), 192): (128, 192, 4, 2, 0),
    ("masked", 32, (7168, 2048), 192): (128, 192, 4, 2, 0),
    ("masked", 6, (4096, 7168), 1024): (128, 192, 4, 2, 0),
    ("masked", 6, (7168, 2048), 1024): (128, 192, 4, 2, 0),
    ("masked", 32, (4096, 7168), 20): (64, 128, 8, 2, 0),
    ("masked", 32, (7168, 2048), 20): (64, 192, 6, 2, 0),
    ("masked", 6, (4096, 7168), 20): (64, 192, 6, 1, 0),
    ("masked", 6, (7168, 2048), 20): (64, 192, 6, 2, 0),
    ("masked", 1, (4096, 7168), 1024): (128, 128, 5, 2, 1),
    ("masked", 1, (7168, 2048), 1024): (128, 192, 4, 2, 0),
    ("masked", 4, (4096, 7168), 256): (128, 128, 5, 2, 1),
    ("masked", 4, (7168, 2048), 256): (128, 192, 4, 2, 0),
})

TYPES = {"": "Normal", "contiguous": "MGroupedContiguous", "masked": "MGroupedMasked"}

SOURCE = """#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>
void *const kernel = reinterpret_cast<void *>(&deep_gemm::sm90_fp8_gemm_1d2d_impl<
    cute::UMMA::Major::K, 0, {n}, {k}, {groups}, {rows}, {columns}, 128, 128, 128, {swizzle}, {stages}, 128, {threads}, {cluster},
    {shares_rows}, 132, deep_gemm::GemmType::{type}, cutlass::bfloat16_t, deep_gemm::epilogue::transform::EpilogueIdentity>);
"""
FLAGS = ["-cubin", "-arch=sm_90a", "-std=c++20", "-O3", "--expt-relaxed-constexpr", "--expt-extended-lambda",
         "--diag-suppress=39,161,174,177,186,940", "--ptxas-options=--register-usage-level=10"]


@dataclasses.dataclass
class Kernel:
    m: int
    n: int
    k: int
    tile: tuple  # rows, columns, stages, CTAs of a cluster, whether these share rows of A
    kind: str = ""
    groups: int = 1

    @property
    def name(self):
        rows, columns, stages, cluster, _ = self.tile
        of_groups = f"{self.kind}{self.groups}." if self.kind else ""
        return f"{of_groups}m{self.m}.n{self.n}.k{self.k}.{rows}x{columns}.s{stages}.c{cluster}"

    @property
    def source(self):
        rows, columns, stages, cluster, shares_rows = self.tile
        swizzle = next(bytes for bytes in (128, 64, 32, 16) if 2 * columns % bytes == 0)
        return SOURCE.format(n=self.n, k=self.k, groups=self.groups, rows=rows, columns=columns, swizzle=swizzle,
                             stages=stages, threads=128 if rows <= 64 else 256, cluster=cluster,
                             shares_rows=str(bool(shares_rows)).lower(), type=TYPES[self.kind])


def kernels():
    dense = [Kernel(m, n, k, tile) for (n, k), tiles in CHOICES.items() for m, tile in zip(M, tiles)]
    return dense + [Kernel(m, n, k, tile, kind, groups) for (kind, groups, (n, k), m), tile in GROUPED.items()]


def compile_one(options, kernel):
    path = options.out / f"{kernel.name}.cubin"
    source = path.with_suffix(".cu")
    source.write_text(kernel.source)
    command = [options.nvcc, *FLAGS, f"-I{options.deepgemm}/deep_gemm/include", f"-I{options.cutlass}/include", str(source), "-o",
               str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    source.unlink()
    return path.name, done


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def commit_of(checkout, headers):
    """With "+" behind it where the headers are not those of the commit."""
    commit = output_of("git", "-C", str(checkout), "rev-parse", "HEAD")
    return commit + ("+" if output_of("git", "-C", str(checkout), "status", "--porcelain", "--", headers) else "")


def note_sources(options):
    """Writes what the kernels are compiled of; exits where the folder has kernels of something else."""
    release = re.search(r"V([\d.]+)", output_of(options.nvcc, "--version"))
    sources = {"deepgemm": commit_of(options.deepgemm, "deep_gemm/include"), "cutlass": commit_of(options.cutlass, "include"),
               "nvcc": release[1] if release else "?"}
    path = options.out / "sources.json"
    if path.exists() and json.loads(path.read_text()) != sources:
        raise SystemExit(f"deepgemm.py: the kernels in {options.out} are of other sources, see {path}")
    path.write_text(json.dumps(sources, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2].removeprefix("usage: "))
    parser.add_argument("deepgemm", type=pathlib.Path)
    parser.add_argument("cutlass", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="+", default=[""])
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    note_sources(options)
    chosen = [kernel for kernel in kernels() if kernel.name.startswith(tuple(options.only))]
    failed = not chosen
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, done in pool.map(lambda kernel: compile_one(options, kernel), chosen):
            print(name, "" if done.returncode == 0 else done.stderr, flush=True)
            failed |= done.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
