"""libjitk and its structs as ctypes sees them. Fields are those of jitk.h, in its order; `struct_size` lets the library
be older or newer than this file."""
import ctypes
import operator
import os
import pathlib
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p

LOG_CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)
LATE_COMPILATION_CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)
PROGRESS_CALLBACK = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)


_RANGES = {c_uint8: (0, 2**8), c_int32: (-(2**31), 2**31), c_uint32: (0, 2**32), c_int64: (-(2**63), 2**63), c_uint64: (0, 2**64),
           c_size_t: (0, 2 ** (8 * ctypes.sizeof(c_size_t)))}


def fitting(name, type_, value):
    """The value, if it is no integer or one that the C type holds: ctypes alone would pass on its low bits."""
    least, end = _RANGES.get(type_, (None, None))
    if least is not None and hasattr(value, "__index__") and not least <= operator.index(value) < end:
        raise OverflowError(f"{name} must be between {least} and {end - 1}: got {value}")
    return value


def array(name, type_, values):
    """A C array of integers."""
    return (type_ * max(len(values), 1))(*[fitting(name, type_, value) for value in values])


class Sized(ctypes.Structure):
    """A struct that says how long it is."""

    def __init__(self, **fields):
        super().__init__(**fields)
        self.struct_size = ctypes.sizeof(self)

    def __setattr__(self, name, value):
        super().__setattr__(name, fitting(name, self._types().get(name), value))

    @classmethod
    def _types(cls):
        if "_types_" not in cls.__dict__:
            cls._types_ = dict(cls._fields_)
        return cls._types_


class RuntimeOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("store_path", c_char_p),
        ("store_bytes", c_uint64),
        ("memory_bytes", c_uint64),
        ("lock_deadline_ms", c_uint32),
        ("jobs", c_uint32),
        ("compiler_library", c_char_p),
        ("assembler", c_char_p),
        ("log", LOG_CALLBACK),
        ("log_user", c_void_p),
        ("log_level", c_int),
        ("bundles", POINTER(c_char_p)),
        ("num_bundles", c_size_t),
        ("isolate_compiler", c_uint32),
        ("compile_deadline_ms", c_uint32),
        ("compile_memory_bytes", c_uint64),
        ("compiler_program", c_char_p),
        ("shared_store", c_char_p),
        ("shared_deadline_ms", c_uint32),
        ("host_jobs", c_uint32),
        ("reproducers", c_char_p),
        ("worker_nice", c_uint32),
        ("use_tuned", c_uint32),
        ("late_compilation", LATE_COMPILATION_CALLBACK),
        ("late_compilation_user", c_void_p),
    ]


class LateCompilation(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("cause", c_int),
        ("status", c_int),
        ("key", c_char_p),
        ("description", c_char_p),
        ("target", c_char_p),
        ("compile_ms", c_double),
    ]


class Counters(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("found_loaded", c_uint64),
        ("found_in_memory", c_uint64),
        ("found_on_disk", c_uint64),
        ("found_in_bundles", c_uint64),
        ("found_in_shared_store", c_uint64),
        ("joined", c_uint64),
        ("compiled", c_uint64),
        ("failed", c_uint64),
        ("compilations", c_uint64),
        ("failed_compilations", c_uint64),
        ("compile_us", c_uint64),
        ("lock_timeouts", c_uint64),
        ("loads", c_uint64),
        ("loaded_bytes", c_uint64),
        ("found_equal", c_uint64),
    ]


class DeviceOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("emulator_immediate", c_uint32),
        ("emulator_workers", c_uint32),
        ("emulator_seed", c_uint64),
        ("cuda_context", c_void_p),
    ]


class PlanOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("on_miss", c_int),
        ("max_missed_kernels", c_uint32),
    ]


class PrepareOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("device", c_void_p),
        ("target", c_char_p),
        ("progress", PROGRESS_CALLBACK),
        ("progress_user", c_void_p),
        ("deadline_ms", c_uint32),
    ]


class ScalarValue(ctypes.Union):
    _fields_ = [("float_value", c_double), ("int_value", c_int64), ("uint_value", c_uint64)]


class Scalar(ctypes.Structure):
    FLOAT, INT, UINT = 1, 2, 3
    _anonymous_ = ["value"]
    _fields_ = [("kind", c_int), ("value", ScalarValue)]


class Launch(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("tensors", POINTER(c_uint64)),
        ("num_tensors", c_size_t),
        ("dimensions", POINTER(c_int64)),
        ("num_dimensions", c_size_t),
        ("scalars", POINTER(c_float)),
        ("num_scalars", c_size_t),
        ("workspace", c_uint64),
        ("workspace_bytes", c_uint64),
        ("stream", c_void_p),
        ("device", c_void_p),
        ("flags", c_uint64),
        ("typed_scalars", POINTER(Scalar)),
        ("num_typed_scalars", c_size_t),
    ]


class DlpackLaunch(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("tensors", POINTER(c_void_p)),
        ("num_tensors", c_size_t),
        ("scalars", POINTER(c_float)),
        ("num_scalars", c_size_t),
        ("dimensions", POINTER(c_int64)),
        ("num_dimensions", c_size_t),
        ("workspace", c_uint64),
        ("workspace_bytes", c_uint64),
        ("stream", c_void_p),
        ("flags", c_uint64),
        ("typed_scalars", POINTER(Scalar)),
        ("num_typed_scalars", c_size_t),
    ]


class KernelInfo(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("description", c_char_p),
        ("target", c_char_p),
        ("key", c_char_p),
        ("tier", c_int),
        ("registers", c_uint32),
        ("spill_bytes", c_uint32),
        ("shared_bytes", c_uint32),
        ("num_steps", c_uint32),
        ("code_bytes", c_uint64),
        ("build_ms", c_double),
        ("lower_ms", c_double),
        ("llvm_ms", c_double),
        ("assemble_ms", c_double),
        ("obtain_ms", c_double),
        ("load_ms", c_double),
        ("stands_in", c_uint32),
        ("threads", c_uint32),
    ]


class ProgressRecord(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("done", c_size_t),
        ("total", c_size_t),
        ("status", c_int),
        ("error", c_void_p),
        ("info", POINTER(KernelInfo)),
    ]


# Functions that return a status; an error pointer, which `call` adds, is their last parameter.
CHECKED = {
    "jitk_runtime_create": [POINTER(RuntimeOptions), POINTER(c_void_p)],
    "jitk_runtime_report": [c_void_p, POINTER(c_void_p)],
    "jitk_runtime_counters": [c_void_p, POINTER(Counters)],
    "jitk_runtime_key": [c_void_p, c_void_p, c_char_p, POINTER(c_void_p)],
    "jitk_runtime_compile": [c_void_p, c_void_p, c_char_p, POINTER(c_void_p)],
    "jitk_artifact_info": [c_void_p, POINTER(KernelInfo)],
    "jitk_op_info": [c_char_p, POINTER(c_void_p)],
    "jitk_runtime_configurations": [c_void_p, c_void_p, c_char_p, POINTER(c_void_p)],
    "jitk_runtime_store_configuration": [c_void_p, c_void_p, c_void_p, c_char_p],
    "jitk_runtime_kernel": [c_void_p, c_void_p, c_void_p, POINTER(c_void_p)],
    "jitk_device_open": [c_void_p, c_char_p, POINTER(DeviceOptions), POINTER(c_void_p)],
    "jitk_device_allocate": [c_void_p, c_size_t, POINTER(c_uint64)],
    "jitk_device_free": [c_void_p, c_uint64],
    "jitk_device_copy_to_device": [c_void_p, c_uint64, c_void_p, c_size_t],
    "jitk_device_copy_to_host": [c_void_p, c_void_p, c_uint64, c_size_t],
    "jitk_device_fill": [c_void_p, c_uint64, c_uint8, c_size_t],
    "jitk_device_synchronize": [c_void_p],
    "jitk_description_create": [c_char_p, POINTER(c_char_p), POINTER(c_char_p), c_size_t, POINTER(c_void_p)],
    "jitk_description_parse": [c_char_p, POINTER(c_void_p)],
    "jitk_plan_create_with_options": [c_void_p, POINTER(PlanOptions), POINTER(c_void_p)],
    "jitk_plan_add": [c_void_p, c_void_p, c_int32],
    "jitk_plan_add_json": [c_void_p, c_char_p],
    "jitk_plan_to_json": [c_void_p, POINTER(c_void_p)],
    "jitk_plan_export": [c_void_p, c_char_p, c_char_p],
    "jitk_plan_prepare": [c_void_p, POINTER(PrepareOptions)],
    "jitk_plan_wait": [c_void_p, c_uint32],
    "jitk_plan_wait_kernel": [c_void_p, c_void_p, c_uint32],
    "jitk_plan_trace": [c_void_p, POINTER(c_void_p)],
    "jitk_plan_seal": [c_void_p],
    "jitk_plan_kernel": [c_void_p, c_void_p, c_void_p, POINTER(c_void_p)],
    "jitk_dispatch_create": [c_void_p, c_void_p, c_void_p, POINTER(c_char_p), c_size_t, POINTER(c_void_p)],
    "jitk_dispatch_kernel": [c_void_p, POINTER(c_int64), c_size_t, POINTER(c_void_p)],
    "jitk_store_list": [c_void_p, c_uint32, POINTER(c_void_p)],
    "jitk_store_explain": [c_void_p, c_void_p, c_char_p, POINTER(c_void_p)],
    "jitk_store_explain_key": [c_void_p, c_char_p, POINTER(c_void_p)],
    "jitk_store_read": [c_void_p, c_char_p, POINTER(c_void_p)],
    "jitk_store_export": [c_void_p, c_char_p, POINTER(c_size_t)],
    "jitk_store_import": [c_void_p, c_char_p, POINTER(c_size_t)],
    "jitk_store_collect": [c_void_p, c_uint64],
    "jitk_kernel_info": [c_void_p, POINTER(KernelInfo)],
    "jitk_kernel_workspace_bytes": [c_void_p, POINTER(c_int64), c_size_t, POINTER(c_uint64)],
    "jitk_kernel_launch": [c_void_p, POINTER(Launch)],
    "jitk_kernel_launch_dlpack": [c_void_p, POINTER(DlpackLaunch)],
}

# The others: result, parameters.
PLAIN = {
    "jitk_status_name": (c_char_p, [c_int]),
    "jitk_error_message": (c_char_p, [c_void_p]),
    "jitk_error_stage": (c_char_p, [c_void_p]),
    "jitk_error_tool_output": (c_char_p, [c_void_p]),
    "jitk_error_key": (c_char_p, [c_void_p]),
    "jitk_error_release": (None, [c_void_p]),
    "jitk_version": (c_char_p, []),
    "jitk_build_id": (c_char_p, []),
    "jitk_text_data": (c_char_p, [c_void_p]),
    "jitk_text_size": (c_size_t, [c_void_p]),
    "jitk_text_release": (None, [c_void_p]),
    "jitk_description_text": (c_char_p, [c_void_p]),
    "jitk_description_label": (c_char_p, [c_void_p]),
    "jitk_description_op": (c_char_p, [c_void_p]),
    "jitk_op_count": (c_size_t, []),
    "jitk_op_name": (c_char_p, [c_size_t]),
    "jitk_description_release": (None, [c_void_p]),
    "jitk_runtime_release": (None, [c_void_p]),
    "jitk_device_name": (c_char_p, [c_void_p]),
    "jitk_device_target": (c_char_p, [c_void_p]),
    "jitk_device_release": (None, [c_void_p]),
    "jitk_plan_release": (None, [c_void_p]),
    "jitk_plan_cancel": (None, [c_void_p]),
    "jitk_dispatch_release": (None, [c_void_p]),
    "jitk_artifact_release": (None, [c_void_p]),
    "jitk_artifact_dump": (c_void_p, [c_void_p, c_int, POINTER(c_size_t)]),
    "jitk_plan_size": (c_size_t, [c_void_p]),
    "jitk_kernel_retain": (None, [c_void_p]),
    "jitk_kernel_num_dimensions": (c_size_t, [c_void_p]),
    "jitk_kernel_dimension_name": (c_char_p, [c_void_p, c_size_t]),
    "jitk_kernel_tensor_alignment": (c_uint32, [c_void_p, c_size_t]),
    "jitk_kernel_release": (None, [c_void_p]),
    "jitk_kernel_num_tensors": (c_size_t, [c_void_p]),
    "jitk_kernel_tensor_name": (c_char_p, [c_void_p, c_size_t]),
    "jitk_kernel_num_scalars": (c_size_t, [c_void_p]),
    "jitk_kernel_scalar_name": (c_char_p, [c_void_p, c_size_t]),
    "jitk_kernel_scalar_type": (c_char_p, [c_void_p, c_size_t]),
}


class Error(RuntimeError):
    """A call failed. `status` is the name of jitk_status_t without its prefix."""

    def __init__(self, status, message, stage="", tool_output="", key=""):
        super().__init__(f"{status}: {message}")
        self.status, self.message, self.stage, self.tool_output, self.key = status, message, stage, tool_output, key


def _open():
    here = pathlib.Path(__file__).resolve().parent
    # A wheel has the library beside the modules; an installed tree has them in lib/jitk/python/jitk.
    places = [folder / "libjitk.so.0" for folder in (here, *list(here.parents)[2:3])]
    found = next((str(place) for place in places if place.exists()), "libjitk.so.0")
    path = os.environ.get("JITK_LIBRARY") or found
    try:
        library = ctypes.CDLL(path)
    except OSError as problem:
        searched = "" if path != "libjitk.so.0" else (
            f"; looked for it in {', '.join(str(place.parent) for place in places)} and where the loader looks")
        raise OSError(f"libjitk cannot be opened: {problem}{searched}; JITK_LIBRARY may say where it is") from None
    for name, parameters in CHECKED.items():
        function = getattr(library, name)
        function.restype, function.argtypes = c_int, parameters + [POINTER(c_void_p)]
    for name, (result, parameters) in PLAIN.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, parameters
    return library


library = _open()


def call(name, *arguments):
    """Calls a function of CHECKED; its failure is an Error."""
    error = c_void_p()
    for type_, argument in zip(CHECKED[name], arguments):
        fitting(f"argument of {name}", type_, argument)
    status = getattr(library, name)(*arguments, ctypes.byref(error))
    if status == 0:
        return
    failure = error_of(status, error)
    library.jitk_error_release(error)
    raise failure


def error_of(status, error):
    """An Error with all that a jitk_error_t has."""
    texts = [getattr(library, f"jitk_error_{part}")(error).decode(errors="replace")
             for part in ("message", "stage", "tool_output", "key")]
    return Error(library.jitk_status_name(status).decode(), *texts)


def make(name, *arguments):
    """Calls a function of CHECKED that gives a handle."""
    handle = c_void_p()
    call(name, *arguments, ctypes.byref(handle))
    return handle
