#!/usr/bin/env python3
"""Proves that each lint turns red: runs it on a tree with one planted violation, and on one without.

  planted.py <folder of the lints>
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

# Lint, file, good content, bad content, what the lint must say.
CASES = [
    ("layers.py", "src/store/Planted.cpp", '#include "src/support/Status.h"\n', '#include "src/ops/Description.h"\n',
     "src/store must not include src/ops/Description.h"),
    ("layers.py", "src/runtime/Planted.cpp", '#include "src/store/Key.h"\n', "#include <tbb/task_arena.h>\n",
     "src/runtime must not include tbb/task_arena.h"),
    ("layers.py", "src/store/Planted.cpp", '#include "src/store/shared/SharedStore.h"\n', "#include <hiredis/hiredis.h>\n",
     "src/store must not include hiredis/hiredis.h"),
    ("layers.py", "src/support/Planted.h", "#include <string>\n", '#include "llvm/ADT/StringRef.h"\n',
     "src/support must not include llvm/ADT/StringRef.h"),
    ("layers.py", "src/passes/Planted.cpp", '#include "src/ir/ttg/Ttg.h"\n', '#include "src/kernels/Kernel.h"\n',
     "src/passes must not include src/kernels/Kernel.h"),
    ("layers.py", "tests/capi/planted.c", '#include "jitk/jitk.h"\n', '#include "src/capi/Guard.h"\n',
     "tests/capi must not include src/capi/Guard.h"),
    ("layers.py", "src/runtime/workers/Planted.cpp", "#include <tbb/task_arena.h>\n", '#include "src/capi/Guard.h"\n',
     "must not include src/capi/Guard.h"),
    ("layers.py", "src/newroom/Planted.cpp", None, "\n", "lies in no room"),
    ("banned.py", "src/store/Planted.cpp", "// getenv( is what a comment may say\n", 'auto x = getenv("HOME");\n',
     "the environment is read in"),
    ("banned.py", "src/store/Planted.cpp", 'log.warning("x");\n', 'std::cout << "x";\n', "a library prints nothing"),
    ("banned.py", "src/store/Planted.cpp", "return internalError(what);\n", "throw 1;\n", "failures are a Status"),
    ("banned.py", "tests/unit/store/PlantedTest.cpp", 'TEST_CASE("one claim, two halves") {}\n',
     'TEST_CASE("one claim; two halves") {}\n', "CTest splits a name"),
    ("doc_paths.py", "docs/planted.md", "See `docs/planted.md`.\n", "See `src/nowhere/Nothing.cpp`.\n",
     "leads nowhere: src/nowhere/Nothing.cpp"),
    ("format.py", "src/store/Planted.cpp", "int x;\n", "int  x;\n", "is not formatted"),
    ("doc_paths.py", "docs/planted.md", "See [this](planted.md).\n", "See [that](gone.md).\n", "leads nowhere: gone.md"),
]


def run(lint, path, content):
    """Exit status and messages of the lint on a tree that holds one file."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / path
        file.parent.mkdir(parents=True)
        file.write_text(content, encoding="utf-8")
        # Else clang-format looks for one in the folders above, which are not this test's.
        (pathlib.Path(folder) / ".clang-format").write_text("BasedOnStyle: LLVM\n", encoding="utf-8")
        result = subprocess.run([sys.executable, lint, folder], capture_output=True, text=True, check=False)
        return result.returncode, result.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        # The lints as they are now: a checkout may replace them while this runs.
        lints = pathlib.Path(folder) / "lints"
        shutil.copytree(sys.argv[1], lints)
        sys.exit(check(lints))


def check(lints):
    failures = 0
    for lint, path, good, bad, message in CASES:
        if lint == "format.py" and not shutil.which("clang-format-22"):
            print("SKIPPED: no clang-format-22 on this machine: a planted violation of the format is not looked for")
            continue
        status, output = run(lints / lint, path, bad)
        if status != 1 or message not in output:
            print(f"{lint}: a planted violation in {path} must be found: got status {status}: {output}")
            failures += 1
        status, output = run(lints / lint, path, good) if good else (0, "")
        if status != 0:
            print(f"{lint}: {path} without a violation must pass: got status {status}: {output}")
            failures += 1
    print(f"{len(CASES)} planted violations, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    main()
