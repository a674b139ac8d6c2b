"""Runtime, Device, Plan, Dispatch, Kernel and Artifact: thin owners of handles. All are safe to share between threads."""
import ctypes
import operator
import os
import weakref

from . import _callbacks
from ._library import (Counters, DeviceOptions, DlpackLaunch, KernelInfo, Launch, PlanOptions, PrepareOptions,
                       RuntimeOptions, Scalar, array, call, library, make)

_FOREVER = 2**32 - 1


class _Handle:
    """Gives its reference back when it is collected. Passed to calls as it is, so that it lives until they return."""

    def __init__(self, handle, release):
        self._as_parameter_ = handle
        weakref.finalize(self, release, handle)


def _describe(text):
    return _Handle(make("jitk_description_parse", text.encode()), library.jitk_description_release)


def _texts(values):
    return (ctypes.c_char_p * max(len(values), 1))(*[str(value).encode() for value in values])


def version():
    """Of the library: "0.1.0"."""
    return library.jitk_version().decode()


def ops():
    """Names of the ops that the library knows."""
    return [library.jitk_op_name(i).decode() for i in range(library.jitk_op_count())]


def op_info(op):
    """Schema of an op, as JSON; see jitk_op_info."""
    return _take_text(make("jitk_op_info", op.encode()))


def label(description):
    """The canonical line for messages: of a long text, such as a kernel's source, only how long it is and its hash."""
    return library.jitk_description_label(_describe(description)).decode()


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
    handle = make("jitk_description_create", op.encode(), _texts(list(attributes)), _texts(texts), len(texts))
    return library.jitk_description_text(_Handle(handle, library.jitk_description_release)).decode()


class Runtime(_Handle):
    """Workers, the store and the compiler. `store=""`: no disk; None: the default folder. `tuned`: kernels are built in
    the configurations that `jitk tune` stored. `others` are further fields of jitk_runtime_options_t by their names:
    isolate_compiler=True, reproducers="failed", ...

    `log(level, category, message)` gets the log's lines up to `log_level`; `late_compilation(LateCompilation)` hears of each
    compilation outside of a preparation. Both are called from any thread, stay referenced until the process ends, and must
    not call this package."""

    _called = []  # kernels and devices keep the library's runtime, and so these, longer than the object

    def __init__(self, *, store=None, compiler_library=None, assembler=None, jobs=0, bundles=None, tuned=False, log=None,
                 log_level="default", late_compilation=None, **others):
        options = RuntimeOptions(jobs=jobs, use_tuned=tuned)
        options.store_path = None if store is None else str(store).encode()
        options.compiler_library = None if compiler_library is None else str(compiler_library).encode()
        options.assembler = None if assembler is None else assembler.encode()
        if log_level not in _callbacks.LOG_LEVELS:
            raise ValueError(f"log_level must be one of {', '.join(_callbacks.LOG_LEVELS)}: got {log_level}")
        options.log_level = _callbacks.LOG_LEVELS.index(log_level)
        if log is not None:
            options.log = _callbacks.log(log)
            self._called.append(options.log)
        if late_compilation is not None:
            options.late_compilation = _callbacks.late_compilation(late_compilation)
            self._called.append(options.late_compilation)
        known = {name for name, _ in RuntimeOptions._fields_[1:]} - {
            "log", "log_user", "log_level", "num_bundles", "late_compilation", "late_compilation_user"}
        for name, value in others.items():
            if name not in known:
                raise TypeError(f"runtime must have an option of that name: got {name}")
            setattr(options, name, str(value).encode() if isinstance(value, (str, os.PathLike)) else value)
        if bundles is not None:
            options.bundles = _texts(bundles)
            options.num_bundles = len(bundles)
        super().__init__(make("jitk_runtime_create", ctypes.byref(options)), library.jitk_runtime_release)

    def device(self, name, **options):
        """Opens "cuda:0" or "emulator:sm_90a". `options` are fields of jitk_device_options_t: emulator_seed=7,
        cuda_context=address, ..."""
        return Device(make("jitk_device_open", self, name.encode(), ctypes.byref(DeviceOptions(**options))))

    def plan(self, descriptions=(), *, on_miss="compile", max_missed_kernels=0):
        """`on_miss`: what Plan.kernel does, before the plan is sealed, with what was not prepared: "compile" it while the
        caller waits, "background" (a generic kernel serves while the workers make it), or "fail".
        `max_missed_kernels` bounds the kernels that are kept beyond those prepared; 0: no bound."""
        if on_miss not in _MISSES:
            raise ValueError(f"on_miss must be one of {', '.join(_MISSES)}: got {on_miss}")
        options = PlanOptions(on_miss=_MISSES.index(on_miss), max_missed_kernels=max_missed_kernels)
        plan = Plan(make("jitk_plan_create_with_options", self, ctypes.byref(options)))
        for description in descriptions:
            plan.add(description)
        return plan

    def kernel(self, device, description):
        """Gets one kernel now: found, or compiled on this thread."""
        return Kernel(make("jitk_runtime_kernel", self, device, _describe(description)))

    def counters(self):
        """What this runtime did since it was created, by the names of jitk_counters_t."""
        counters = Counters()
        call("jitk_runtime_counters", self, ctypes.byref(counters))
        return {name: getattr(counters, name) for name, _ in Counters._fields_[1:]}

    def key(self, description, target):
        """The key of a description for a target and what it is made of, as JSON."""
        return _take_text(make("jitk_runtime_key", self, _describe(description), target.encode()))

    def compile(self, description, target):
        """Compiles on this thread, without the store, and keeps what lies between description and code."""
        return Artifact(make("jitk_runtime_compile", self, _describe(description), target.encode()))

    def list_store(self, verify=False):
        """The disk store's entries, as JSON. `verify`: checksums are read, and damaged entries moved to the quarantine."""
        return _take_text(make("jitk_store_list", self, bool(verify)))

    def explain(self, description, target):
        """Why a description would be compiled, or would not, as JSON; see jitk_store_explain."""
        return _take_text(make("jitk_store_explain", self, _describe(description), target.encode()))

    def explain_key(self, key):
        """What a stored entry's key is made of, and the entry that is nearest to it, as JSON; see jitk_store_explain_key."""
        return _take_text(make("jitk_store_explain_key", self, key.encode()))

    def read_entry(self, key):
        """What a stored entry holds: its code, recipe and facts; nothing is compiled."""
        return Artifact(make("jitk_store_read", self, key.encode()))

    def export_store(self, path):
        """Writes a bundle of all good entries of the disk store; returns how many they are."""
        count = ctypes.c_size_t()
        call("jitk_store_export", self, str(path).encode(), ctypes.byref(count))
        return count.value

    def import_bundle(self, path):
        """Puts the good entries of a bundle into the disk store; returns how many they are."""
        count = ctypes.c_size_t()
        call("jitk_store_import", self, str(path).encode(), ctypes.byref(count))
        return count.value

    def collect_store(self, bytes_):
        """Removes least recently used entries until the disk store holds at most so many bytes, and all of the quarantine."""
        call("jitk_store_collect", self, bytes_)

    def configurations(self, description, target):
        """The ways to build a kernel, as JSON; see jitk_runtime_configurations."""
        return _take_text(make("jitk_runtime_configurations", self, _describe(description), target.encode()))

    def store_configuration(self, device, description, configuration):
        """Stores which configuration is the fastest on devices like this one; see jitk_runtime_store_configuration."""
        call("jitk_runtime_store_configuration", self, device, _describe(description), configuration.encode())

    def report(self):
        """What works on this machine, as JSON."""
        return _take_text(make("jitk_runtime_report", self))


_MISSES = ["compile", "background", "fail"]  # by their values of jitk_miss_t


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

    def allocate(self, bytes_):
        """Device memory, for programs that have no allocator of their own: an address, to be freed by `free`."""
        address = ctypes.c_uint64()
        call("jitk_device_allocate", self, bytes_, ctypes.byref(address))
        return address.value

    def free(self, address):
        call("jitk_device_free", self, address)

    def copy_to_device(self, address, data):
        """Copies bytes (anything with the buffer protocol, contiguous) to device memory, and waits."""
        data = bytes(data)
        call("jitk_device_copy_to_device", self, address, data, len(data))

    def copy_to_host(self, address, bytes_):
        """The bytes at an address of device memory."""
        data = ctypes.create_string_buffer(bytes_)
        call("jitk_device_copy_to_host", self, data, address, bytes_)
        return data.raw

    def fill(self, address, value, bytes_):
        call("jitk_device_fill", self, address, value, bytes_)

    def array(self, shape, dtype):
        """A numpy array of zeros in the memory of this device, which must be an emulator. It keeps the device."""
        import numpy

        if not self.target.startswith("emulator:"):
            raise ValueError(f"device must be an emulator: got {self.target}")
        dtype = numpy.dtype(dtype)
        count = int(numpy.prod(shape, dtype=numpy.int64))
        address = self.allocate(max(count, 1) * dtype.itemsize)
        memory = (ctypes.c_uint8 * (max(count, 1) * dtype.itemsize)).from_address(address)
        # Arrays hold `memory`, however they are sliced; the last one frees it.
        weakref.finalize(memory, Device.free, self, address)
        array = numpy.frombuffer(memory, dtype=dtype, count=count).reshape(shape)
        array[...] = 0
        return array


class Plan(_Handle):
    """A closed set of descriptions: add, prepare, seal."""

    def __init__(self, handle):
        # The last reference ends a preparation that still runs, and waits; until then its callback is called.
        self._callbacks = []
        super().__init__(handle, lambda plan, _=self._callbacks: library.jitk_plan_release(plan))

    def __len__(self):
        return library.jitk_plan_size(self)

    def add(self, description, priority=0):
        call("jitk_plan_add", self, _describe(description), priority)

    def add_json(self, text):
        """Adds what a plan file holds."""
        call("jitk_plan_add_json", self, text.encode())

    def to_json(self):
        """The plan file of this plan."""
        return _take_text(make("jitk_plan_to_json", self))

    def export(self, target, path):
        """Writes a bundle of this plan's kernels for a target, and no others; see jitk_plan_export."""
        call("jitk_plan_export", self, target.encode(), str(path).encode())

    def prepare(self, device=None, *, target=None, wait=True, deadline_ms=0, progress=None):
        """Finds or compiles all kernels, and loads them; or, for a `target` such as "sm_90a", only fills the store.
        Without `wait` it returns at once. Kernels not begun after `deadline_ms` (0: none) fail with DEADLINE_EXCEEDED.
        `progress(Progress)` is called once for each kernel, from the workers, one call at a time; it may call `cancel`, and
        must not wait for the plan."""
        options = PrepareOptions(deadline_ms=deadline_ms)
        if progress is not None:
            options.progress = _callbacks.progress(progress)
            self._callbacks.append(options.progress)
        options.device = device._as_parameter_ if device else None
        options.target = target.encode() if target else None
        call("jitk_plan_prepare", self, ctypes.byref(options))
        if wait:
            self.wait()

    def wait(self, timeout_ms=_FOREVER):
        """Waits for the preparation. Raises its first failure; DEADLINE_EXCEEDED at a timeout, and then it goes on."""
        call("jitk_plan_wait", self, timeout_ms)

    def wait_kernel(self, description, timeout_ms=_FOREVER):
        """The same for one kernel of the preparation."""
        call("jitk_plan_wait_kernel", self, _describe(description), timeout_ms)

    def cancel(self):
        """Kernels that are not begun are not begun, and fail with CANCELLED. Returns at once."""
        library.jitk_plan_cancel(self)

    def trace(self):
        """The time line of the last preparation in Chrome's trace event format, as JSON."""
        return _take_text(make("jitk_plan_trace", self))

    def seal(self):
        """From here on nothing compiles and nothing loads."""
        call("jitk_plan_seal", self)

    def kernel(self, device, description):
        return Kernel(make("jitk_plan_kernel", self, device, _describe(description)))

    def dispatch(self, device, pattern, dimensions):
        """A table of this sealed plan's kernels that equal `pattern` in all but the `dimensions` named."""
        names = _texts(dimensions)
        return Dispatch(make("jitk_dispatch_create", self, device, _describe(pattern), names, len(dimensions)))


class Dispatch(_Handle):
    """From sizes to the kernel for them. Immutable."""

    def __init__(self, handle):
        super().__init__(handle, library.jitk_dispatch_release)

    def kernel(self, *sizes):
        """The kernel for these sizes, in the order of the dimensions' names; NOT_PREPARED if there is none."""
        handle = make("jitk_dispatch_kernel", self, array("size", ctypes.c_int64, sizes), len(sizes))
        library.jitk_kernel_retain(handle)  # the one that is given belongs to the table
        return Kernel(handle)


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
    def dimensions(self):
        """Names of the sizes that the description left dynamic."""
        count = library.jitk_kernel_num_dimensions(self)
        return [library.jitk_kernel_dimension_name(self, i).decode() for i in range(count)]

    @property
    def alignments(self):
        """Bytes that the address of each of `tensors` must be a multiple of."""
        return [library.jitk_kernel_tensor_alignment(self, i) for i in range(library.jitk_kernel_num_tensors(self))]

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
        """Facts of the kernel by name: description, key, tier, registers, code_bytes, stands_in, ..."""
        info = KernelInfo()
        call("jitk_kernel_info", self, ctypes.byref(info))
        return _callbacks.info_of(info)

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
        self._give(launch, scalars, dimensions, stream)
        call("jitk_kernel_launch_dlpack", self, ctypes.byref(launch))

    def launch_addresses(self, addresses, *, scalars=(), dimensions=(), workspace=0, workspace_bytes=0, stream=None,
                         programmatic=False):
        """As `launch`, with device addresses, of which only the alignment is checked, and all dimensions."""
        launch = Launch(num_tensors=len(addresses), workspace=workspace, workspace_bytes=workspace_bytes,
                        flags=LAUNCH_PROGRAMMATIC if programmatic else 0)
        launch.tensors = array("address", ctypes.c_uint64, addresses)
        self._give(launch, scalars, dimensions, stream)
        call("jitk_kernel_launch", self, ctypes.byref(launch))

    def _give(self, launch, scalars, dimensions, stream):
        if scalars:
            types = self.scalar_types + [""] * len(scalars)  # too many are the library's to refuse
            launch.typed_scalars = (Scalar * len(scalars))(*map(_scalar, types, scalars))
            launch.num_typed_scalars = len(scalars)
        if dimensions:
            launch.dimensions = array("dimension", ctypes.c_int64, dimensions)
            launch.num_dimensions = len(dimensions)
        launch.stream = stream


class Artifact(_Handle):
    """One compilation with its intermediate texts, or what a stored entry has of it. Immutable."""

    _DUMPS = ["common_ir", "ttgir", "llvm_ir", "ptx", "code", "recipe"]  # by their values of jitk_dump_t, from 1 on

    def __init__(self, handle):
        super().__init__(handle, library.jitk_artifact_release)

    def dump(self, what):
        """"common_ir", "ttgir", "llvm_ir", "ptx" or "recipe" as text, "code" as bytes; None where there is none."""
        if what not in self._DUMPS:
            raise ValueError(f"dump must be one of {', '.join(self._DUMPS)}: got {what}")
        size = ctypes.c_size_t()
        address = library.jitk_artifact_dump(self, 1 + self._DUMPS.index(what), ctypes.byref(size))
        if address is None:
            return None
        data = ctypes.string_at(address, size.value)
        return data if what == "code" else data.decode()

    def info(self):
        """As Kernel.info, for a kernel that is not loaded."""
        info = KernelInfo()
        call("jitk_artifact_info", self, ctypes.byref(info))
        return _callbacks.info_of(info)


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
