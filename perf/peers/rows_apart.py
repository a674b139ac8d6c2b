#!/usr/bin/env python3
"""rows_apart.py [--out FILE]: kernels whose tensors are parts of wider buffers beside the same ones of tensors of their own.

Products with A and C in slices of wider rows, of 16 bits and of fp8; attention of Q, K and V that one projection left in
one buffer, into a slice of another; decoding over caches that are halves of each page of one buffer, by tables wider than
the sequences are long. Both kernels get the same numbers, and must give the same bits; what lies between the rows of an
output must keep its own. Exit status 1 where a result is wrong. Timing as in bench_peers.py: graphs of calls that
take turns."""
import argparse
import json
import statistics
import sys

import jitk
import torch

from contender import Contender, bound, require_equal_bits, take_turns

KEPT = 7.0  # what lies in a buffer of outputs before


class Slices:
    """Tensors side by side in the rows of one buffer, `gap` elements after each, and what they are of their own."""

    def __init__(self, rows, widths, dtype, gap=0):
        width = sum(widths) + gap * len(widths)
        self.buffer = torch.empty(*rows, width, device="cuda", dtype=torch.float32).normal_().to(dtype)
        self.stride, self.views, first = width, [], 0
        for size in widths:
            self.views.append(self.buffer[..., first:first + size])
            first += size + gap
        self.own = [view.contiguous() for view in self.views]


class Output:
    """A slice of wider rows to write to, and a tensor of its own."""

    def __init__(self, rows, size, width, dtype):
        self.buffer = torch.full((*rows, width), KEPT, device="cuda", dtype=dtype)
        self.stride, self.first, self.size = width, 64, size
        self.view, self.own = self.buffer[..., 64:64 + size], torch.empty(*rows, size, device="cuda", dtype=dtype)

    def check(self):
        if not torch.equal(self.view, self.own):
            raise ArithmeticError("the bits differ from those of contiguous tensors")
        if not (self.buffer[..., :self.first] == KEPT).all() or not (self.buffer[..., self.first + self.size:] == KEPT).all():
            raise ArithmeticError("what lies between the rows was written")


def product(op, m, n, k, rest, dtype):
    a = Slices((m,), [k, k], dtype, gap=128)
    c = Output((m,), n, 2 * n + 192, torch.bfloat16)
    b = torch.empty(n, k, device="cuda", dtype=torch.float32).normal_().to(dtype)
    tensors = {"own": (a.own[0], b, c.own), "apart": (a.views[0], b, c.view)}
    if op == "fp8_block_matmul":
        bytes_of = lambda tensor: tensor.view(torch.uint8)
        tensors = {name: (bytes_of(x), bytes_of(y), z) for name, (x, y, z) in tensors.items()}
        scales = [torch.rand(rows, (k + 127) // 128, device="cuda") / 100 for rows in (m, (n + 127) // 128)]
        tensors = {name: (x, scales[0], y, scales[1], z) for name, (x, y, z) in tensors.items()}
    return f"{op} m={m} n={n} k={k}{rest}", f" a_stride={a.stride} c_stride={c.stride}", tensors, c.check, ()


def attention(batch, length, heads, key_heads, dim, causal):
    qkv = Slices((batch, length), [heads * dim, key_heads * dim, key_heads * dim], torch.bfloat16)
    o = Output((batch, length), heads * dim, heads * dim + 128, torch.bfloat16)
    split = lambda tensor: tensor.unflatten(-1, (-1, dim))
    lse = [torch.empty(batch, heads, length, device="cuda") for _ in range(2)]
    tensors = {"own": (*map(split, qkv.own), split(o.own), lse[0]), "apart": (*map(split, qkv.views), split(o.view), lse[1])}
    text = f"flash_attention batch={batch} heads={heads} kv_heads={key_heads} seq_q={length} head_dim={dim}"
    strides = f" q_stride={qkv.stride} k_stride={qkv.stride} v_stride={qkv.stride} o_stride={o.stride}"
    return text + (" causal=true" if causal else ""), strides, tensors, o.check, ()


def decode(batch, heads, key_heads, length, page, dim, splits):
    used = length // page
    pages = batch * used
    cache = torch.empty(pages, 2, page, key_heads, dim, device="cuda", dtype=torch.bfloat16).normal_()
    q = torch.empty(batch, 1, heads, dim, device="cuda", dtype=torch.bfloat16).normal_()
    table = torch.full((batch, 2 * used), -1, device="cuda", dtype=torch.int32)
    table[:, :used] = torch.randperm(pages, device="cuda", dtype=torch.int32).view(batch, used)
    lengths = torch.full((batch,), length, device="cuda", dtype=torch.int32)
    views = {"apart": (cache[:, 0], cache[:, 1], table[:, :used])}
    views["own"] = tuple(view.contiguous() for view in views["apart"])

    def rest():  # the schedule, o and lse of each kernel
        shapes = ((splits, 8), torch.int32), ((batch + 1,), torch.int32), (q.shape, q.dtype), ((batch, heads, 1), torch.float32)
        return (torch.zeros(shape, device="cuda", dtype=dtype) for shape, dtype in shapes)
    tensors = {name: (q, *views[name], lengths, *rest()) for name in ("own", "apart")}

    def check():
        if not torch.equal(tensors["own"][-2], tensors["apart"][-2]):
            raise ArithmeticError("the bits differ from those of caches of their own")
    text = (f"paged_attention batch={batch} heads={heads} kv_heads={key_heads} max_kv={length} num_pages={pages} "
            f"page_size={page} splits={splits} head_dim={dim}")
    stride = 2 * page * key_heads * dim
    strides = f" k_cache_page_stride={stride} v_cache_page_stride={stride} block_table_stride={2 * used}"
    return text, strides, tensors, check, (dim ** -0.5,)


PROBLEMS = [
    lambda: product("matmul", 4096, 4096, 7168, " b_layout=col", torch.bfloat16),
    lambda: product("matmul", 64, 4096, 7168, " b_layout=col", torch.bfloat16),
    lambda: product("fp8_block_matmul", 4096, 7168, 2048, "", torch.float8_e4m3fn),
    lambda: attention(4, 4096, 32, 8, 128, True),
    lambda: attention(2, 8192, 16, 16, 64, False),
    lambda: decode(32, 32, 8, 4096, 64, 128, 16),
    lambda: decode(32, 32, 8, 4096, 16, 128, 16),
    lambda: decode(32, 32, 8, 4096, 8, 128, 16),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="write one JSON object a line")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    torch.manual_seed(1)
    runtime = jitk.Runtime()
    device = runtime.device("cuda:0")
    failed, lines = False, []
    for make in PROBLEMS:
        text, strides, tensors, check, scalars = make()
        kernels = {"own": runtime.kernel(device, text), "apart": runtime.kernel(device, text + strides)}
        launches = {name: bound(kernels[name], *tensors[name], scalars=scalars) for name in kernels}
        try:
            for launch in launches.values():
                launch()
            torch.cuda.synchronize()
            check()
            require_equal_bits(launches["apart"], tensors["apart"][-1 if "matmul" in text else -2])
            contenders = [Contender(name, launch) for name, launch in launches.items()]
            take_turns(contenders, rounds=arguments.rounds)
            check()
        except ArithmeticError as failure:
            print(f"{text}{strides}: {failure}", flush=True)
            failed = True
            continue
        own, apart = (statistics.median(contender.times) for contender in contenders)
        registers = [kernels[name].info()["registers"] for name in kernels]
        print(f"{text + strides}: {own:.1f} us of its own, {apart:.1f} us apart, ratio {own / apart:.3f}, "
              f"registers {registers[0]} {registers[1]}", flush=True)
        lines.append({"problem": text, "strides": strides.strip(), "contiguous_us": own, "apart_us": apart})
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
