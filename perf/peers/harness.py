"""What the drivers of this folder share: problems of a list, checks, and rows of JSON as `perf/report/report.py` reads them."""
import argparse
import json
import math
import os
import statistics
import sys
import time

import jitk
import torch
from contender import MOST_CALLS, REPLAYS, REST_S, ROUNDS, Contender, bound, require_equal_bits, take_turns

PEAK_16_BIT, PEAK_8_BIT, MEMORY = 989e12, 1979e12, 4.8e12
# Two sums of k products of N(0, 1) in fp32, each rounded to bf16, relative to their norm: two roundings of 2^-9 at most.
ROUNDED = 4e-3


def random(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def relative_error(found, wanted):
    return ((found.float() - wanted.float()).norm() / wanted.float().norm()).item()


def numbers(text):
    """"128,256..320/64": 128, 256 and 320."""
    values = []
    for item in text.split(","):
        first, _, rest = item.partition("..")
        last, _, step = rest.partition("/")
        values += range(int(first), int(last or first) + 1, int(step or 1))
    return values


def bytes_of(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


class Problem:
    """A line of a list: a description, and name:value,... of inputs that are not drawn. Says what jitk's arguments are,
    which peers there are, and whether a result is right; subclasses set `arguments`, `outputs` and `flops`."""
    peak, scalars = PEAK_16_BIT, ()

    def __init__(self, line):
        words = line.split()
        self.text = " ".join(words)
        self.description = " ".join(word for word in words if ":" not in word)
        self.words = dict(word.split("=") for word in self.description.split()[1:])
        self.given = {name: numbers(values) for name, values in (word.split(":") for word in words if ":" in word)}

    def size(self, name, default=None):
        return int(self.words.get(name, default))

    def flag(self, name):
        return self.words.get(name) == "true"

    def moved(self):
        """Bytes that must move."""
        return bytes_of(self.arguments)

    def prepare(self, runtime, device):
        """Makes arguments that another kernel makes."""

    def check(self):
        """Raises ArithmeticError if `outputs` are wrong."""
        raise NotImplementedError

    def check_peer(self, result):
        """The same for what a peer returned, right after jitk's outputs were checked."""

    def torch_peers(self):
        """Calls by name."""
        return {}

    def jitk_peers(self, runtime, device):
        """Other kernels of jitk, by name."""
        return {}

    def launcher(self, kernel):
        return bound(kernel, *self.arguments, scalars=self.scalars)


def checked(problem, work):
    """The outputs are poisoned first, so that what is not written is wrong."""
    for output in problem.outputs:
        output.fill_(math.nan)
    work()
    torch.cuda.synchronize()
    problem.check()


def peer_contenders(problem, runtime, device):
    """A peer that does not run, or computes something else, is left out, and named."""
    for name, work in {**problem.torch_peers(), **problem.jitk_peers(runtime, device)}.items():
        try:
            problem.check_peer(work())
            yield Contender(name, work)
        except Exception as failure:  # whatever a library refuses with
            print(f"  {name} left out: {type(failure).__name__}: {str(failure).splitlines()[0][:150]}", file=sys.stderr)


def configuration_of(runtime, device, description):
    """The one that the kernel is built in; empty where there is one way, or one for each range of a size."""
    named = [word.partition("=")[2] for word in description.split() if word.startswith("configuration=")]
    if named or "=*" in description:
        return "".join(named)
    ways = json.loads(runtime.configurations(description, device.target))
    return ways[0]["name"] if ways else ""


def measure(runtime, device, problem, rounds, contenders=lambda problem: []):
    """The row of a problem. `contenders` makes others than the problem's own peers."""
    kernel = runtime.kernel(device, problem.description)
    problem.prepare(runtime, device)
    launch = problem.launcher(kernel)
    checked(problem, launch)
    require_equal_bits(launch, problem.outputs[0])
    ours = Contender("jitk", launch)
    peers = [*contenders(problem), *peer_contenders(problem, runtime, device)]
    take_turns([ours, *peers], rounds)
    info, us, moved = kernel.info(), statistics.median(ours.times), problem.moved()
    configuration = configuration_of(runtime, device, problem.description)
    return {"problem": problem.text, **({"configuration": configuration} if configuration else {}), "median_us": us,
            "least_us": min(ours.times), "tflops": problem.flops / us * 1e-6, "gb_per_s": moved / us * 1e-3,
            "roof_us": 1e6 * max(problem.flops / problem.peak, moved / MEMORY), "peak_tflops": problem.peak * 1e-12,
            "registers": info["registers"], "spill_bytes": info["spill_bytes"], "shared_bytes": info["shared_bytes"],
            "threads": info["threads"], "compile_ms": info["build_ms"] + info["lower_ms"] + info["llvm_ms"],
            "assemble_ms": info["assemble_ms"], "check": "against torch in float32", "times_us": ours.times,
            "peers": {peer.name: {"median_us": statistics.median(peer.times), "times_us": peer.times,
                                  **({"configuration": peer.configuration} if hasattr(peer, "configuration") else {})}
                      for peer in peers}}


def parser(description):
    result = argparse.ArgumentParser(description=description)
    result.add_argument("problems", nargs="+", help="lists")
    result.add_argument("--out", required=True, help="file of JSON lines")
    result.add_argument("--rounds", type=int, default=ROUNDS, help="turns there and back, of each problem")
    result.add_argument("--seconds", type=float, default=math.inf, help="begin with no problem after so many")
    return result


def run(options, make, libraries, kernels_of=lambda line: [Problem(line).description], before=lambda lines: None,
        contenders=lambda problem: []):
    """Times all problems of the lists; a row is written as soon as it is known. `make` makes the problem of a line,
    `kernels_of` says which kernels it needs, `libraries` which peers' versions these are; `before` is called with all lines
    once jitk's kernels are compiled. Returns the exit status: 1 where a result is wrong."""
    began = time.monotonic()
    lines = [line.split("#")[0].strip() for path in options.problems for line in open(path, encoding="utf-8")]
    lines = list(dict.fromkeys(filter(None, lines)))
    runtime = jitk.Runtime(store="")
    device = runtime.device("cuda:0")
    runtime.plan(list(dict.fromkeys(text for line in lines for text in kernels_of(line)))).prepare(device)  # on all cores
    before(lines)
    failed = False
    with open(options.out, "w", encoding="utf-8") as out:
        def write(entry):
            print(json.dumps(entry), file=out, flush=True)
        write({"device": device.name, "driver": torch.version.cuda, "build": jitk.build_id(),
               "command": " ".join(map(os.path.basename, sys.argv)),
               "protocol": f"Graphs of up to {MOST_CALLS} calls, {2 * options.rounds * REPLAYS} replays, median; contenders "
                           f"take turns A B C C B A, {options.rounds} times, {REST_S * 1e3:.0f} ms of rest and one replay "
                           f"before each turn; warm L2. {libraries}."})
        for line in lines:
            try:
                if time.monotonic() - began > options.seconds:
                    raise TimeoutError("not timed: no time was left")
                torch.manual_seed(1)
                result = measure(runtime, device, make(line), options.rounds, contenders)
                ratios = "  ".join(f"{name} {peer['median_us'] / result['median_us']:.3f}"
                                   for name, peer in result["peers"].items())
                print(f"{line:88} {result['median_us']:9.2f} us  {ratios}", flush=True)
            except (ArithmeticError, TimeoutError, jitk.Error) as failure:
                failed = failed or not isinstance(failure, TimeoutError)
                result = {"problem": line, "failure": str(failure)}
                print(f"{line:88} {failure}", flush=True)
            write(result)
    return int(failed)
