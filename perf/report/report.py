#!/usr/bin/env python3
"""report.py RESULTS... --out PREFIX: times of kernels as a page and two pictures.

RESULTS are what `bench_kernels`, the programs of `perf/peers` or `perf/measure.py` wrote. Makes PREFIX.md, PREFIX-roofline.svg
where operations are counted, and PREFIX-ratios.svg where a peer was timed too; of `measure.py`'s two such pictures for each op,
and one of the means of all. With --check nothing is written: exit status 1 if a file differs. Needs the
standard library alone."""
import argparse
import pathlib
import sys

import goals
import results
import svg


def number(value, digits=3):
    return "" if value is None else f"{value:.{digits}g}" if value < 10 ** digits else f"{value:.0f}"


def rate(row):
    return f"{number(row.tflops)} TFLOP/s" if row.is_compute_bound else f"{number(row.gb_per_s, 4)} GB/s"


def table(rows):
    names = list(dict.fromkeys(peer.name for row in rows for peer in row.peers))
    built = ["configuration"] if any(row.configuration for row in rows) else []
    head = ["problem", *built, "us", "rate", "of roof", "registers", "spills", "shared KiB", "occupancy", "own compile ms",
            "assembler ms"] + [word for name in names for word in (f"{name} us", "ratio")]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in rows:
        if row.failure:
            lines.append(f"| {row.problem} | {row.failure} |" + " |" * (len(head) - 2))
            continue
        occupancy = "" if row.occupancy is None else f"{100 * row.occupancy:.0f} %"
        cells = [row.problem, *([row.configuration] if built else []), number(row.us, 4), rate(row),
                 f"{100 * row.share_of_roof:.0f} %", str(row.registers), str(row.spill_bytes), number(row.shared_bytes / 1024), occupancy, number(row.compile_ms),
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


EXPLANATION = ("Own compile: building, lowering and LLVM; the assembler's time is beside it. Occupancy: warps that a "
               "multiprocessor holds, of 64, by registers, shared memory and threads at the start of the kernel.")
RATIOS = "A ratio is the peer's time over jitk's: above 1 jitk is faster. Geometric means:"


def page(read, prefix, pictures):
    header = read.header
    made_of = f"Commit {header['commit']}, build {header['build']}. " if "commit" in header else ""
    text = [f"# Kernels on {header.get('device', 'a GPU')}",
            f"{made_of}Driver {header.get('driver', '?')}. {header.get('protocol', '')}",
            f"Command: `{header.get('command', '?')}`"]
    text += [f"![{suffix[1:-4]}]({prefix.name}{suffix})" for suffix in pictures]
    if any(row.peers for row in read.rows):
        text += [RATIOS, means(read.rows)]
    return "\n\n".join([*text, table(read.rows), EXPLANATION]) + "\n"


def published(rows):
    """Beside figures of another machine; None where there are none."""
    found = results.published(rows)
    if not found:
        return None
    head = ["problem", "jitk us", "peer", "its us, on another H200", "its us / jitk us, both rested",
            "jitk's ratio to the yardstick over its ratio"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for each in found:
        peer = each.peer + (", sustained" if each.sustained else "")
        cells = [each.row.problem, number(each.row.us, 4), peer, number(each.us, 4), factor(each.quotient),
                 factor(each.ratio)]
        lines.append("| " + " | ".join(cells) + " |")
    both = [[each.quotient for each in found], [each.ratio for each in found]]
    means_of_both = [factor(results.geometric_mean(filter(None, values))) for values in both]
    lines.append("| geometric mean | | | | " + " | ".join(means_of_both) + " |")
    return "\n".join(lines)


def factor(value):
    return f"{value:.3f}" if value else ""


def by_op(rows):
    families = {}
    for row in rows:
        families.setdefault(row.op, []).append(row)
    return families


def page_of_runs(read, prefix, pictures):
    """A section for each op. `pictures` are those of each op, and of all under the name ''."""
    header = read.header
    def all_of(name):
        return ", ".join(sorted({run[name] for run in read.runs if name in run})) or "?"
    text = [f"# Kernels on {header['device']}, {header['date']}",
            f"Commit {all_of('commit')}, build {all_of('build')}. Command: `{header['command']}`. Every result was checked before it "
            "was timed.",
            *compiled_peers(read.runs),
            *[f"![{suffix[1:-4]}]({prefix.name}{suffix})" for suffix in pictures.get("", [])],
            "Geometric means of ratios, and the least:",
            goals.table(read.rows),
            "| part | program | commit | s | |\n|---|---|---|---|---|\n" + "\n".join(
                f"| {run['part']} | `{run.get('command', '')}` | {commit_of(run, read.runs)} | {run['seconds']:.0f} | {said_of(run)} |"
                for run in read.runs)]
    text += list(dict.fromkeys(f"{run['protocol']} Driver {run.get('driver', '?')}." for run in read.runs if "protocol" in run))
    text += [RATIOS.removesuffix(" Geometric means:"), EXPLANATION]
    for op, rows in by_op(read.rows).items():
        text += [f"## {op}", *[f"![{suffix[1:-4]}]({prefix.name}{suffix})" for suffix in pictures.get(op, [])]]
        text += ([means(rows)] if any(row.peers for row in rows) else []) + [table(rows)]
        text += list(filter(None, [published(rows)]))
    missing = [f"- {problem}" for run in read.runs for problem in run.get("not_measured", [])]
    text += ["## Not measured", "\n".join(missing)] if missing else []
    return "\n\n".join(text) + "\n"


def compiled_peers(runs):
    """A sentence for each set of sources that DeepGEMM's kernels were compiled of."""
    return list(dict.fromkeys(
        f"DeepGEMM's kernels: its commit {of['deepgemm']}, CUTLASS {of['cutlass']}, nvcc {of['nvcc']}, by "
        "`perf/peers/deepgemm.py`." for of in (run["deepgemm"] for run in runs if "deepgemm" in run)))


def commit_of(run, runs):
    """Of a program that knows its build alone: the commit that another has of the same one."""
    known = {each["build"]: each["commit"] for each in runs if "build" in each and "commit" in each}
    return (run.get("commit") or known.get(run.get("build"), "?"))[:7]


def said_of(run):
    missing = [f"without {peer}" for peer in run.get("missing", [])]
    count = len(run.get("not_measured", []))
    return "; ".join([run["status"], *missing, *([f"{count} problems not measured"] if count else [])])


def files_of(read, prefix, title=None, with_page=True):
    """The texts of all files, by what their names end with."""
    title = title or f"Kernels on {read.header.get('device', 'a GPU')}"
    files, pictures = {}, {}
    families = by_op(read.rows) if read.runs else {"": read.rows}

    def add(op, suffix, picture):
        suffix = f"-{op}{suffix}" if op else suffix
        files[suffix] = picture
        pictures.setdefault(op, []).append(suffix)
    if read.runs and any(row.peers for row in read.rows):
        of_means = title + ": geometric means of the peers' times over jitk's"
        add("", "-ratios.svg", svg.ratios(results.means_of_ops(read.rows), of_means, of_means=True))
    for op, rows in families.items():
        of_op = f"{op} on {read.header.get('device', 'a GPU')}" if op else title
        if any(row.intensity for row in rows):
            add(op, "-roofline.svg", svg.roofline(rows, of_op))
        if any(row.peers for row in rows):
            add(op, "-ratios.svg", svg.ratios(rows, of_op + ": time of the peer over jitk's"))
    if with_page:
        files[".md"] = page_of_runs(read, prefix, pictures) if read.runs else page(read, prefix, list(files))
    return files


def write(prefix, paths):
    for suffix, text in files_of(results.read(paths), prefix).items():
        prefix.with_name(prefix.name + suffix).write_text(text, encoding="utf-8")


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
    files = files_of(read, options.out, options.title, not options.pictures)
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
