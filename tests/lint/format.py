#!/usr/bin/env python3
"""Holds that C and C++ files are as clang-format-22 writes them.

Exit status 1 if one is not, 77 if the program is missing, which is said.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

PROGRAM = "clang-format-22"
FOLDERS = ("include", "src", "backends", "integrations", "perf", "tests")
SOURCES = {".h", ".hpp", ".c", ".cpp"}
SKIPPED = 77


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    root = parser.parse_args().root
    if not shutil.which(PROGRAM):
        print(f"SKIPPED: no {PROGRAM} on this machine: the format of the sources is not checked")
        sys.exit(SKIPPED)
    files = [file for folder in FOLDERS for file in sorted((root / folder).rglob("*")) if file.suffix in SOURCES]
    result = subprocess.run([PROGRAM, "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False)
    # The first line of each complaint names the place.
    wrong = {line.split(":")[0] for line in result.stderr.splitlines() if "[-Wclang-format-violations]" in line}
    for file in sorted(wrong):
        print(f"{file}: is not formatted: {PROGRAM} -i {file}", file=sys.stderr)
    if not files or (result.returncode != 0 and not wrong):
        print(f"{PROGRAM} failed on {len(files)} files: {result.stderr}", file=sys.stderr)
        sys.exit(1)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
