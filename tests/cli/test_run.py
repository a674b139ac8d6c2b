"""jitk run and bench where nothing computes: what they refuse, and that a wrong result is seen."""
import unittest

from jitk_cli import ENVIRONMENT, USAGE, WRONG_RESULT, CliTest, setting

MATMUL = ("matmul", "m=4", "n=3", "k=8")


class WrongResult(CliTest):
    """The stub's kernels write nothing, so that outputs keep the NaN that they are filled with."""

    def test_run_sees_it(self):
        said = self.jitk("run", *MATMUL, "--check", "--seed", 7, code=WRONG_RESULT).stdout
        self.assertIn("seed 7", said)
        self.assertRegex(said, r"\nc +12 +12 ")
        self.assertIn("first wrong element: c[0,0]: got NaN, want ", said)
        self.assertTrue(said.endswith("WRONG\n"), said)

    def test_run_says_so_in_json(self):
        figures = self.jitk_json("run", *MATMUL, "--check", "--seed", 7, code=WRONG_RESULT)
        self.assertFalse(figures["passed"])
        self.assertEqual(figures["seed"], 7)
        self.assertEqual(figures["outputs"][0]["wrong"], 12)

    def test_unasked_nothing_is_compared(self):
        self.assertNotIn("WRONG", self.jitk("run", *MATMUL).stdout)

    def test_a_seed_is_drawn_and_printed(self):
        seeds = {self.jitk("run", *MATMUL, "--json").stdout for _ in range(2)}
        self.assertEqual(len(seeds), 2)

    def test_bench_times_a_gpu_by_its_own_clock(self):
        # A kernel of the user's own is not compared; the fake driver's launches take 50 us in a graph.
        words = ("user_kernel", "language=ttgir", "source=x", "entry=k", "grid=1", "arguments=a: read fp32[64], b: read fp32[64], c: written fp32[64]",
                 "--device", "cuda:0")
        driver = {"JITK_DRIVER_LIBRARY": setting("JITK_TEST_FAKE_CUDA")}
        timing = self.jitk_json("bench", *words, "--repeats", 6, **driver)
        self.assertAlmostEqual(timing["median_us"], 50, places=2)
        self.assertAlmostEqual(timing["least_us"], 50, places=2)
        said = self.jitk("bench", *words, "--launches", 5, "--repeats", 6, **driver).stdout
        self.assertIn(": 50 us a launch, least 50 us: ", said)
        self.assertIn(" registers, 0 bytes of spills, ", said)
        self.assertIn(" %; compiled in ", said)
        self.assertIn("\na graph of 5 calls, fewer where they take more than 6 ms, 6 replays, median; 30 ms of rest", said)
        self.assertNotIn("cuBLASLt", said)

    def test_bench_times_nothing_wrong(self):
        self.fails("bench", *MATMUL, code=WRONG_RESULT, says="the result is wrong, so it is not timed")


class Refusals(CliTest):
    def test_descriptions(self):
        for words, says in (
            (("nonsense",), "op must be one of flash_attention, fp8_block_matmul, gated_delta_rule, grouped_fp8_block_matmul, matmul, mla_decode, paged_attention, user_kernel: got 'nonsense'"),
            (("matmul", "m=4", "n=3"), "attribute k of matmul must be given: columns of A"),
            (("matmul", "m=0", "n=3", "k=8"), "got '0'"),
            (("matmul", "m=-4", "n=3", "k=8"), "got '-4'"),
            (("matmul", "m=4", "n=3", "k=8", "m=4"), "attribute must be given once: got 'm' twice"),
            (("matmul", "m=4", "n=3", "k=8", "colour=red"), "got 'colour'"),
            (("matmul", "m=4", "n=3", "k=8", "dtype=int4"), "must be one of bf16, fp16: got 'int4'"),
            (("matmul", "m=4", "n=3", "k"), "attribute must be written name=value: got 'k'"),
            (("flash_attention", "heads=3", "kv_heads=2", "seq_q=1", "head_dim=64"), "must be a multiple of kv_heads 2"),
        ):
            for verb in ("run", "bench"):
                with self.subTest(verb=verb, words=words):
                    self.fails(verb, *words, code=USAGE, says=says)

    def test_tensors_larger_than_the_machine(self):
        for size, says in ((1000000, "tensor c, 1000000 x 1000000 bf16"), (2147483392, "tensor b, 4 x 2147483392 bf16")):
            self.fails("run", "matmul", f"m={size}", f"n={size}", "k=4", code=ENVIRONMENT,
                       says=says + ", does not fit into this machine's memory of ")

    def test_a_least_size_at_launch(self):
        self.fails("run", "mla_decode", "heads=16", "max_kv=64", "num_pages=1", "splits=*", "--size", "splits=0",
                   code=USAGE, says="dimension splits must be 1 or more: got 0")

    def test_architectures(self):
        self.fails("run", "matmul", "m=4", "n=4", "k=4", "--device", "emulator:sm_75", code=USAGE,
                   says="target must be one of emulator:sm_80, ")

    def test_sizes(self):
        dynamic = ("run", "matmul", "m=*%8<=64", "n=3", "k=8")
        self.fails(*dynamic, code=USAGE, says="dimension m of matmul is dynamic and needs a size")
        self.fails(*dynamic, "--size", "m=7", code=USAGE, says="dimension m must be a multiple of 8: got 7")
        self.fails(*dynamic, "--size", "m=72", code=USAGE, says="dimension m must be at most 64: got 72")
        self.fails(*dynamic, "--size", "m=-8", code=USAGE, says="dimension m must be zero or more: got -8")
        unbounded = ("run", "matmul", "m=*", "n=*", "k=*", "--size", "k=0", "--size", "n=1099511627776", "--size", "m=1")
        self.fails(*unbounded, code=USAGE, says="dimension n must be at most 2147483392: got 1099511627776")
        self.fails(*dynamic, "--size", "m", code=USAGE, says="a size must be written name=number: got 'm'")
        self.fails(*dynamic, "--size", "m=8x", code=USAGE, says="a size must be written name=number: got 'm=8x'")
        self.fails(*dynamic, "--size", "m=8", "--size", "n=3", code=USAGE, says="no dynamic dimension of that name: got 'n'")

    def test_sizes_that_break_a_rule_between_dimensions(self):
        for words, sizes, says in (
            (("heads=2", "kv_heads=*"), ("kv_heads=3",), "dimension heads must be a multiple of kv_heads 3: got 2"),
            (("heads=2", "kv_heads=*"), ("kv_heads=0",), "dimension heads must be a multiple of kv_heads 0: got 2"),
            (("heads=*", "kv_heads=2"), ("heads=5",), "dimension heads must be a multiple of kv_heads 2: got 5"),
        ):
            with self.subTest(words=words, sizes=sizes):
                given = [word for size in sizes for word in ("--size", size)]
                self.fails("run", "flash_attention", *words, "seq_q=3", "head_dim=16", *given, code=USAGE, says=says)

    def test_devices(self):
        self.fails("run", *MATMUL, "--device", "gpu", code=USAGE, says="'gpu'")
        self.fails("run", *MATMUL, "--device", "cuda:x", code=USAGE, says="'cuda:x'")
        self.fails("run", *MATMUL, "--device", "emulator:sm_1", code=USAGE, says="sm_1")
        self.fails("run", *MATMUL, "--mode", "later", code=USAGE, says="later")

    def test_a_missing_gpu_is_the_machines_fault(self):
        self.fails("run", *MATMUL, "--device", "cuda:0", code=ENVIRONMENT, says="CUDA driver cannot be opened")
        self.fails("bench", *MATMUL, "--device", "cuda:0", code=ENVIRONMENT, says="CUDA driver cannot be opened")

    def test_a_missing_compiler_is_the_machines_fault(self):
        self.fails("run", *MATMUL, code=ENVIRONMENT, says="/nowhere/lib.so", JITK_COMPILER_LIBRARY="/nowhere/lib.so")

    def test_an_unsupported_problem(self):
        result = self.jitk("run", "matmul", "m=4", "n=13", "k=8", code=USAGE)
        self.assertIn("n must not be 13: got 13", result.stderr)
        self.assertIn("stub: bad luck", result.stderr)

    def test_an_unwritable_store_costs_a_warning_only(self):
        (self.folder / "file").write_text("")
        self.assertIn("jitk: warning: store:", self.jitk("run", *MATMUL, "--store", "file/store").stderr)


class Dump(CliTest):
    def test_dump_writes_what_the_compiler_left(self):
        self.jitk("run", *MATMUL, "--dump", "out/deep")
        names = sorted(file.name for file in (self.folder / "out" / "deep").iterdir())
        self.assertEqual(names, ["commonir.mlir", "kernel.ptx", "llvm.ll", "recipe.json", "ttgir.mlir"])

    def test_a_folder_that_cannot_be_made(self):
        (self.folder / "file").write_text("")
        failed = self.jitk("run", *MATMUL, "--dump", "file/out", code=ENVIRONMENT)
        self.assertEqual(failed.stderr, "jitk: cannot create the folder file/out: Not a directory\n")


if __name__ == "__main__":
    unittest.main()
