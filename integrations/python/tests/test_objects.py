"""The package with the stub compiler: objects, failures, what is checked of tensors."""
import gc
import json
import os
import sys
import unittest

import jitk

if "JITK_TEST_COMPILER" not in os.environ:
    sys.exit("JITK_TEST_COMPILER is not set: run the tests by ctest, as `ctest --test-dir build/dev -R python/`")
COMPILER = os.environ["JITK_TEST_COMPILER"]
MATMUL = "matmul m=*<=512 n=64 k=64 dtype=fp16 out_dtype=fp16"


class Objects(unittest.TestCase):
    def setUp(self):
        self.runtime = jitk.Runtime(store="", compiler_library=COMPILER)
        self.device = self.runtime.device("emulator:sm_90a")

    def test_plan_prepare_seal_launch(self):
        plan = self.runtime.plan([MATMUL, MATMUL])
        plan.add_json('{"jitk_plan": 1, "kernels": [{"op": "matmul", "attributes": {"m": 1, "n": 8, "k": 8}}]}')
        self.assertEqual(len(plan), 2)
        plan.prepare(self.device)
        plan.seal()
        kernel = plan.kernel(self.device, MATMUL)
        self.assertEqual(kernel.tensors, ["a", "b", "c"])
        self.assertEqual(kernel.info()["registers"], 32)
        with self.assertRaises(jitk.Error) as failed:
            plan.kernel(self.device, "matmul m=3 n=8 k=8")
        self.assertEqual(failed.exception.status, "NOT_PREPARED")

    def test_integers_that_a_field_cannot_hold_are_refused(self):
        with self.assertRaisesRegex(OverflowError, "jobs must be between 0 and 4294967295: got 4294967297"):
            jitk.Runtime(store="", compiler_library=COMPILER, jobs=2**32 + 1)
        with self.assertRaisesRegex(OverflowError, "lock_deadline_ms must be between 0 and 4294967295: got -1"):
            jitk.Runtime(store="", compiler_library=COMPILER, lock_deadline_ms=-1)
        kernel = self.runtime.kernel(self.device, MATMUL)
        with self.assertRaisesRegex(OverflowError, "dimension must be between .* got 18446744073709551616"):
            kernel.workspace_bytes(2**64)
        with self.assertRaisesRegex(OverflowError, "argument of jitk_plan_wait must be between 0 and 4294967295: got -1"):
            jitk._library.call("jitk_plan_wait", self.runtime.plan([MATMUL]), -1)

    def test_failures_have_their_details(self):
        with self.assertRaises(jitk.Error) as failed:
            self.runtime.kernel(self.device, "matmul m=1 n=13 k=64")
        self.assertEqual((failed.exception.status, failed.exception.stage), ("UNSUPPORTED", "build"))
        self.assertEqual(failed.exception.tool_output, "stub: bad luck")
        with self.assertRaisesRegex(jitk.Error, "INVALID_ARGUMENT: op must be one of"):
            self.runtime.kernel(self.device, "nonsense")
        with self.assertRaisesRegex(jitk.Error, "device must be"):
            self.runtime.device("toaster")

    def test_objects_may_go_in_any_order(self):
        kernel = self.runtime.kernel(self.device, MATMUL)
        del self.runtime, self.device
        gc.collect()
        self.assertEqual(kernel.scalars, [])

    def test_attributes_by_name_make_the_canonical_line(self):
        self.assertEqual(jitk.describe("matmul", m="*<=512", n=64, k=64, dtype="fp16"),
                         "matmul a_layout=row accumulate=false activation=none b_layout=row bias=false dtype=fp16 k=64 m=*<=512 n=64 "
                         "out_dtype=fp16 residual=false")
        with self.assertRaisesRegex(jitk.Error, "attribute m of matmul must be given"):
            jitk.describe("matmul", n=64, k=64)

    def test_a_report_is_json(self):
        self.assertIn("build_id", json.loads(self.runtime.report()))


if __name__ == "__main__":
    unittest.main()
