#!/usr/bin/env python3
"""report.py RESULTS... --out PREFIX: times of kernels as a page and two pictures.

RESULTS are what `bench_kernels` and `perf/peers/bench_peers.py` wrote. Makes PREFIX.md, PREFIX-roofline.svg where operations
are counted, and PREFIX-ratios.svg where a peer was timed too. With --check nothing is written: exit status 1 if a file differs. Needs the
standard library alone."""
import argparse
import pathlib
import sys

import results
import svg


def number(value, digits=3):
    return "" if value is None else f"{value:.{digits}g}" if value < 10 ** digits else f"{value:.0f}"


def rate(row):
    return f"{number(row.tflops)} TFLOP/s" if row.is_compute_bound else f"{number(row.gb_per_s, 4)} GB/s"


def table(rows):
    names = list(dict.fromkeys(peer.name for row in rows for peer in row.peers))
    head = ["problem", "us", "rate", "of roof", "registers", "spills", "shared KiB", "occupancy", "own compile ms",
            "assembler ms"] + [word for name in names for word in (f"{name} us", "ratio")]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in rows:
        if row.failure:
            lines.append(f"| {row.problem} | {row.failure} |" + " |" * (len(head) - 2))
            continue
        occupancy = "" if row.occupancy is None else f"{100 * row.occupancy:.0f} %"
        cells = [row.problem, number(row.us, 4), rate(row), f"{100 * row.share_of_roof:.0f} %", str(row.registers),
                 str(row.spill_bytes), number(row.shared_bytes / 1024), occupancy, number(row.compile_ms),
                 number(row.assemble_ms)]
        for name in names:
            peer = next((peer for peer in row.peers if peer.name == name), None)
            cells += [number(peer.us, 4), f"{peer.ratio:.3f}"] if peer else ["", ""]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def means(rows):
    names = list(dict.fromkeys(peer.name for row in rows for peer in row.peers))
    lines = []
    for name in names:
        values = [peer.ratio for row in rows for peer in row.peers if peer.name == name]
        lines.append(f"- {name}: {results.geometric_mean(values):.3f} over {len(values)} problems, least "
                     f"{min(values):.3f}")
    return "\n".join(lines)


def page(read, prefix, pictures):
    header = read.header
    made_of = f"Commit {header['commit']}, build {header['build']}. " if "commit" in header else ""
    text = [f"# Kernels on {header.get('device', 'a GPU')}",
            f"{made_of}Driver {header.get('driver', '?')}. {header.get('protocol', '')}",
            f"Command: `{header.get('command', '?')}`"]
    text += [f"![{suffix[1:-4]}]({prefix.name}{suffix})" for suffix in pictures]
    if any(row.peers for row in read.rows):
        text += ["A ratio is the peer's time over jitk's: above 1 jitk is faster. Geometric means:",
                 means(read.rows)]
    text += [table(read.rows),
             "Own compile: building, lowering and LLVM; the assembler's time is beside it. Occupancy: warps that a "
             "multiprocessor holds, of 64, by registers, shared memory and threads at the start of the kernel."]
    return "\n\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="+")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="what the names of the files begin with")
    parser.add_argument("--title", help="of the pictures")
    parser.add_argument("--pictures", action="store_true", help="write no page")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file differs")
    options = parser.parse_args()
    read = results.read(options.results)
    if not read.rows:
        parser.error(f"results must have problems: got none in {', '.join(options.results)}")
    title = options.title or f"Kernels on {read.header.get('device', 'a GPU')}"
    files = {}
    if any(row.intensity for row in read.rows):
        files["-roofline.svg"] = svg.roofline(read.rows, title)
    if any(row.peers for row in read.rows):
        files["-ratios.svg"] = svg.ratios(read.rows, title + ": time of the peer over jitk's")
    if not options.pictures:
        files[".md"] = page(read, options.out, list(files))
    differing = []
    for suffix, text in files.items():
        path = options.out.with_name(options.out.name + suffix)
        if not options.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            differing.append(str(path))
    for path in differing:
        print(f"report.py: {path} is not what the results give", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
