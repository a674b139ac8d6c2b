#!/usr/bin/env python3
"""Packs the relocatable archive: programs, libraries, and what they need beyond glibc.

Copies every program and library given, adds the shared libraries that they need (glibc's own apart), strips all of it,
points each file's search path at its own folder, and writes a tar.xz. Fails if the archive passes --limit-mib.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

# What every Linux with glibc >= 2.36 has.
GLIBC = re.compile(r"(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv|libutil|libnss_\w+)\.so(\.\d+)?$")


def needed_libraries(path):
    """Yields the paths of the shared libraries that ldd resolves for `path`."""
    output = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    for line in output.splitlines():
        match = re.match(r"\s*(\S+) => (/\S+)", line)
        if match and not GLIBC.match(match.group(1)):
            yield match.group(1), match.group(2)
        elif "not found" in line:
            sys.exit(f"pack_bundle: {path} needs a library that is not there: {line.strip()}")


def add(source, folder, name=None):
    target = folder / (name or os.path.basename(source))
    shutil.copy2(os.path.realpath(source), target)
    target.chmod(0o755)
    subprocess.run(["strip", "--strip-unneeded", target], check=True)
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", required=True)
    parser.add_argument("--name", required=True, help="top folder of the archive")
    parser.add_argument("--limit-mib", type=float, default=40)
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("--library", action="append", default=[])
    parser.add_argument("--data", action="append", default=[], help="SOURCE=PLACE in the archive")
    options = parser.parse_args()

    stage = pathlib.Path(options.output).parent / options.name
    shutil.rmtree(stage, ignore_errors=True)
    (stage / "bin").mkdir(parents=True)
    (stage / "lib").mkdir()

    own = {os.path.basename(library) for library in options.library}
    for library in options.library:
        add(library, stage / "lib")
    for program in options.program:
        add(program, stage / "bin")
    foreign = {}
    for path in options.library + options.program:
        foreign.update((name, found) for name, found in needed_libraries(path) if name not in own)
    for name, found in sorted(foreign.items()):
        add(found, stage / "lib", name)
    for path in (stage / "lib").iterdir():
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", path], check=True)
    for path in (stage / "bin").iterdir():
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN/../lib", path], check=True)
    for pair in options.data:
        source, place = pair.split("=", 1)
        (stage / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, stage / place)

    with tarfile.open(options.output, "w:xz", preset=6) as archive:
        archive.add(stage, arcname=options.name)
    shutil.rmtree(stage)
    size = os.path.getsize(options.output) / 2**20
    print(f"{options.output}: {size:.1f} MiB")
    if size > options.limit_mib:
        sys.exit(f"pack_bundle: the archive must stay under {options.limit_mib:g} MiB: got {size:.1f}")


if __name__ == "__main__":
    main()
