"""The report of kernels: figures of rows, the page, and the geometry of the pictures."""
import argparse
import contextlib
import io
import json
import math
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "perf"), str(ROOT / "perf/report"), str(ROOT / "perf/peers")]
import deepgemm
import goals
import measure
import pages
import report
import results
import svg

SVG = "{http://www.w3.org/2000/svg}"
COMPUTE = {"problem": "matmul m=4096 n=4096 k=4096 <wide>", "median_us": 200.0, "tflops": 687.2, "gb_per_s": 503.3,
           "roof_us": 139.0, "peak_tflops": 989, "registers": 168, "spill_bytes": 0, "shared_bytes": 229616, "threads": 384,
           "compile_ms": 48.8, "assemble_ms": 401.0, "peer": "cuBLASLt", "peer_median_us": 210.0, "ratio": 1.05}
MEMORY = {"problem": "matmul m=1 n=7168 k=16384", "median_us": 58.0, "tflops": 4.05, "gb_per_s": 4050.0, "roof_us": 48.9,
          "registers": 30, "spill_bytes": 0, "shared_bytes": 32768, "threads": 256}
FAILED = {"problem": "matmul m=3 n=3 k=3", "failure": "the result is wrong"}


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return str(self.folder / name)

    def read(self):
        whole = self.write("a.json", json.dumps({"device": "a GPU", "commit": "2c19", "build": "0.1-17",
                                                 "problems": [COMPUTE, MEMORY, FAILED]}))
        peers = {"Triton": {"median_us": 116.0, "times_us": [116.0]}, "cuBLASLt": {"median_us": 1.0}}
        lines = self.write("b.jsonl", "\n".join(map(json.dumps, [
            {"device": "another"}, {**MEMORY, "peers": peers}, {**COMPUTE, "peer": "cuBLASLt", "ratio": 9.0}])))
        return results.read([whole, lines])

    def test_rows_of_one_problem_are_joined(self):
        read = self.read()
        self.assertEqual(read.header, {"device": "a GPU", "commit": "2c19", "build": "0.1-17"})
        self.assertEqual([row.problem for row in read.rows], [each["problem"] for each in (COMPUTE, MEMORY, FAILED)])
        # A peer that the first file has keeps that file's ratio.
        self.assertEqual([(peer.name, peer.ratio) for peer in read.rows[0].peers], [("cuBLASLt", 1.05)])
        self.assertEqual([(peer.name, peer.ratio) for peer in read.rows[1].peers],
                         [("Triton", 2.0), ("cuBLASLt", 1 / 58)])

    def test_occupancy_is_what_the_scarcest_resource_allows(self):
        compute, memory, _ = self.read().rows
        self.assertEqual(compute.occupancy, 12 / 64)  # shared memory: one block of 12 warps
        self.assertEqual(memory.occupancy, 48 / 64)  # shared memory: 6 blocks of 33 KiB, 8 warps each
        memory.shared_bytes, memory.registers = 1024, 64
        self.assertEqual(memory.occupancy, 32 / 64)  # registers: 2048 for a warp
        memory.registers = 16
        self.assertEqual(memory.occupancy, 1)
        memory.threads = 0
        self.assertIsNone(memory.occupancy)

    def test_the_page_has_every_figure(self):
        page = report.page(self.read(), pathlib.Path("out"), ["-roofline.svg", "-ratios.svg"])
        self.assertIn("\n\n![roofline](out-roofline.svg)\n\n![ratios](out-ratios.svg)\n\n", page)
        self.assertIn("Commit 2c19, build 0.1-17.", page)
        self.assertIn("| matmul m=4096 n=4096 k=4096 <wide> | 200 | 687 TFLOP/s | 70 % | 168 | 0 | 224 | 19 % | 48.8 | 401 |"
                      " 210 | 1.050 |  |  |", page)
        self.assertIn("| matmul m=1 n=7168 k=16384 | 58 | 4050 GB/s | 84 % | 30 | 0 | 32 | 75 % |  |  |", page)
        self.assertIn("| matmul m=3 n=3 k=3 | the result is wrong |", page)
        self.assertIn("- Triton: 2.000 over 1 problems, least 2.000", page)

    def test_the_configuration_has_a_column_where_a_row_has_one(self):
        self.assertNotIn("configuration", report.table(self.read().rows))
        rows = results.read([self.write("k.json", json.dumps({"problems": [{**COMPUTE, "configuration": "64x8.t.k4"}, MEMORY]}))]).rows
        lines = report.table(rows).splitlines()
        self.assertEqual([line.split(" | ")[1] for line in (lines[0], *lines[2:])], ["configuration", "64x8.t.k4", ""])
        self.assertEqual(len({line.count("|") for line in lines}), 1)
        self.assertIn("| configuration |", pages.table(rows))

    def test_points_lie_where_their_figures_say(self):
        picture = ElementTree.fromstring(svg.roofline(self.read().rows, "a & b"))
        self.assertEqual(picture.find(SVG + "title").text, "a & b")
        circles = picture.findall(SVG + "circle")
        self.assertEqual(len(circles), 3)  # two rows and one op of the legend
        x = svg.LogAxis(1, 10000, 70, 660)
        y = svg.LogAxis(1, 4000, 465, 50)
        intensity = 1e3 * COMPUTE["tflops"] / COMPUTE["gb_per_s"]
        self.assertAlmostEqual(float(circles[0].get("cx")), x(intensity), delta=0.01)
        self.assertAlmostEqual(float(circles[0].get("cy")), y(COMPUTE["tflops"]), delta=0.01)
        self.assertIn("<wide>", circles[0].find(SVG + "title").text)

    def test_bars_are_as_long_as_their_ratios(self):
        picture = ElementTree.fromstring(svg.ratios(self.read().rows, "ratios"))
        bars = [rect for rect in picture.findall(SVG + "rect") if float(rect.get("height", "0").rstrip("%")) == 13]
        widths = [float(bar.get("width")) for bar in bars]
        self.assertEqual(len(widths), 3)
        self.assertAlmostEqual(widths[1] / widths[0], 2 / 1.05, places=3)
        axis = next(line for line in picture.findall(SVG + "line") if line.get("stroke-dasharray"))
        self.assertAlmostEqual((float(axis.get("x1")) - float(bars[0].get("x"))) * 1.05, widths[0], delta=0.02)

    def test_ticks_of_an_axis(self):
        self.assertEqual(svg.LogAxis(0.1, 1000, 0, 1).ticks(), [0.1, 1, 10, 100, 1000])
        self.assertAlmostEqual(svg.LogAxis(1, 100, 10, 30)(10), 20)
        self.assertIsNone(results.geometric_mean([]))
        self.assertAlmostEqual(results.geometric_mean([2, 8]), 4)

    def test_what_there_is_nothing_of_is_not_drawn(self):
        decode = {**MEMORY, "tflops": 0}
        sys.argv = ["report.py", self.write("c.json", json.dumps({"problems": [decode, FAILED]})), "--out",
                    str(self.folder / "out")]
        self.assertEqual(report.main(), 0)
        self.assertEqual([path.name for path in self.folder.glob("out*")], ["out.md"])
        self.assertNotIn("![", (self.folder / "out.md").read_text())

    def test_goals_say_whether_they_are_held(self):
        def product(words, name, ratio):
            return {**COMPUTE, "problem": f"matmul m=1 n=8 k={words}", "peer": None, "peers": {name: {"median_us": 200 * ratio, "ratio": ratio}}}
        timed = [product("8", "cuBLASLt, best of 8", 1.10), product("16", "cuBLASLt, best of 8", 0.92),
                 product("8 bias=true", "cuBLASLt, best of 8", 0.50), product("*%64", "cuBLASLt, best of 8", 0.50),
                 product("9", "Triton", 1.04)]
        for each in timed:
            del each["peer"]
        lines = goals.table(results.read([self.write("g.json", json.dumps({"problems": timed}))]).rows).splitlines()
        self.assertEqual(lines[2], "| matmul, products alone | cuBLASLt, best of 8 | 1.00, 0.93 | 2 | 1.006 | 0.920 | not held |")
        self.assertIn("| matmul | Triton | 1.03 | 1 | 1.040 | 1.040 | held |", lines)
        self.assertIn("| fp8_block_matmul | Triton | 1.50 | 0 | | | not measured |", lines)
        timed = [{**COMPUTE, "problem": f"flash_attention heads=2 seq_q=64 head_dim={dims}", "peers": {"cuDNN (torch)": {"median_us": us}},
                  "median_us": 100.0} for dims, us in ((64, 110), (128, 300))]
        lines = goals.table(results.read([self.write("h.json", json.dumps({"problems": timed}))]).rows).splitlines()
        self.assertIn("| flash_attention, heads of 64 dimensions | cuDNN (torch) | 1.09 | 1 | 1.100 | 1.100 | held |", lines)

    def test_figures_of_another_machine_stand_beside_rows(self):
        fp8 = {**COMPUTE, "problem": "fp8_block_matmul m=4096 n=4096 k=7168", "median_us": 200.0,
               "peers": {"cuBLASLt bf16, best of 8": {"median_us": 300.0}}}
        attention = {**COMPUTE, "problem": "flash_attention batch=4 heads=32 seq_q=4096 head_dim=128", "median_us": 1500.0,
                     "peers": {"cuDNN (torch)": {"median_us": 1600.0}}}
        rows = results.read([self.write("e.json", json.dumps({"problems": [fp8, attention, MEMORY]}))]).rows
        first, rested, second = results.published(rows)
        self.assertEqual((first.peer, first.quotient), ("DeepGEMM 2.6.1", 166.6 / 200))
        self.assertAlmostEqual(first.ratio, 1.5 / (295.8 / 166.6))
        self.assertEqual((rested.peer, rested.sustained, rested.quotient), ("FlashAttention 3", False, 1600 / 1500))
        self.assertAlmostEqual(rested.ratio, (1600 / 1500) / (1597 / 1600))
        self.assertEqual((second.peer, second.sustained, second.quotient), ("FlashAttention 3", True, None))
        self.assertAlmostEqual(second.ratio, (1600 / 1500) / (1860 / 1711))
        self.assertIn("| 0.833 | 0.845 |", report.published(rows))
        # The peer's own kernel took no turn in that run; where it did, its ratio stands beside the published one.
        self.assertEqual([each.again for each in (first, rested, second)], [None] * 3)
        self.assertEqual(goals.control(rows), "")
        both = {**fp8, "peers": {**fp8["peers"], "DeepGEMM": {"median_us": 160.0}}}
        beside = results.read([self.write("b.json", json.dumps({"problems": [both]}))]).rows
        self.assertAlmostEqual(results.published(beside)[0].again, (300 / 160) / (295.8 / 166.6))
        self.assertIn("reach 1.056 of their published ratio in this run (1 problems)", goals.table(beside))
        self.assertIn("| FlashAttention 3, sustained | 1711 |", report.published(rows))
        # Where no yardstick is published, the time alone counts.
        alone = {**COMPUTE, "problem": "fp8_block_matmul m=4096 n=7168 k=2048", "median_us": 100.0}
        rows = results.read([self.write("t.json", json.dumps({"problems": [fp8, attention, alone]}))]).rows
        means = {line.split(" | ")[1]: line.split(" | ")[3:5] for line in goals.table(rows).splitlines()[2:] if " | " in line}
        self.assertEqual(means["DeepGEMM's ratio to cuBLASLt bf16"], ["1", "0.845"])
        self.assertEqual(means["DeepGEMM's ratio to cuBLASLt bf16, or its time"], ["2", f"{(0.84482 * 0.9056) ** 0.5:.3f}"])
        self.assertEqual(means["FlashAttention 3's ratio to cuDNN, both rested"], ["1", "1.069"])
        self.assertEqual(means["FlashAttention 3's ratio to cuDNN, and 16384 queries sustained"], ["1", "1.069"])
        longest = {**attention, "problem": "flash_attention batch=1 heads=32 kv_heads=8 seq_q=16384 head_dim=128 causal=true"}
        rows = results.read([self.write("u.json", json.dumps({"problems": [attention, longest]}))]).rows
        means = {line.split(" | ")[1]: line.split(" | ")[3] for line in goals.table(rows).splitlines()[2:] if " | " in line}
        self.assertEqual(means["FlashAttention 3's ratio to cuDNN, both rested"], "1")
        self.assertEqual(means["FlashAttention 3's ratio to cuDNN, and 16384 queries sustained"], "2")
        self.assertIsNone(report.published(self.read().rows))

    def test_results_without_problems_are_refused(self):
        sys.argv = ["report.py", self.write("d.json", '{"a run": {"problems": []}}'), "--out", str(self.folder / "out")]
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit) as end:
            report.main()
        self.assertEqual(end.exception.code, 2)
        self.assertIn("results must have problems: got none in ", said.getvalue())

    def test_a_difference_is_found(self):
        self.read()
        sys.argv = ["report.py", str(self.folder / "a.json"), "--out", str(self.folder / "out")]
        self.assertEqual(report.main(), 0)
        sys.argv.append("--check")
        self.assertEqual(report.main(), 0)
        self.write("out-ratios.svg", "another")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(report.main(), 1)
        self.assertIn("out-ratios.svg is not what the results give", said.getvalue())

    def test_the_committed_pictures_are_those_of_their_results(self):
        pictures = set((ROOT / "perf/results").glob("*-ratios.svg")) | set((ROOT / "perf/results").glob("*-roofline.svg"))
        self.assertTrue(pictures)
        sources = sorted((ROOT / "perf/results").glob("*.json*"))
        for source in sources:
            prefix = source.with_suffix("")
            of_source = {each for each in pictures if each.name.startswith(prefix.name + "-")}
            if not of_source:
                continue
            page = prefix.with_suffix(".md")
            # Some pages are written by hand around their pictures.
            made = page.exists() and page.read_text(encoding="utf-8").startswith("# Kernels on ")
            sys.argv = ["report.py", str(source), "--out", str(prefix), "--check"] + ([] if made else ["--pictures"])
            self.assertEqual(report.main(), 0, source.name)
            suffixes = report.files_of(results.read([source]), prefix)
            pictures -= {prefix.with_name(prefix.name + suffix) for suffix in suffixes}
        self.assertEqual(pictures, set(), "pictures that no results give")


class Pages(unittest.TestCase):
    def test_documents_have_the_figures_of_the_results_that_they_name(self):
        self.assertEqual(pages.main(["--check"]), 0)

    def test_what_stands_between_the_lines_is_made_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "r.json").write_text(json.dumps({"device": "a GPU", "date": "2026-11-30", "problems": [
                {**COMPUTE, "peers": {"Triton": {"median_us": 220.0}}}, MEMORY, FAILED, {**MEMORY, "problem": "mla_decode batch=1"}]}))
            page = folder / "page.md"
            page.write_text(f"before\n<!-- kernels: {folder}/r.json matmul -->\nold\n<!-- end of kernels -->\nbehind\n"
                            f"<!-- kernels: {folder}/r.json -->\n<!-- end of kernels -->\n")
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(pages.main([str(page), "--check"]), 1)
            self.assertIn("page.md is not what its results give", said.getvalue())
            self.assertEqual(pages.main([str(page)]), 0)
            self.assertEqual(pages.main([str(page), "--check"]), 0)
            text = page.read_text()
            self.assertTrue(text.startswith(f"before\n<!-- kernels: {folder}/r.json matmul -->\n`matmul`, [a GPU, 2026-11-30](r.md)"), text)
            self.assertIn("| m=4096 n=4096 k=4096 <wide> | 200 | 687 TFLOP/s | 70 % | 168 | 0 | 48.8 | 401 | 1.050 | 1.100 |\n", text)
            self.assertIn("| m=3 n=3 k=3 | the result is wrong |", text)
            self.assertIn("<!-- end of kernels -->\nbehind\n", text)
            self.assertIn("| matmul | Triton | 1.03 | 1 | 1.100 | 1.100 | held |\n", text)
            self.assertNotIn("old", text)
            self.assertNotIn("batch=1", text)


class Measure(unittest.TestCase):
    """The one command: parts are programs, which here are shell scripts."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()
        (self.folder / "lists").mkdir()
        self.addCleanup(setattr, measure, "LISTS", measure.LISTS)
        self.addCleanup(setattr, measure, "PARTS", measure.PARTS)
        measure.LISTS = self.folder / "lists"
        self.list("small.txt", COMPUTE, MEMORY)
        measure.PARTS = [measure.Part("small", 1, ["small.txt"]), measure.Part("peers", 3, ["small.txt"], "x.py", modules=("no_such",))]

    def list(self, name, *rows):
        (self.folder / "lists" / name).write_text("# comment\n" + "\n".join(row["problem"] for row in rows))

    def program(self, *rows, then="", header=None):
        """bench_kernels writes the rows and goes on with `then`."""
        whole = json.dumps({"device": "a GPU", "driver": "580", "commit": "2c19", "protocol": "Turns.", **(header or {}), "problems": rows})
        path = self.folder / "bin/bench_kernels"
        path.write_text(f"#!/bin/sh\ncat > $3.json <<'END'\n{whole}\nEND\n{then}\n")
        path.chmod(0o755)

    def measure(self, *words):
        sys.argv = ["measure.py", *words, "--out", str(self.folder / "out")]
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = measure.main()
        return status, json.loads((self.folder / "out.json").read_text()), said.getvalue()

    def test_parts_make_one_file_and_the_report(self):
        timed = {**COMPUTE, "times_us": [199.0, 200.0, 203.0], "peers": {"cuBLASLt": {"median_us": 210.0, "times_us": [209.0, 211.0]}}}
        self.program(timed, MEMORY, header={"missing": ["Triton: none"]})
        status, document, said = self.measure(str(self.folder))
        self.assertEqual(status, 0)
        small, peers = document["runs"]
        self.assertEqual((small["status"], small["missing"], small["commit"]), ("done", ["Triton: none"], "2c19"))
        self.assertNotIn("not_measured", small)
        self.assertEqual(peers["status"], "left out: this Python has no no_such")
        self.assertEqual(peers["not_measured"], [COMPUTE["problem"], MEMORY["problem"]])
        self.assertIn("no_such", said)
        first = document["problems"][0]
        self.assertEqual((first["part"], first["least_us"], first["most_us"]), ("small", 199, 203))
        self.assertEqual(first["share_of_roof"], round(COMPUTE["roof_us"] / 200, 4))
        self.assertEqual(first["peers"], {"cuBLASLt": {"median_us": 210.0, "least_us": 209, "most_us": 211, "ratio": 1.05}})
        page = (self.folder / "out.md").read_text()
        self.assertIn("| peers | `` | ? | 0 | left out: this Python has no no_such; 2 problems not measured |", page)
        # A program that knows its build alone has the commit of another of the same build.
        self.assertEqual(report.commit_of({"build": "b"}, [{"build": "a", "commit": "1" * 12}, {"build": "b", "commit": "2" * 12}]), "2" * 7)
        self.assertIn("done; without Triton: none |", page)
        self.assertIn("![matmul-ratios](out-matmul-ratios.svg)", page)
        self.assertIn("| 200 | 687 TFLOP/s | 70 % | 168 | 0 | 224 | 19 % | 48.8 | 401 | 210 | 1.050 |", page)

    def test_a_part_that_is_stopped_keeps_what_it_has(self):
        self.program(COMPUTE, then="exec sleep 60")
        status, document, _ = self.measure(str(self.folder), "--only", "small", "--limit", "1")
        self.assertEqual(status, 0)
        self.assertEqual(document["runs"][0]["status"], "stopped after 1 s")
        self.assertEqual(document["runs"][0]["not_measured"], [MEMORY["problem"]])
        self.assertEqual([row["problem"] for row in document["problems"]], [COMPUTE["problem"]])

    def test_what_is_wrong_fails(self):
        self.list("small.txt", FAILED)
        self.program(FAILED)
        self.assertEqual(self.measure(str(self.folder), "--only", "small")[0], 1)
        self.program(COMPUTE, then="exit 2")
        status, document, _ = self.measure(str(self.folder), "--only", "small")
        self.assertEqual((status, document["runs"][0]["status"]), (1, "failed: exit status 2"))

    def test_two_runs_are_one(self):
        self.program(COMPUTE, then="exec sleep 60")
        self.measure(str(self.folder), "--only", "small", "--limit", "1")
        (self.folder / "out.json").rename(self.folder / "a.json")
        self.program({**MEMORY, "median_us": 55.0})
        self.measure(str(self.folder), "--only", "small")
        (self.folder / "out.json").rename(self.folder / "b.json")
        status, document, _ = self.measure("--merge", str(self.folder / "a.json"), str(self.folder / "b.json"))
        self.assertEqual(status, 0)
        self.assertEqual([row["median_us"] for row in document["problems"]], [200.0, 55.0])
        self.assertNotIn("not_measured", document["runs"][0])

    def test_the_kernels_of_deepgemm_are_for_products_of_fp8(self):
        self.doCleanups()
        options = argparse.Namespace(deepgemm=pathlib.Path("kernels"))
        for part in measure.parts_of(options):
            command, _ = part.command(pathlib.Path("build"), pathlib.Path("out/part"), 60)
            given = " ".join(command).partition("--deepgemm ")[2].split(" ")[0]
            # From wherever the part runs.
            self.assertEqual(given, str(pathlib.Path("kernels").resolve()) if part.name in ("fp8", "grouped") else "", part.name)
        self.assertEqual(measure.parts_of(argparse.Namespace(deepgemm=None)), measure.PARTS)

    def test_a_part_has_what_those_behind_it_do_not_need(self):
        first, second, last = (measure.Part(name, seconds, []) for name, seconds in (("a", 20), ("b", 30), ("c", 50)))
        self.assertEqual(measure.limit_of(first, [second, last], 110), 30)
        self.assertEqual(measure.limit_of(second, [last], 80), 30)
        self.assertEqual(measure.limit_of(last, [], 50), 50)
        # Where there is too little each has its share.
        self.assertEqual(measure.limit_of(first, [second, last], 50), 10)
        self.assertEqual(measure.limit_of(second, [last], 40), 15)

    def test_what_goals_are_read_from_has_all_turns(self):
        self.doCleanups()
        published = json.loads((ROOT / "perf/report/published.json").read_text())["figures"]
        first = {}
        for part in measure.PARTS:
            for problem in part.problems():
                first.setdefault(problem, part)
        for problem in {each["problem"] for each in published}:
            self.assertNotIn("--rounds", first[problem].options, problem)
        self.assertNotIn("--rounds", next(part for part in measure.PARTS if part.name == "peers").options)

    def test_all_parts_have_time(self):
        self.doCleanups()
        self.assertLessEqual(sum(part.seconds for part in measure.PARTS), 505)

    def test_the_sources_of_deepgemm_are_told(self):
        measure.PARTS = [measure.Part("fp8", 1, ["small.txt"]), measure.Part("small", 1, ["small.txt"])]
        self.program(COMPUTE, MEMORY)
        sources = {"deepgemm": "54e2", "cutlass": "f3fd", "nvcc": "13.0.88"}
        (self.folder / "sources.json").write_text(json.dumps(sources))
        _, document, _ = self.measure(str(self.folder), "--deepgemm", str(self.folder))
        self.assertEqual([run.get("deepgemm") for run in document["runs"]], [sources, None])
        told = "DeepGEMM's kernels: its commit 54e2, CUTLASS f3fd, nvcc 13.0.88, by `perf/peers/deepgemm.py`."
        self.assertIn(told, (self.folder / "out.md").read_text())
        (self.folder / "sources.json").unlink()
        _, document, _ = self.measure(str(self.folder), "--deepgemm", str(self.folder))
        self.assertEqual([run.get("deepgemm") for run in document["runs"]], [None, None])
        self.assertNotIn("DeepGEMM's kernels", (self.folder / "out.md").read_text())

    def test_each_part_names_lists_and_a_program_that_are_there(self):
        self.doCleanups()
        for part in measure.PARTS:
            self.assertTrue(part.problems(), part.name)
            if part.program != "bench_kernels":
                self.assertTrue((ROOT / "perf/peers" / part.program).exists(), part.program)


class DeepGemm(unittest.TestCase):
    """What compiles DeepGEMM's kernels; git's checkouts and nvcc are small ones."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, headers in (("dg", "deep_gemm/include"), ("cutlass", "include")):
            checkout = self.folder / name
            (checkout / headers).mkdir(parents=True)
            (checkout / headers / "a.cuh").write_text("first")
            self.git(name, "init", "-q")
            self.git(name, "add", ".")
            self.git(name, "commit", "-q", "-m", "first")
        nvcc = self.folder / "nvcc"
        # What is compiled is the source itself; the options' last word is the file to write.
        nvcc.write_text('#!/bin/sh\n[ "$1" = --version ] && { echo "release 13.0, V13.0.88"; exit; }\n'
                        'for word; do case "$word" in *.cu) source=$word;; esac; out=$word; done\ncp "$source" "$out"\n')
        nvcc.chmod(0o755)

    def git(self, checkout, *words):
        return deepgemm.output_of("git", "-C", str(self.folder / checkout), "-c", "user.name=a", "-c", "user.email=a@b", *words)

    def compile(self, *only):
        sys.argv = ["deepgemm.py", str(self.folder / "dg"), str(self.folder / "cutlass"), "--out", str(self.folder / "out"),
                    "--nvcc", str(self.folder / "nvcc"), "--only", *only]
        with contextlib.redirect_stdout(io.StringIO()):
            return deepgemm.main()

    def test_a_kernel_has_the_parameters_that_its_name_says(self):
        self.assertFalse(self.compile("masked4.m256.n4096", "m64.n576"))
        masked, dense, sources = (self.folder / "out" / name for name in (
            "masked4.m256.n4096.k7168.128x128.s5.c2.cubin", "m64.n576.k7168.64x16.s16.c1.cubin", "sources.json"))
        self.assertIn("Major::K, 0, 4096, 7168, 4, 128, 128, 128, 128, 128, 128, 5, 128, 256, 2,\n    true, 132, "
                      "deep_gemm::GemmType::MGroupedMasked,", masked.read_text())
        self.assertIn("Major::K, 0, 576, 7168, 1, 64, 16, 128, 128, 128, 32, 16, 128, 128, 1,\n    false, 132, "
                      "deep_gemm::GemmType::Normal,", dense.read_text())
        self.assertEqual(json.loads(sources.read_text()), {"deepgemm": self.git("dg", "rev-parse", "HEAD"),
                                                           "cutlass": self.git("cutlass", "rev-parse", "HEAD"), "nvcc": "13.0.88"})

    def test_a_folder_has_kernels_of_one_commit(self):
        self.assertFalse(self.compile("m64.n576"))
        self.assertFalse(self.compile("m1.n576"))
        (self.folder / "dg/deep_gemm/include/a.cuh").write_text("second")
        self.assertTrue(deepgemm.commit_of(self.folder / "dg", "deep_gemm/include").endswith("+"))
        with self.assertRaisesRegex(SystemExit, "of other sources"):
            self.compile("m8.n576")
        self.assertEqual(len(list((self.folder / "out").glob("*.cubin"))), 2)

    def test_no_kernel_is_a_failure(self):
        self.assertTrue(self.compile("m3."))

    def test_each_problem_of_the_lists_has_a_kernel(self):
        names = {kernel.name.rsplit(".", 3)[0] for kernel in deepgemm.kernels()}
        self.assertEqual(len(names), len(deepgemm.kernels()))
        for line in measure.Part("", 0, ["fp8_block_matmul.txt", "grouped_fp8_block_matmul.txt"]).problems():
            words = dict(word.split("=") for word in line.split()[1:])
            kind = "masked" if "masked" in words else "contiguous" if "groups" in words else ""
            of_groups = f"{kind}{words['groups']}." if kind else ""
            self.assertIn(f"{of_groups}m{words.get('expected_m', words['m'])}.n{words['n']}.k{words['k']}", names)


if __name__ == "__main__":
    unittest.main()
