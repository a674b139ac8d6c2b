"""jitk store: what is listed, what is damaged and healed, what moves between stores."""
import unittest

from jitk_cli import ENVIRONMENT, USAGE, WRONG_RESULT, CliTest


class Store(CliTest):
    def prepare(self, count):
        kernels = [("matmul", {"m": 1, "n": n, "k": 8}) for n in range(1, count + 1)]
        self.plan = self.write_plan(*kernels)
        self.jitk("prepare", self.plan)

    def entry_files(self):
        keys = [entry["key"] for entry in self.jitk_json("store", "ls")["entries"]]
        files = [file for file in self.store.rglob("*") if file.is_file() and any(key in file.name for key in keys)]
        return [file for file in files if file.stat().st_size > 100]

    def test_ls_shows_the_kernels(self):
        self.prepare(2)
        said = self.jitk("store", "ls").stdout
        self.assertIn("matmul a_layout=row accumulate=false activation=none b_layout=row bias=false dtype=bf16 k=8 m=1 n=1 out_dtype=bf16 residual=false  sm_90a", said)
        self.assertIn(f"{self.store}: 2 entries", said)
        self.assertIn("0 damaged", said)

    def test_an_empty_store(self):
        self.assertIn("0 entries, 0 B, 0 damaged", self.jitk("store", "ls").stdout)
        self.assertEqual(self.jitk_json("store", "verify")["entries"], [])

    def test_no_store(self):
        for verb in (["ls"], ["verify"], ["gc", "--bytes", "0"], ["export", "file"]):
            with self.subTest(verb):
                self.fails("store", *verb, "--store", "", code=ENVIRONMENT, says="runtime has no disk store")

    def test_bad_command_lines(self):
        self.fails("store", code=USAGE, says="A subcommand is required")
        self.fails("store", "gc", code=USAGE, says="--bytes is required")
        self.fails("store", "gc", "--bytes", "much", code=USAGE, says="much")
        self.fails("store", "import", "nowhere", code=USAGE, says="nowhere")

    def test_a_damaged_entry_is_reported_quarantined_and_compiled_anew(self):
        self.prepare(3)
        damaged = self.entry_files()[0]
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 0x40
        damaged.write_bytes(content)

        said = self.jitk("store", "ls", code=WRONG_RESULT).stdout
        self.assertIn("2 entries", said)
        self.assertIn("1 damaged", said)
        self.assertIn("damaged, moved to the quarantine", self.jitk("store", "verify", code=WRONG_RESULT).stdout)
        self.assertIn("2 entries", self.jitk("store", "verify").stdout)
        self.assertIn("2 found, 1 compiled, 0 failed", self.jitk("prepare", self.plan).stderr)
        self.assertIn("3 entries", self.jitk("store", "verify").stdout)

    def test_a_damaged_entry_heals_without_being_looked_for(self):
        self.prepare(2)
        damaged = self.entry_files()[0]
        damaged.write_bytes(damaged.read_bytes()[:-10])
        result = self.jitk("prepare", self.plan)
        self.assertIn("1 found, 1 compiled, 0 failed", result.stderr)
        self.assertIn("jitk: warning: store:", result.stderr)
        self.assertIn("0 damaged", self.jitk("store", "ls").stdout)

    def test_gc_keeps_at_most_so_many_bytes(self):
        self.prepare(4)
        one = self.entry_files()[0].stat().st_size
        self.assertIn("2 entries", self.jitk("store", "gc", "--bytes", 2 * one + 50).stdout)
        self.assertIn("0 entries", self.jitk("store", "gc", "--bytes", "0").stdout)
        self.prepare(1)
        self.assertIn("1 entries", self.jitk("store", "gc", "--bytes", "1GiB").stdout)

    def test_kernels_move_in_a_bundle(self):
        self.prepare(3)
        self.assertEqual(self.jitk("store", "export", "all.bundle").stdout, "all.bundle: 3 kernels\n")
        self.assertEqual(self.jitk("store", "import", "all.bundle", "--store", "other").stdout,
                         "3 kernels from all.bundle\n")
        self.assertIn("3 found, 0 compiled", self.jitk("prepare", self.plan, "--store", "other").stderr)

    def test_what_is_no_bundle_is_refused(self):
        (self.folder / "text").write_text("not a bundle")
        self.assertIn("text", self.jitk("store", "import", "text", code=WRONG_RESULT).stderr)

    def test_why_says_where_a_kernel_comes_from(self):
        self.prepare(1)
        problem = ("matmul", "m=1", "n=1", "k=8")
        self.assertIn("it is in the store", self.jitk("store", "why", *problem).stdout)
        said = self.jitk("store", "why", *problem, "--target", "sm_80").stdout
        self.assertIn("it would be compiled", said)
        self.assertIn('target: stored "sm_90a", wanted "sm_80"', said)
        self.assertIsNone(self.jitk_json("store", "why", "matmul", "m=1", "n=2", "k=8")["found"])
        self.fails("store", "why", "matmul", "m=1", code=USAGE, says="attribute n of matmul must be given")

    def test_why_of_a_key_says_what_differs_in_the_nearest_entry(self):
        self.prepare(2)
        keys = {entry["description"].split(" n=")[1].split()[0]: entry["key"]
                for entry in self.jitk_json("store", "ls")["entries"]}
        said = self.jitk("store", "why", keys["1"][:12]).stdout
        self.assertIn("  target: sm_90a", said)
        self.assertIn(f"{keys['2'][:12]} differs in\n  n: stored 2, wanted 1\n", said)
        self.assertEqual(self.jitk_json("store", "why", keys["1"])["nearest"]["differs"], {"n": {"stored": 2, "wanted": 1}})
        self.fails("store", "why", "0123456789ab", code=USAGE, says="key must be of an entry of the store")
        nearest = self.jitk("store", "why", "matmul", "m=1", "n=3", "k=8").stdout
        self.assertRegex(nearest, r"it would be compiled\n\w+ differs in\n  n: stored [12], wanted 3\n")


if __name__ == "__main__":
    unittest.main()
