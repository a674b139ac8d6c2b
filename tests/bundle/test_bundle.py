"""Unpacks the relocatable archive that JITK_TEST_BUNDLE names, and runs what is in it: in an empty environment, so that
nothing but the archive and glibc can help."""
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

GLIBC = {"linux-vdso.so.1", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libresolv.so.2",
         "libutil.so.1"}


class Bundle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        with tarfile.open(os.environ["JITK_TEST_BUNDLE"]) as archive:
            archive.extractall(folder.name)
        cls.root, = pathlib.Path(folder.name).iterdir()

    def run_program(self, name, *arguments):
        done = subprocess.run([self.root / "bin" / name, *arguments], cwd=self.root, env={}, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_all_but_glibc_is_inside(self):
        files = [*(self.root / "bin").iterdir(), *(self.root / "lib").iterdir()]
        self.assertGreater(len(files), 6)
        for file in files:
            done = subprocess.run(["/usr/bin/ldd", file], env={}, capture_output=True, text=True, check=True)
            for line in done.stdout.splitlines():
                name, _, place = line.strip().partition(" => ")
                if name.split()[0] in GLIBC or name.startswith("/"):  # the loader stands with its path alone
                    continue
                found = pathlib.Path(place.rpartition(" (")[0]).resolve()
                self.assertTrue(found.is_relative_to(self.root.resolve()), f"{file.name}: {line}")

    def test_the_compiler_library_is_its_own(self):
        report = json.loads(self.run_program("jitk", "doctor", "--json", "--store", ""))
        self.assertEqual(pathlib.Path(report["compiler"]["library"]).resolve(),
                         (self.root / "lib" / "libjitk-compiler.so").resolve())

    def test_plan(self):
        self.run_program("jitk", "plan", "models/deepseek-v3.json", "--max-tokens", "16", "--output", "plan.json")
        plan = json.loads((self.root / "plan.json").read_text())
        self.assertEqual(plan["model"], "deepseek_v3")
        self.assertIn("mla_decode", {kernel["op"] for kernel in plan["kernels"]})

    def test_run(self):
        for target in ("emulator:sm_80", "emulator:sm_90a"):
            text = self.run_program("jitk", "run", "matmul", "m=100", "n=72", "k=136", "--device", target, "--check",
                                    "--json", "--store", "")
            outcome = json.loads(text)
            self.assertEqual([output["wrong"] for output in outcome["outputs"]], [0])

    def test_conformance(self):
        text = self.run_program("jitk_conformance", "--device=emulator:sm_90a", "-tc=fp8_block_matmul")
        self.assertIn("1 passed", text)
        self.assertIn("0 failed", text)


if __name__ == "__main__":
    if "JITK_TEST_BUNDLE" not in os.environ:
        sys.exit("JITK_TEST_BUNDLE is not set: run the test by ctest, as `ctest --test-dir build/release -R bundle/`")
    unittest.main()
