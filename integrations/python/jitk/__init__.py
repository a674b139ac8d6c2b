"""jitk: kernels for language models, compiled at run time. See include/jitk/jitk.h for the contract of each call."""
from ._library import Error
from ._callbacks import LateCompilation, Progress
from ._objects import (Artifact, Device, Dispatch, Kernel, Plan, Runtime, build_id, describe, label, op_info, ops,
                       version)

__all__ = ["Artifact", "Device", "Dispatch", "Error", "Kernel", "LateCompilation", "Plan", "Progress", "Runtime", "build_id",
           "describe", "label", "op_info", "ops", "version"]
