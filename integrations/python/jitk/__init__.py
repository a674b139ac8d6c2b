"""jitk: kernels for language models, compiled at run time. See include/jitk/jitk.h for the contract of each call."""
from ._library import Error
from ._objects import Device, Kernel, Plan, Runtime, build_id, describe

__all__ = ["Device", "Error", "Kernel", "Plan", "Runtime", "build_id", "describe"]
