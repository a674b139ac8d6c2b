#!/usr/bin/env python3
"""Checks what a shared library shows to the world: its symbols, its size, the libraries that it needs."""
import argparse
import os
import re
import subprocess
import sys
import tempfile


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(library):
    """Names of the symbols that the library defines for others, versions taken off."""
    lines = run("nm", "-D", "--defined-only", library).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def declared(header):
    """Names of the functions that a C header declares."""
    text = open(header, encoding="utf-8").read()
    return set(re.findall(r"^JITK_API [^;(]*?(jitk_\w+)\(", text, re.MULTILINE))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("--exports", required=True, help="pattern of all names that may be exported")
    parser.add_argument("--header", help="header whose functions must be exactly what is exported")
    parser.add_argument("--limit-kib", type=int, help="most bytes when stripped")
    parser.add_argument("--no-library", help="pattern of libraries that must not be needed")
    options = parser.parse_args()
    problems = []

    names = exported(options.library)
    problems += [f"exports {name}" for name in sorted(names) if not re.fullmatch(options.exports, name)]
    if not names:
        problems.append("exports nothing")
    if options.header:
        wanted = declared(options.header)
        problems += [f"does not export {name}" for name in sorted(wanted - names)]
        problems += [f"exports {name}, which the header lacks" for name in sorted(names - wanted)]
    if options.limit_kib:
        with tempfile.TemporaryDirectory() as folder:
            stripped = os.path.join(folder, "stripped.so")
            run("strip", "--strip-unneeded", "-o", stripped, options.library)
            size = os.path.getsize(stripped)
        print(f"{options.library}: {size / 1024:.0f} KiB stripped")
        if size > options.limit_kib * 1024:
            problems.append(f"must be at most {options.limit_kib} KiB when stripped: got {size / 1024:.0f}")
    if options.no_library:
        needed = re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", options.library))
        problems += [f"needs {name}" for name in needed if re.search(options.no_library, name)]

    for problem in problems:
        print(f"{options.library}: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
