"""How jitk and its peers are timed beside each other in one process: CUDA graphs of calls that take turns. Needs torch."""
import statistics
import time

import torch

GRAPH_MS, MOST_CALLS = 6.0, 20
ROUNDS, REPLAYS, REST_S = 3, 5, 0.03


class Contender:
    """Work as a CUDA graph of calls; `times` are microseconds of one call. Without `calls`, as many as take GRAPH_MS."""

    def __init__(self, name, work, calls=None):
        self.name, self.work, self.times = name, work, []
        with torch.cuda.stream(torch.cuda.Stream()):
            work()
        torch.cuda.synchronize()
        self.calls = calls or max(1, min(MOST_CALLS, int(GRAPH_MS / max(self._milliseconds(), 1e-3))))
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            for _ in range(self.calls):
                work()

    def _milliseconds(self):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        self.work()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end)

    def take_turn(self, replays=REPLAYS, rest=REST_S):
        """After `rest` seconds and one replay that does not count; returns the turn's median."""
        torch.cuda.synchronize()
        time.sleep(rest)
        self.graph.replay()
        events = [torch.cuda.Event(enable_timing=True) for _ in range(replays + 1)]
        events[0].record()
        for event in events[1:]:
            self.graph.replay()
            event.record()
        torch.cuda.synchronize()
        self.times += [a.elapsed_time(b) * 1e3 / self.calls for a, b in zip(events, events[1:])]
        return statistics.median(self.times[-replays:])


def bound(kernel, *arguments, **options):
    """A call that enqueues `kernel` on torch's current stream, with a workspace that all its launches share."""
    workspace = torch.empty(max(kernel.workspace_bytes(), 256), device="cuda", dtype=torch.uint8)

    def launch():
        kernel.launch(*arguments, workspace=workspace.data_ptr(), workspace_bytes=workspace.numel(),
                      stream=torch.cuda.current_stream().cuda_stream, **options)
    return launch


def take_turns(contenders, rounds=ROUNDS, **turn):
    """A B B A, `rounds` times."""
    for _ in range(rounds):
        for contender in [*contenders, *reversed(contenders)]:
            contender.take_turn(**turn)


def require_equal_bits(launch, output, launches=20):
    """Raises ArithmeticError if `output` has other bits after more launches than it has now."""
    bits = output.view(torch.uint8)  # NaN too is equal to itself
    first = bits.clone()
    for _ in range(launches):
        launch()
    if not torch.equal(first, bits):
        raise ArithmeticError("the bits differ between launches")
