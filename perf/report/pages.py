#!/usr/bin/env python3
"""pages.py [PAGE...] [--results FILE] [--check]: tables of measured figures in documents, made of files of results.

A document says what it wants where it wants it, and its text between the two lines is replaced:

    <!-- kernels: perf/results/h200-2026-11-30.json fp8_block_matmul grouped_fp8_block_matmul -->
    <!-- end of kernels -->

Without an op it gets what all of them are to reach. Without PAGE: README.md and docs/kernels. --results names another file in
all of them; --check writes nothing, exit status 1 if a document differs. Needs the standard library alone."""
import argparse
import os
import pathlib
import re
import sys

import goals
import report
import results

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(<!-- kernels: )(\S+)((?: \w+)*)( -->\n)(.*?)(<!-- end of kernels -->)", re.DOTALL)


def table(rows):
    """Of one op: what a row of the report has, without its name and the peers' own times."""
    names = list(dict.fromkeys(peer.name for row in rows for peer in row.peers))
    built = ["configuration"] if any(row.configuration for row in rows) else []
    head = ["problem", *built, "us", "rate", "of roof", "registers", "spills", "own compile ms", "assembler ms",
            *(f"{name} / jitk" for name in names)]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in rows:
        problem = row.problem.removeprefix(row.op + " ")
        if row.failure:
            lines.append(f"| {problem} | {row.failure} |" + " |" * (len(head) - 2))
            continue
        ratios = {peer.name: f"{peer.ratio:.3f}" for peer in row.peers}
        cells = [problem, *([row.configuration] if built else []), report.number(row.us, 4), report.rate(row),
                 f"{100 * row.share_of_roof:.0f} %", str(row.registers), str(row.spill_bytes), report.number(row.compile_ms), report.number(row.assemble_ms),
                 *(ratios.get(name, "") for name in names)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def text_of(source, ops, folder):
    """What a document in `folder` has between its two lines."""
    read = results.read([ROOT / source])
    families = report.by_op(read.rows)
    prefix = pathlib.PurePosixPath(os.path.relpath(ROOT / source, folder)).with_suffix("")
    page = f"{prefix}.md"
    if not ops:
        parts = [f"![geometric means of the peers' times over jitk's]({prefix}-ratios.svg)", goals.table(read.rows)]
    else:
        parts = []
        for op in ops:
            rows = families.get(op, [])
            of_run = f"{read.header.get('device', '?')}, {read.header.get('date', '?')}"
            parts += [f"`{op}`, [{of_run}]({page}); a ratio above 1: jitk is faster."]
            parts += [f"![ratios of {op}]({prefix}-{op}-ratios.svg)"] if any(row.peers for row in rows) else []
            parts += [table(rows) if rows else "Not measured in that run.", *filter(None, [report.published(rows)])]
    return "\n\n".join(parts) + "\n"


def replaced(text, folder, other=None):
    def block(match):
        begin, source, ops, close, _, end = match.groups()
        source = other or source
        return begin + source + ops + close + text_of(source, ops.split(), folder) + end
    return BLOCK.sub(block, text)


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    parser.add_argument("--results", help="the file that all of them shall name, from the root of the repository")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(words)
    pages = options.pages or [ROOT / "README.md", *sorted((ROOT / "docs/kernels").glob("*.md"))]
    status = 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        wanted = replaced(text, page.resolve().parent, options.results)
        if not options.check:
            page.write_text(wanted, encoding="utf-8")
        elif text != wanted:
            print(f"pages.py: {page} is not what its results give", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
