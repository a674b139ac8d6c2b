#!/usr/bin/env python3
"""Builds a wheel of the package with the libraries of an installed tree. Fetches nothing: needs pip, setuptools and wheel.

    cmake --install build/release --prefix /tmp/jitk --component jitk --strip
    integrations/python/build_wheel.py --prefix /tmp/jitk --output dist
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# From the tree's root; beside the package's modules in the wheel. The second and third are for machines that compile.
CARRIED = ("lib*/libjitk.so.0", "lib*/libjitk-compiler.so", "bin/jitk-compiler")


def build(prefix, output):
    """The path of the wheel."""
    with tempfile.TemporaryDirectory() as work:
        source = pathlib.Path(work) / "jitk"
        shutil.copytree(HERE, source, ignore=shutil.ignore_patterns("__pycache__", "tests", "build", "*.egg-info"))
        for pattern in CARRIED:
            for path in pathlib.Path(prefix).glob(pattern):
                shutil.copy(path, source / "jitk")  # of a link what it names
        if not (source / "jitk" / "libjitk.so.0").exists():
            sys.exit(f"prefix must have lib/libjitk.so.0: got {prefix}")
        made = pathlib.Path(work) / "made"
        subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-build-isolation",
                        "--no-deps", "--no-index", "--wheel-dir", made, source], check=True)
        pathlib.Path(output).mkdir(parents=True, exist_ok=True)
        return shutil.copy(next(made.glob("jitk-*.whl")), output)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, help="an installed tree")
    parser.add_argument("--output", default="dist", help="folder for the wheel")
    options = parser.parse_args()
    print(build(options.prefix, options.output))
