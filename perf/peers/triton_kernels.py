#!/usr/bin/env python3
"""Kernels in Triton 3.6 that jitk's are held against, and the configurations to choose the fastest of.

All of them load by TMA, through descriptors made on the host, and store so where warps are not specialized: there Triton
3.6 takes pointers alone. Matrices are row major; B of a product may be [n, k].
Run as a program, it compiles every candidate for sm_90 without a GPU and prints registers, spills and shared memory."""
import dataclasses

import triton
import triton.language as tl


@triton.jit
def _position(tile, rows_of_tiles, columns_of_tiles, GROUP: tl.constexpr):
    """Tiles in groups of GROUP rows, down before right."""
    group_tiles = GROUP * columns_of_tiles
    group = tile // group_tiles
    rows = min(rows_of_tiles - group * GROUP, GROUP)
    return group * GROUP + tile % rows, tile % group_tiles // rows


@triton.jit
def _store(to, tile, first_row, first_column, rows, columns, BM: tl.constexpr, BN: tl.constexpr, POINTER: tl.constexpr):
    if POINTER:
        row, column = first_row + tl.arange(0, BM)[:, None], first_column + tl.arange(0, BN)[None, :]
        tl.store(to + row.to(tl.int64) * columns + column, tile.to(to.dtype.element_ty), (row < rows) & (column < columns))
    else:
        to.store([first_row, first_column], tile.to(to.dtype))


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
           B_COLUMN_MAJOR: tl.constexpr, FLATTEN: tl.constexpr, SPECIALIZE: tl.constexpr):
    """C = A B: programs that stay and take every so many tiles, or one a tile."""
    rows_of_tiles, columns_of_tiles = tl.cdiv(m, BM), tl.cdiv(n, BN)
    for tile in tl.range(tl.program_id(0), rows_of_tiles * columns_of_tiles, tl.num_programs(0), flatten=FLATTEN,
                         warp_specialize=SPECIALIZE):
        row, column = _position(tile, rows_of_tiles, columns_of_tiles, GROUP)
        sums = tl.zeros((BM, BN), dtype=tl.float32)
        for block in range(tl.cdiv(k, BK)):
            left = a.load([row * BM, block * BK])
            if B_COLUMN_MAJOR:
                sums = tl.dot(left, b.load([column * BN, block * BK]).T, sums)
            else:
                sums = tl.dot(left, b.load([block * BK, column * BN]), sums)
        _store(c, sums, row * BM, column * BN, m, n, BM, BN, SPECIALIZE)


@triton.jit
def fp8_block_matmul(a, b, c, a_scale, b_scale, m, n, k, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr,
                     FLATTEN: tl.constexpr, SPECIALIZE: tl.constexpr):
    """C = A B^T in e4m3; a scale for 1 x 128 of A and 128 x 128 of B."""
    rows_of_tiles, columns_of_tiles, blocks = tl.cdiv(m, BM), tl.cdiv(n, BN), tl.cdiv(k, 128)
    for tile in tl.range(tl.program_id(0), rows_of_tiles * columns_of_tiles, tl.num_programs(0), flatten=FLATTEN,
                         warp_specialize=SPECIALIZE):
        row, column = _position(tile, rows_of_tiles, columns_of_tiles, GROUP)
        rows = row * BM + tl.arange(0, BM)
        left_scales = a_scale + tl.minimum(rows, m - 1) * blocks
        right_scale = b_scale + column * BN // 128 * blocks
        sums = tl.zeros((BM, BN), dtype=tl.float32)
        for block in range(blocks):
            products = tl.dot(a.load([row * BM, block * 128]), b.load([column * BN, block * 128]).T)
            sums += products * (tl.load(left_scales + block) * tl.load(right_scale + block))[:, None]
        _store(c, sums, row * BM, column * BN, m, n, BM, BN, SPECIALIZE)


@triton.jit
def _attend(state, queries, k, v, first, last, factor, row, key_row, key_column, value_column, BM: tl.constexpr,
            BN: tl.constexpr, MASKED: tl.constexpr):
    """The softmax over keys first ... last, and its products with their values, added to `state`."""
    sums, total, most = state
    for key in range(first, last, BN):
        scores = tl.dot(queries, k.load([key_row + key, key_column]).T)
        if MASKED:
            seen = (row + tl.arange(0, BM))[:, None] >= (key + tl.arange(0, BN))[None, :]
            scores = tl.where(seen, scores, -float("inf"))
        largest = tl.maximum(most, tl.max(scores, 1) * factor)
        weights = tl.exp2(scores * factor - largest[:, None])
        rescale = tl.exp2(most - largest)
        total = total * rescale + tl.sum(weights, 1)
        values = v.load([key_row + key, value_column])
        sums = tl.dot(weights.to(values.dtype), values, sums * rescale[:, None])
        most = largest
    return sums, total, most


@triton.jit
def flash_attention(q, k, v, o, lse, factor, heads, sharing, seq_q, seq_k, D: tl.constexpr, DV: tl.constexpr,
                    BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    """O = softmax(Q K^T) V over [batch * sequence, heads * dim]; `factor` is scale * log2(e). Sequences are whole tiles.
    Of causal problems the long tiles come first."""
    tile = tl.num_programs(0) - 1 - tl.program_id(0) if CAUSAL else tl.program_id(0)
    batch, head = tl.program_id(1) // heads, tl.program_id(1) % heads
    key_row, key_head = batch * seq_k, head // sharing
    queries = q.load([batch * seq_q + tile * BM, head * D])
    most = tl.full((BM,), -float("inf"), tl.float32)
    state = tl.zeros((BM, DV), tl.float32), tl.zeros((BM,), tl.float32), most
    first_row = seq_k - seq_q + tile * BM
    whole = first_row // BN * BN if CAUSAL else seq_k
    state = _attend(state, queries, k, v, 0, whole, factor, first_row, key_row, key_head * D, key_head * DV, BM, BN,
                    False)
    if CAUSAL:
        state = _attend(state, queries, k, v, whole, first_row + BM, factor, first_row, key_row, key_head * D,
                        key_head * DV, BM, BN, True)
    sums, total, most = state
    o.store([batch * seq_q + tile * BM, head * DV], (sums / total[:, None]).to(o.dtype))
    rows = tl.program_id(1) * seq_q + tile * BM + tl.arange(0, BM)
    tl.store(lse + rows, (most + tl.log2(total)) * 0.6931471805599453)


@dataclasses.dataclass(frozen=True)
class Candidate:
    """Blocks, and how they are compiled."""
    bm: int
    bn: int
    bk: int = 128
    warps: int = 8
    stages: int = 3
    persistent: bool = True
    specialize: bool = False

    @property
    def flatten(self):
        """Whether the loops over tiles and blocks become one: not where warps are specialized."""
        return self.persistent and not self.specialize

    def __str__(self):
        words = [f"{self.bm}x{self.bn}x{self.bk}", f"{self.warps} warps", f"{self.stages} stages"]
        return ", ".join(words + ["stays"] * self.persistent + ["specialized"] * self.specialize)


def matmul_candidates(m):
    if m > 128:
        return [Candidate(128, 256, 64, 8, 3), Candidate(256, 128, 64, 8, 3),
                Candidate(128, 256, 64, 8, 3, persistent=False), Candidate(128, 128, 64, 4, 4, persistent=False),
                Candidate(128, 256, 64, 4, 3, specialize=True), Candidate(128, 128, 64, 4, 4, specialize=True)]
    if m > 64:
        return [Candidate(64, 32, 128, 4, 5, persistent=False), Candidate(64, 64, 128, 4, 5, persistent=False),
                Candidate(128, 64, 128, 4, 4, persistent=False), Candidate(128, 32, 128, 4, 4, persistent=False)]
    if m > 16:
        return [Candidate(64, 32, 128, 4, 5, persistent=False), Candidate(64, 64, 128, 4, 5, persistent=False)]
    return [Candidate(16, 32, 256, 4, 4, persistent=False), Candidate(16, 64, 128, 4, 5, persistent=False),
            Candidate(16, 32, 128, 4, 6, persistent=False)]


def fp8_candidates(m):
    if m > 128:
        return [Candidate(64, 128, 128, 4, 4, persistent=False), Candidate(128, 64, 128, 4, 4, persistent=False),
                Candidate(128, 128, 128, 8, 4), Candidate(128, 128, 128, 8, 3, persistent=False),
                Candidate(128, 128, 128, 4, 3, specialize=True)]
    if m > 16:
        return [Candidate(64, 128, 128, 4, 4, persistent=False), Candidate(64, 32, 128, 4, 6, persistent=False),
                Candidate(64, 64, 128, 4, 5, persistent=False)]
    return [Candidate(16, 64, 128, 4, 6, persistent=False), Candidate(16, 32, 128, 4, 6, persistent=False)]


def attention_candidates(dim):
    """None is specialized: the pass for Hopper stops with a failed assertion at these loops."""
    blocks = {64: [(128, 128, 8, 3), (128, 64, 4, 3), (128, 128, 4, 2), (64, 64, 4, 3)],
              128: [(128, 128, 8, 2), (128, 64, 8, 3), (128, 128, 8, 3), (64, 64, 4, 3)]}
    wide = [(128, 64, 8, 2), (128, 32, 8, 3), (64, 64, 4, 2)]
    return [Candidate(bm, bn, warps=warps, stages=stages, persistent=False)
            for bm, bn, warps, stages in blocks.get(dim, wide)]


def _compile(kernel, signature, constants, candidate):
    source = triton.compiler.ASTSource(kernel, signature, constants)
    target = triton.backends.compiler.GPUTarget("cuda", 90, 32)
    return triton.compile(source, target=target,
                          options={"num_warps": candidate.warps, "num_stages": candidate.stages})


def _output(candidate):
    return "*bf16" if candidate.specialize else f"tensordesc<bf16[{candidate.bm},{candidate.bn}]>"


def _all():
    """Name, kernel, signature, constants and candidate of all that a list of problems may need."""
    for m in (4096, 128, 64, 1):
        for each in matmul_candidates(m):
            blocks = {"BM": each.bm, "BN": each.bn, "BK": each.bk, "GROUP": 8, "B_COLUMN_MAJOR": True,
                      "FLATTEN": each.flatten, "SPECIALIZE": each.specialize}
            signature = {"a": f"tensordesc<bf16[{each.bm},{each.bk}]>", "b": f"tensordesc<bf16[{each.bn},{each.bk}]>",
                         "c": _output(each), "m": "i32", "n": "i32", "k": "i32"}
            yield f"matmul {each}", matmul, signature, blocks, each
        for each in fp8_candidates(m):
            blocks = {"BM": each.bm, "BN": each.bn, "GROUP": 8, "FLATTEN": each.flatten,
                      "SPECIALIZE": each.specialize}
            signature = {"a": f"tensordesc<fp8e4nv[{each.bm},128]>", "b": f"tensordesc<fp8e4nv[{each.bn},128]>",
                         "c": _output(each), "a_scale": "*fp32", "b_scale": "*fp32",
                         "m": "i32", "n": "i32", "k": "i32"}
            yield f"fp8_block_matmul {each}", fp8_block_matmul, signature, blocks, each
    for dim in (64, 128, 256):
        for each in attention_candidates(dim):
            blocks = {"D": dim, "DV": dim, "BM": each.bm, "BN": each.bn, "CAUSAL": True}
            signature = {"q": f"tensordesc<bf16[{each.bm},{dim}]>", "k": f"tensordesc<bf16[{each.bn},{dim}]>",
                         "v": f"tensordesc<bf16[{each.bn},{dim}]>", "o": f"tensordesc<bf16[{each.bm},{dim}]>",
                         "lse": "*fp32", "factor": "fp32", "heads": "i32", "sharing": "i32", "seq_q": "i32",
                         "seq_k": "i32"}
            yield f"flash_attention d{dim} {each}", flash_attention, signature, blocks, each


def main():
    for name, kernel, signature, constants, candidate in _all():
        signature = {**signature, **{name: "constexpr" for name in constants}}
        try:
            compiled = _compile(kernel, signature, constants, candidate)
            print(f"{name}: {compiled.metadata.shared} bytes of shared memory, "
                  f"{compiled.asm['ptx'].count('wgmma.mma_async')} wgmma, "
                  f"{'' if 'setmaxnreg' in compiled.asm['ptx'] else 'not '}specialized")
        except Exception as failure:  # a candidate that Triton cannot compile is left out of the choice
            print(f"{name}: {type(failure).__name__}: {str(failure).splitlines()[0][:120]}", flush=True)


if __name__ == "__main__":
    main()
