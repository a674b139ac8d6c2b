#!/usr/bin/env python3
"""mutate_ir.py <jitk-opt> <module or folder>... [--common-ir] [--seed N] [--count N]: damaged IR is refused with a message,
never with a crash.

Takes the modules, changes a few numbers, names, types, lines or characters, and gives them to the parser and verifiers,
or to the whole lowering; those of CommonIR to all pipelines. The same seed makes the same modules; one that crashes is
printed.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys

LARGEST_MODULE = 40_000  # characters: a run is to take seconds
NUMBERS = ["0", "1", "2", "3", "-1", "4", "8", "16", "64", "1024", "4096", "2147483648", "9223372036854775807",
           "99999999999999999999"]
PIPELINES = [[], ["--jitk-ttgir-to-llvm-pipeline"]]
COMMON_IR_PIPELINES = [[f"--jitk-commonir-to-ttgir-pipeline=target={target}", *lowering] for target in ("sm_80", "sm_90a")
                       for lowering in ([], ["--jitk-ttgir-to-llvm-pipeline"])]
# What MLIR's own parser does not survive, or nearly: found by ir::checkText first, or by the parser.
ODD = ["array<index: 1>", "array<none: 1>", "array<!odd: 1>", "%odd#2147483648", "%odd#4194304", "[" * 3000, "{odd=" * 3000,
       "tuple<" * 3000, "(" * 3000, "affine_map<(d0) -> (" + "-" * 3000 + "d0)>", "affine_set<(d0) : (d0 >= 0)>",
       "dense_resource<odd> : tensor<2xi32>", "{-# dialect_resources: { builtin: { odd: \"0x00000000AA\" } } #-}",
       "dense<\"0x01\"> : tensor<4294967296x4294967296xi32>", "sparse<0, 1> : tensor<4xi32>", "-1.0 : f8E8M0FNU",
       "loc(fused[", "distinct[99999999999999999999]<>", "#odd = [1]\n" + "".join(
           f"#odd{i} = [#odd{i - 1 if i else ''}]\n" for i in range(200)) + "#odd199"]
TYPES = ["f16", "f32", "bf16", "i32", "i64", "i1", "i8", "f8E4M3FN", "index", "f64", "i7", "i128", "none"]


def replace_one(text, pattern, choices, draw):
    """Puts one of `choices`, or of the other matches, in the place of a match."""
    matches = list(re.finditer(pattern, text))
    if not matches:
        return text
    match = draw.choice(matches)
    new = draw.choice(choices) if choices else draw.choice(matches).group(0)
    return text[:match.start()] + new + text[match.end():]


def mutate(text, draw):
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        kind = draw.randrange(9)
        lines = text.split("\n")
        if kind == 0:
            del lines[draw.randrange(len(lines))]
            text = "\n".join(lines)
        elif kind == 1:
            lines.insert(draw.randrange(len(lines)), draw.choice(lines))
            text = "\n".join(lines)
        elif kind in (2, 3):
            text = replace_one(text, r"\d+", NUMBERS, draw)
        elif kind == 4:
            text = replace_one(text, r"\b(f16|f32|bf16|i32|i64|i1|i8|index)\b", TYPES, draw)
        elif kind == 5:
            text = replace_one(text, r"%\w+", None, draw)
        elif kind == 6:
            text = replace_one(text, r"#\w+", None, draw)
        elif kind == 7:
            # Where a value, an attribute or a type stands, or a statement.
            text = replace_one(text, r"%\w+|#\w+|![\w.]+|\b[if]\d+\b|\bdense<|$", ODD, draw)
        else:
            at = draw.randrange(max(len(text), 1))
            text = text[:at] + text[at + draw.randrange(1, 12):]
        if not text:
            return "\n"
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jitk_opt")
    parser.add_argument("modules", type=pathlib.Path, nargs="+")
    parser.add_argument("--common-ir", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    found = [[path] if path.is_file() else [*path.rglob("*.mlir"), *path.rglob("*.ttgir")] for path in options.modules]
    files = sorted(path for paths in found for path in paths)
    pipelines = COMMON_IR_PIPELINES if options.common_ir else PIPELINES
    modules = [path.read_text() for path in files if path.stat().st_size <= LARGEST_MODULE]
    accepted = crashed = 0
    for number in range(options.count):
        text = mutate(draw.choice(modules), draw)
        passes = draw.choice(pipelines)
        # Bytes that are no text may come back in messages.
        done = subprocess.run([options.jitk_opt, "--mlir-disable-threading", *passes, "-"], input=text,
                              capture_output=True, text=True, errors="replace", timeout=60)
        accepted += done.returncode == 0
        if done.returncode not in (0, 1) or (done.returncode and not done.stderr.strip()):
            crashed += 1
            print(f"module {number} of seed {options.seed}, {passes or 'parsed'}: exit code {done.returncode}\n"
                  f"{done.stderr[:2000]}\n{text}\n")
    print(f"{options.count} modules of seed {options.seed}: {accepted} accepted, {crashed} crashed")
    return 1 if crashed or not modules else 0


sys.exit(main())
