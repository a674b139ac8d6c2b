"""What the library calls back: functions of Python as C takes them. One that raises is told to sys.unraisablehook."""
import ctypes
import typing

from . import _library as c

LOG_LEVELS = ["default", "error", "warning", "info", "debug"]
CAUSES = {1: "requested", 2: "missed", 3: "background"}
TIERS = ["none", "loaded", "memory", "disk", "compiled", "joined", "bundle", "shared", "equal"]


class LateCompilation(typing.NamedTuple):
    """A compilation outside of a preparation; see jitk_late_compilation_t."""

    cause: str  # "requested", "missed" or "background"
    status: str
    key: str
    description: str
    target: str
    compile_ms: float


class Progress(typing.NamedTuple):
    """What became of one kernel of a plan; see jitk_progress_t."""

    done: int
    total: int
    status: str
    error: typing.Optional[c.Error]
    info: dict  # as Kernel.info()


def info_of(info):
    """A jitk_kernel_info_t as a dictionary; `tier` is a word."""
    values = {name: getattr(info, name) for name, _ in c.KernelInfo._fields_[1:]}
    values = {name: value.decode() if isinstance(value, bytes) else value for name, value in values.items()}
    values["tier"] = TIERS[info.tier] if info.tier < len(TIERS) else str(info.tier)
    return values


def status_name(status):
    return c.library.jitk_status_name(status).decode()


def log(function):
    """function(level, category, message)"""
    def call(_, level, category, message):
        name = LOG_LEVELS[level] if 0 <= level < len(LOG_LEVELS) else str(level)
        function(name, category.decode(), message.decode(errors="replace"))
    return c.LOG_CALLBACK(call)


def late_compilation(function):
    def call(_, address):
        told = c.LateCompilation.from_address(address)
        function(LateCompilation(CAUSES.get(told.cause, str(told.cause)), status_name(told.status), told.key.decode(),
                                 told.description.decode(), told.target.decode(), told.compile_ms))
    return c.LATE_COMPILATION_CALLBACK(call)


def progress(function):
    def call(_, address):
        told = c.ProgressRecord.from_address(address)
        error = c.error_of(told.status, ctypes.c_void_p(told.error)) if told.status != 0 else None
        function(Progress(told.done, told.total, status_name(told.status), error, info_of(told.info.contents)))
    return c.PROGRESS_CALLBACK(call)
