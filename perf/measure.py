#!/usr/bin/env python3
"""measure.py BINARIES --out PREFIX [--only PART,...] [--limit SECONDS]: every kernel beside its peers, and the report.

BINARIES is a folder with bin/bench_kernels and lib/libjitk.so.0: a build, or an unpacked bundle. Each part is a program of
its own, which checks a problem before it times it and writes after each: PREFIX.parts/PART.json. What belongs to no part's
time any more is stopped and named; so is a part whose peers are missing. Then PREFIX.json joins them, and perf/report makes
PREFIX.md and its pictures.

    measure.py build/release --out perf/results/h200-2026-11-30 --limit 520
    measure.py --merge a.json b.json --out perf/results/h200-2026-11-30      two runs of different parts as one

Needs Python's standard library, and for the parts that are written in it torch and Triton. Exit status 1 if a result is
wrong or a part fails."""
import argparse
import collections
import dataclasses
import datetime
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "report"))
import report
import results

LISTS = HERE / "kernels/problems"
LAST_PROBLEM = 4  # seconds that the one that was begun last may take


@dataclasses.dataclass
class Part:
    name: str
    seconds: float  # what it takes on an H200
    lists: list
    program: str = "bench_kernels"
    options: tuple = ()
    modules: tuple = ()  # of Python; without one of them the part is left out

    def problems(self):
        lines = []
        for name in self.lists:
            text = (LISTS / name).read_text(encoding="utf-8")
            lines += [" ".join(line.split("#")[0].split()) for line in text.splitlines()]
        return list(dict.fromkeys(filter(None, lines)))

    def command(self, binaries, out, limit):
        """What to run, which begins with no problem when `limit` seconds are nearly over, and the file that it writes."""
        lists = [str(LISTS / name) for name in self.lists]
        seconds = ["--seconds", f"{max(limit - LAST_PROBLEM, 1):.0f}"]
        if self.program == "bench_kernels":
            program = str(binaries / "bin/bench_kernels")
            return [program, *lists, "--out", str(out), *self.options, *seconds], out.with_suffix(".json")
        file = out.with_suffix(".jsonl")
        return [sys.executable, str(HERE / "peers" / self.program), *lists, "--out", str(file), *self.options, *seconds], file


# In the order of what is asked for most: what comes last has what the others leave. Where figures are held against goals
# contenders have all their turns.
PARTS = [
    Part("matmul", 84, ["matmul.txt"]),
    Part("fp8", 55, ["fp8_block_matmul.txt"]),
    Part("attention", 30, ["flash_attention.txt"], "torch_attention.py", modules=("torch",)),
    Part("peers", 41, ["peers.txt"], "bench_peers.py", modules=("torch", "triton")),
    Part("grouped", 50, ["grouped_fp8_block_matmul.txt"]),
    Part("forms", 88,
         ["paged_attention.txt", "varlen.txt", "packed.txt", "windows.txt", "flash_attention_grid.txt"],
         "torch_attention.py", ("--rounds", "2"), modules=("torch",)),
    Part("mla", 32, ["mla_decode.txt"], options=("--peer", "none", "--pause", "10")),
    Part("gated", 121, ["gated_delta_rule.txt"], options=("--peer", "none", "--pause", "10")),
]

DEEPGEMM_PARTS = ("fp8", "grouped")


def limit_of(part, behind, left):
    """Of `left` seconds, with parts behind it: what they do not need, or where all need more a share."""
    needed = sum(each.seconds for each in behind)
    return max(left - needed, left * part.seconds / (part.seconds + needed))


def environment(binaries):
    """Of the programs: the libraries of the folder, and jitk's package for Python."""
    def before(path, name):
        return os.pathsep.join([path] + ([os.environ[name]] if os.environ.get(name) else []))
    library = binaries / "lib"
    packages = os.pathsep.join([str(HERE.parent / "integrations/python"), str(HERE / "peers")])
    return {**os.environ, "LD_LIBRARY_PATH": before(str(library), "LD_LIBRARY_PATH"),
            "PYTHONPATH": before(packages, "PYTHONPATH"), "JITK_LIBRARY": str(library / "libjitk.so.0"), "PYTHONUNBUFFERED": "1"}


def run(part, binaries, folder, limit):
    """Runs a part for at most `limit` seconds. Returns what is to be said of it, and its rows."""
    begin = time.monotonic()
    record = {"part": part.name, "status": "done"}
    absent = [module for module in part.modules if importlib.util.find_spec(module) is None]
    rows, header = [], {}
    if absent:
        record["status"] = "left out: this Python has no " + " and no ".join(absent)
    else:
        command, file = part.command(binaries, folder / part.name, limit)
        file.unlink(missing_ok=True)
        record["command"] = " ".join([os.path.basename(command[0]), *(os.path.basename(word) for word in command[1:])])
        try:
            status = subprocess.run(command, env=environment(binaries), timeout=limit).returncode
            record["status"] = "done" if status == 0 else f"failed: exit status {status}"
        except subprocess.TimeoutExpired:
            record["status"] = f"stopped after {limit:.0f} s"
        except OSError as failure:
            record["status"] = f"failed: {failure}"
        if file.exists():
            header, rows = results.documents(file)
            rows = [row for row in rows if not row.get("failure", "").startswith("not timed")]
    measured = {row["problem"] for row in rows}
    missing = [problem for problem in part.problems() if problem not in measured]
    facts = ("commit", "build", "device", "driver", "protocol", "missing")
    record.update({name: header[name] for name in facts if name in header})
    record["seconds"] = round(time.monotonic() - begin, 1)
    if missing:
        record["not_measured"] = missing
    return record, [{**compact(row), "part": part.name} for row in rows]


def compact(row):
    """Without the single times: of them the least and the most."""
    def of(entry):
        times = entry.get("times_us")
        kept = {name: round(value, 4) if isinstance(value, float) else value for name, value in entry.items()
                if name not in ("times_us", "peers")}
        return {**kept, **({"least_us": round(min(times), 4), "most_us": round(max(times), 4)} if times else {})}
    peers = {name: of(peer) for name, peer in row.get("peers", {}).items()}
    if row.get("roof_us") and row.get("median_us"):
        row = {**row, "share_of_roof": row["roof_us"] / row["median_us"]}
    for peer in peers.values():
        peer.setdefault("ratio", round(peer["median_us"] / row["median_us"], 4))
    return {**of(row), **({"peers": peers} if peers else {})}


def joined(documents):
    """One of several: of a part that was run twice the later rows and record count."""
    records = collections.OrderedDict()
    rows = collections.OrderedDict()
    for document in documents:
        for record in document["runs"]:
            records[record["part"]] = record
        for row in document["problems"]:
            rows[row["part"], row["problem"]] = row
    for record in records.values():
        left = [each for each in record.get("not_measured", []) if (record["part"], each) not in rows]
        record.pop("not_measured", None)
        record.update({"not_measured": left} if left else {})
    first = documents[0]
    return {**{name: first[name] for name in ("schema", "date", "device", "command")},
            "runs": list(records.values()), "problems": list(rows.values())}


def written(document):
    """JSON with a row a line, so that two runs can be compared by line."""
    head = {name: value for name, value in document.items() if name not in ("runs", "problems")}
    parts = [f' "{name}": {json.dumps(value)}' for name, value in head.items()]
    for name in ("runs", "problems"):
        parts.append(f' "{name}": [\n' + ",\n".join("  " + json.dumps(each) for each in document[name]) + "\n ]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def parts_of(options):
    """The parts as they are asked for."""
    given = ("--deepgemm", str(options.deepgemm.resolve())) if options.deepgemm else ()
    return [dataclasses.replace(part, options=part.options + given) if part.name in DEEPGEMM_PARTS else part for part in PARTS]


def sources_of(folder):
    """What DeepGEMM's kernels in a folder were compiled of, as perf/peers/deepgemm.py notes it; nothing where it has not."""
    file = folder / "sources.json" if folder else None
    return json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else {}


def measured(options):
    chosen = [part for part in parts_of(options) if not options.only or part.name in options.only]
    unknown = set(options.only or ()) - {part.name for part in PARTS}
    if unknown:
        raise SystemExit(f"measure.py: parts are {', '.join(part.name for part in PARTS)}: got {', '.join(sorted(unknown))}")
    folder = pathlib.Path(str(options.out) + ".parts")
    folder.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    document = {"schema": results.SCHEMA, "date": datetime.date.today().isoformat(), "device": "", "command": options.command,
                "runs": [], "problems": []}
    for index, part in enumerate(chosen):
        left = options.limit - (time.monotonic() - begin)
        limit = limit_of(part, chosen[index + 1:], left)
        print(f"-- {part.name}: at most {limit:.0f} s", flush=True)
        record, rows = run(part, options.binaries.resolve(), folder, max(limit, 1))
        print(f"-- {part.name}: {record['status']}, {len(rows)} problems in {record['seconds']} s, "
              f"{len(record.get('not_measured', []))} not measured", flush=True)
        if part.name in DEEPGEMM_PARTS and sources_of(options.deepgemm):
            record["deepgemm"] = sources_of(options.deepgemm)
        document["device"] = document["device"] or record.get("device", "")
        document["runs"].append(record)
        document["problems"] += rows
        options.out.with_suffix(".json").write_text(written(document), encoding="utf-8")
    return document


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", nargs="?", type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path, help="what the names of the files begin with")
    parser.add_argument("--only", type=lambda text: text.split(","), help=", ".join(part.name for part in PARTS))
    parser.add_argument("--limit", type=float, default=520, help="seconds for all parts together")
    parser.add_argument("--deepgemm", type=pathlib.Path, help="folder of DeepGEMM's kernels, for the parts fp8 and grouped")
    parser.add_argument("--merge", nargs="+", type=pathlib.Path, help="join results, and measure nothing")
    options = parser.parse_args()
    if (options.binaries is None) == (options.merge is None):
        parser.error("either BINARIES or --merge must be given")
    # Where a folder lies on the machine that measured is nobody else's.
    words = [os.path.basename(word) if os.path.isabs(word) else word for word in sys.argv[1:]]
    options.command = " ".join(["measure.py", *words])
    if options.merge:
        document = joined([json.loads(path.read_text(encoding="utf-8")) for path in options.merge])
    else:
        document = measured(options)
    options.out.with_suffix(".json").write_text(written(document), encoding="utf-8")
    if document["problems"]:
        report.write(options.out, [str(options.out.with_suffix(".json"))])
    bad = [record for record in document["runs"] if record["status"].startswith("failed")]
    bad += [row for row in document["problems"] if row.get("failure")]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
