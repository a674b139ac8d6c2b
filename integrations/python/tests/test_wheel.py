"""A wheel is built from an installed tree, installed aside, and passes the emulator's tests without the source tree."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def run(*words, **environment):
    """Runs a program; what it says. A variable that is None is not set."""
    variables = {name: value for name, value in (os.environ | environment).items() if value is not None}
    result = subprocess.run([*map(str, words)], env=variables, cwd="/", capture_output=True, text=True)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}\n{result.stdout}\n{result.stderr}")
    return result.stdout


class Wheel(unittest.TestCase):
    def test_a_wheel_is_all_that_is_needed(self):
        missing = [name for name in ("pip", "setuptools", "wheel") if importlib.util.find_spec(name) is None]
        if missing:
            self.skipTest(f"skipped: building a wheel needs pip, setuptools and wheel, found no {missing[0]}")
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            run(os.environ["JITK_TEST_CMAKE"], "--install", os.environ["JITK_TEST_BUILD"], "--prefix", place / "tree",
                "--component", "jitk", "--strip")
            path = run(sys.executable, HERE.parent / "build_wheel.py", "--prefix", place / "tree", "--output",
                       place / "dist").splitlines()[-1]
            self.assertRegex(path, r"jitk-[0-9.]+-py3-none-linux_\w+\.whl$")
            names = {name for name in zipfile.ZipFile(path).namelist() if name.startswith("jitk/")}
            self.assertLessEqual({"jitk/__init__.py", "jitk/libjitk.so.0", "jitk/libjitk-compiler.so", "jitk/jitk-compiler"},
                                 names)
            run(sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-index", "--no-deps",
                "--target", place / "site", path)
            environment = {"PYTHONPATH": str(place / "site"), "JITK_LIBRARY": None, "JITK_TEST_COMPILER": ""}
            where = run(sys.executable, "-c", "import jitk; print(jitk.__file__)", **environment)
            self.assertTrue(where.startswith(str(place / "site")), where)
            run(sys.executable, "-B", HERE / "test_emulator.py", **environment)
            isolated = "import jitk; r = jitk.Runtime(store='', isolate_compiler=1); " \
                       "r.kernel(r.device('emulator:sm_80'), 'matmul m=16 n=16 k=64 dtype=fp16')"
            run(sys.executable, "-c", isolated, **environment)


if __name__ == "__main__":
    unittest.main()
