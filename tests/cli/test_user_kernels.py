"""Kernels of the engine's own through the program, with the real compiler. Nothing here needs a GPU."""
import json
import subprocess
import unittest

from jitk_cli import ENVIRONMENT, PROGRAM, USAGE, WRONG_RESULT, CliTest

AXPY_CUDA = """extern "C" __global__ void axpy(const float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""

COPY_TTGIR = """
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32,
                   ttg.target = "cuda:80"} {
  tt.func public @copy(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {
    %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #b>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #b>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<32x!tt.ptr<i32>, #b>
    %xp = tt.addptr %xs, %i : tensor<32x!tt.ptr<i32>, #b>, tensor<32xi32, #b>
    %yp = tt.addptr %ys, %i : tensor<32x!tt.ptr<i32>, #b>, tensor<32xi32, #b>
    %v = tt.load %xp : tensor<32x!tt.ptr<i32>, #b>
    tt.store %yp, %v : tensor<32x!tt.ptr<i32>, #b>
    tt.return
  }
}
"""


def cuda(**others):
    return "user_kernel", {
        "language": "cuda",
        "source": AXPY_CUDA.splitlines(),
        "entry": "axpy",
        "arguments": "x: read fp32[n], y: updated fp32[n], a: fp32, n: int32",
        "grid": "ceil(n/256)",
        "block": "256",
        "n": "*",
    } | others


TTGIR = "user_kernel", {
    "language": "ttgir",
    "source": COPY_TTGIR,
    "entry": "copy",
    "arguments": "x: read int32[32], y: written int32[32]",
    "grid": "1",
}


class UserKernels(CliTest):
    compiler = None

    def without_nvrtc(self, result):
        """Whether the run failed only since this machine has no NVRTC or no assembler; then the test is skipped."""
        if "no NVRTC library" in result or "no assembler found" in result:
            self.skipTest("needs NVRTC and an assembler")

    def prepare(self, *kernels, target="sm_90a"):
        records = json.loads(self.run_any("prepare", self.write_plan(*kernels), "--target", target, "--json").stdout)
        for record in records:
            self.without_nvrtc(record["error"])
        return records

    def run_any(self, *words):
        """Runs the program whatever its exit code: what it says is looked at."""
        return subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, env=self.environment, capture_output=True,
                              text=True, timeout=300)

    def test_cuda_is_compiled_once_and_found_then(self):
        self.assertEqual([r["from"] for r in self.prepare(cuda(), TTGIR)], ["compiled"] * 2)
        self.assertEqual([r["from"] for r in self.prepare(cuda(), TTGIR)], ["store"] * 2)
        entry = next(e for e in self.jitk_json("store", "ls")["entries"] if "language=cuda" in e["description"])
        self.assertIn("arguments=", entry["description"])

    def test_text_that_ends_a_parser_is_a_failure_of_its_kernel(self):
        odd = [("array<index: 1>", "elements of array<...> must be integers or floats: got index in line 3"),
               ("[" * 200000, "IR must nest at most 100 brackets deep, aliases included: got 101 in line 3"),
               ("%r#2147483648", "numbers of results must add up to at most 4194304: got %r#2147483648 in line 3"),
               ("affine_map<(d0) -> (d0)>", "IR must have no affine maps, sets and resources: got affine_map in line 3")]
        for text, says in odd:
            source = COPY_TTGIR.replace("module attributes {", "module attributes {tt.odd = " + text + ", ")
            op, attributes = TTGIR
            # Records come in the order of finishing.
            good, bad = sorted(record["error"] for record in self.prepare((op, attributes | {"source": source}), TTGIR))
            self.assertEqual(good, "")
            self.assertIn(says, bad)

    def test_a_run_finds_what_leaves_a_tensor(self):
        words = ["run", "user_kernel", "language=ttgir", f"source={COPY_TTGIR}", "entry=copy", "grid=1",
                 "--device", "emulator:sm_80"]
        self.jitk(*words, "arguments=x: read int32[32], y: written int32[32]")
        said = self.jitk(*words, "arguments=x: read int32[32], y: written int32[31]", code=WRONG_RESULT).stderr
        self.assertIn("4 bytes outside every allocation, from byte 124 of the 124 at 0x", said)
        self.assertIn("; y lies at 0x", said)
        said = self.jitk(*words, "arguments=x: read int32[31], y: written int32[32]", code=WRONG_RESULT).stderr
        self.assertIn("; x lies at 0x", said)

    def test_the_key_follows_all_that_is_given(self):
        kernels = [cuda(), cuda(options="-DA=1"), cuda(headers="#header a.cuh\n"), cuda(block="128"),
                   cuda(source=AXPY_CUDA + "// changed\n"), cuda(k=3)]
        keys = {record["key"] for record in self.prepare(*kernels)}
        self.assertEqual(len(keys), len(kernels))
        key = self.jitk_json("store", "why", "user_kernel", *[
            f"{name}={value}" for name, value in cuda(source=AXPY_CUDA)[1].items()], "--target", "sm_90a")
        self.assertEqual(key["found"], "store")

    def test_a_wrong_source_is_the_failure_of_one_kernel_with_the_log(self):
        records = self.prepare(cuda(), cuda(source="extern \"C\" __global__ void axpy() { nothing(); }"))
        failed = next(r for r in records if r["status"] != "OK")
        self.assertEqual(failed["status"], "INVALID_ARGUMENT")
        self.assertIn('kernel.cu(1): error: identifier "nothing" is undefined', failed["error"])
        self.assertEqual(sorted(r["status"] for r in records), ["INVALID_ARGUMENT", "OK"])

    def test_arguments_that_the_source_does_not_take_are_refused(self):
        for arguments, said in (("x: read fp32[n]", "number of arguments must be 4, as the source has them: got 1"),
                                ("x: read fp32[n], y: updated fp32[n], a: fp32, n: int64",
                                 "argument n must have 4 bytes, as the source has it: got 8")):
            with self.subTest(arguments):
                self.assertIn(said, self.prepare(cuda(arguments=arguments))[0]["error"])
        halves = "struct P { int low, high; };\nextern \"C\" __global__ void axpy(P n, float *x) {}"
        self.assertIn("argument m must be aligned to its 8 bytes in the source: got 4",
                      self.prepare(cuda(source=halves, arguments="m: int64 = n, x: read fp32[n]"))[0]["error"])

    def test_no_emulator_takes_cuda(self):
        record = self.prepare(cuda(), target="emulator:sm_90a")[0]
        self.assertEqual(record["status"], "UNSUPPORTED")
        self.assertIn("an emulator runs kernels in CommonIR and TTGIR, and none in CUDA C++", record["error"])

    def test_run_reads_the_source_from_a_file(self):
        (self.folder / "copy.ttgir").write_text(COPY_TTGIR)
        words = ["user_kernel", *[f"{name}={value}" for name, value in TTGIR[1].items() if name != "source"]]
        self.jitk("run", *words, "source=@copy.ttgir", "--device", "emulator:sm_80")
        self.fails("run", *words, "source=@absent", code=ENVIRONMENT, says="cannot read absent")
        self.fails("run", *words, "source=@copy.ttgir", "grid=", code=USAGE, says="'grid' twice")

    def test_bench_times_it_and_says_that_nothing_was_compared(self):
        path = self.folder / "copy.ttgir"
        path.write_text(COPY_TTGIR)
        words = ["user_kernel", f"source=@{path}", *(f"{name}={value}" for name, value in TTGIR[1].items() if name != "source"),
                 "--device", "emulator:sm_80", "--launches", 1, "--repeats", 1]
        timing = self.jitk_json("bench", *words)
        self.assertFalse(timing["checked"])
        self.assertEqual((timing["tflops"], round(timing["gb_per_s"] * timing["median_us"] * 1e3)), (0, 256))
        self.assertIn("result not checked", self.jitk("bench", *words).stdout)

    def test_sources_that_differ_in_what_no_code_shows_are_compiled_once(self):
        text = "tt.func public @nothing(%x: !tt.ptr<i32>) {\n  tt.return\n}\n"

        def compiled(*sources):
            plan = self.write_plan(*(("user_kernel", {
                "language": "commonir", "source": source, "entry": "nothing", "grid": "1",
                "arguments": "x: updated int32[1]"}) for source in sources))
            return self.jitk("prepare", plan, "--target", "emulator:sm_90a", "--store", "new").stderr

        self.assertIn("1 compiled, 0 failed, 0 not begun, 1 the same as others", compiled(text, text + "// no code\n"))
        # A finding would name another line.
        self.assertIn("1 found, 1 compiled, 0 failed, 0 not begun\n", compiled(text, "\n" + text))

    def test_integers_of_64_bits_arrive_as_they_are_given(self):
        # Neither is a double. The kernel traps at any other.
        (self.folder / "exact.mlir").write_text("""tt.func public @exact(%x: !tt.ptr<i64>, %y: !tt.ptr<i8>, %s: i64) {
          %wanted = arith.constant 9007199254740993 : i64
          %same = arith.cmpi eq, %s, %wanted : i64
          tt.assert %same, "s" : i1
          %v = tt.load %x : !tt.ptr<i64>
          %other = arith.constant -9223372036854775807 : i64
          %equal = arith.cmpi eq, %v, %other : i64
          tt.assert %equal, "x" : i1
          %w = tt.load %y : !tt.ptr<i8>
          %small = arith.constant -128 : i8
          %tiny = arith.cmpi eq, %w, %small : i8
          tt.assert %tiny, "y" : i1
          tt.return
        }""")
        run = ("run", "user_kernel", "language=commonir", "source=@exact.mlir", "entry=exact", "grid=1",
               "arguments=x: read int64[1], y: read int8[1], s: scalar int64")
        x, y, s = "x=-9223372036854775807", "y=-128", "s=9007199254740993"
        self.jitk(*run, "--values", x, "--values", y, "--values", s)
        self.fails(*run, "--values", x, "--values", y, "--values", "s=9007199254740992", code=WRONG_RESULT,
                   says="assertion failed: s")
        self.fails(*run, "--values", "s=18446744073709551616", code=USAGE, says="must be a whole number of 64 bits")
        self.fails(*run, "--values", "y=128", code=USAGE, says="values of tensor y must be integers of type int8")
        self.fails(*run, "--values", "x=0.5", code=USAGE, says="values of tensor x must be integers of type int64")

    def test_the_table_shows_no_source(self):
        said = self.run_any("prepare", self.write_plan(cuda(source=AXPY_CUDA * 3, entry="axpz"))).stderr
        self.without_nvrtc(said)
        self.assertNotIn("blockIdx", said.split(": NVRTC")[0])
        self.assertRegex(said, r"source=<\d+ bytes [0-9a-f]{8}>")

    def test_a_failure_leaves_a_reproducer_that_fails_again(self):
        source = "tt.func public @k(%x: !tt.ptr<f32>) {\n  \"tile.pipe_barrier\"() {pipe = 6 : i64} : () -> ()\n  tt.return\n}\n"
        kernel = ("user_kernel", {"language": "commonir", "source": source, "entry": "k", "grid": "1",
                                  "arguments": "x: read fp32[1]"})
        self.environment["JITK_REPRODUCERS"] = str(self.folder / "failed")
        record = self.prepare(kernel, target="emulator:sm_80")[0]
        path = record["error"].split("reproducer: ")[1].split(";")[0]
        text = (self.folder / "failed").joinpath(path).read_text()
        self.assertIn("// target: emulator:sm_80\n", text)
        self.assertIn("tile.pipe_barrier", text)
        self.assertIn("convert-common-ir-to-ttgir", text)
        again = self.run_any("inspect", "--reproducer", path)
        self.assertNotEqual(again.returncode, 0)
        self.assertIn(record["error"].split(";")[0], again.stderr)
        self.fails("inspect", "--reproducer", "plan.json", code=USAGE, says="file must be a reproducer")

    def test_a_plan_file_with_a_bad_kernel_names_its_place(self):
        plan = self.write_plan(cuda(), cuda(grid="ceil(n/q)"))
        self.fails("prepare", plan, code=USAGE, says="attribute grid must have a number or the name of a dimension")


if __name__ == "__main__":
    unittest.main()
