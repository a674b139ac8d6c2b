"""Plans, stores and callbacks with the stub compiler."""
import gc
import json
import os
import pathlib
import sys
import tempfile
import threading
import unittest

import jitk

if "JITK_TEST_COMPILER" not in os.environ:
    sys.exit("JITK_TEST_COMPILER is not set: run the tests by ctest, as `ctest --test-dir build/dev -R python/`")
COMPILER = os.environ["JITK_TEST_COMPILER"]
TARGET = "emulator:sm_90a"


def matmul(n):
    return f"matmul m=*<=512 n={n} k=64"


class Plans(unittest.TestCase):
    def setUp(self):
        self.late = []
        self.runtime = jitk.Runtime(store="", compiler_library=COMPILER, jobs=1, late_compilation=self.late.append)
        self.device = self.runtime.device(TARGET, emulator_seed=3)

    def refusal(self, function, *arguments):
        with self.assertRaises(jitk.Error) as failed:
            function(*arguments)
        return failed.exception

    def test_progress_tells_of_each_kernel_once_and_in_order_of_priority(self):
        plan = self.runtime.plan([matmul(64), matmul(13)])
        plan.add(matmul(128), priority=5)
        seen = []
        plan.prepare(self.device, wait=False, progress=seen.append)
        failure = self.refusal(plan.wait)
        self.assertEqual((failure.status, failure.stage, failure.tool_output), ("UNSUPPORTED", "build", "stub: bad luck"))
        self.assertEqual([(each.done, each.total) for each in seen], [(1, 3), (2, 3), (3, 3)])
        self.assertIn("n=128", seen[0].info["description"])
        self.assertEqual({each.status for each in seen}, {"OK", "UNSUPPORTED"})
        for each in seen:
            self.assertEqual(each.error is None, each.status == "OK")
            self.assertEqual(each.info["target"], TARGET)
            self.assertEqual(each.info["tier"], "compiled" if each.status == "OK" else "none")
        failed = next(each for each in seen if each.error)
        self.assertEqual((failed.error.status, failed.error.key), ("UNSUPPORTED", failed.info["key"]))

    def test_a_kernel_is_waited_for_by_itself(self):
        plan = self.runtime.plan([matmul(64), matmul(13)])
        self.assertEqual(self.refusal(plan.wait_kernel, matmul(64)).status, "INVALID_ARGUMENT")
        plan.prepare(self.device, wait=False)
        plan.wait_kernel(matmul(64))
        self.assertEqual(self.refusal(plan.wait_kernel, matmul(13)).status, "UNSUPPORTED")
        self.assertEqual(self.refusal(plan.wait_kernel, matmul(99)).status, "INVALID_ARGUMENT")

    def hold(self, plan, release, **options):
        """Prepares the plan; its first kernel ends when `release` is set."""
        begun = threading.Event()

        def progress(_):
            begun.set()
            release.wait()

        plan.prepare(self.device, wait=False, progress=progress, **options)
        begun.wait()

    def test_waiting_has_an_end_and_cancelling_begins_nothing_more(self):
        plan, release = self.runtime.plan([matmul(64 + 8 * i) for i in range(4)]), threading.Event()
        self.hold(plan, release)
        self.assertEqual(self.refusal(plan.wait, 1).status, "DEADLINE_EXCEEDED")
        self.assertEqual(self.refusal(plan.wait_kernel, matmul(88), 1).status, "DEADLINE_EXCEEDED")
        plan.cancel()
        release.set()
        self.assertEqual(self.refusal(plan.wait).status, "CANCELLED")
        self.assertEqual(self.runtime.counters()["compilations"], 1)

    def test_what_a_deadline_leaves_is_not_begun(self):
        plan, release = self.runtime.plan([matmul(64), matmul(72)]), threading.Event()
        self.hold(plan, release, deadline_ms=200)
        threading.Timer(0.3, release.set).start()
        self.assertEqual(self.refusal(plan.wait).status, "DEADLINE_EXCEEDED")
        self.assertLess(self.runtime.counters()["compilations"], 2)

    def test_a_plan_that_goes_during_its_preparation_ends_it(self):
        seen, release = [], threading.Event()
        plan = self.runtime.plan([matmul(64 + 8 * i) for i in range(4)])
        plan.prepare(self.device, wait=False, progress=lambda each: (release.wait(), seen.append(each.status)))
        threading.Timer(0.1, release.set).start()
        del plan
        gc.collect()
        self.assertEqual(len(seen), 4)
        self.assertIn("CANCELLED", seen)

    def test_a_miss_is_what_the_policy_says(self):
        for policy in ("compile", "background", "fail"):
            self.late.clear()
            plan = self.runtime.plan([matmul(64)], on_miss=policy)
            plan.prepare(self.device)
            self.assertEqual(self.late, [])
            missed = matmul({"compile": 200, "background": 208, "fail": 216}[policy])
            if policy == "fail":
                self.assertEqual(self.refusal(plan.kernel, self.device, missed).status, "NOT_PREPARED")
                self.assertEqual(self.late, [])
                continue
            kernel = plan.kernel(self.device, missed)
            while kernel.info()["stands_in"]:
                self.assertEqual(policy, "background")
            self.assertEqual([(each.cause, each.status, each.target) for each in self.late],
                             [({"compile": "missed", "background": "background"}[policy], "OK", TARGET)])
            self.assertEqual(self.late[0].key, kernel.info()["key"])
            self.assertEqual(self.late[0].description, jitk.describe("matmul", m="*<=512", n=missed.split()[2][2:], k=64))
        with self.assertRaisesRegex(ValueError, "on_miss must be one of compile, background, fail: got guess"):
            self.runtime.plan(on_miss="guess")

    def test_requests_are_heard_of_once_with_their_failures(self):
        self.runtime.kernel(self.device, matmul(64))
        self.refusal(self.runtime.kernel, self.device, matmul(13))
        self.runtime.kernel(self.device, matmul(64))
        self.assertEqual([(each.cause, each.status) for each in self.late],
                         [("requested", "OK"), ("requested", "UNSUPPORTED")])

    def test_missed_kernels_beyond_the_bound_are_dropped(self):
        plan = self.runtime.plan([matmul(64)], max_missed_kernels=1)
        plan.prepare(self.device)
        for n in (72, 80, 72):
            plan.kernel(self.device, matmul(n))
            gc.collect()
        self.assertEqual(self.runtime.counters()["loads"], 4)

    def test_counters_and_the_time_line(self):
        plan = self.runtime.plan([matmul(64), matmul(72)])
        self.assertEqual(self.refusal(plan.trace).status, "INVALID_ARGUMENT")
        plan.prepare(self.device)
        events = json.loads(plan.trace())["traceEvents"]
        self.assertEqual(sum(event["cat"] == "kernel" for event in events), 2)
        counters = self.runtime.counters()
        self.assertEqual((counters["compiled"], counters["compilations"], counters["loads"]), (2, 2, 2))
        self.assertEqual(counters["failed"], 0)

    def test_a_dispatch_finds_the_kernel_of_each_size(self):
        plan = self.runtime.plan([f"matmul m=*<={bound} n=64 k=64" for bound in (16, 64, 512)])
        plan.prepare(self.device)
        plan.seal()
        dispatch = plan.dispatch(self.device, "matmul m=* n=64 k=64", ["m"])
        for size, bound in ((1, 16), (16, 16), (17, 64), (512, 512)):
            kernel = dispatch.kernel(size)
            self.assertIn(f"m=*<={bound} ", kernel.info()["description"])
        self.assertEqual(self.refusal(dispatch.kernel, 513).status, "NOT_PREPARED")
        del dispatch
        gc.collect()
        self.assertEqual(kernel.dimensions, ["m"])
        self.assertEqual(kernel.alignments, [16, 16, 16])

    def test_a_plan_is_written_as_a_file(self):
        plan = self.runtime.plan([matmul(64)])
        again = self.runtime.plan()
        again.add_json(plan.to_json())
        self.assertEqual(json.loads(again.to_json()), json.loads(plan.to_json()))

    def test_the_log_is_heard(self):
        lines = []
        runtime = jitk.Runtime(store="", compiler_library=COMPILER, log=lambda *line: lines.append(line), log_level="info")
        runtime.kernel(runtime.device(TARGET), matmul(64))
        self.assertIn(("info", "compile"), {line[:2] for line in lines})
        with self.assertRaisesRegex(ValueError, "log_level must be one of default, error, .*: got loud"):
            jitk.Runtime(store="", log=print, log_level="loud")
        with self.assertRaisesRegex(jitk.Error, "log_level needs options.log"):
            jitk.Runtime(store="", log_level="info")

    def test_memory_of_a_device_and_a_launch_by_addresses(self):
        kernel = self.runtime.kernel(self.device, matmul(64))
        address = self.device.allocate(4096)
        self.device.fill(address, 0xCD, 4096)
        self.device.copy_to_device(address + 16, b"jitk")
        self.assertEqual(self.device.copy_to_host(address + 15, 6), b"\xcdjitk\xcd")
        kernel.launch_addresses([address, address + 1024, address + 2048], dimensions=[100])
        with self.assertRaisesRegex(jitk.Error, "aligned to 16 bytes"):
            kernel.launch_addresses([address, address + 1, address + 2048], dimensions=[100])
        self.device.free(address)

    def test_an_artifact_has_what_lies_between(self):
        artifact = self.runtime.compile(matmul(64), "sm_90a")
        self.assertEqual([artifact.dump(what) for what in ("common_ir", "ttgir", "llvm_ir", "ptx")],
                         ["common", "ttgir", "llvm", "// stub"])
        self.assertEqual(artifact.dump("code")[:4], b"\x7fELF")
        self.assertIn("steps", json.loads(artifact.dump("recipe")))
        self.assertEqual((artifact.info()["registers"], artifact.info()["target"]), (32, "sm_90a"))
        with self.assertRaisesRegex(ValueError, "dump must be one of"):
            artifact.dump("sass")


class Stores(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.runtime = self.open("store")
        plan = self.runtime.plan([matmul(64), matmul(72)])
        plan.prepare(target="sm_90a")
        self.plan = plan

    def open(self, name, **options):
        return jitk.Runtime(store=pathlib.Path(self.folder.name) / name, compiler_library=COMPILER, **options)

    def entries(self, runtime, **options):
        return json.loads(runtime.list_store(**options))["entries"]

    def test_why_and_what(self):
        key = json.loads(self.runtime.key(matmul(64), "sm_90a"))["key"]
        self.assertIn(key, {entry["key"] for entry in self.entries(self.runtime)})
        self.assertEqual(json.loads(self.runtime.explain(matmul(64), "sm_90a"))["found"], "store")
        self.assertIsNone(json.loads(self.runtime.explain(matmul(80), "sm_90a"))["found"])
        self.assertEqual(json.loads(self.runtime.explain_key(key))["key"], key)
        with self.assertRaisesRegex(jitk.Error, "INVALID_ARGUMENT"):
            self.runtime.explain_key("ffffffffffffffff")
        entry = self.runtime.read_entry(key)
        self.assertEqual(entry.info()["key"], key)
        self.assertEqual(entry.dump("code")[:4], b"\x7fELF")
        self.assertIsNone(entry.dump("ttgir"))

    def test_a_store_goes_by_a_bundle(self):
        bundle = pathlib.Path(self.folder.name) / "all.bundle"
        self.assertEqual(self.runtime.export_store(bundle), 2)
        other = self.open("other")
        self.assertEqual(other.import_bundle(bundle), 2)
        self.assertEqual(len(self.entries(other)), 2)
        other.collect_store(0)
        self.assertEqual(self.entries(other), [])
        mine = pathlib.Path(self.folder.name) / "plan.bundle"
        self.plan.export("sm_90a", mine)
        reader = self.open("third", bundles=[mine])
        plan = reader.plan([matmul(64)])
        plan.prepare(target="sm_90a")
        self.assertEqual(reader.counters()["found_in_bundles"], 1)

    def test_verifying_puts_damaged_entries_away(self):
        path = max(pathlib.Path(self.folder.name, "store").rglob("*"), key=lambda each: each.is_file() and each.stat().st_size)
        data = bytearray(path.read_bytes())
        data[-9] ^= 1
        path.write_bytes(data)
        self.entries(self.runtime, verify=True)
        self.assertLess(len(self.entries(self.runtime)), 2)


if __name__ == "__main__":
    unittest.main()
