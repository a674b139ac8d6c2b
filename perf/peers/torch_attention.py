#!/usr/bin/env python3
"""torch_attention.py LISTS... --out FILE.jsonl: attention of jitk beside torch's, in one process on one stream.

LISTS are as `bench_kernels` takes them, of flash_attention (with `varlen` and `packed` too) and paged_attention in bf16. Peers:
  - torch's scaled_dot_product_attention, by cuDNN and by its own flash attention;
  - with `varlen` and `packed` torch's varlen_attn over packed sequences, whose key heads are repeated beforehand, and where all
    sequences are as long as they may be jitk's kernel without lengths; with `packed` jitk's kernel of padded sequences too;
  - with a window varlen_attn too, and jitk's kernel without one; with a cap on the scores jitk's kernel without one;
  - of paged_attention the same scaled_dot_product_attention over contiguous copies of the keys and values, which have no
    pages to look up, where all sequences are equally long; and torch.sum of as many bytes, in fp32.
Lengths are given in a list (seq_lens:...) or as large as they may be, offsets are given (cu_seqlens_q:...). Pages lie in no
order; what lies past an end is NaN.
Rows of three heads are checked against float32, bits over repeated launches, and peers against jitk. Protocol and output are
those of bench_peers.py. Needs torch, and jitk by PYTHONPATH=integrations/python and JITK_LIBRARY."""
import math
import sys
import warnings

import torch
import torch.nn.functional as functional
from contender import bound
from harness import ROUNDED, Problem, bytes_of, parser, random, relative_error, run
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.bias import causal_lower_right

try:
    from torch.nn.attention.varlen import varlen_attn
except ImportError:
    varlen_attn = None

BACKENDS = {"cuDNN (torch)": SDPBackend.CUDNN_ATTENTION, "flash (torch)": SDPBackend.FLASH_ATTENTION}


def lengths_of(problem, name, longest):
    values = problem.given.get(name, [longest] * problem.batch)
    if len(values) != problem.batch:
        raise ArithmeticError(f"{name} must have {problem.batch} lengths: got {len(values)}")
    return values


def attend(q, k, v, causal, backend):
    """A call of torch's attention; all tensors [batch, sequence, heads, dim]. Its own causal mask begins at the upper left."""
    views = [tensor.transpose(1, 2) for tensor in (q, k, v)]
    shape = q.shape[1], k.shape[1]
    mask = {"attn_mask": causal_lower_right(*shape)} if causal and shape[0] != shape[1] else {"is_causal": causal}

    def call():
        with sdpa_kernel(backend):
            o = functional.scaled_dot_product_attention(*views, **mask, enable_gqa=q.shape[2] != k.shape[2])
        return o.transpose(1, 2)
    return call


class Attention(Problem):
    tolerance = ROUNDED  # a rounding of P and one of O to bf16, 2^-9 each at random
    lse_tolerance = 2e-5

    def __init__(self, line):
        super().__init__(line)
        self.batch, self.heads, self.dim = self.size("batch", 1), self.size("heads"), self.size("head_dim")
        self.key_heads, self.value_dim = self.size("kv_heads", self.heads), self.size("value_dim", self.dim)
        self.causal = self.flag("causal")
        self.window = self.size("window_left", -1), 0 if self.causal else self.size("window_right", -1)
        self.softcap = float(self.words.get("softcap", 0))

    def make_outputs(self, *tokens):
        """`tokens` are the leading dimensions of O; the last is the last of lse."""
        self.o = torch.full((*tokens, self.heads, self.value_dim), math.nan, device="cuda", dtype=torch.bfloat16)
        self.lse = torch.full((*tokens[:-1], self.heads, tokens[-1]), math.nan, device="cuda")
        self.outputs = [self.o, self.lse]

    def count(self, queries, keys):
        """Of sequences of such lengths; causal ones of several queries have half of the scores, by convention."""
        share = 0.5 if self.causal and max(queries) > 1 else 1
        seen = self.seen if self.has_window() else lambda m, n: share * m * n
        scores = sum(seen(m, n) for m, n in zip(queries, keys, strict=True))
        self.flops = 2 * scores * self.heads * (self.dim + self.value_dim)

    def has_window(self):
        return self.window not in ((-1, -1), (-1, 0))

    def ends(self, rows, queries, keys):
        """The first key that each row sees, and the one behind the last."""
        diagonal, (left, right) = rows + keys - queries, self.window
        begin = diagonal - left if left >= 0 else torch.zeros_like(rows)
        end = diagonal + right + 1 if right >= 0 else torch.full_like(rows, keys)
        return begin.clamp(min=0), end.clamp(max=keys)

    def seen(self, queries, keys):
        begin, end = self.ends(torch.arange(queries), queries, keys)
        return (end - begin).clamp(min=0).sum().item()

    def check_rows(self, sequence, head, q, k, v, o, lse):
        """A head's first rows and its last; q and o [queries, dim], lse [queries], k and v [keys, dim] are the sequence's."""
        for first in {0, max(0, len(q) - 256)}:
            rows = slice(first, min(first + 256, len(q)))
            scores = q[rows].float() @ k.float().T / math.sqrt(self.dim)
            if self.softcap:
                scores = self.softcap * torch.tanh(scores / self.softcap)
            begin, end = self.ends(torch.arange(rows.start, rows.stop, device="cuda"), len(q), len(k))
            key = torch.arange(len(k), device="cuda")[None]
            scores = scores.masked_fill((key < begin[:, None]) | (key >= end[:, None]), -math.inf)
            error = relative_error(o[rows], torch.softmax(scores, -1) @ v.float())
            log_error = (lse[rows] - torch.logsumexp(scores, -1)).abs().max().item()
            if not (error < self.tolerance and log_error < self.lse_tolerance):
                raise ArithmeticError(f"sequence {sequence}, head {head}: relative error {error:.1e}, of lse {log_error:.1e}")

    def checked_heads(self):
        return {(0, 0), (self.batch - 1, self.heads - 1), (self.batch // 2, self.heads // 2)}

    def key_head(self, head):
        return head * self.key_heads // self.heads


def packed(tensor, lengths):
    """[batch, tokens, ...] as [all tokens of the sequences, ...]."""
    return torch.cat([tensor[i, :length] for i, length in enumerate(lengths)])


def padded(tensor, lengths, tokens):
    """The other way; NaN behind each sequence."""
    result = torch.full((len(lengths), tokens, *tensor.shape[1:]), math.nan, device="cuda", dtype=tensor.dtype)
    for i, part in enumerate(tensor.split(lengths)):
        result[i, :lengths[i]] = part
    return result


OTHER_RESULTS = ("jitk without a window", "jitk without a cap")


def other_forms(description):
    """jitk's kernels for the same sequences in tensors of another form, and for what is left out, by name."""
    def without(*names):
        return " ".join(word for word in description.split() if word.split("=")[0] not in names)
    dense = without("varlen", "packed", "total_q", "total_k")
    forms = {"jitk without lengths": dense, "jitk without a window": without("window_left", "window_right"),
             "jitk without a cap": without("softcap")}
    if "packed=true" in description:
        forms["jitk padded"] = dense + " varlen=true"
    return {name: form for name, form in forms.items() if form != description}


def integers(values):
    return torch.tensor(values, device="cuda", dtype=torch.int32)


class FlashAttention(Attention):
    def __init__(self, line):
        super().__init__(line)
        queries = self.size("seq_q")
        self.queries, self.keys = queries, self.size("seq_k", queries)
        self.varlen, self.packed = self.flag("varlen"), self.flag("packed")
        self.query_lengths = self.lengths("q", self.queries)
        self.key_lengths = self.lengths("k", self.keys)
        tokens = [[sum(lengths)] if self.packed else [self.batch, most]
                  for lengths, most in ((self.query_lengths, self.queries), (self.key_lengths, self.keys))]
        self.q = random(*tokens[0], self.heads, self.dim)
        self.k = random(*tokens[1], self.key_heads, self.dim)
        self.v = random(*tokens[1], self.key_heads, self.value_dim)
        self.make_outputs(*tokens[0])
        self.count(self.query_lengths, self.key_lengths)
        where = []
        if self.packed:
            where = [integers(self.given[name]) for name in ("cu_seqlens_q", "cu_seqlens_k")]
        elif self.varlen:
            where = [integers(self.query_lengths), integers(self.key_lengths)]
            for sequence, length in enumerate(self.key_lengths):
                self.k[sequence, length:] = math.nan
                self.v[sequence, length:] = math.nan
        self.arguments = (self.q, self.k, self.v, *where, self.o, self.lse)

    def lengths(self, side, most):
        if not self.packed:
            return lengths_of(self, f"seq_lens_{side}", most)
        ends = self.given[f"cu_seqlens_{side}"]
        lengths = [end - begin for begin, end in zip(ends, ends[1:])]
        if len(lengths) != self.batch or ends[0] != 0 or ends[-1] != self.size(f"total_{side}") or max(lengths) > most:
            raise ArithmeticError(f"cu_seqlens_{side} must go from 0 to total_{side} in {self.batch} lengths of at most {most}")
        return lengths

    def part(self, tensor, lengths, sequence):
        """Of a tensor of tokens the rows of a sequence."""
        if self.packed:
            return tensor.split(lengths)[sequence]
        return tensor[sequence, :lengths[sequence]]

    def rows_exist(self):
        """[batch, queries] of booleans."""
        lengths = torch.tensor(self.query_lengths, device="cuda")
        return torch.arange(self.queries, device="cuda")[None] < lengths[:, None]

    def moved(self):
        queries, keys = sum(self.query_lengths), sum(self.key_lengths)
        elements = queries * self.heads * (self.dim + self.value_dim) + keys * self.key_heads * (self.dim + self.value_dim)
        return 2 * elements + 4 * queries * self.heads

    def check(self):
        for sequence, head in self.checked_heads():
            q, o = (self.part(tensor, self.query_lengths, sequence)[:, head] for tensor in (self.q, self.o))
            k, v = (self.part(tensor, self.key_lengths, sequence)[:, self.key_head(head)] for tensor in (self.k, self.v))
            lse = self.part(self.lse.transpose(-1, -2), self.query_lengths, sequence)[:, head]
            self.check_rows(sequence, head, q, k, v, o, lse)
        if self.varlen and not self.o[~self.rows_exist()].isnan().all():
            raise ArithmeticError("rows past the end of a sequence are written")

    def check_peer(self, result):
        if result is None:
            return  # of a problem that has another result

        def rows(tensor):
            return tensor if tensor.dim() == 3 else tensor[self.rows_exist()]
        error = relative_error(rows(result), rows(self.o))
        if not error < 4 * ROUNDED:
            raise ArithmeticError(f"another result: relative difference {error:.1e}")

    def torch_peers(self):
        if self.softcap:
            return {}
        if self.varlen or self.packed or self.has_window():
            return {"varlen_attn (torch)": self.varlen_peer()} if varlen_attn else {}
        return {name: attend(self.q, self.k, self.v, self.causal, backend) for name, backend in BACKENDS.items()}

    def varlen_peer(self):
        def pack(tensor, lengths):
            return tensor if self.packed else packed(tensor, lengths)

        def ends(lengths):
            return torch.tensor([0] + lengths).cumsum(0).int().cuda()
        group = self.heads // self.key_heads
        q = pack(self.q, self.query_lengths)
        k, v = (pack(tensor, self.key_lengths).repeat_interleave(group, 1) for tensor in (self.k, self.v))
        arguments = (q, k, v, ends(self.query_lengths), ends(self.key_lengths), max(self.query_lengths), max(self.key_lengths))
        try:
            if not self.has_window():
                varlen_attn(*arguments, is_causal=self.causal)
                return lambda: varlen_attn(*arguments, is_causal=self.causal)
        except TypeError:
            pass
        return lambda: varlen_attn(*arguments, window_size=self.window)

    def jitk_peers(self, runtime, device):
        forms = other_forms(self.description)
        lengths = {name: () for name in forms}
        lengths["jitk padded"] = integers(self.query_lengths), integers(self.key_lengths)
        if self.query_lengths != [self.queries] * self.batch or self.key_lengths != [self.keys] * self.batch:
            forms.pop("jitk without lengths", None)

        def call_of(name):
            # A window is left out of what is the same form; else sequences have tensors of their own.
            is_other = name in OTHER_RESULTS
            tensors = self.arguments[:-2] if is_other else (*self.padded_inputs(), *lengths[name])
            o = torch.empty_like(self.o) if is_other else torch.empty(
                self.batch, self.queries, self.heads, self.value_dim, device="cuda", dtype=torch.bfloat16)
            lse = torch.empty_like(self.lse) if is_other else torch.empty(self.batch, self.heads, self.queries, device="cuda")
            launch = bound(runtime.kernel(device, forms[name]), *tensors, o, lse)

            def call():
                launch()
                return None if is_other else o
            return call
        return {name: call_of(name) for name in forms}

    def padded_inputs(self):
        if not self.packed:
            return self.q, self.k, self.v
        keys = (padded(tensor, self.key_lengths, self.keys) for tensor in (self.k, self.v))
        return padded(self.q, self.query_lengths, self.queries), *keys


class PagedAttention(Attention):
    tolerance = 1.5 * ROUNDED  # parts are combined

    def __init__(self, line):
        super().__init__(line)
        self.queries, self.longest = self.size("seq_q", 1), self.size("max_kv")
        self.num_pages, self.page_size = self.size("num_pages"), self.size("page_size", 64)
        self.lengths = lengths_of(self, "seq_lens", self.longest)
        self.q = random(self.batch, self.queries, self.heads, self.dim)
        self.k, self.v = (random(self.num_pages, self.page_size, self.key_heads, dim) for dim in (self.dim, self.value_dim))
        columns = -(-self.longest // self.page_size)
        pages = torch.randperm(self.num_pages, generator=torch.Generator().manual_seed(7))
        self.table = pages[:self.batch * columns].reshape(self.batch, columns).int().cuda()
        for sequence, length in enumerate(self.lengths):
            if length % self.page_size:
                page = self.table[sequence, length // self.page_size].item()
                self.k[page, length % self.page_size:] = math.nan
                self.v[page, length % self.page_size:] = math.nan
        self.make_outputs(self.batch, self.queries)
        self.count([self.queries] * self.batch, self.lengths)
        self.scalars = (1 / math.sqrt(self.dim),)

    def prepare(self, runtime, device):
        # The number of parts may be jitk's choice, which the complete description says.
        complete = Problem(runtime.kernel(device, self.description).info()["description"])
        schedule = torch.zeros((complete.size("splits"), 8), device="cuda", dtype=torch.int32)
        offsets = torch.zeros((self.batch + 1,), device="cuda", dtype=torch.int32)
        lengths = torch.tensor(self.lengths, device="cuda", dtype=torch.int32)
        self.arguments = (self.q, self.k, self.v, self.table, lengths, schedule, offsets, self.o, self.lse)
        if self.flag("reuse_schedule"):
            self.launcher(runtime.kernel(device, self.description.replace(" reuse_schedule=true", "")))()

    def moved(self):
        keys = sum(self.lengths) * self.key_heads * (self.dim + self.value_dim)
        return 2 * keys + bytes_of((self.q, self.o, self.lse))

    def rows_of(self, cache, sequence):
        return cache[self.table[sequence].long()].flatten(0, 1)[:self.lengths[sequence]]

    def check(self):
        for sequence, head in self.checked_heads():
            k, v = (self.rows_of(cache, sequence)[:, self.key_head(head)] for cache in (self.k, self.v))
            self.check_rows(sequence, head, self.q[sequence, :, head], k, v, self.o[sequence, :, head], self.lse[sequence, head])

    def check_peer(self, result):
        if result.dim() == 4 and not (error := relative_error(result, self.o)) < 4 * ROUNDED:
            raise ArithmeticError(f"another result: relative difference {error:.1e}")

    def torch_peers(self):
        bytes_read = torch.rand(self.moved() // 4, device="cuda")
        peers = {"torch.sum of as many bytes": lambda: torch.sum(bytes_read)}
        if len(set(self.lengths)) == 1:
            k, v = (torch.stack([self.rows_of(cache, i) for i in range(self.batch)]) for cache in (self.k, self.v))
            causal = self.causal and self.queries > 1
            peers.update((f"{name}, contiguous", attend(self.q, k, v, causal, each)) for name, each in BACKENDS.items())
        return peers


OPS = {"flash_attention": FlashAttention, "paged_attention": PagedAttention}


def kernels_of(line):
    description = Problem(line).description
    return [description, description.replace(" reuse_schedule=true", ""), *other_forms(description).values()]


def main():
    options = parser(__doc__.splitlines()[0]).parse_args()
    warnings.simplefilter("ignore", UserWarning)  # why torch takes a backend or not
    libraries = f"torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}"
    return run(options, lambda line: OPS[line.split()[0]](line), libraries, kernels_of)


if __name__ == "__main__":
    sys.exit(main())
