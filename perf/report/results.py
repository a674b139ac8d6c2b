"""Results of kernels as the benchmarks write them, read into rows.

`bench_kernels` writes one JSON object, the programs of `perf/peers` JSON lines, the first of which says what holds for all, and
`perf/measure.py` joins both:

    {"schema": 1, "date": "2026-11-30", "device": "NVIDIA H200", "command": "...",
     "runs": [{"part": "matmul", "status": "done", "seconds": 41.0, "commit": ..., "build": ..., "driver": ..., "protocol": ...,
               "command": ..., "missing": [peers that were not there], "not_measured": [problems],
               "deepgemm": {"deepgemm": commit, "cutlass": commit, "nvcc": release}}, ...],
     "problems": [{"problem": "matmul m=...", "part": "matmul", "configuration": "128x256", "median_us": 150.1, "least_us": ...,
                   "most_us": ..., "tflops": ..., "gb_per_s": ..., "roof_us": ..., "peak_tflops": ..., "registers": ...,
                   "spill_bytes": ...,
                   "shared_bytes": ..., "threads": ..., "compile_ms": ..., "assemble_ms": ..., "check": "...",
                   "peers": {"cuBLASLt, best of 8": {"median_us": 151.0, "ratio": 1.006, "least_us": ..., "most_us": ...}}},
                  {"problem": ..., "part": ..., "failure": "the result is wrong ..."}]}

Rows of one problem are joined: each peer's ratio stays that of the run in which it took turns with jitk, the other figures
are those of the first one.
"""
import dataclasses
import json
import math
import pathlib

SCHEMA = 1
MEMORY_TB_PER_S = 4.8
PEAK_TFLOPS = {"fp8_block_matmul": 1979, "grouped_fp8_block_matmul": 1979}
PEAK_16_BIT = 989

# A multiprocessor of sm_90: what its CTAs share.
REGISTERS, WARPS, CTAS, SHARED_BYTES, RESERVED_BYTES = 65536, 64, 32, 233472, 1024


@dataclasses.dataclass
class Peer:
    name: str
    us: float
    ratio: float  # its time over jitk's: above 1 jitk is faster


@dataclasses.dataclass
class Row:
    problem: str
    us: float = 0
    tflops: float = 0
    gb_per_s: float = 0
    roof_us: float = 0
    peak_tflops: float = PEAK_16_BIT
    registers: int = 0
    spill_bytes: int = 0
    shared_bytes: int = 0
    threads: int = 0
    compile_ms: float = None
    assemble_ms: float = None
    failure: str = ""
    configuration: str = ""  # that the kernel was built in, where there are several
    peers: list = dataclasses.field(default_factory=list)

    @property
    def op(self):
        return self.problem.split()[0]

    @property
    def intensity(self):
        """Operations for a byte that must be moved; None where there are none to count."""
        return 1e3 * self.tflops / self.gb_per_s if self.tflops and self.gb_per_s else None

    @property
    def is_compute_bound(self):
        return self.intensity is not None and self.intensity * MEMORY_TB_PER_S > self.peak_tflops

    @property
    def share_of_roof(self):
        return self.roof_us / self.us

    @property
    def occupancy(self):
        """Warps that a multiprocessor holds, of 64; None where the threads of a block are not known."""
        if not self.threads:
            return None
        warps = -(-self.threads // 32)
        registers_of_warp = -(-self.registers * 32 // 256) * 256
        limits = [CTAS, WARPS // warps, SHARED_BYTES // (self.shared_bytes + RESERVED_BYTES)]
        if registers_of_warp:
            limits.append(REGISTERS // registers_of_warp // warps)
        return min(limits) * warps / WARPS


@dataclasses.dataclass
class Results:
    header: dict
    rows: list
    runs: list = dataclasses.field(default_factory=list)  # of a file of `perf/measure.py`


def _documents(text):
    """The one object of a file, or the object of each line."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        lines = [line for line in text.splitlines() if line.strip()]
        # A program that was stopped may have been about to write a line.
        return [json.loads(line) for line in (lines if text.endswith("\n") else lines[:-1])]


def _row(entry):
    op = entry["problem"].split()[0]
    row = Row(entry["problem"], failure=entry.get("failure", ""))
    if row.failure:
        return row
    row.us = entry["median_us"]
    row.peak_tflops = entry.get("peak_tflops") or PEAK_TFLOPS.get(op, PEAK_16_BIT)
    for name in ("tflops", "gb_per_s", "roof_us", "registers", "spill_bytes", "shared_bytes", "threads", "compile_ms",
                 "assemble_ms", "configuration"):
        setattr(row, name, entry.get(name, getattr(row, name)))
    if "peer" in entry:
        row.peers.append(Peer(entry["peer"], entry["peer_median_us"], entry["ratio"]))
    for name, peer in entry.get("peers", {}).items():
        row.peers.append(Peer(name, peer["median_us"], peer.get("ratio") or peer["median_us"] / row.us))
    return row


def documents(path):
    """What holds for all of a file, and its entries."""
    with open(path, encoding="utf-8") as file:
        objects = _documents(file.read())
    header, entries = {}, []
    for each in objects:
        header = header or {name: value for name, value in each.items() if name != "problems"}
        entries += each.get("problems", [each] if "problem" in each else [])
    return header, entries


def read(paths):
    """All rows of the files, in their order, one for a problem."""
    header, rows, runs = {}, {}, []
    for path in paths:
        of_file, entries = documents(path)
        runs += of_file.pop("runs", [])
        header = header or of_file
        for entry in entries:
            row = _row(entry)
            known = rows.setdefault(row.problem, row)
            if known is not row:
                known.peers += [peer for peer in row.peers if peer.name not in {each.name for each in known.peers}]
    return Results(header, list(rows.values()), runs)


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def means_of_ops(rows):
    """A row for each op, whose peers have the geometric means of their ratios."""
    ratios = {}
    for row in rows:
        for peer in row.peers:
            ratios.setdefault(row.op, {}).setdefault(peer.name, []).append(peer.ratio)
    return [Row(op, peers=[Peer(name, 0, geometric_mean(values)) for name, values in peers.items()])
            for op, peers in ratios.items()]


@dataclasses.dataclass
class Published:
    """A peer's figure of another machine beside a row of this one."""
    row: Row
    peer: str
    us: float
    sustained: bool = False  # the card had not rested, as it has before jitk's turns
    quotient: float = None  # its time over jitk's, where it had rested, too
    ratio: float = None  # jitk's ratio to what both were timed beside, over the peer's ratio to it
    again: float = None  # the same of the peer's own kernel, where it took turns with jitk in this run


def published(rows):
    """For the rows for which there are such figures."""
    known = json.loads((pathlib.Path(__file__).parent / "published.json").read_text(encoding="utf-8"))["figures"]
    by_problem = {row.problem: row for row in rows if not row.failure}
    found = []
    for figure in known:
        if row := by_problem.get(figure["problem"]):
            both = next((peer for peer in row.peers if peer.name == figure.get("beside")), None)
            ratio = both.ratio / (figure["beside_us"] / figure["us"]) if both else None
            sustained = figure.get("sustained", False)
            quotient = None if sustained else figure["us"] / row.us
            own = next((peer for peer in row.peers if figure["peer"].startswith(peer.name)), None)
            again = ratio / own.ratio if ratio and own else None
            found.append(Published(row, figure["peer"], figure["us"], sustained, quotient, ratio, again))
    return found
