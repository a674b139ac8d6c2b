"""Runs the jitk program in a folder and an environment of its own."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest



def setting(name):
    """What the build tells the tests by the environment."""
    if name not in os.environ:
        sys.exit(f"{name} is not set: run the tests by ctest, as `ctest --test-dir build/dev -R cli/`")
    return os.environ[name]


PROGRAM = setting("JITK_TEST_PROGRAM")
STUB_COMPILER = setting("JITK_TEST_STUB_COMPILER")
MODELS = pathlib.Path(setting("JITK_TEST_DATA")) / "models"

OK, WRONG_RESULT, USAGE, ENVIRONMENT = range(4)


class CliTest(unittest.TestCase):
    """`self.jitk(...)` runs the program and checks its exit code; what it said is in .stdout and .stderr."""

    # Which compiler library the program opens: the stub, or None for the real one.
    compiler = STUB_COMPILER
    # Who runs it, as subprocess takes it; as the tests do, if empty.
    user = {}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.store = self.folder / "store"
        # No HOME, no JITK_...: what the tests see does not depend on who runs them.
        kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS") if name in os.environ}
        self.environment = kept | {"JITK_STORE": str(self.store), "JITK_DRIVER_LIBRARY": "/nowhere/libcuda.so.1"}
        if self.compiler:
            self.environment["JITK_COMPILER_LIBRARY"] = self.compiler

    def jitk(self, *words, code=OK, **environment):
        result = subprocess.run(
            [PROGRAM, *map(str, words)],
            cwd=self.folder,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=300,
            **self.user,
        )
        said = f"{' '.join(map(str, words))}\n--- stdout\n{result.stdout}\n--- stderr\n{result.stderr}"
        self.assertEqual(result.returncode, code, said)
        return result

    def jitk_json(self, *words, code=OK, **environment):
        return json.loads(self.jitk(*words, "--json", code=code, **environment).stdout)

    def fails(self, *words, code, says, **environment):
        """Checks the exit code and that the message contains `says`; nothing else is printed."""
        result = self.jitk(*words, code=code, **environment)
        self.assertIn(says, result.stderr)
        self.assertEqual(result.stdout, "")

    def write_plan(self, *kernels, name="plan.json"):
        """Writes a plan file with kernels given as (op, attributes)."""
        path = self.folder / name
        items = [{"op": op, "attributes": attributes} for op, attributes in kernels]
        path.write_text(json.dumps({"jitk_plan": 1, "kernels": items}))
        return path
