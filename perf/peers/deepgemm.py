#!/usr/bin/env python3
"""Compiles DeepGEMM's products of fp8 with scales of blocks into a folder that `bench_kernels --deepgemm` takes.

usage: deepgemm.py DEEPGEMM CUTLASS --out FOLDER [--nvcc nvcc] [--jobs 2] [--only M,N,K ...]

DEEPGEMM and CUTLASS are checkouts: https://github.com/deepseek-ai/DeepGEMM and https://github.com/NVIDIA/cutlass. What a file's
name says, m4096.n7168.k2048.256x128.s3.c2.cubin, is the product, the tile, the stages and the CTAs that share an operand: those
that the heuristics of commit 54e22612 choose on 132 multiprocessors.
"""
import argparse
import concurrent.futures
import pathlib
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

SOURCE = """#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>
void *const kernel = reinterpret_cast<void *>(&deep_gemm::sm90_fp8_gemm_1d2d_impl<
    cute::UMMA::Major::K, 0, {n}, {k}, 1, {rows}, {columns}, 128, 128, 128, {swizzle}, {stages}, 128, {threads}, {cluster},
    {shares_rows}, 132, deep_gemm::GemmType::Normal, cutlass::bfloat16_t, deep_gemm::epilogue::transform::EpilogueIdentity>);
"""
FLAGS = ["-cubin", "-arch=sm_90a", "-std=c++20", "-O3", "--expt-relaxed-constexpr", "--expt-extended-lambda",
         "--diag-suppress=39,161,174,177,186,940", "--ptxas-options=--register-usage-level=10"]


def compile_one(options, m, n, k):
    rows, columns, stages, cluster, shares_rows = CHOICES[n, k][M.index(m)]
    swizzle = next(bytes for bytes in (128, 64, 32, 16) if 2 * columns % bytes == 0)
    path = options.out / f"m{m}.n{n}.k{k}.{rows}x{columns}.s{stages}.c{cluster}.cubin"
    source = path.with_suffix(".cu")
    source.write_text(SOURCE.format(n=n, k=k, rows=rows, columns=columns, swizzle=swizzle, stages=stages, cluster=cluster,
                                    threads=128 if rows <= 64 else 256, shares_rows=str(bool(shares_rows)).lower()))
    command = [options.nvcc, *FLAGS, f"-I{options.deepgemm}/deep_gemm/include", f"-I{options.cutlass}/include", str(source), "-o",
               str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    source.unlink()
    return path.name, done


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2].removeprefix("usage: "))
    parser.add_argument("deepgemm", type=pathlib.Path)
    parser.add_argument("cutlass", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    products = [(m, n, k) for n, k in CHOICES for m in M]
    if options.only:
        products = [tuple(map(int, text.split(","))) for text in options.only]
    failed = False
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, done in pool.map(lambda product: compile_one(options, *product), products):
            print(name, "" if done.returncode == 0 else done.stderr, flush=True)
            failed |= done.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
