"""Injects each fault of faults.json and compares what the library says of it: status, stage, message, what a tool printed,
whether the kernel's key and a reproducer are named. One call must tell it all.

    test_faults.py                  all of them
    test_faults.py --show NAME      what one of them gives, as JSON

A row of faults.json:

    fault         what goes wrong
    do            what is called: a method of `Actions`, and what it is given
    compiler      the library that compiles: "real", "stub", or a path; {folder} is the test's own
    runtime       options of the runtime
    ptxas         the body of a shell script that takes the place of ptxas
    environment   variables that are set
    driver        the fake CUDA driver: symbols that fail with a code; "capturing", "version"
    status, stage what the failure must have
    message       parts of its message, in their order
    tool_output   parts of what a tool printed, in their order
    key           true: the failure has the key of the kernel
    reproducer    parts of the file that the message names at its end

Each fault has a process of its own, since the environment is read once.
"""
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
FAULTS = json.loads((HERE / "faults.json").read_text())
MATMUL = "matmul m=*<=512 n=64 k=64 dtype=bf16"


class Actions:
    """What can be called. Each raises the failure that is looked at."""

    def __init__(self, row, folder):
        import jitk

        self.jitk, self.row, self.folder = jitk, row, folder
        if "driver" in row:
            self.driver = ctypes.CDLL(os.environ["JITK_DRIVER_LIBRARY"])

    def runtime(self):
        options = {"store": "", "reproducers": self.folder / "reproducers"} | self.row.get("runtime", {})
        options = {name: value.format(folder=self.folder) if isinstance(value, str) else value
                   for name, value in options.items()}
        if "bundles" in options:
            options["bundles"] = [path.format(folder=self.folder) for path in options["bundles"]]
        libraries = {"real": os.environ["JITK_TEST_COMPILER"], "stub": os.environ["JITK_TEST_STUB_COMPILER"]}
        compiler = self.row.get("compiler", "stub")
        return self.jitk.Runtime(compiler_library=libraries.get(compiler, compiler), **options)

    def break_driver(self):
        for symbol, code in self.row.get("driver", {}).items():
            if symbol in ("capturing", "version"):
                getattr(self.driver, f"fake_cuda_set_{symbol}")(code)
            else:
                self.driver.fake_cuda_fail(symbol.encode(), code)

    def create(self):
        self.runtime()

    def describe(self, line):
        self.runtime().plan([line])

    def read_plan(self, text):
        self.runtime().plan().add_json(text)

    def compile(self, target, line=MATMUL):
        plan = self.runtime().plan([line])
        plan.prepare(target=target)

    def open(self, device):
        self.break_driver()
        self.runtime().device(device)

    def load(self, device, line=MATMUL):
        runtime = self.runtime()
        place = runtime.device(device)
        self.break_driver()
        plan = runtime.plan([line])
        plan.prepare(place)

    def launch(self, device, line=MATMUL, tensors=None, dimensions=(1,), scalars=(), synchronize=False):
        """Launches with addresses in memory of the device; `tensors` are bytes from its beginning, None for null."""
        from jitk import _library as c

        runtime = self.runtime()
        place = runtime.device(device)
        kernel = runtime.kernel(place, line)
        memory = ctypes.c_uint64()
        c.call("jitk_device_allocate", place, 1 << 20, ctypes.byref(memory))
        self.break_driver()
        offsets = [i << 17 for i in range(len(kernel.tensors))] if tensors is None else tensors
        addresses = [0 if offset is None else memory.value + offset for offset in offsets]
        launch = c.Launch(num_tensors=len(addresses), num_dimensions=len(dimensions), num_scalars=len(scalars))
        launch.tensors = (ctypes.c_uint64 * len(addresses))(*addresses)
        launch.dimensions = (ctypes.c_int64 * max(len(dimensions), 1))(*dimensions)
        launch.scalars = (ctypes.c_float * max(len(scalars), 1))(*scalars)
        c.call("jitk_kernel_launch", kernel, ctypes.byref(launch))
        if synchronize:
            place.synchronize()

    def miss(self, device):
        runtime = self.runtime()
        plan = runtime.plan()
        plan.seal()
        plan.kernel(runtime.device(device), MATMUL)

    def late(self, lines):
        """A preparation whose deadline passes while the first kernel is being compiled, which takes far longer."""
        plan = self.runtime().plan(lines)
        plan.prepare(target="emulator:sm_90a", deadline_ms=1)

    def fork(self):
        """The failure that a child has, by way of its parent."""
        runtime = self.runtime()
        read, write = os.pipe()
        if os.fork() == 0:
            os.write(write, json.dumps(outcome(lambda: runtime.device("emulator:sm_90a"), self.jitk.Error)).encode())
            os._exit(0)
        os.close(write)
        os.wait()
        raise Told(json.loads(os.read(read, 1 << 16)))

    def damaged_bundle(self):
        (self.folder / "damaged").write_bytes(b"JITKBNDL" + bytes(100))
        self.create()

    def export(self):
        """Writes a bundle where no file can be."""
        from jitk import _library as c

        runtime = self.runtime()
        c.call("jitk_store_export", runtime, str(self.folder / "none" / "bundle").encode(), None)

    def list_store(self):
        from jitk import _library as c

        c.make("jitk_store_list", self.runtime(), 0)

    def unknown_key(self):
        from jitk import _library as c

        c.make("jitk_store_explain_key", self.runtime(), b"0123")


class Told(Exception):
    """A failure that came from another process."""


def outcome(action, failure):
    try:
        action()
    except failure as error:
        return {name: getattr(error, name) for name in ("status", "stage", "message", "tool_output", "key")}
    except Told as told:
        return told.args[0]
    return {"status": "OK"}


def inject(row, folder):
    """In a process that has the environment already."""
    actions = Actions(row, folder)
    name, *arguments = row["do"]
    options = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
    return outcome(lambda: getattr(actions, name)(*arguments, **options), actions.jitk.Error)


def run(row, folder):
    """In a process of its own."""
    environment = {name: os.environ[name] for name in os.environ if not name.startswith(("CUDA", "XDG", "HOME"))}
    environment |= {"JITK_STORE": "", "JITK_DRIVER_LIBRARY": "/nowhere/libcuda.so.1", "PATH": "/usr/bin:/bin"}
    if "driver" in row:
        environment["JITK_DRIVER_LIBRARY"] = os.environ["JITK_TEST_DRIVER"]
    if "ptxas" in row:
        script = folder / "ptxas"
        script.write_text("#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'release 12.8, V12.8.1'; exit 0; fi\n" + row["ptxas"])
        script.chmod(0o755)
        environment |= {"JITK_PTXAS": str(script), "JITK_ASSEMBLER": "ptxas"}
    environment |= row.get("environment", {})
    words = [sys.executable, "-B", __file__, "--inject", row["fault"], str(folder)]
    result = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        raise AssertionError(f"exit code {result.returncode}\n{result.stdout}\n{result.stderr}")
    return json.loads(result.stdout)


class Faults(unittest.TestCase):
    def contains(self, parts, text):
        at = 0
        for part in parts:
            at = text.find(part, at)
            self.assertGreaterEqual(at, 0, f"'{part}' in: {text}")
            at += len(part)

    def test_every_fault_says_what_it_is(self):
        for row in FAULTS:
            with self.subTest(row["fault"]), tempfile.TemporaryDirectory() as folder:
                said = run(row, pathlib.Path(folder))
                self.assertEqual((said["status"], said.get("stage")), (row["status"], row["stage"]), said)
                self.contains(row["message"], said["message"])
                self.contains(row.get("tool_output", []), said["tool_output"])
                self.assertRegex(said["key"], "^[0-9a-f]{32}-[0-9a-f]{8}$" if row.get("key") else "^$", said)
                self.check_reproducer(row.get("reproducer"), said["message"])

    def check_reproducer(self, parts, message):
        self.assertEqual("reproducer: " in message, parts is not None, message)
        if parts:
            path = message.split("reproducer: ")[1].split(";")[0]
            self.contains(parts, pathlib.Path(path).read_text())

    def test_each_is_there_once(self):
        names = [row["fault"] for row in FAULTS]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(names), 25)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inject"]:
        chosen = next(row for row in FAULTS if row["fault"] == sys.argv[2])
        print(json.dumps(inject(chosen, pathlib.Path(sys.argv[3]))))
    elif sys.argv[1:2] == ["--show"]:
        chosen = next(row for row in FAULTS if row["fault"] == sys.argv[2])
        with tempfile.TemporaryDirectory() as place:
            print(json.dumps(run(chosen, pathlib.Path(place)), indent=2))
    else:
        unittest.main()
