#!/usr/bin/env python3
"""Holds what library code must not contain, and where the exceptions are.

Exit status 1 if a file contains what its rule forbids.
"""
import argparse
import pathlib
import re
import sys

LIBRARY = re.compile(r"(src/(?!tools/)|backends/)")

# Pattern, the files that it is about, the files that may, why.
RULES = [
    (r"\b(secure_)?getenv\s*\(", LIBRARY, {"src/support/Env.cpp"},
     "the environment is read in src/support/Env.cpp only"),
    (r"std::(cout|cerr|clog)\b|\b(printf|puts|perror)\s*\(|\bllvm::(outs|errs)\s*\(", LIBRARY, set(),
     "a library prints nothing"),
    (r"\bfprintf\s*\(\s*stderr|\bfwrite\s*\(.*stderr", LIBRARY, {"src/support/Assert.h", "src/support/Log.cpp"},
     "lines go through the log"),
    (r"\b(std::)?(exit|_Exit|quick_exit)\s*\(", LIBRARY, set(), "a library does not end its process"),
    (r"(std::|\s::)abort\s*\(", LIBRARY, {"src/support/Assert.h", "src/emulator/Cluster.cpp"},
     "broken invariants go through JITK_ASSERT"),
    (r"\bthrow\b(?!\(\))", LIBRARY, set(), "failures are a Status"),
    (r"catch \(\.\.\.\)", LIBRARY, {"src/capi/Guard.h", "src/capi/StatusApi.cpp", "src/runtime/Preparation.cpp",
                                       "src/runtime/BackgroundKernels.cpp"},
     "exceptions stop at the C API and at a worker's task only"),
    (r'TEST_CASE[A-Z_]*\(\s*"[^"]*;[^"]*"|SUBCASE\(\s*"[^"]*;[^"]*"', re.compile(r"tests/"), set(),
     "CTest splits a name at a semicolon, and both halves pass unrun"),
]


def without_comments(text):
    """The text with comments blanked, lines kept; strings stay."""
    pattern = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
    return pattern.sub(lambda match: match.group() if match.group()[0] == '"' else re.sub(r"[^\n]", " ", match.group()),
                       text)


def check(root):
    problems = []
    for folder in ("src", "backends", "tests"):
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix not in {".h", ".hpp", ".c", ".cpp"}:
                continue
            text = without_comments(file.read_text(encoding="utf-8"))
            for pattern, where, exceptions, reason in RULES:
                if not where.match(path) or path in exceptions:
                    continue
                for match in re.finditer(pattern, text):
                    line = text.count("\n", 0, match.start()) + 1
                    problems.append(f"{path}:{line}: {reason}: {match.group().strip()}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    problems = check(parser.parse_args().root)
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
