"""Prepared kernels as operators of torch, so that its dispatcher, torch.compile and CUDA graphs see them:

    import jitk.torch
    operators = jitk.torch.Operators("engine")
    operators.define("matmul", plan.kernel(device, "matmul m=*<=4096 n=4096 k=7168 dtype=bf16"))
    torch.ops.engine.matmul(a, b, c)

An operator takes the kernel's tensors, then its scalars, then, where it needs one, a workspace; it returns nothing, and writes
those tensors that the op's schema says are written. It runs on torch's current stream of the first tensor's device.
"""
import json

import torch

from . import _library as c


def _mutated(kernel):
    """The names of the tensors that a kernel writes, by the schema of its op."""
    op = kernel.info()["description"].split(" ", 1)[0]
    if op == "user_kernel":
        raise ValueError("mutates must name the tensors that a user_kernel writes")
    text = c.make("jitk_op_info", op.encode())
    try:
        tensors = json.loads(c.library.jitk_text_data(text))["tensors"]
    finally:
        c.library.jitk_text_release(text)
    return {tensor["name"] for tensor in tensors if tensor["access"] != "read"}


def schema(name, kernel, mutates=None):
    """The operator's schema as torch spells it."""
    mutates_are_given = mutates is not None
    mutates = set(mutates) if mutates_are_given else _mutated(kernel)
    unknown = mutates - set(kernel.tensors)
    if unknown and mutates_are_given:
        raise ValueError(f"mutates must be of {kernel.tensors}: got {sorted(unknown)}")
    marks = iter("abcdefghijklmnopqrstuvwxyz")
    parameters = [f"Tensor({next(marks)}!) {tensor}" if tensor in mutates else f"Tensor {tensor}" for tensor in kernel.tensors]
    parameters += [f"{'int' if 'int' in kind else 'float'} {scalar}" for scalar, kind in zip(kernel.scalars, kernel.scalar_types)]
    return f"{name}({', '.join(parameters)}, *, Tensor? workspace=None) -> ()"


class Operators:
    """A namespace of torch.ops. Its operators are there as long as it is."""

    def __init__(self, namespace):
        self._library = torch.library.Library(namespace, "DEF")

    def define(self, name, kernel, mutates=None):
        """Adds an operator that launches `kernel`. `mutates` names the tensors that it writes, where its op has no schema."""
        count = len(kernel.tensors)

        def launch(*arguments, workspace=None):
            tensors = [tensor.detach() for tensor in arguments[:count]]
            stream = torch.cuda.current_stream(tensors[0].device).cuda_stream if tensors[0].is_cuda else None
            address = workspace.data_ptr() if workspace is not None else 0
            size = workspace.numel() * workspace.element_size() if workspace is not None else 0
            kernel.launch(*tensors, scalars=arguments[count:], workspace=address, workspace_bytes=size, stream=stream)

        def trace(*arguments, workspace=None):
            """What it does to shapes: nothing."""

        self._library.define(schema(name, kernel, mutates))
        self._library.impl(name, launch, "CUDA")
        self._library.impl(name, launch, "CPU")  # an emulator's memory
        self._library.impl(name, trace, "Meta")
