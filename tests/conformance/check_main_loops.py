#!/usr/bin/env python3
"""check_main_loops.py <jitk> <plan>: no loop of a kernel that runs products on tensor cores touches local memory, or waits for
all of the CTA's threads where its warps have roles; and what is spilled outside of them is known.

The plan's kernels are compiled for sm_90a, assembled by ptxas, and read back with nvdisasm. Of each the loops with products
and without an inner one that has some are looked at; a kernel with none is a failure. Exit status 77 without either tool."""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# Bytes of addresses that are kept outside of the loops over blocks, in tiles of 192 and 256 columns; and while the first scores
# of a tile of 192 queries are made, where sequences have lengths.
MOST_SPILLED = {"fp8_block_matmul": 76, "grouped_fp8_block_matmul": 64, "flash_attention": 16}
PRODUCT = re.compile(r"\b[A-Z]*(GMMA|HMMA|IMMA|QMMA)\b")
LOCAL = re.compile(r"\b(LDL|STL)\b")
# Of all threads of the CTA: those of some name how many.
MEETING = re.compile(r"\bBAR\.(SYNC|RED)\S*\s+[^,]+$")
ROLES = re.compile(r"\bUSETMAXREG\b")  # registers change hands between them
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;")
TARGET = re.compile(r"`\((\S+?)\)")


def tool(name):
    """In PATH, a toolkit's folder, or Triton's package; None if there is none."""
    places = [os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/bin"]
    if spec := importlib.util.find_spec("triton"):
        places.append(str(pathlib.Path(spec.origin).parent / "backends/nvidia/bin"))
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(places))


class Blocks:
    """The basic blocks of one function in nvdisasm's text, and where each may go on."""

    def __init__(self, lines):
        self.blocks, self.successors, labels, ends = [[]], [], {}, []
        for line in lines:
            if label := re.match(r"\s*(\.L_x_\d+):", line):
                if self.blocks[-1]:
                    self.blocks.append([])
                labels[label.group(1)] = len(self.blocks) - 1
            elif instruction := INSTRUCTION.search(line):
                self.blocks[-1].append(instruction.group(1))
                if re.search(r"\b(BRA|BRX|JMP|EXIT|RET)\b", instruction.group(1)):
                    self.blocks.append([])
        for index, block in enumerate(self.blocks):
            last = block[-1] if block else ""
            jumps = re.search(r"\b(BRA|JMP)\b", last)
            onward = [labels[name] for name in TARGET.findall(last) if name in labels] if jumps else []
            # Without a condition: `BRA label`, `EXIT`.
            ends = re.match(r"(BRA|JMP)(\.\S+)? `|EXIT|RET", last)
            if not ends and index + 1 < len(self.blocks):
                onward.append(index + 1)
            self.successors.append(onward)

    def dominators(self):
        """Of each block that can be reached, the blocks that every way to it goes through."""
        order, seen = [], {0}
        stack = [(0, iter(self.successors[0]))]
        while stack:
            block, rest = stack[-1]
            for each in rest:
                if each not in seen:
                    seen.add(each)
                    stack.append((each, iter(self.successors[each])))
                    break
            else:
                order.append(block)
                stack.pop()
        order.reverse()
        before = {block: [each for each in order if block in self.successors[each]] for block in order}
        of = {block: set(order) for block in order}
        of[0] = {0}
        changed = True
        while changed:
            changed = False
            for block in order[1:]:
                new = set.intersection(*(of[each] for each in before[block])) | {block}
                changed |= new != of[block]
                of[block] = new
        return of, before

    def loops(self):
        """Sets of blocks: of each header all that comes back to it."""
        of, before = self.dominators()
        loops = {}
        for block in of:
            for header in self.successors[block]:
                if header in of[block]:
                    body, stack = loops.setdefault(header, {header}), [block]
                    while stack:
                        each = stack.pop()
                        if each not in body:
                            body.add(each)
                            stack += before[each]
        return list(loops.values())

    def count(self, body, what):
        return sum(bool(what.search(text)) for block in body for text in self.blocks[block])

    def main_loops(self):
        loops = [body for body in self.loops() if self.count(body, PRODUCT)]
        return [body for body in loops if not any(other < body for other in loops)]


def functions(text):
    """Lines of each function of a listing."""
    for part in re.split(r"^\s*\.section\s+\.text\.", text, flags=re.MULTILINE)[1:]:
        yield part.split(",")[0].split()[0], part.splitlines()


def check(jitk, kernel, ptxas, nvdisasm, folder):
    """What is wrong with a kernel, and how many main loops and bytes of spills it has."""
    words = [f"{name}={str(value).lower() if isinstance(value, bool) else value}"
             for name, value in kernel["attributes"].items()]
    shown = subprocess.run([jitk, "inspect", kernel["op"], *words, "--target", "sm_90a", "--show", "ptx", "--store", ""],
                           capture_output=True, text=True)
    if shown.returncode:
        return [shown.stderr.strip()], 0, 0
    ptx, cubin = folder / "kernel.ptx", folder / "kernel.cubin"
    ptx.write_text(shown.stdout)
    said = subprocess.run([ptxas, "--verbose", "-arch=sm_90a", str(ptx), "-o", str(cubin)], capture_output=True, text=True)
    if said.returncode:
        return [said.stderr.strip()], 0, 0
    spilled = sum(map(int, re.findall(r"(\d+) bytes spill stores", said.stderr)))
    listing = subprocess.run([nvdisasm, "-c", str(cubin)], capture_output=True, text=True, check=True).stdout
    wrong, loops = [], 0
    for name, lines in functions(listing):
        blocks = Blocks(lines)
        has_roles = blocks.count(range(len(blocks.blocks)), ROLES) > 0
        for body in blocks.main_loops():
            loops += 1
            if local := blocks.count(body, LOCAL):
                wrong.append(f"{name}: a loop with {blocks.count(body, PRODUCT)} products has {local} accesses of local memory")
            if has_roles and (meetings := blocks.count(body, MEETING)):
                wrong.append(f"{name}: a loop with {blocks.count(body, PRODUCT)} products has {meetings} barriers of the CTA")
    if not loops:
        wrong.append("no loop with products was found")
    if spilled > (most := MOST_SPILLED.get(kernel["op"], 0)):
        wrong.append(f"spills must be at most {most} bytes: got {spilled}")
    return wrong, loops, spilled


def main():
    jitk, plan = sys.argv[1:]
    ptxas, nvdisasm = tool("ptxas"), tool("nvdisasm")
    if not ptxas or not nvdisasm:
        print("needs ptxas and nvdisasm")
        return SKIPPED
    kernels = json.loads(pathlib.Path(plan).read_text(encoding="utf-8"))["kernels"]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for kernel in kernels:
            wrong, loops, spilled = check(jitk, kernel, ptxas, nvdisasm, pathlib.Path(folder))
            failed |= bool(wrong)
            print(f"{kernel['op']} {kernel['attributes']}: {loops} loops with products, {spilled} bytes of spills stored",
                  *wrong, sep="\n    ", flush=True)
    return 1 if failed or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
