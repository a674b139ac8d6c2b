"""The verbs over the real compiler and the emulator: one kernel each, small."""
import json
import unittest

from jitk_cli import ENVIRONMENT, USAGE, CliTest

MATMUL = ("matmul", "m=20", "n=24", "k=40", "dtype=fp16")
DEVICE = ("--device", "emulator:sm_80")


class Compiler(CliTest):
    compiler = None

    def test_run_checks_and_the_second_run_finds_the_kernel(self):
        said = self.jitk("run", *MATMUL, *DEVICE, "--check", "--seed", 3).stdout
        self.assertTrue(said.endswith("ok\n"), said)
        figures = self.jitk_json("run", *MATMUL, *DEVICE, "--check", "--seed", 4)
        self.assertTrue(figures["passed"])
        self.assertEqual(figures["outputs"][0]["elements"], 20 * 24)
        self.assertLess(figures["outputs"][0]["error_over_bound"], 1)
        self.assertEqual(len(self.jitk_json("store", "ls")["entries"]), 1)

    def test_a_dynamic_size(self):
        self.jitk("run", "matmul", "m=*<=64", "n=16", "k=32", "--size", "m=19", *DEVICE, "--check")

    def test_dump_writes_readable_code(self):
        self.jitk("run", *MATMUL, *DEVICE, "--dump", "out")
        text = {file.name: file.read_text() for file in (self.folder / "out").iterdir()}
        self.assertIn("tile.alloc", text["commonir.mlir"])
        self.assertIn("ttg.local_alloc", text["ttgir.mlir"])
        self.assertIn("define", text["llvm.ll"])
        json.loads(text["recipe.json"])
        self.assertIn(".target sm_80", text["kernel.ptx"])
        self.assertIn("mma.sync", text["kernel.ptx"])

    def test_inspect_shows_ptx_of_a_gpu_without_one(self):
        # A key names the assembler, so a GPU's code needs one, even to be looked at.
        if self.jitk_json("doctor")["compiler"]["assemblers"]["sm_90a"].startswith("no assembler found"):
            self.fails("inspect", *MATMUL, "--target", "sm_90a", code=ENVIRONMENT, says="no assembler found")
            self.skipTest("skipped: needs nvJitLink or ptxas, found none")
        said = self.jitk("inspect", *MATMUL, "--target", "sm_90a", "--show", "ptx").stdout
        self.assertIn(".target sm_90a", said)

    def test_inspect_shows_the_ptx_that_an_emulator_stands_in_for(self):
        said = self.jitk("inspect", *MATMUL, "--target", "emulator:sm_90a", "--show", "ptx").stdout
        self.assertIn(".target sm_90a", said)
        self.assertIn("wgmma.mma_async", said)

    def stub_ptxas(self, version, body):
        """A folder with a program ptxas of that version."""
        folder = self.folder / version
        folder.mkdir()
        program = folder / "ptxas"
        program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && {{ echo "release, V{version}"; exit; }}\n{body}\n')
        program.chmod(0o755)
        return folder

    def test_an_assembler_that_is_too_old_is_passed_over(self):
        body = "echo \"ptxas fatal   : Value 'sm_90a' is not defined for option 'gpu-name'\" >&2; exit 1"
        old = self.stub_ptxas("11.8.89", body)
        report = self.jitk_json("doctor", PATH=f"{old}:/usr/bin:/bin")["compiler"]
        for architecture in ("sm_90a", "sm_121a"):
            self.assertFalse(report["assemblers"][architecture].startswith("ptxas 11.8"), report["assemblers"])
        self.assertEqual(report["assemblers"]["sm_80"], "ptxas 11.8.89")
        # No other tool: it says what is wrong and what to do.
        alone = {"JITK_PTXAS": str(old / "ptxas"), "JITK_ASSEMBLER": "ptxas"}
        says = (f"ptxas 11.8.89 is too old: {old}/ptxas knows PTX 7.8, and 8.3 is needed: "
                "install one of CUDA 12.3 or newer")
        least = says.replace("8.3", "8.0").replace("12.3", "12.0")
        self.fails("inspect", *MATMUL, "--target", "sm_90a", code=ENVIRONMENT, says=least, **alone)
        said = self.jitk("doctor", **alone).stdout
        self.assertIn(least, said)
        # The next tool is asked, if there is one.
        if report["assemblers"]["sm_90a"].startswith("no assembler found"):
            self.skipTest("skipped: needs another ptxas or nvJitLink, found none")
        plan = self.write_plan(("matmul", {"m": "*<=16", "n": 16, "k": 32}))
        self.assertIn("1 compiled", self.jitk("prepare", plan, "--target", "sm_90a", PATH=f"{old}:/usr/bin:/bin").stderr)
        if not report["tools"]["nvjitlink"]["sm_90a"].startswith("no nvJitLink"):
            only = {"JITK_PTXAS": str(old / "ptxas")}
            said = self.jitk("prepare", plan, "--target", "sm_90a", **only).stderr
            self.assertIn("1 compiled", said)
            self.assertRegex(self.jitk("doctor", **only).stdout, r"ptxas +ptxas 11.8.89 is too old: .*8.0 is needed")

    def test_a_file_that_the_assembler_did_not_finish_is_not_kept(self):
        real = self.jitk_json("doctor")["compiler"]["assemblers"]["sm_90a"]
        if not real.startswith("ptxas"):
            self.skipTest(f"skipped: needs ptxas, found {real}")
        truncating = self.stub_ptxas("13.0.1", "ptxas \"$@\" || exit $?\nwhile [ $# -gt 1 ]; do "
                                     '[ "$1" = --output-file ] && truncate -s $(($(stat -c %s "$2") / 2)) "$2"; shift; done')
        plan = self.write_plan(("matmul", {"m": "*<=16", "n": 16, "k": 32}))
        stub = {"JITK_PTXAS": str(truncating / "ptxas"), "JITK_ASSEMBLER": "ptxas"}
        self.fails("prepare", plan, "--target", "sm_90a", code=1, says="compiled code must be a whole ELF file: got ", **stub)
        self.assertEqual(self.jitk_json("store", "ls")["entries"], [])

    def test_prepare_for_the_emulator(self):
        plan = self.write_plan(("matmul", {"m": "*<=16", "n": 16, "k": 32}))
        self.assertIn("1 compiled", self.jitk("prepare", plan, "--target", "emulator:sm_80").stderr)
        self.assertIn("1 found, 0 compiled", self.jitk("prepare", plan, "--target", "emulator:sm_80").stderr)

    def test_descriptions_of_one_kernel_are_compiled_once(self):
        # Both bounds are far above what would choose other tiles.
        bounds = ("*<=16384", "*<=32768", "*<=65536")
        plan = self.write_plan(*(("matmul", {"m": m, "n": 512, "k": 512, "dtype": "bf16"}) for m in bounds))
        target = ("--target", "emulator:sm_90a")
        said = self.jitk("prepare", plan, *target).stderr
        self.assertIn("0 found, 1 compiled, 0 failed, 0 not begun, 2 the same as others", said)
        self.assertIn("3 found, 0 compiled", self.jitk("prepare", plan, *target).stderr)
        self.assertEqual(len(self.jitk_json("store", "ls")["entries"]), 3)
        self.jitk("run", "matmul", "m=*<=32768", "n=512", "k=512", "dtype=bf16", "--size", "m=130", "--device",
                  "emulator:sm_90a", "--check")
        self.assertEqual(len(self.jitk_json("store", "ls")["entries"]), 3)  # it was one of them

    def test_tune_keeps_what_was_fastest_and_a_run_that_is_told_to_uses_it(self):
        problem = ("matmul", "m=20", "n=24", "k=1024", "dtype=fp16")
        device = ("--device", "emulator:sm_90a")
        kept = self.jitk_json("tune", *problem, *device, "--launches", 1, "--rounds", 1, "--most", 3)
        self.assertEqual(len(kept["candidates"]), 3)
        self.assertIn(kept["configuration"], [each["name"] for each in kept["candidates"]])
        word = f" configuration={kept['configuration']} "
        self.assertIn(word, self.jitk_json("run", *problem, *device, "--tuned")["description"])
        self.assertNotIn("configuration", self.jitk_json("run", *problem, *device)["description"])
        self.assertIn("fastest on emulator", [each.get("options") for each in self.jitk_json("store", "ls")["entries"]])
        self.assertIn("one way to build", self.jitk("tune", *problem, *DEVICE).stdout)
        self.fails("tune", *problem, "configuration=64x32", *device, code=USAGE, says="must be left to tune: got '64x32'")

    def test_tune_times_the_default_of_a_size_known_at_launch(self):
        problem = ("matmul", "m=*", "n=24", "k=1024", "dtype=fp16", "--size", "m=4")
        device = ("--device", "emulator:sm_90a")
        kept = self.jitk_json("tune", *problem, *device, "--launches", 1, "--rounds", 1, "--most", 2)
        self.assertEqual([each["name"] for each in kept["candidates"]][0], "")
        self.assertEqual(len(kept["candidates"]), 3)
        self.assertRegex(self.jitk("tune", *problem, *device, "--launches", 1, "--rounds", 1, "--most", 2).stdout, r"\ndefault ")

    def test_bench(self):
        timing = self.jitk_json("bench", *MATMUL, *DEVICE, "--launches", 1, "--repeats", 2)
        self.assertGreater(timing["median_us"], 0)
        # 2 m n k operations, and A, B and C once.
        m, n, k = (int(word.split("=")[1]) for word in MATMUL[1:4])
        self.assertAlmostEqual(timing["tflops"] * timing["median_us"] * 1e6, 2 * m * n * k, delta=1)
        self.assertAlmostEqual(timing["gb_per_s"] * timing["median_us"] * 1e3, 2 * (m * n + m * k + n * k), delta=1)
        self.assertGreater(timing["roof_us"], 0)
        self.assertGreater(timing["compile_ms"], 0)
        self.assertGreater(timing["threads"], 0)
        self.assertEqual(timing["build"], self.jitk_json("doctor")["build_id"])


if __name__ == "__main__":
    unittest.main()
