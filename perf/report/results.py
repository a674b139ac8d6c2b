"""Results of kernels as the benchmarks write them, read into rows.

Two programs write them: `bench_kernels` one JSON object, `perf/peers/bench_peers.py` JSON lines, the first of which says
what holds for all. Rows of one problem are joined: each peer's ratio stays that of the run in which it took turns with
jitk, the other figures are those of the first file.
"""
import dataclasses
import json
import math

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


def _documents(text):
    """The one object of a file, or the object of each line."""
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def _row(entry):
    op = entry["problem"].split()[0]
    row = Row(entry["problem"], failure=entry.get("failure", ""))
    if row.failure:
        return row
    row.us = entry["median_us"]
    row.peak_tflops = entry.get("peak_tflops") or PEAK_TFLOPS.get(op, PEAK_16_BIT)
    for name in ("tflops", "gb_per_s", "roof_us", "registers", "spill_bytes", "shared_bytes", "threads", "compile_ms",
                 "assemble_ms"):
        setattr(row, name, entry.get(name, getattr(row, name)))
    if "peer" in entry:
        row.peers.append(Peer(entry["peer"], entry["peer_median_us"], entry["ratio"]))
    for name, peer in entry.get("peers", {}).items():
        row.peers.append(Peer(name, peer["median_us"], peer["median_us"] / row.us))
    return row


def read(paths):
    """All rows of the files, in their order, one for a problem."""
    header, rows = {}, {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            documents = _documents(file.read())
        for document in documents:
            header = header or {name: value for name, value in document.items() if name != "problems"}
            for entry in document.get("problems", [document] if "problem" in document else []):
                row = _row(entry)
                known = rows.setdefault(row.problem, row)
                if known is not row:
                    known.peers += [peer for peer in row.peers if peer.name not in {each.name for each in known.peers}]
    return Results(header, list(rows.values()))


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None
