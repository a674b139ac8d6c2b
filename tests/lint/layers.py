#!/usr/bin/env python3
"""Holds who may include whom.

Each rule is one row: a room, the rooms and libraries that its files may include, and the reason where it is not plain.
A room may always include itself. Exit status 1 if any file includes what its room may not.
"""
import argparse
import pathlib
import re
import sys

# Longest prefix wins. "std" is C, C++ and the system's headers.
ROOMS = {
    "include/jitk": ["std"],
    "src/support": ["std", "xxhash"],
    "src/ops": ["std", "json", "src/support"],
    # It knows bytes and keys, so it needs no op.
    "src/store": ["std", "src/support"],
    # The only place that sees hiredis.
    "src/store/shared": ["std", "hiredis", "src/support"],
    "src/runtime": ["std", "json", "src/support", "src/ops", "src/store", "include/jitk"],
    # The only place that sees oneTBB.
    "src/runtime/workers": ["std", "tbb"],
    # Reaches the compiler through src/runtime/Compiler.h only.
    "src/capi": ["std", "json", "include/jitk", "src/support", "src/ops", "src/store", "src/runtime"],
    "src/reference": ["std", "src/support", "src/ops"],
    "backends/nvidia/driver": ["std", "src/support", "src/runtime"],
    # --- from here on the compiler library
    "src/ir": ["std", "mlir", "llvm", "src/support"],
    "src/passes": ["std", "mlir", "llvm", "src/support", "src/ir", "src/runtime/SharedMemory.h", "src/runtime/Target.h"],
    "src/kernels": ["std", "mlir", "llvm", "src/support", "src/ops", "src/ir", "src/runtime/Recipe.h",
                    "src/runtime/SharedMemory.h", "src/runtime/Target.h"],
    "src/emulator": ["std", "mlir", "llvm", "boost", "src/support", "src/ir", "src/runtime/Device.h",
                     "src/runtime/Compiler.h", "src/runtime/SharedMemory.h", "src/runtime/Target.h"],
    # No capi and no store: what is cached, and when, is the runtime's business.
    "src/compiler": ["std", "mlir", "llvm", "src/support", "src/ops", "src/ir", "src/passes", "src/kernels",
                     "src/emulator", "src/runtime/Compiler.h", "src/runtime/BuildId.h", "src/runtime/Device.h",
                     "src/runtime/Recipe.h", "src/runtime/SharedMemory.h", "src/runtime/Target.h", "backends/nvidia/codegen"],
    "backends/nvidia/codegen": ["std", "mlir", "llvm", "src/support", "src/ir", "src/passes", "src/emulator",
                                "src/runtime/SharedMemory.h", "src/runtime/Target.h"],
    # --- programs
    "src/tools": ["std", "json", "cli", "mlir", "llvm", "include/jitk", "src/support", "src/ops", "src/reference", "src/ir",
                  "src/passes", "src/emulator", "src/compiler", "backends/nvidia/codegen"],
    "integrations": ["std", "include/jitk"],
    "perf": ["std", "json", "cli", "include/jitk", "tests/support"],
    # Its kernels in CUDA C++ are text.
    "perf/peers": ["std", "cuda", "include/jitk", "src/tools/timing"],
    # What no user sees is timed where it is.
    "perf/overhead": ["std", "json", "cli", "mlir", "llvm", "include/jitk", "tests/support", "tests/fakes", "src", "perf/commit",
                      "backends/nvidia/driver"],
    # A result is checked before it is timed.
    "perf/kernels": ["std", "json", "cli", "include/jitk", "perf/peers", "perf/commit", "src/support", "src/ops", "src/reference",
                     "src/tools/checked", "src/tools/timing"],
    "tests/capi": ["std", "include/jitk", "tests/support"],
    "tests": ["any"],
}

LIBRARIES = {
    "mlir": r"mlir(-c)?/",
    "llvm": r"llvm(-c)?/",
    "tbb": r"(oneapi/)?tbb/",
    "boost": r"boost/",
    "json": r"nlohmann/",
    "cli": r"CLI/",
    "xxhash": r"xxhash\.h$",
    "hiredis": r"hiredis/",
    "cuda": r"(cuda|nvrtc|nvJitLink|cublas)",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCES = {".h", ".hpp", ".c", ".cpp"}


def room_of(path):
    """The room that a path from the root lies in; None if no rule knows it."""
    fitting = [room for room in ROOMS if path == room or path.startswith(room + "/")]
    return max(fitting, key=len, default=None)


def meaning_of(name, quote, path):
    """What an include names: a path from the root, a library, or std."""
    if name.startswith("jitk/"):
        return "include/" + name
    for library, pattern in LIBRARIES.items():
        if re.match(pattern, name):
            return library
    if re.match(r"(src|backends|tests|perf|integrations)/", name):
        return name
    if quote == '"':
        return str(pathlib.PurePosixPath(path).parent / name)
    return "std"


def allowed(path, target):
    room = room_of(path)
    rules = ROOMS[room]
    if "any" in rules or target in rules or room_of(target) == room:
        return True
    # A folder in a room is the room itself, to and fro, but for the libraries that it alone may use.
    if target.startswith(room + "/") or (room_of(target) and room.startswith(room_of(target) + "/")):
        return True
    return any(target == rule or target.startswith(rule + "/") for rule in rules)


def check(root):
    problems = []
    for folder in ("include", "src", "backends", "integrations", "perf", "tests"):
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix not in SOURCES:
                continue
            if room_of(path) is None:
                problems.append(f"{path}: lies in no room that tests/lint/layers.py knows")
                continue
            for quote, name in INCLUDE.findall(file.read_text(encoding="utf-8")):
                target = meaning_of(name, quote, path)
                if not allowed(path, target):
                    problems.append(f"{path}: {room_of(path)} must not include {name}")
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
