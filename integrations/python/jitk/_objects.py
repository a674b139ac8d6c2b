"""Runtime, Device, Plan and Kernel: thin owners of handles. All are safe to share between threads."""
import ctypes
import operator
import os
import weakref

from ._library import DlpackLaunch, KernelInfo, PrepareOptions, RuntimeOptions, Scalar, array, call, library, make

_FOREVER = 2**32 - 1


class _Handle:
    """Gives its reference back when it is collected. Passed to calls as it is, so that it lives until they return."""

    def __init__(self, handle, release):
        self._as_parameter_ = handle
        weakref.finalize(self, release, handle)


def _describe(text):
    return _Handle(make("jitk_description_parse", text.encode()), library.jitk_description_release)


def build_id():
    """Of the library: equal for equal sources."""
    return library.jitk_build_id().decode()


def describe(op, **attributes):
    """The canonical line of an op and its attributes, which all calls here take as a description:

        describe("matmul", m="*", n=4096, k=7168)
        describe("user_kernel", language="cuda", source=text, entry="axpy", block=256, grid="ceil(n/256)", n="*",
                 arguments="x: read fp32[n], y: updated fp32[n], a: fp32, n: int32", headers={"a.cuh": text})
    """
    if isinstance(attributes.get("headers"), dict):
        attributes["headers"] = "".join(f"#header {name}\n{text}\n" for name, text in attributes["headers"].items())
    texts = [str(value).lower() if isinstance(value, bool) else str(value) for value in attributes.values()]
    names = (ctypes.c_char_p * max(len(texts), 1))(*[name.encode() for name in attributes])
    values = (ctypes.c_char_p * max(len(texts), 1))(*[text.encode() for text in texts])
    handle = make("jitk_description_create", op.encode(), names, values, len(texts))
    return library.jitk_description_text(_Handle(handle, library.jitk_description_release)).decode()


class Runtime(_Handle):
    """Workers, the store and the compiler. `store=""`: no disk; None: the default folder. `tuned`: kernels are built in
    the configurations that `jitk tune` stored. `others` are further fields of jitk_runtime_options_t by their names:
    isolate_compiler=True, reproducers="failed", ..."""

    def __init__(self, *, store=None, compiler_library=None, assembler=None, jobs=0, bundles=None, tuned=False, **others):
        options = RuntimeOptions(jobs=jobs, use_tuned=tuned)
        options.store_path = None if store is None else str(store).encode()
        options.compiler_library = None if compiler_library is None else str(compiler_library).encode()
        options.assembler = None if assembler is None else assembler.encode()
        known = {name for name, _ in RuntimeOptions._fields_[1:]} - {"log", "log_user", "log_level", "num_bundles"}
        for name, value in others.items():
            if name not in known:
                raise TypeError(f"runtime must have an option of that name: got {name}")
            setattr(options, name, str(value).encode() if isinstance(value, (str, os.PathLike)) else value)
        if bundles is not None:
            options.bundles = (ctypes.c_char_p * max(len(bundles), 1))(*[str(path).encode() for path in bundles])
            options.num_bundles = len(bundles)
        super().__init__(make("jitk_runtime_create", ctypes.byref(options)), library.jitk_runtime_release)

    def device(self, name):
        """Opens "cuda:0" or "emulator:sm_90a"."""
        return Device(make("jitk_device_open", self, name.encode(), None))

    def plan(self, descriptions=()):
        plan = Plan(make("jitk_plan_create", self))
        for description in descriptions:
            plan.add(description)
        return plan

    def kernel(self, device, description):
        """Gets one kernel now: found, or compiled on this thread."""
        return Kernel(make("jitk_runtime_kernel", self, device, _describe(description)))

    def configurations(self, description, target):
        """The ways to build a kernel, as JSON; see jitk_runtime_configurations."""
        return _take_text(make("jitk_runtime_configurations", self, _describe(description), target.encode()))

    def store_configuration(self, device, description, configuration):
        """Stores which configuration is the fastest on devices like this one; see jitk_runtime_store_configuration."""
        call("jitk_runtime_store_configuration", self, device, _describe(description), configuration.encode())

    def report(self):
        """What works on this machine, as JSON."""
        return _take_text(make("jitk_runtime_report", self))


def _take_text(text):
    try:
        return library.jitk_text_data(text).decode()
    finally:
        library.jitk_text_release(text)


class Device(_Handle):
    def __init__(self, handle):
        super().__init__(handle, library.jitk_device_release)

    @property
    def name(self):
        return library.jitk_device_name(self).decode()

    @property
    def target(self):
        return library.jitk_device_target(self).decode()

    def synchronize(self):
        """Waits for all work. Raises what kernels did wrong, and what an emulator found."""
        call("jitk_device_synchronize", self)

    def array(self, shape, dtype):
        """A numpy array of zeros in the memory of this device, which must be an emulator. It keeps the device."""
        import numpy

        if not self.target.startswith("emulator:"):
            raise ValueError(f"device must be an emulator: got {self.target}")
        dtype = numpy.dtype(dtype)
        count = int(numpy.prod(shape, dtype=numpy.int64))
        address = ctypes.c_uint64()
        call("jitk_device_allocate", self, max(count, 1) * dtype.itemsize, ctypes.byref(address))
        memory = (ctypes.c_uint8 * (max(count, 1) * dtype.itemsize)).from_address(address.value)
        # Arrays hold `memory`, however they are sliced; the last one frees it.
        weakref.finalize(memory, _free, self, address.value)
        array = numpy.frombuffer(memory, dtype=dtype, count=count).reshape(shape)
        array[...] = 0
        return array


def _free(device, address):
    call("jitk_device_free", device, address)


class Plan(_Handle):
    """A closed set of descriptions: add, prepare, seal."""

    def __init__(self, handle):
        super().__init__(handle, library.jitk_plan_release)

    def __len__(self):
        return library.jitk_plan_size(self)

    def add(self, description, priority=0):
        call("jitk_plan_add", self, _describe(description), priority)

    def add_json(self, text):
        """Adds what a plan file holds."""
        call("jitk_plan_add_json", self, text.encode())

    def prepare(self, device=None, *, target=None, wait=True, deadline_ms=0):
        """Finds or compiles all kernels, and loads them; or, for a `target` such as "sm_90a", only fills the store.
        Without `wait` it returns at once."""
        options = PrepareOptions(deadline_ms=deadline_ms)
        options.device = device._as_parameter_ if device else None
        options.target = target.encode() if target else None
        call("jitk_plan_prepare", self, ctypes.byref(options))
        if wait:
            self.wait()

    def wait(self, timeout_ms=_FOREVER):
        call("jitk_plan_wait", self, timeout_ms)

    def seal(self):
        """From here on nothing compiles and nothing loads."""
        call("jitk_plan_seal", self)

    def kernel(self, device, description):
        return Kernel(make("jitk_plan_kernel", self, device, _describe(description)))


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class Kernel(_Handle):
    """A kernel loaded on one device. Immutable."""

    def __init__(self, handle):
        super().__init__(handle, library.jitk_kernel_release)

    @property
    def tensors(self):
        """Names, in the order in which `launch` takes them."""
        count = library.jitk_kernel_num_tensors(self)
        return [library.jitk_kernel_tensor_name(self, i).decode() for i in range(count)]

    @property
    def scalars(self):
        count = library.jitk_kernel_num_scalars(self)
        return [library.jitk_kernel_scalar_name(self, i).decode() for i in range(count)]

    @property
    def scalar_types(self):
        """The type of each of `scalars`: fp32, int64, ..."""
        count = library.jitk_kernel_num_scalars(self)
        return [library.jitk_kernel_scalar_type(self, i).decode() for i in range(count)]

    def info(self):
        """Facts of the kernel by name: description, key, registers, code_bytes, ..."""
        info = KernelInfo()
        call("jitk_kernel_info", self, ctypes.byref(info))
        values = {name: getattr(info, name) for name, _ in KernelInfo._fields_[1:]}
        return {name: value.decode() if isinstance(value, bytes) else value for name, value in values.items()}

    def workspace_bytes(self, *dimensions):
        """Bytes that a launch needs beside its tensors; `dimensions` are the sizes known at launch only."""
        sizes, bytes_ = array("dimension", ctypes.c_int64, dimensions), ctypes.c_uint64()
        call("jitk_kernel_workspace_bytes", self, sizes, len(dimensions), ctypes.byref(bytes_))
        return bytes_.value

    def launch(self, *tensors, scalars=(), dimensions=(), workspace=0, workspace_bytes=0, stream=None,
               programmatic=False):
        """Enqueues the kernel on `stream` (a CUstream as an integer; None: the legacy default stream). Tensors are
        anything with __dlpack__; scalars are numbers, integers where the kernel takes one; dimensions are needed only where
        no shape tells them. `programmatic`: it may be started while what precedes it in the stream ends, and waits for that
        on the device."""
        # The capsules own the views: they stay until the call has returned. No stream is told to __dlpack__, since the
        # caller orders the work: -1 asks for no synchronization.
        capsules = [_export(tensor) for tensor in tensors]
        views = (ctypes.c_void_p * len(capsules))(*[_pointer_of(capsule, b"dltensor") for capsule in capsules])
        launch = DlpackLaunch(num_tensors=len(capsules), workspace=workspace, workspace_bytes=workspace_bytes,
                              flags=LAUNCH_PROGRAMMATIC if programmatic else 0)
        launch.tensors = ctypes.cast(views, ctypes.POINTER(ctypes.c_void_p))
        if scalars:
            types = self.scalar_types + [""] * len(scalars)  # too many are the library's to refuse
            launch.typed_scalars = (Scalar * len(scalars))(*map(_scalar, types, scalars))
            launch.num_typed_scalars = len(scalars)
        if dimensions:
            launch.dimensions = array("dimension", ctypes.c_int64, dimensions)
            launch.num_dimensions = len(dimensions)
        launch.stream = stream
        call("jitk_kernel_launch_dlpack", self, ctypes.byref(launch))


LAUNCH_PROGRAMMATIC = 1  # JITK_LAUNCH_PROGRAMMATIC


def _scalar(type_name, number):
    """The number as the C API takes it; a TypeError for a float where the kernel takes an integer."""
    if "int" not in type_name:
        value = float(number)
        if hasattr(number, "__index__") and value != operator.index(number):
            raise ValueError(f"scalar must be an integer that a double holds: got {number}")
        return Scalar(Scalar.FLOAT, float_value=value)
    number = operator.index(number)
    if not -(2**63) <= number < 2**64:
        raise OverflowError(f"scalar must be in the range of {type_name}: got {number}")
    return Scalar(Scalar.INT, int_value=number) if number < 2**63 else Scalar(Scalar.UINT, uint_value=number)


_CPU = 1


def _export(tensor):
    on_host = tensor.__dlpack_device__()[0] == _CPU
    return tensor.__dlpack__() if on_host else tensor.__dlpack__(stream=-1)
