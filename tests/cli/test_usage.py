"""What every verb does with a command line that it cannot use, and what the informative verbs say."""
import json
import os
import pty
import subprocess
import unittest

from jitk_cli import ENVIRONMENT, MODELS, PROGRAM, USAGE, CliTest, setting


class Usage(CliTest):
    def test_no_verb_is_refused(self):
        self.fails(code=USAGE, says="A subcommand is required")

    def test_an_unknown_verb_is_refused_with_a_suggestion(self):
        self.fails("prepair", code=USAGE, says="(did you mean prepare?): got 'prepair'")

    def test_an_unknown_option_is_refused(self):
        self.fails("ops", "--xml", code=USAGE, says="--xml")

    def test_help_lists_the_verbs(self):
        said = self.jitk("--help").stdout
        for verb in ("ops", "plan", "prepare", "run", "bench", "store", "inspect", "doctor"):
            self.assertIn(f"  {verb} ", said)

    def test_help_of_a_verb(self):
        self.assertIn("--max-tokens", self.jitk("plan", "--help").stdout)

    def test_output_that_cannot_be_written_is_a_failure(self):
        for words in (["ops"], ["ops", "--json"], ["--help"], ["doctor"]):
            with self.subTest(words=words), open("/dev/full", "w") as full:
                result = subprocess.run([PROGRAM, *words], env=self.environment, stdout=full, stderr=subprocess.PIPE,
                                        text=True)
                self.assertEqual(result.returncode, ENVIRONMENT)
                self.assertIn("cannot write to standard output: No space left on device", result.stderr)

    def test_numbers_are_taken_as_they_are_written(self):
        run = ("run", "matmul", "m=*", "n=3", "k=8", "--size", "m=1")
        too_large = "99999999999999999999999"
        for words in ((*run, "--seed", "-1"), (*run, "--seed", too_large), ("store", "gc", "--bytes", "-1"),
                      ("store", "gc", "--bytes", too_large), ("bench", *run[1:], "--repeats", "0")):
            with self.subTest(words=words):
                self.fails(*words, code=USAGE, says=f"got '{words[-1]}'")
        self.fails(*run, "--size", "m=2", code=USAGE, says="a size must be given once: got 'm' twice")

    def test_values_of_options_are_looked_at(self):
        run = ("run", "matmul", "m=8", "n=8", "k=8", "--store", "")
        plan = ("plan", MODELS / "deepseek-v3.json")
        prepare = ("prepare", self.write_plan(("matmul", {"m": 8, "n": 8, "k": 8})))
        for words, says in (((*run, "--assembler", "foo"), "--assembler: foo not in {ptxas,nvjitlink,driver}"),
                            ((*run, "--mode", "foo"), "--mode: foo not in {deferred,immediate}"),
                            ((*run, "--dump", ""), "--dump: must not be empty"),
                            ((*run, "--bundle", ""), "--bundle: must not be empty"),
                            ((*run, "--device", "cuda:0", "--mode", "immediate"), "are for an emulator"),
                            ((*run, "--device", ""), "got ''"),
                            ((*plan, "--tp", "0"), "--tp: must be a whole number between 1 and 2147483392: got '0'"),
                            ((*plan, "--max-tokens", "9" * 30), "--max-tokens: must be a whole number"),
                            ((*plan, "-o", ""), "--output: must not be empty"),
                            ((*prepare, "--jobs", "0"), "--jobs: must be a whole number between 1 and 1024: got '0'"),
                            ((*prepare, "--jobs", "2000"), "between 1 and 1024: got '2000'"),
                            ((*prepare, "--export", ""), "--export: must not be empty"),
                            ((*prepare, "--trace", ""), "--trace: must not be empty"),
                            ((*prepare, "--target", ""), "target must be"),
                            (("store", "export", ""), "file: must not be empty")):
            with self.subTest(words=words):
                self.fails(*words, code=USAGE, says=says)

    def test_variables_of_the_environment_are_looked_at(self):
        for name, value, says in (("JITK_JOBS", "abc", "must be a whole number between 1 and 1024: got 'abc'"),
                                  ("JITK_JOBS", "-1", "got '-1'"), ("JITK_JOBS", "0", "got '0'"),
                                  ("JITK_JOBS", "3x", "got '3x'"), ("JITK_JOBS", "2000", "got '2000'"),
                                  ("JITK_JOBS", "99999999999", "got '99999999999'"),
                                  ("JITK_ASSEMBLER", "foo", "must be one of ptxas, nvjitlink, driver: got 'foo'"),
                                  ("JITK_LOG", "foo", "json, or 1: got 'foo'"),
                                  ("JITK_LOG", "debug,stor", "got 'stor'"),
                                  ("JITK_SHARED_STORE", "foo", "got one that begins otherwise; in JITK_SHARED_STORE")):
            with self.subTest(name=name, value=value):
                self.fails("doctor", code=USAGE, says=name, **{name: value})
                self.fails("doctor", code=USAGE, says=says, **{name: value})
        self.fails("doctor", code=ENVIRONMENT, says="bundle /nowhere cannot be opened", JITK_BUNDLES="/nowhere")
        self.fails("doctor", code=ENVIRONMENT, says="in JITK_BUNDLES", JITK_BUNDLES="/nowhere")

    def test_a_variable_that_an_option_replaces_is_not_looked_at(self):
        plan = self.write_plan(("matmul", {"m": 8, "n": 8, "k": 8}))
        self.jitk("prepare", plan, "--jobs", "1", "--assembler", "ptxas", JITK_JOBS="abc", JITK_ASSEMBLER="foo")

    def test_reports_are_json_whatever_a_path_is(self):
        # Any bytes are a path. Surrogates stand for them here.
        store = str(self.folder / "caf\udce9")
        report = self.jitk_json("doctor", "--store", store)
        self.assertTrue(report["store"]["folder"].endswith("caf\ufffd"))
        self.assertTrue(self.jitk_json("store", "ls", "--store", store)["folder"].endswith("caf\ufffd"))
        self.jitk("doctor", "--store", store)

    def test_version(self):
        self.assertRegex(self.jitk("--version").stdout, r"^\d+\.\d+\.\d+\n$")


class Ops(CliTest):
    def test_the_list_has_one_line_an_op(self):
        lines = self.jitk("ops").stdout.splitlines()
        names = [line.split()[0] for line in lines[2:] if line and not line.startswith("jitk")]
        self.assertEqual(names, ["flash_attention", "fp8_block_matmul", "gated_delta_rule", "grouped_fp8_block_matmul", "matmul", "mla_decode", "paged_attention", "user_kernel"])

    def test_an_op_shows_attributes_and_tensors(self):
        said = self.jitk("ops", "matmul").stdout
        self.assertRegex(said, r"out_dtype +word +as dtype +bf16, fp16, fp32 +type of C")
        self.assertRegex(said, r"k +dimension +\(required\) +1 or more, or \* +columns of A")
        self.assertRegex(said, r"c +as out_dtype +\[m, n\] +written")

    def test_a_table_fits_a_terminal(self):
        ours, terminal = pty.openpty()
        with open(ours, "rb", buffering=0) as screen:
            process = subprocess.Popen([PROGRAM, "ops", "mla_decode"], env=self.environment, stdout=terminal)
            os.close(terminal)
            said = b""
            try:
                while part := screen.read(4096):
                    said += part
            except OSError:  # a terminal that nobody writes to any more
                pass
            self.assertEqual(process.wait(), 0)
        lines = said.decode().splitlines()
        self.assertLessEqual(max(map(len, lines)), 120)
        self.assertRegex(said.decode(), r"number of\r?\n +tiles and of keys")
        self.assertGreater(max(map(len, self.jitk("ops", "mla_decode").stdout.splitlines())), 120)

    def test_json_has_the_schemas(self):
        ops = self.jitk_json("ops")
        self.assertEqual([op["op"] for op in ops], ["flash_attention", "fp8_block_matmul", "gated_delta_rule", "grouped_fp8_block_matmul", "matmul", "mla_decode", "paged_attention", "user_kernel"])
        matmul = self.jitk_json("ops", "matmul")
        self.assertEqual(matmul, [op for op in ops if op["op"] == "matmul"])
        self.assertEqual(matmul[0]["attributes"][3]["allowed"], ["bf16", "fp16"])

    def test_an_unknown_op_is_refused_with_a_suggestion(self):
        self.fails("ops", "matmull", code=USAGE, says="did you mean matmul?): got 'matmull'")


class Doctor(CliTest):
    def test_a_report_for_people(self):
        said = self.jitk("doctor").stdout
        self.assertRegex(said, r"store +" + str(self.store))
        self.assertRegex(said, r"compiler +" + self.compiler)
        self.assertRegex(said, r"devices +cuda: CUDA driver cannot be opened")

    def test_json_says_the_same(self):
        report = self.jitk_json("doctor")
        self.assertEqual(report["store"]["folder"], str(self.store))
        self.assertEqual(report["compiler"]["library"], self.compiler)
        assemblers = report["compiler"]["assemblers"]
        for target in ("sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a", "emulator:sm_80", "emulator:sm_90a"):
            self.assertEqual(assemblers[target], "stub assembler 1")
        self.assertEqual(len(assemblers), 22)
        self.assertIn("asked for sm_80, sm_86, ", self.jitk("doctor").stdout)

    def test_the_library_of_the_driver_is_where_the_environment_says(self):
        driver = setting("JITK_TEST_FAKE_CUDA")
        said = self.jitk("doctor", JITK_DRIVER_LIBRARY=driver).stdout
        self.assertRegex(said, r"devices +cuda: .*2 devices")
        for place in ("/nowhere/libcuda.so.1", str(self.folder)):
            self.assertRegex(self.jitk("doctor", JITK_DRIVER_LIBRARY=place).stdout,
                             r"devices +cuda: CUDA driver cannot be opened.*" + place)

    def test_what_is_missing_is_reported_not_a_failure(self):
        said = self.jitk("doctor", "--store", "", JITK_COMPILER_LIBRARY="/nowhere/lib.so").stdout
        self.assertRegex(said, r"store +none: none was asked for")
        self.assertRegex(said, r"compiler +none: compiler library cannot be opened: /nowhere/lib.so")


class Inspect(CliTest):
    problem = ("matmul", "m=*", "n=4", "k=8")

    def test_a_key_names_what_it_is_made_of(self):
        said = self.jitk("inspect", *self.problem, "--target", "sm_80").stdout
        for part in ('"key"', '"description": "matmul a_layout=row accumulate=false activation=none b_layout=row', '"target": "sm_80"', '"stub assembler 1"'):
            self.assertIn(part, said)

    def test_intermediate_code(self):
        self.assertEqual(self.jitk("inspect", *self.problem, "--show", "ttgir").stdout, "ttgir")
        self.assertEqual(self.jitk("inspect", *self.problem, "--show", "ptx").stdout, "// stub")
        self.assertIn('"stub"', self.jitk("inspect", *self.problem, "--show", "recipe").stdout)

    def test_a_stored_entry_by_its_key(self):
        self.jitk("prepare", self.write_plan(("matmul", {"m": 16, "n": 4, "k": 8})), "--target", "sm_90a")
        key = self.jitk_json("store", "ls")["entries"][0]["key"]
        for name in (key, key[:8]):
            said = json.loads(self.jitk("inspect", name).stdout)
            self.assertEqual((said["key"], said["target"]), (key, "sm_90a"))
            self.assertIn("matmul a_layout=row accumulate=false", said["description"])
            self.assertIn('"stub"', self.jitk("inspect", name, "--show", "recipe").stdout)
            self.assertEqual(self.jitk("inspect", name, "--show", "ttgir").stdout, "ttgir")
        code = subprocess.run([PROGRAM, "inspect", key, "--show", "code"], env=self.environment, capture_output=True)
        self.assertEqual(code.returncode, 0)
        self.assertEqual(code.stdout[:4], b"\x7fELF")
        self.assertEqual(len(code.stdout), self.jitk_json("store", "ls")["entries"][0]["code_bytes"])
        # The store's own, with no compiler to ask.
        alone = {"JITK_COMPILER_LIBRARY": "/nowhere/lib.so"}
        self.assertIn('"stub"', self.jitk("inspect", key, "--show", "recipe", **alone).stdout)
        self.fails("inspect", key, "--show", "ptx", code=ENVIRONMENT, says="/nowhere/lib.so", **alone)
        self.fails("inspect", "0123456789", code=USAGE, says="key must be of an entry of the store: got '0123456789'")

    def test_bad_requests_are_refused(self):
        self.fails("inspect", *self.problem, "--show", "sass", code=USAGE, says="sass")
        self.fails("inspect", *self.problem, "--target", "hopper", code=USAGE, says="'hopper'")
        self.fails("inspect", "matmul", "m=4", code=USAGE, says="attribute n of matmul must be given")

    def test_a_missing_compiler_is_the_machines_fault(self):
        self.fails("inspect", *self.problem, code=ENVIRONMENT, says="/nowhere/lib.so",
                   JITK_COMPILER_LIBRARY="/nowhere/lib.so")


if __name__ == "__main__":
    unittest.main()
