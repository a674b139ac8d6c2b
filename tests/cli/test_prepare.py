"""jitk prepare, with a compiler that compiles nothing."""
import contextlib
import json
import os
import pty
import re
import resource
import subprocess
import unittest

from jitk_cli import ENVIRONMENT, PROGRAM, USAGE, WRONG_RESULT, CliTest


NOBODY = 65534


def matmul(n, **others):
    return "matmul", {"m": "*<=64", "n": n, "k": 8} | others


class Prepare(CliTest):
    def test_a_second_run_finds_everything(self):
        plan = self.write_plan(matmul(1), matmul(2), matmul(3))
        self.assertIn("0 found, 3 compiled, 0 failed, 0 not begun", self.jitk("prepare", plan).stderr)
        self.assertIn("3 found, 0 compiled, 0 failed, 0 not begun", self.jitk("prepare", plan).stderr)

    def test_the_table_shows_times_and_sizes(self):
        said = self.jitk("prepare", self.write_plan(matmul(1))).stdout.splitlines()
        self.assertEqual(said[0].split("  ")[0], "kernel")
        self.assertRegex(said[2], r"matmul .* n=1 .* 1 +2 +3 +4 +32 +0 +1.0 KiB +256 B +compiled$")

    def test_json_has_a_record_for_each_kernel(self):
        records = self.jitk_json("prepare", self.write_plan(matmul(1), matmul(2)))
        self.assertEqual({record["from"] for record in records}, {"compiled"})
        self.assertEqual({record["registers"] for record in records}, {32})
        self.assertEqual(len({record["key"] for record in records}), 2)
        self.assertEqual({r["from"] for r in self.jitk_json("prepare", "plan.json")}, {"store"})

    def test_a_trace_shows_each_kernel_and_its_stages(self):
        self.jitk("prepare", self.write_plan(matmul(1), matmul(2)), "--trace", "trace.json")
        events = json.loads((self.folder / "trace.json").read_text())["traceEvents"]
        kernels = [event for event in events if event["cat"] == "kernel"]
        self.assertEqual({event["args"]["tier"] for event in kernels}, {"compiled"})
        self.assertEqual(len(kernels), 2)
        self.assertEqual([event["name"] for event in events if event["cat"] == "stage"],
                         ["build", "lower", "llvm", "assemble"] * 2)
        self.assertTrue(all(event["ph"] == "X" and event["dur"] >= 0 for event in events))

    def test_no_bar_is_drawn_where_nobody_looks(self):
        self.assertNotIn("\r", self.jitk("prepare", self.write_plan(matmul(1))).stderr)

    def test_a_bar_is_drawn_on_a_terminal_and_wiped_off(self):
        words = [PROGRAM, "prepare", str(self.write_plan(matmul(1), matmul(2), matmul(3)))]
        ours, theirs = pty.openpty()
        with subprocess.Popen(words, env=self.environment, stdout=subprocess.DEVNULL, stderr=theirs) as process:
            os.close(theirs)
            drawn = b""
            with contextlib.suppress(OSError):  # how the end of a terminal reads
                while piece := os.read(ours, 4096):
                    drawn += piece
            os.close(ours)
            self.assertEqual(process.wait(timeout=60), 0)
        bars = re.findall(rb"\r\x1b\[K\[(#*)(\.*)\] (\d)/3 matmul", drawn)
        self.assertEqual([number for _, _, number in bars], [b"1", b"2", b"3"])
        self.assertEqual([len(done) for done, _, _ in bars], [13, 26, 40])
        self.assertTrue(all(len(done + rest) == 40 for done, rest, _ in bars))
        self.assertRegex(drawn, rb"\r\x1b\[K3 kernels in")

    def test_a_table_and_what_is_said_of_it_share_a_file(self):
        plan = self.write_plan(*[matmul(n) for n in range(40, 240)], matmul(13))
        with open(self.folder / "log", "w+") as log:
            subprocess.run([PROGRAM, "prepare", plan], env=self.environment, stdout=log, stderr=log, check=False)
            log.seek(0)
            lines = log.read().splitlines()
        rows = [i for i, line in enumerate(lines) if line.startswith("matmul ")]
        said = [i for i, line in enumerate(lines) if line.startswith("jitk: ") or " kernels in " in line]
        self.assertEqual(len(rows), 200)
        self.assertTrue(all(lines[i].endswith("  compiled") for i in rows))
        self.assertEqual(len(said), 2)
        self.assertLess(rows[-1], said[0])

    def test_equal_kernels_are_one(self):
        self.assertIn("1 kernels in", self.jitk("prepare", self.write_plan(matmul(1), matmul(1))).stderr)

    def test_an_empty_plan_is_done_at_once(self):
        self.assertIn("0 kernels in", self.jitk("prepare", self.write_plan()).stderr)

    def test_other_targets_have_other_kernels(self):
        plan = self.write_plan(matmul(1))
        self.jitk("prepare", plan, "--target", "sm_90a")
        self.assertIn("1 compiled", self.jitk("prepare", plan, "--target", "sm_80").stderr)
        self.assertIn("1 compiled", self.jitk("prepare", plan, "--target", "emulator:sm_80").stderr)

    def test_a_store_of_ones_own(self):
        plan = self.write_plan(matmul(1))
        self.jitk("prepare", plan, "--store", "elsewhere")
        self.assertTrue((self.folder / "elsewhere").is_dir())
        self.assertFalse(self.store.exists())

    def test_bad_targets_and_options_are_refused(self):
        plan = self.write_plan(matmul(1))
        self.fails("prepare", plan, "--target", "sm_1", code=USAGE, says="sm_1")
        self.fails("prepare", plan, "--jobs", "-1", code=USAGE, says="-1")
        self.fails("prepare", plan, "--jobs", "100000", code=USAGE, says="jobs")


class BadPlans(CliTest):
    def refused(self, text, says):
        (self.folder / "plan.json").write_text(text)
        self.fails("prepare", "plan.json", code=USAGE, says=says)

    def test_a_plan_that_is_none(self):
        self.fails("prepare", "nowhere.json", code=USAGE, says="nowhere.json")
        self.refused("", ".json: plan file has malformed JSON: line 1, column 1: ")
        self.refused("{", "plan file has malformed JSON: line 1, column 2: ")
        self.refused("[]", "plan file must be a JSON object")
        self.refused("{}", "plan file must have the member jitk_plan with the value 1")
        self.refused('{"jitk_plan": 2, "kernels": []}', "plan file must have the member jitk_plan with the value 1")
        self.refused('{"jitk_plan": 1}', "plan file must have the member kernels, a list")
        self.refused('{"jitk_plan": 1, "kernels": {}}', "plan file must have the member kernels, a list")

    def test_the_place_of_a_bad_kernel_is_named_and_nothing_is_compiled(self):
        self.fails("prepare", self.write_plan(matmul(1), matmul(0)), code=USAGE, says="in kernel 1 of the plan file")
        self.fails("prepare", self.write_plan(("nonsense", {})), code=USAGE, says="got 'nonsense'")
        self.fails("prepare", self.write_plan(matmul(1, colour="red")), code=USAGE, says="got 'colour'")
        self.fails("prepare", self.write_plan(matmul([1])), code=USAGE, says="attribute n must be a string")
        self.assertEqual(self.jitk_json("store", "ls")["entries"], [])


class Failures(CliTest):
    def test_an_unsupported_kernel_fails_alone(self):
        result = self.jitk("prepare", self.write_plan(matmul(12), matmul(13), matmul(14)), code=USAGE)
        self.assertIn("n=13 out_dtype=bf16 residual=false: n must not be 13: got 13", result.stderr)
        self.assertIn("0 found, 2 compiled, 1 failed, 0 not begun", result.stderr)
        self.assertIn("2 found, 0 compiled, 1 failed", self.jitk("prepare", "plan.json", code=USAGE).stderr)

    def test_a_missing_compiler_is_the_machines_fault(self):
        plan = self.write_plan(*[matmul(n) for n in range(20, 30)])
        result = self.jitk("prepare", plan, code=ENVIRONMENT, JITK_COMPILER_LIBRARY="/nowhere/lib.so")
        self.assertIn("compiler library cannot be opened: /nowhere/lib.so", result.stderr)
        self.assertIn("5 more kernels failed: --json shows all", result.stderr)

    def test_a_sealed_image_needs_no_compiler_for_what_it_has(self):
        plan = self.write_plan(matmul(1))
        self.jitk("prepare", plan, "--export", "kernels.bundle", "--store", "")
        self.jitk("prepare", plan, "--export", "again.bundle", "--store", "", "--bundle", "kernels.bundle")
        said = self.jitk("prepare", plan, "--bundle", "kernels.bundle").stderr
        self.assertIn("1 found, 0 compiled", said)

    def test_nowhere_to_put_kernels(self):
        plan = self.write_plan(matmul(1))
        self.fails("prepare", plan, "--store", "", code=ENVIRONMENT, says="runtime has no disk store")
        (self.folder / "file").write_text("")
        self.fails("prepare", plan, "--store", "file/store", code=ENVIRONMENT, says="store folder cannot be created")
        environment = {name: value for name, value in self.environment.items() if name != "JITK_STORE"}
        self.environment = environment
        self.fails("prepare", plan, code=ENVIRONMENT, says="HOME, XDG_CACHE_HOME and JITK_STORE are not set")

    def test_kernels_that_cannot_be_stored_are_a_failure(self):
        plan = self.write_plan(matmul(1), matmul(2))
        result = self.without_space("prepare", plan)
        self.assertIn("store: cannot write to ", result.stderr)
        self.assertIn("2 compiled, 0 failed", result.stderr)
        self.assertIn(f"2 of 2 new kernels are not in the store {self.store}", result.stderr)
        self.jitk("prepare", plan)
        self.assertEqual(len(self.jitk_json("store", "ls")["entries"]), 2)

    def test_a_bundle_that_cannot_be_imported_is_a_failure(self):
        self.jitk("prepare", self.write_plan(matmul(1)), "--export", "bundle")
        self.jitk("store", "gc", "--bytes", "0")
        self.assertIn("cannot write to ", self.without_space("store", "import", "bundle").stderr)

    def without_space(self, *words):
        """Runs the program where no file takes a byte, as on a full disk; nobody is above that, root neither."""
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        result = subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, env=self.environment, capture_output=True,
                                text=True, preexec_fn=limit, restore_signals=False)
        self.assertEqual(result.returncode, ENVIRONMENT, result.stdout + result.stderr)
        return result

    def test_a_folder_that_may_not_be_written(self):
        self.become_nobody()
        self.jitk("prepare", self.write_plan(matmul(1)))
        self.store.chmod(0o500)
        self.addCleanup(self.store.chmod, 0o700)
        self.assertIn("not in the store", self.jitk("prepare", self.write_plan(matmul(2)), code=ENVIRONMENT).stderr)
        self.fails("store", "gc", "--bytes", "0", code=ENVIRONMENT, says="cannot remove entries of ")

    def become_nobody(self):
        """Root may write anywhere: what follows is run as another user."""
        if os.geteuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
            self.user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            try:
                subprocess.run([PROGRAM, "--version"], capture_output=True, check=True, **self.user)
            except (OSError, subprocess.CalledProcessError):
                self.skipTest("skipped: no user but root can run the program where it lies")


class Interrupt(CliTest):
    """The stub sends the process SIGINT while it compiles n=19."""

    def test_ctrl_c_leaves_a_usable_store(self):
        plan = self.write_plan(matmul(1), matmul(19), matmul(2), matmul(3))
        result = self.jitk("prepare", plan, "--jobs", 1, code=ENVIRONMENT)
        self.assertIn("interrupted: finishing what is being compiled", result.stderr)
        self.assertIn("0 found, 2 compiled, 0 failed, 2 not begun", result.stderr)
        self.jitk("store", "verify")
        self.assertEqual(len(self.jitk_json("store", "ls")["entries"]), 2)
        self.assertIn("2 found, 2 compiled, 0 failed, 0 not begun", self.jitk("prepare", plan).stderr)


if __name__ == "__main__":
    unittest.main()
