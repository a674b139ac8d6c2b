"""The report of kernels: figures of rows, the page, and the geometry of the pictures."""
import contextlib
import io
import json
import math
import os
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "perf/report"))
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
        pictures = sorted((ROOT / "perf/results").glob("*-roofline.svg"))
        self.assertTrue(pictures)
        for picture in pictures:
            prefix = str(picture).removesuffix("-roofline.svg")
            source = next(path for path in (prefix + ".json", prefix + ".jsonl") if os.path.exists(path))
            page = pathlib.Path(prefix + ".md")
            # Some pages are written by hand around their pictures.
            made = page.exists() and page.read_text(encoding="utf-8").startswith("# Kernels on ")
            sys.argv = ["report.py", source, "--out", prefix, "--check"] + ([] if made else ["--pictures"])
            self.assertEqual(report.main(), 0, picture.name)


if __name__ == "__main__":
    unittest.main()
