/*
 * jitk: kernels compiled at run time, prepared ahead, launched without cost.
 *
 * The life of a kernel seen from here:
 *
 *   jitk_runtime_create        one a process: worker threads, the store, the compiler library (opened on first need)
 *   jitk_device_open           "cuda:0" or "emulator:sm_90a"
 *   jitk_description_create    an op and its attributes, validated
 *   jitk_plan_add              the closed set of what the engine will need
 *   jitk_plan_prepare, _wait   found in the store or compiled, on the workers; loaded on the device
 *   jitk_plan_seal             from here on nothing compiles and nothing loads
 *   jitk_plan_kernel           an immutable object
 *   jitk_kernel_launch         no lock, no allocation, no synchronization
 *
 * Conventions, valid wherever a comment does not say otherwise:
 *
 *   Handles     are opaque and reference-counted. A function that returns one through an out-parameter gives the caller
 *               one reference, to be given back by `_release`. `_retain` and `_release` are thread-safe; NULL is
 *               allowed in both and does nothing. Releasing a handle that others depend on is safe in any order:
 *               a kernel keeps its device, a device and a plan keep their runtime.
 *   Threads     every function may be called from any thread at any time, on the same objects too.
 *   Inputs      are copied where they outlive the call. Strings are UTF-8, end with a zero, and are lower-case words
 *               where they are names. Required pointers that are NULL give JITK_STATUS_INVALID_ARGUMENT.
 *   Structs     passed in have `struct_size` first: set it to sizeof the struct and all else to zero, then fill in what
 *               you need. Zero means the default in every field. A larger struct of a newer header is accepted as long
 *               as what this library does not know is zero.
 *   Outputs     after a failure an out-parameter for a handle holds NULL, any other one is untouched.
 *   Getters     a function without a status cannot fail; for a NULL handle it gives 0, "", or NULL for what has an
 *               index. It waits for nothing.
 *   Errors      a function returns a status; if it is not JITK_STATUS_OK and `error` is not NULL, `*error` holds the
 *               details, to be released by the caller. After success `*error` holds NULL. `error` may always be NULL.
 *               Every such function may fail with INVALID_ARGUMENT for a NULL that must be none, FORKED, OUT_OF_MEMORY
 *               (of the host; `*error` may then be NULL) and INTERNAL; comments name what else there is.
 *   Ownership   a `const char *` that is returned belongs to the handle it was asked of, and lives as long.
 *   Fork        in a child after fork(), every function that returns a status and is given a runtime, or a handle that
 *               came of one, from before gives JITK_STATUS_FORKED; `_release` does nothing there. A child may create
 *               a runtime of its own.
 *
 * The library never prints, exits, aborts, or throws across this boundary, and installs no signal handler. It reads
 * the environment (JITK_*) once, when it is first used.
 */
#ifndef JITK_JITK_H
#define JITK_JITK_H

#include <stddef.h>
#include <stdint.h>

#define JITK_VERSION_MAJOR 0
#define JITK_VERSION_MINOR 1
#define JITK_VERSION_PATCH 0

#if defined(__GNUC__)
#define JITK_API __attribute__((visibility("default")))
#else
#define JITK_API
#endif

/* In C++ an enumeration may then hold a value that this header does not know: one of a newer library, or a bad one. */
#ifdef __cplusplus
#define JITK_ENUM_BASE : int
#else
#define JITK_ENUM_BASE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* Status and errors                                                                                                */

/* Whose fault a failure is. */
typedef enum jitk_status_t JITK_ENUM_BASE {
  JITK_STATUS_OK = 0,
  JITK_STATUS_INVALID_ARGUMENT = 1,  /* the caller's; the message names the argument, what it was, what is allowed */
  JITK_STATUS_UNSUPPORTED = 2,       /* this library cannot yet, or this target cannot */
  JITK_STATUS_UNAVAILABLE = 3,       /* the machine's: a driver, a device, a tool, a library or a folder is missing */
  JITK_STATUS_OUT_OF_MEMORY = 4,     /* host, device, or disk */
  JITK_STATUS_DEVICE_LOST = 5,       /* the device stopped answering; this process cannot use it any more */
  JITK_STATUS_NOT_PREPARED = 6,      /* the plan is sealed and has no such kernel */
  JITK_STATUS_CANCELLED = 7,         /* jitk_plan_cancel was called */
  JITK_STATUS_DEADLINE_EXCEEDED = 8, /* the caller's deadline passed, or a tool outran its own */
  JITK_STATUS_DATA_LOSS = 9,         /* stored bytes are damaged and cannot be rebuilt */
  JITK_STATUS_FORKED = 10,           /* called in a child after fork */
  JITK_STATUS_INTERNAL = 11          /* a defect of this library */
} jitk_status_t;

/*
 * Returns the name without its prefix, such as "INVALID_ARGUMENT"; "UNKNOWN" for a value that is none. Never NULL;
 * lives as long as the library is loaded.
 */
JITK_API const char *jitk_status_name(jitk_status_t status);

/* Details of a failure. Immutable; valid in a child after fork too. */
typedef struct jitk_error_s *jitk_error_t;

JITK_API void jitk_error_retain(jitk_error_t error);
JITK_API void jitk_error_release(jitk_error_t error);
/* JITK_STATUS_OK for NULL. */
JITK_API jitk_status_t jitk_error_code(jitk_error_t error);
/* The message with what was being done: "block size must be a power of two: got 48; while ...". Never NULL. */
JITK_API const char *jitk_error_message(jitk_error_t error);
/*
 * Where it happened: "runtime" and "device" (making and using them), "schema" (descriptions), "plan", "store",
 * "compile" (the compiler library or its process), "build", "lower", "llvm", "assemble" (within the compiler, in this
 * order), "load", "launch"; "" for an argument that no call takes, such as NULL. Never NULL.
 */
JITK_API const char *jitk_error_stage(jitk_error_t error);
/* What an external tool, an isolated compiler or an emulator printed, or "". Never NULL. */
JITK_API const char *jitk_error_tool_output(jitk_error_t error);
/* The key of the kernel concerned, in hexadecimal as `jitk store` shows it, or "" if none is, or it has none. Never
 * NULL. */
JITK_API const char *jitk_error_key(jitk_error_t error);

/* ---------------------------------------------------------------------------------------------------------------- */
/* Version                                                                                                          */

/* "0.1.0": of the library, where JITK_VERSION_... are of this header. Lives as long as the library is loaded. */
JITK_API const char *jitk_version(void);
/* Names the build. The compiler library must have the same. Lives as long as the library is loaded. */
JITK_API const char *jitk_build_id(void);

/* ---------------------------------------------------------------------------------------------------------------- */
/* Texts                                                                                                            */

/* A text made for the caller, its one owner: it has no counter. Immutable. */
typedef struct jitk_text_s *jitk_text_t;

/* Frees the text and what jitk_text_data gave. NULL is allowed. */
JITK_API void jitk_text_release(jitk_text_t text);
/* Ends with a zero. Never NULL: "" for NULL. */
JITK_API const char *jitk_text_data(jitk_text_t text);
/* Bytes without the zero at the end; 0 for NULL. */
JITK_API size_t jitk_text_size(jitk_text_t text);

/* ---------------------------------------------------------------------------------------------------------------- */
/* Ops                                                                                                              */

/* Number of ops that the library knows. They are numbered in the order of their names. */
JITK_API size_t jitk_op_count(void);
/* Name of an op; NULL if `index` is not below jitk_op_count(). Lives as long as the library is loaded. */
JITK_API const char *jitk_op_name(size_t index);
/*
 * The schema of an op as a JSON object: summary, attributes (type, default, allowed values, meaning), tensors (name,
 * dtype, shape, whether it is read, written or updated), scalars. Fails with INVALID_ARGUMENT if there is no such op.
 */
JITK_API jitk_status_t jitk_op_info(const char *op, jitk_text_t *info, jitk_error_t *error);

/* What is asked for: an op and its attributes, valid and complete. Immutable. */
typedef struct jitk_description_s *jitk_description_t;

/*
 * Describes a kernel. `names[i]` and `values[i]`, for i < count, are attributes in text form: "128", "true", "bf16".
 * A dimension is a number, or is known at launch only: "*", "*%16" (a multiple of 16), "*<=4096" (at most 4096), or
 * "*%16<=4096". Attributes left out have their default.
 *
 * A kernel of the engine's own is described by the op "user_kernel": its source (CUDA C++, CommonIR or TTGIR), and how
 * it is launched. It is planned, prepared, stored and launched as any other.
 *
 *   language    "cuda", "commonir" or "ttgir"
 *   source      the text
 *   entry       the kernel's name in it; of a CUDA template its instance, "scale<float, 4>"
 *   arguments   its parameters in their order: "x: read fp32[n], y: written fp32[n], n: int32, alpha: fp32,
 *               seed: scalar uint64"
 *   grid        blocks along x, y, z: "ceil(n/256), batch"
 *   block       threads along x, y, z; "cuda" only
 *   shared, workspace, options, headers   where needed
 *   n, batch    any other name is a dimension of its own; a launch gives the dynamic ones in the order of their names
 *
 * Fails with INVALID_ARGUMENT, naming the attribute, the value found and the values allowed, if the op or an attribute
 * is unknown, given twice, missing without a default, or out of range. What is wrong with a source shows when it is
 * compiled: INVALID_ARGUMENT with the compiler's log as the tool's output. An emulator runs no CUDA C++: UNSUPPORTED.
 */
JITK_API jitk_status_t jitk_description_create(const char *op, const char *const *names, const char *const *values,
                                               size_t count, jitk_description_t *description, jitk_error_t *error);
/*
 * The same from one line: "matmul m=* n=4096 k=7168 dtype=bf16". A value with spaces stands in quotes, where \", \\,
 * \n, \t and \xNN stand for what they usually do.
 */
JITK_API jitk_status_t jitk_description_parse(const char *text, jitk_description_t *description, jitk_error_t *error);
JITK_API void jitk_description_retain(jitk_description_t description);
JITK_API void jitk_description_release(jitk_description_t description);
/* The canonical line, all attributes included: equal descriptions have equal text. */
JITK_API const char *jitk_description_text(jitk_description_t description);
/* The same for messages: of a long text, such as a kernel's source, only how long it is and its hash. */
JITK_API const char *jitk_description_label(jitk_description_t description);
/* The op's name. */
JITK_API const char *jitk_description_op(jitk_description_t description);

/* ---------------------------------------------------------------------------------------------------------------- */
/* Runtime                                                                                                          */

typedef enum jitk_log_level_t JITK_ENUM_BASE {
  JITK_LOG_LEVEL_DEFAULT = 0, /* as JITK_LOG_LEVEL_WARNING */
  JITK_LOG_LEVEL_ERROR = 1,
  JITK_LOG_LEVEL_WARNING = 2,
  JITK_LOG_LEVEL_INFO = 3,
  JITK_LOG_LEVEL_DEBUG = 4
} jitk_log_level_t;

/*
 * Receives one log line without a newline at its end. `category` is "store", "compile", "load", ... Called from any
 * thread, one call at a time; must not call this library.
 */
typedef void (*jitk_log_callback_t)(void *user, jitk_log_level_t level, const char *category, const char *message);

/* Why a kernel was compiled outside of a preparation. */
typedef enum jitk_cause_t JITK_ENUM_BASE {
  JITK_CAUSE_REQUESTED = 1, /* jitk_runtime_kernel, jitk_runtime_compile or jitk_plan_export needed it */
  JITK_CAUSE_MISSED = 2,    /* jitk_plan_kernel: it was not prepared, and the caller waited for it */
  JITK_CAUSE_BACKGROUND = 3 /* the same in a plan with JITK_MISS_BACKGROUND: a worker made it */
} jitk_cause_t;

/* A compilation outside of a preparation. All of it lives for the length of the callback only. */
typedef struct jitk_late_compilation_t {
  size_t struct_size;
  jitk_cause_t cause;
  jitk_status_t status;    /* of the compilation; what failed is the failure of whoever asked */
  const char *key;         /* hexadecimal, as `jitk store` shows it */
  const char *description; /* canonical */
  const char *target;
  double compile_ms;
} jitk_late_compilation_t;

/*
 * Called once for each compilation outside of a preparation, when it ends: what an engine that serves does not want to
 * happen. Kernels that were found, loaded, or got by waiting for another's compilation are none. Called from the thread
 * that compiled, by several threads at a time; must neither call this library nor let an exception out.
 */
typedef void (*jitk_late_compilation_callback_t)(void *user, const jitk_late_compilation_t *compilation);

typedef struct jitk_runtime_options_t {
  size_t struct_size;
  /* Folder of the disk store. NULL: $JITK_STORE, else $XDG_CACHE_HOME/jitk, else $HOME/.cache/jitk. "": no disk. */
  const char *store_path;
  /* Bound on the disk store's bytes; least recently used entries go first. 0: 4 GiB. */
  uint64_t store_bytes;
  /* Bound on the bytes of entries held in memory. 0: 256 MiB. */
  uint64_t memory_bytes;
  /* Longest wait for another process that compiles the same kernel; then it is compiled here too. 0: 60000. */
  uint32_t lock_deadline_ms;
  /* Worker threads, at most 1024. 0: $JITK_JOBS, else one a core that the process may use and memory has room for. */
  uint32_t jobs;
  /* Path of libjitk-compiler.so. NULL: $JITK_COMPILER_LIBRARY, else next to this library, else as ld.so finds it. */
  const char *compiler_library;
  /* "ptxas", "nvjitlink" or "driver". NULL: $JITK_ASSEMBLER, else the first one that works. Part of the key. */
  const char *assembler;
  /* Where log lines go. NULL: nowhere, or to stderr if $JITK_LOG is set. */
  jitk_log_callback_t log;
  void *log_user;
  jitk_log_level_t log_level; /* only with log */
  /*
   * Paths of bundles, looked into in this order and before the store. NULL, and a number of 0: $JITK_BUNDLES, divided
   * by colons. Not NULL, and a number of 0: none.
   */
  const char *const *bundles;
  size_t num_bundles;
  /*
   * Not 0: the compiler runs in processes of its own (`jitk-compiler`), as many as kernels compile at a time. What it
   * does to itself is then the failure of one kernel: INTERNAL for a crash, DEADLINE_EXCEEDED and OUT_OF_MEMORY for the
   * limits below, with what it printed as the error's tool output.
   */
  uint32_t isolate_compiler;
  /* Only with isolate_compiler: longest time for one kernel. 0: none. */
  uint32_t compile_deadline_ms;
  /* Only with isolate_compiler: bound on the address space of such a process. 0: none. */
  uint64_t compile_memory_bytes;
  /* Path of jitk-compiler. NULL: beside this library, else in ../bin from there. */
  const char *compiler_program;
  /*
   * A server of the Redis protocol that several machines share, asked after the store and before compiling, and given
   * what is compiled: "redis://[[user]:password@]host[:port][/database]" or "redis+unix://[[user]:password@]/path".
   * Who may write there decides what code runs here. NULL: $JITK_SHARED_STORE. "": none.
   */
  const char *shared_store;
  /* Longest wait for the shared store, each time it is asked; after a failure it is left alone for 10 s. 0: 250. */
  uint32_t shared_deadline_ms;
  /*
   * Bound on the kernels that compile at a time in all processes of this machine that use the store's folder, so that
   * the ranks of an engine do not starve each other. Who waits for longer than lock_deadline_ms compiles anyway. 0: one
   * a core of the machine. UINT32_MAX: none. Without a disk store there is none.
   */
  uint32_t host_jobs;
  /*
   * Folder for reproducers: when a kernel does not compile, or crashes the compiler's process, one file there has its
   * description, target, options and failure, and the IR and passes that it began with; the error's message ends with
   * its path. `jitk inspect --reproducer` does it again. NULL: $JITK_REPRODUCERS. "": none.
   */
  const char *reproducers;
  /*
   * How far the workers give way to the engine's threads while they compile: what is added to their nice value, at most
   * 19; they are batch jobs (SCHED_BATCH) then, too. Where a thread could not get its priority back, for want of
   * CAP_SYS_NICE or RLIMIT_NICE, it is only the latter. 0: 5. UINT32_MAX: they do not.
   */
  uint32_t worker_nice;
  /*
   * Not 0: a kernel whose description names no configuration is built in the one that jitk_runtime_store_configuration
   * stored for devices of that name; without one, and for a plan that is prepared without a device, as the cost model
   * chooses. Which one it is is then a matter of the store and not of the description alone.
   */
  uint32_t use_tuned;
  /* Hears of each compilation outside of a preparation. NULL: nobody does. `user` must live as long as the runtime. */
  jitk_late_compilation_callback_t late_compilation;
  void *late_compilation_user;
} jitk_runtime_options_t;

/* Worker threads, the store and the compiler. Immutable but for its caches. */
typedef struct jitk_runtime_s *jitk_runtime_t;

/*
 * Creates a runtime. `options` may be NULL. Touches no device and opens no compiler. An unwritable store folder is not
 * a failure: one warning is logged and kernels are kept in memory. Fails with INVALID_ARGUMENT for a bad option, or a
 * bad value of a variable of the environment that stands in for one.
 */
JITK_API jitk_status_t jitk_runtime_create(const jitk_runtime_options_t *options, jitk_runtime_t *runtime,
                                           jitk_error_t *error);
JITK_API void jitk_runtime_retain(jitk_runtime_t runtime);
/*
 * The last reference waits for the kernel that each worker is compiling. A process may also end without: an exit waits
 * for what is being compiled, loaded or called back, at most 5 s, and nothing is begun or called back after.
 */
JITK_API void jitk_runtime_release(jitk_runtime_t runtime);

/*
 * What this runtime found, as a JSON object: version, build id, store folder and why there is none, compiler library
 * and why it does not open, assembler for each target asked of it, CUDA driver, number of workers. Opens the compiler
 * library and initializes the CUDA driver; what is missing is in the report, and no failure. Meant for people: `jitk
 * doctor`.
 */
JITK_API jitk_status_t jitk_runtime_report(jitk_runtime_t runtime, jitk_text_t *report, jitk_error_t *error);

/* What a runtime did since it was created. In an output, fields that the caller's `struct_size` does not reach are left
 * out. */
typedef struct jitk_counters_t {
  size_t struct_size;
  /* Requests for a kernel, by how they were served. */
  uint64_t found_loaded;
  uint64_t found_in_memory;
  uint64_t found_on_disk;
  uint64_t found_in_bundles;
  uint64_t found_in_shared_store;
  uint64_t joined; /* waited for another thread */
  uint64_t compiled;
  uint64_t failed;
  /* Compilations begun, those of them that failed, and the microseconds that all took. */
  uint64_t compilations;
  uint64_t failed_compilations;
  uint64_t compile_us;
  /* Waits for another process that were given up at their deadline. */
  uint64_t lock_timeouts;
  /* Kernels loaded on devices, and the bytes of their code. */
  uint64_t loads;
  uint64_t loaded_bytes;
  /* Requests that were served by the code of another description, whose kernel is the same. */
  uint64_t found_equal;
} jitk_counters_t;

/*
 * Fills `*counters`, whose `struct_size` the caller has set. Each count is exact; together they are of no one moment.
 * Takes no lock. Fails with INVALID_ARGUMENT for a `struct_size` that no version of the struct has.
 */
JITK_API jitk_status_t jitk_runtime_counters(jitk_runtime_t runtime, jitk_counters_t *counters, jitk_error_t *error);

/* ---------------------------------------------------------------------------------------------------------------- */
/* Devices                                                                                                          */

/* Those that begin with `emulator_` are for an emulator, the others for a GPU: 0 for another device. */
typedef struct jitk_device_options_t {
  size_t struct_size;
  /* Emulator: asynchronous instructions take effect at once (not 0), or only when they are waited for (0). */
  uint32_t emulator_immediate;
  /* Emulator: blocks in parallel, at most 1024. 0: one a core. */
  uint32_t emulator_workers;
  /* Emulator: the order in which threads run. */
  uint64_t emulator_seed;
  /*
   * GPU: a CUcontext of the engine's, of this device, in which all of this device's work then happens. It must outlive
   * the handle and all kernels of it, and streams of launches must be of it. NULL: the device's primary context, which
   * is the one of the CUDA runtime and of PyTorch; it is retained as long as the handle.
   */
  void *cuda_context;
} jitk_device_options_t;

/* A device and the context that its work happens in. The calling thread's current context is left as it was found. */
typedef struct jitk_device_s *jitk_device_t;

/*
 * Opens a device: "cuda:0" (by ordinal), or "emulator:sm_90a" (any target; needs the compiler library). `options` may
 * be NULL. Opened again, a GPU is the same device, with the same kernels, as long as the context is. Fails with
 * INVALID_ARGUMENT for a name that is none and a context of another device, UNAVAILABLE if the driver, the device or
 * the compiler library is missing.
 */
JITK_API jitk_status_t jitk_device_open(jitk_runtime_t runtime, const char *name, const jitk_device_options_t *options,
                                        jitk_device_t *device, jitk_error_t *error);
JITK_API void jitk_device_retain(jitk_device_t device);
JITK_API void jitk_device_release(jitk_device_t device);
/* "NVIDIA H200", "emulator". Lives as long as the handle, as does the target. */
JITK_API const char *jitk_device_name(jitk_device_t device);
/* What code for it is compiled for: "sm_90a", "emulator:sm_90a". */
JITK_API const char *jitk_device_target(jitk_device_t device);

/*
 * Device memory, for programs that have no allocator of their own; a launch takes any address of the device. Not
 * tied to the handle: what is not freed stays allocated until the process ends. `bytes` may be 0: the address is then
 * one that must not be read. Fails with OUT_OF_MEMORY if the device has no room, DEVICE_LOST after a fault.
 */
JITK_API jitk_status_t jitk_device_allocate(jitk_device_t device, size_t bytes, uint64_t *address, jitk_error_t *error);
/*
 * Frees what was allocated; 0 does nothing. Work that uses it must have finished. Fails with INVALID_ARGUMENT for an
 * address that was not given, as far as the device notices.
 */
JITK_API jitk_status_t jitk_device_free(jitk_device_t device, uint64_t address, jitk_error_t *error);
/*
 * These wait until the bytes are there, so that work of any stream finds them. They go on behind what the default
 * stream was given before, and wait for no other work: what another stream still writes or reads is the caller's to
 * wait for. 0 bytes need no pointer. The caller's threads must not touch the same bytes meanwhile. As memory may be
 * allocated and freed, they may be called while another thread captures a stream. Fail with INVALID_ARGUMENT for bytes
 * outside of an allocation, as far as the device notices, DEVICE_LOST after a fault.
 */
JITK_API jitk_status_t jitk_device_copy_to_device(jitk_device_t device, uint64_t destination, const void *source,
                                                  size_t bytes, jitk_error_t *error);
JITK_API jitk_status_t jitk_device_copy_to_host(jitk_device_t device, void *destination, uint64_t source, size_t bytes,
                                                jitk_error_t *error);
JITK_API jitk_status_t jitk_device_fill(jitk_device_t device, uint64_t destination, uint8_t value, size_t bytes,
                                        jitk_error_t *error);
/*
 * Waits for all work of the device's context, other threads' too. Fails with DEVICE_LOST for the fault of a kernel that
 * was launched before. An emulator reports what it found wrong since the last time: INTERNAL, with each finding in the
 * error's tool output.
 */
JITK_API jitk_status_t jitk_device_synchronize(jitk_device_t device, jitk_error_t *error);

/* ---------------------------------------------------------------------------------------------------------------- */
/* Kernels                                                                                                          */

/* Where a kernel came from. */
typedef enum jitk_tier_t JITK_ENUM_BASE {
  JITK_TIER_NONE = 0,     /* nowhere: it failed */
  JITK_TIER_LOADED = 1,   /* it was on the device already */
  JITK_TIER_MEMORY = 2,   /* this process had its bytes */
  JITK_TIER_DISK = 3,     /* the disk store had them */
  JITK_TIER_COMPILED = 4, /* it was compiled now */
  JITK_TIER_JOINED = 5,   /* another thread was compiling it */
  JITK_TIER_BUNDLE = 6,   /* a bundle had its bytes */
  JITK_TIER_SHARED = 7,   /* the shared store had them */
  JITK_TIER_EQUAL = 8     /* another description had been compiled, whose kernel is the same */
} jitk_tier_t;

/* Facts of one kernel. In an output, fields that the caller's `struct_size` does not reach are left out. */
typedef struct jitk_kernel_info_t {
  size_t struct_size;
  const char *description; /* canonical */
  const char *target;
  const char *key;  /* hexadecimal, as `jitk store` shows it */
  jitk_tier_t tier; /* how this process got it first */
  uint32_t registers;
  uint32_t spill_bytes;
  uint32_t shared_bytes;
  uint32_t num_steps; /* device kernels of one launch */
  uint64_t code_bytes;
  /* Milliseconds of the compilation, wherever and whenever it was done. */
  double build_ms;
  double lower_ms;
  double llvm_ms;
  double assemble_ms;
  /* Milliseconds that getting it took this time: waiting for others and for the store included, loading apart. */
  double obtain_ms;
  double load_ms;
  /* Not 0: these are the facts of a generic kernel, which serves while the one that was asked for is made. */
  uint32_t stands_in;
  uint32_t threads; /* of a block; of several steps, the most; 0 in a jitk_progress_t */
} jitk_kernel_info_t;

/* A kernel loaded on one device. Immutable. */
typedef struct jitk_kernel_s *jitk_kernel_t;

/*
 * Gets one kernel now: from memory, from the store, or compiled on the calling thread. Meant for tools and tests; an
 * engine makes a plan. Fails with UNSUPPORTED if the op cannot serve the problem on the device's target, UNAVAILABLE if
 * it is not in the store and there is no compiler library.
 */
JITK_API jitk_status_t jitk_runtime_kernel(jitk_runtime_t runtime, jitk_device_t device, jitk_description_t description,
                                           jitk_kernel_t *kernel, jitk_error_t *error);
JITK_API void jitk_kernel_retain(jitk_kernel_t kernel);
/*
 * The last reference unloads the code, once launches in flight have finished: nobody waits for them (a driver older
 * than CUDA 12.5 is waited for). A graph that holds a launch must not be launched after.
 */
JITK_API void jitk_kernel_release(jitk_kernel_t kernel);

/*
 * Fills `*info`, whose `struct_size` the caller has set. The strings belong to the kernel. Fails with INVALID_ARGUMENT
 * for a `struct_size` that no version of the struct has.
 */
JITK_API jitk_status_t jitk_kernel_info(jitk_kernel_t kernel, jitk_kernel_info_t *info, jitk_error_t *error);

/*
 * What a launch gives, in its order. A name is NULL, an alignment 0, if `index` is out of range. Names live as long as
 * the kernel. A kernel keeps its order, its names and types for good.
 */
JITK_API size_t jitk_kernel_num_tensors(jitk_kernel_t kernel);
JITK_API const char *jitk_kernel_tensor_name(jitk_kernel_t kernel, size_t index);
/* Bytes that the tensor's address must be a multiple of. */
JITK_API uint32_t jitk_kernel_tensor_alignment(jitk_kernel_t kernel, size_t index);
/* The dimensions that the description left dynamic. */
JITK_API size_t jitk_kernel_num_dimensions(jitk_kernel_t kernel);
JITK_API const char *jitk_kernel_dimension_name(jitk_kernel_t kernel, size_t index);
/* The scalars: numbers that the kernel takes by value. */
JITK_API size_t jitk_kernel_num_scalars(jitk_kernel_t kernel);
JITK_API const char *jitk_kernel_scalar_name(jitk_kernel_t kernel, size_t index);
/* "fp32", "fp64", "fp16", "bf16", "int32", "int64", "uint32" or "uint64"; NULL if `index` is out of range. */
JITK_API const char *jitk_kernel_scalar_type(jitk_kernel_t kernel, size_t index);
/*
 * Bytes of workspace that a launch with these dimensions needs; its address must be a multiple of 256. While a generic
 * kernel serves, what that one needs: ask again when `stands_in` is 0. With less than that the generic one goes on
 * serving. Takes no lock and allocates nothing. Fails with INVALID_ARGUMENT as a launch does for its dimensions.
 */
JITK_API jitk_status_t jitk_kernel_workspace_bytes(jitk_kernel_t kernel, const int64_t *dimensions,
                                                   size_t num_dimensions, uint64_t *bytes, jitk_error_t *error);

/*
 * A flag of a launch: the kernel may be started while what precedes it in the stream ends (programmatic dependent
 * launch). On the device it waits for all of that before it reads or writes memory, so that results are the same. A
 * kernel or a device that knows no such thing is launched as without the flag. In a graph that is captured, the edge
 * before the kernel becomes a programmatic one.
 */
#define JITK_LAUNCH_PROGRAMMATIC UINT64_C(1)

/* Which member of a jitk_scalar_t is set. */
typedef enum jitk_scalar_kind_t JITK_ENUM_BASE {
  JITK_SCALAR_FLOAT = 1,
  JITK_SCALAR_INT = 2,
  JITK_SCALAR_UINT = 3
} jitk_scalar_kind_t;

/*
 * A scalar of any type. The kernel's type decides how it is passed: a float is rounded to nearest even, an integer must
 * be in the type's range, as must a finite float. An integer up to 2^53 may stand for a float, never a float for an
 * integer.
 */
typedef struct jitk_scalar_t {
  jitk_scalar_kind_t kind;
  union {
    double float_value;
    int64_t int_value;
    uint64_t uint_value;
  };
} jitk_scalar_t;

typedef struct jitk_launch_t {
  size_t struct_size;
  const uint64_t *tensors; /* device addresses */
  size_t num_tensors;
  const int64_t *dimensions;
  size_t num_dimensions;
  const float *scalars; /* of a kernel whose scalars are all fp32; else typed_scalars */
  size_t num_scalars;
  uint64_t workspace;                 /* device address; 0 if the kernel needs none */
  uint64_t workspace_bytes;           /* what the caller has there */
  void *stream;                       /* CUstream; NULL: the legacy default stream. An emulator ignores it. */
  jitk_device_t device;               /* NULL, or the device that the caller means: checked against the kernel's */
  uint64_t flags;                     /* JITK_LAUNCH_*; 0: none */
  const jitk_scalar_t *typed_scalars; /* in the place of scalars */
  size_t num_typed_scalars;
} jitk_launch_t;

/*
 * Enqueues a kernel. Takes no lock, allocates nothing, does not synchronize, and may be called while the stream is
 * captured. What `launch` points to may die when it returns. A problem with nothing to do returns at once.
 *
 * Fails with INVALID_ARGUMENT, naming the argument, and enqueues nothing: a count that differs from the kernel's, a
 * null or misaligned tensor, a dimension that is negative, above its bound or no multiple of its divisor, a scalar of
 * another kind or outside of its type's range, a workspace that is too small, another device, an unknown flag.
 * DEVICE_LOST or OUT_OF_MEMORY come from the driver. A fault of the kernel itself shows at the next synchronization,
 * not here.
 */
JITK_API jitk_status_t jitk_kernel_launch(jitk_kernel_t kernel, const jitk_launch_t *launch, jitk_error_t *error);

/*
 * A tensor as DLPack has it: jitk_dltensor_t is DLTensor where dlpack.h was included before, else a struct of the same
 * layout, so that a pointer to a DLTensor may be cast.
 */
#ifdef DLPACK_VERSION
typedef DLTensor jitk_dltensor_t;
#elif defined(DLPACK_MAJOR_VERSION)
typedef DLTensor jitk_dltensor_t;
#else
typedef struct jitk_dldevice_t {
  int32_t device_type; /* 1: host memory, 2: CUDA, 13: CUDA managed */
  int32_t device_id;
} jitk_dldevice_t;
typedef struct jitk_dldata_type_t {
  uint8_t code; /* 0: int, 1: uint, 2: float, 4: bfloat, 10: float8_e4m3fn */
  uint8_t bits;
  uint16_t lanes;
} jitk_dldata_type_t;
typedef struct jitk_dltensor_t {
  void *data;
  jitk_dldevice_t device;
  int32_t ndim;
  jitk_dldata_type_t dtype;
  int64_t *shape;
  int64_t *strides; /* of elements; NULL: contiguous and row major */
  uint64_t byte_offset;
} jitk_dltensor_t;
#endif

/* Tensors, scalars and dimensions are in the kernel's order, as in jitk_launch_t. */
typedef struct jitk_dlpack_launch_t {
  size_t struct_size;
  const jitk_dltensor_t *const *tensors; /* the caller's, which are only read */
  size_t num_tensors;
  const float *scalars;
  size_t num_scalars;
  /* Only for dimensions that no shape tells; NULL and 0: all are read off the shapes. */
  const int64_t *dimensions;
  size_t num_dimensions;
  uint64_t workspace;
  uint64_t workspace_bytes;
  void *stream;
  uint64_t flags;                     /* JITK_LAUNCH_*; 0: none */
  const jitk_scalar_t *typed_scalars; /* in the place of scalars, as in jitk_launch_t */
  size_t num_typed_scalars;
} jitk_dlpack_launch_t;

/*
 * As jitk_kernel_launch, with tensors that say what they are. Each is checked against the description: type, rank,
 * sizes, strides (row major, rows as far apart as the description says, which without a stride is side by side; of a
 * matmul's b with b_layout=col also the [k,n] view of it), alignment, device. An emulator takes host memory, which must
 * be its own. Bytes (uint8) pass for e4m3. Takes no lock and allocates nothing.
 *
 * Fails with INVALID_ARGUMENT, naming the tensor and what of it is wrong, and enqueues nothing; UNSUPPORTED for a
 * kernel whose op has no schema of its tensors.
 */
JITK_API jitk_status_t jitk_kernel_launch_dlpack(jitk_kernel_t kernel, const jitk_dlpack_launch_t *launch,
                                                 jitk_error_t *error);

/* ---------------------------------------------------------------------------------------------------------------- */
/* Plans                                                                                                            */

/* A set of descriptions, and the kernels made of them. It keeps those until it is gone; it grows until it is sealed. */
typedef struct jitk_plan_s *jitk_plan_t;

/* What happens when a kernel is asked for that was not prepared, in a plan that is not sealed. */
typedef enum jitk_miss_t JITK_ENUM_BASE {
  /* The caller waits until it is found or compiled, and loaded. */
  JITK_MISS_COMPILE = 0,
  /*
   * A generic kernel of the op, which takes every dimension at launch, serves at once; the workers make the kernel
   * itself, which then takes over between two launches. The generic kernels of a plan's ops are prepared with it. Where
   * there is none, as for an op that cannot do without a static dimension, the call fails with NOT_PREPARED, and a
   * later one finds the kernel. Once the plan is sealed, the generic kernel serves for good.
   */
  JITK_MISS_BACKGROUND = 1,
  /* The call fails with NOT_PREPARED. */
  JITK_MISS_FAIL = 2
} jitk_miss_t;

typedef struct jitk_plan_options_t {
  size_t struct_size;
  jitk_miss_t on_miss;
  /* Bound on the kernels that the plan keeps beyond those it prepared; least recently used ones go first. 0: none. */
  uint32_t max_missed_kernels;
} jitk_plan_options_t;

/* Creates an empty plan with the default options. */
JITK_API jitk_status_t jitk_plan_create(jitk_runtime_t runtime, jitk_plan_t *plan, jitk_error_t *error);
/* `options` may be NULL. Fails with INVALID_ARGUMENT for a bad option. */
JITK_API jitk_status_t jitk_plan_create_with_options(jitk_runtime_t runtime, const jitk_plan_options_t *options,
                                                     jitk_plan_t *plan, jitk_error_t *error);
JITK_API void jitk_plan_retain(jitk_plan_t plan);
/* The last reference cancels a preparation that still runs, and waits for its end. */
JITK_API void jitk_plan_release(jitk_plan_t plan);

/*
 * Adds a description; one that is there already changes nothing but raises its priority. Higher priorities are
 * prepared first; 0 is usual. Fails with INVALID_ARGUMENT once a preparation runs or the plan is sealed.
 */
JITK_API jitk_status_t jitk_plan_add(jitk_plan_t plan, jitk_description_t description, int32_t priority,
                                     jitk_error_t *error);
/*
 * Adds what a plan file holds:
 *
 *   {"jitk_plan": 1, "kernels": [{"op": "matmul", "attributes": {"m": "*<=1024", "n": 4096}, "priority": 0}, ...]}
 *
 * Members that are not named here are ignored. All or nothing: fails with INVALID_ARGUMENT, naming the kernel's place
 * in the list, and adds none; also once a preparation runs or the plan is sealed.
 */
JITK_API jitk_status_t jitk_plan_add_json(jitk_plan_t plan, const char *text, jitk_error_t *error);
/* The plan file of this plan, in the order in which its kernels were added. */
JITK_API jitk_status_t jitk_plan_to_json(jitk_plan_t plan, jitk_text_t *text, jitk_error_t *error);
/*
 * Writes a bundle with the kernels of this plan for a target, and no others. Finds or compiles each, on the calling
 * thread: prepare the plan first. Fails at the first that cannot be had, as jitk_runtime_kernel does, and writes
 * nothing; UNAVAILABLE if the file cannot be written, which then is what it was before.
 */
JITK_API jitk_status_t jitk_plan_export(jitk_plan_t plan, const char *target, const char *path, jitk_error_t *error);
/* Number of distinct descriptions. */
JITK_API size_t jitk_plan_size(jitk_plan_t plan);

/* What became of one kernel of a plan. All of it lives for the length of the callback only. */
typedef struct jitk_progress_t {
  size_t struct_size;
  size_t done;  /* kernels finished, this one included */
  size_t total; /* kernels of the preparation */
  jitk_status_t status;
  jitk_error_t error;             /* NULL if it worked */
  const jitk_kernel_info_t *info; /* never NULL; after a failure only description, target, key and times are set */
} jitk_progress_t;

/*
 * Called once for each kernel of a preparation, in the order in which they finish. Called from worker threads, one call
 * at a time for a plan. May call jitk_plan_cancel, and must neither wait for the plan nor release its last reference,
 * nor let an exception out. `user` must live until jitk_plan_wait has returned for it, or the plan is gone.
 */
typedef void (*jitk_progress_callback_t)(void *user, const jitk_progress_t *progress);

typedef struct jitk_prepare_options_t {
  size_t struct_size;
  /* The device to load on. NULL: only fill the store, for `target`. */
  jitk_device_t device;
  /* "sm_90a", "emulator:sm_90a". Only without a device. */
  const char *target;
  jitk_progress_callback_t progress;
  void *progress_user;
  /* Kernels not begun after so long fail with DEADLINE_EXCEEDED. 0: none. */
  uint32_t deadline_ms;
} jitk_prepare_options_t;

/*
 * Starts to prepare all descriptions of the plan on the workers, and returns. One preparation of a plan runs at a time;
 * several may follow each other, for other devices. Each kernel is looked for in memory and in the store, else compiled
 * once, whoever asks; then loaded. Fails with INVALID_ARGUMENT if one runs, or the plan is sealed.
 */
JITK_API jitk_status_t jitk_plan_prepare(jitk_plan_t plan, const jitk_prepare_options_t *options, jitk_error_t *error);
/*
 * Waits for the end of the preparation, at most `timeout_ms` (UINT32_MAX: without end; 0: only asks). OK if all kernels
 * are ready or nothing was started, DEADLINE_EXCEEDED at a timeout (the preparation goes on), else the first failure,
 * with its kernel's key. Any number of threads may wait.
 */
JITK_API jitk_status_t jitk_plan_wait(jitk_plan_t plan, uint32_t timeout_ms, jitk_error_t *error);
/*
 * The same for one description: OK if its kernel is ready, DEADLINE_EXCEEDED at a timeout, else its failure. Fails with
 * INVALID_ARGUMENT if nothing was started or the preparation does not have it.
 */
JITK_API jitk_status_t jitk_plan_wait_kernel(jitk_plan_t plan, jitk_description_t description, uint32_t timeout_ms,
                                             jitk_error_t *error);
/*
 * When each kernel of the last preparation was got or compiled, by which worker, and how long each stage took, so far:
 * a JSON text in Chrome's trace event format, for chrome://tracing or Perfetto. Fails with INVALID_ARGUMENT if nothing
 * was started.
 */
JITK_API jitk_status_t jitk_plan_trace(jitk_plan_t plan, jitk_text_t *trace, jitk_error_t *error);
/*
 * Kernels that are not begun are not begun; each counts as CANCELLED. Those being compiled are finished. Returns at
 * once; does nothing if no preparation runs.
 */
JITK_API void jitk_plan_cancel(jitk_plan_t plan);
/*
 * Closes the plan: from here on jitk_plan_kernel only looks up. Waits for a running preparation, whatever becomes of
 * its kernels: that is for jitk_plan_wait to say. Sealing twice is OK. Fails with INVALID_ARGUMENT if another thread
 * starts a preparation meanwhile.
 */
JITK_API jitk_status_t jitk_plan_seal(jitk_plan_t plan, jitk_error_t *error);
/*
 * The kernel of a description on a device. For what was not prepared the plan's jitk_miss_t decides; in a sealed plan
 * this is a look-up, and what was not prepared is NOT_PREPARED unless a generic kernel can serve. With
 * JITK_MISS_COMPILE it is as jitk_runtime_kernel, and the plan keeps the kernel. The handle is the caller's, and lives
 * longer than the plan if need be.
 */
JITK_API jitk_status_t jitk_plan_kernel(jitk_plan_t plan, jitk_device_t device, jitk_description_t description,
                                        jitk_kernel_t *kernel, jitk_error_t *error);

/*
 * A table of a sealed plan's kernels on one device that differ in some dimensions only: from sizes to the kernel for
 * them. Immutable.
 */
typedef struct jitk_dispatch_s *jitk_dispatch_t;

/*
 * Makes a table of the kernels whose description equals `pattern` in all but the `count` dimensions named, at most 8.
 * Their values in the pattern do not matter. Fails with INVALID_ARGUMENT if the plan is not sealed or the op has no
 * such dimension, NOT_PREPARED if no kernel fits.
 */
JITK_API jitk_status_t jitk_dispatch_create(jitk_plan_t plan, jitk_device_t device, jitk_description_t pattern,
                                            const char *const *dimensions, size_t count, jitk_dispatch_t *dispatch,
                                            jitk_error_t *error);
JITK_API void jitk_dispatch_retain(jitk_dispatch_t dispatch);
JITK_API void jitk_dispatch_release(jitk_dispatch_t dispatch);
/*
 * The kernel for these sizes, in the order of the names given above: one whose static dimensions are equal and whose
 * dynamic ones allow the size. Of several, one with more static dimensions goes first, then one with smaller bounds.
 * Takes no lock and allocates nothing. The kernel belongs to the dispatch and lives as long; retain it to keep it
 * longer. Fails with INVALID_ARGUMENT for a wrong `count`, NOT_PREPARED if there is none.
 */
JITK_API jitk_status_t jitk_dispatch_kernel(jitk_dispatch_t dispatch, const int64_t *sizes, size_t count,
                                            jitk_kernel_t *kernel, jitk_error_t *error);

/* ---------------------------------------------------------------------------------------------------------------- */
/* Looking inside                                                                                                   */

typedef enum jitk_dump_t JITK_ENUM_BASE {
  JITK_DUMP_COMMON_IR = 1,
  JITK_DUMP_TTGIR = 2,
  JITK_DUMP_LLVM_IR = 3,
  JITK_DUMP_PTX = 4,   /* for an emulator what the GPU would be given; no assembler is needed */
  JITK_DUMP_CODE = 5,  /* machine code: bytes, not text */
  JITK_DUMP_RECIPE = 6 /* how it is launched, as JSON */
} jitk_dump_t;

/* One compilation with its intermediate texts. Immutable. */
typedef struct jitk_artifact_s *jitk_artifact_t;

/*
 * Compiles on the calling thread, and neither reads nor fills the store. Fails as jitk_runtime_kernel does.
 */
JITK_API jitk_status_t jitk_runtime_compile(jitk_runtime_t runtime, jitk_description_t description, const char *target,
                                            jitk_artifact_t *artifact, jitk_error_t *error);
JITK_API void jitk_artifact_retain(jitk_artifact_t artifact);
JITK_API void jitk_artifact_release(jitk_artifact_t artifact);
/*
 * The bytes of a dump, with a zero after their end; `*size` (may be NULL) is their number. NULL, and 0, if there is
 * none. They belong to the artifact.
 */
JITK_API const char *jitk_artifact_dump(jitk_artifact_t artifact, jitk_dump_t dump, size_t *size);
/* As jitk_kernel_info, for a kernel that is not loaded: the times of loading are 0. The strings are the artifact's. */
JITK_API jitk_status_t jitk_artifact_info(jitk_artifact_t artifact, jitk_kernel_info_t *info, jitk_error_t *error);

/*
 * The key that a description has for a target, as a JSON object: its hexadecimal form and what it is made of. Opens
 * the compiler library, and the assembler, whose version is part of it. Fails with UNAVAILABLE if one is missing,
 * INVALID_ARGUMENT for a target that is none.
 */
JITK_API jitk_status_t jitk_runtime_key(jitk_runtime_t runtime, jitk_description_t description, const char *target,
                                        jitk_text_t *key, jitk_error_t *error);

/*
 * The ways in which the kernel of a description can be built for a target, as a JSON array, the one first that the cost
 * model takes: {"name": ..., "clocks": ...}, `clocks` being what the model expects of it, 0 where it only ranks. A name
 * is a value of the attribute `configuration`. Empty where there is one way only. Opens the compiler library.
 */
JITK_API jitk_status_t jitk_runtime_configurations(jitk_runtime_t runtime, jitk_description_t description,
                                                   const char *target, jitk_text_t *configurations,
                                                   jitk_error_t *error);

/*
 * Stores that the kernel of a description is fastest in a configuration, on devices of that name and target: what
 * `jitk tune` measures, or the engine itself. It is an entry of the disk store, so that bundles, export and import
 * carry it, and belongs to this build of the compiler. Runtimes with `use_tuned` follow it. Fails with INVALID_ARGUMENT
 * if the description names a configuration itself or has none of that name, UNAVAILABLE if the runtime has no disk
 * store. "" is no name but says that the kernel is fastest as it is built where nothing is stored.
 */
JITK_API jitk_status_t jitk_runtime_store_configuration(jitk_runtime_t runtime, jitk_device_t device,
                                                        jitk_description_t description, const char *configuration,
                                                        jitk_error_t *error);

/*
 * The disk store's entries as a JSON object, each with key, description, target, bytes, last use; those that are
 * damaged are listed with what is wrong. With `verify` not 0 each entry's checksum is read too, and damaged entries are
 * moved to the quarantine. Fails with UNAVAILABLE if the runtime has no disk store.
 */
JITK_API jitk_status_t jitk_store_list(jitk_runtime_t runtime, uint32_t verify, jitk_text_t *list, jitk_error_t *error);
/*
 * Why a description would be compiled, or would not, as a JSON object: its key, where it is found ("bundle", "store" or
 * null), for each stored entry of an equal description what differs (target, build, options, assembler), and the entry
 * that differs in the fewest parts, attributes counted one by one, with those ("nearest"). Opens the compiler library.
 * Fails as jitk_runtime_key and jitk_store_list do.
 */
JITK_API jitk_status_t jitk_store_explain(jitk_runtime_t runtime, jitk_description_t description, const char *target,
                                          jitk_text_t *explanation, jitk_error_t *error);
/*
 * What the key of a stored entry is made of, as a JSON object, and the other entry that is nearest to it, with what
 * differs. `key` is what jitk_store_list gives, or the first digits of it. Fails with INVALID_ARGUMENT if no entry, or
 * more than one, has such a key, DATA_LOSS if the entry is damaged, UNAVAILABLE without a disk store.
 */
JITK_API jitk_status_t jitk_store_explain_key(jitk_runtime_t runtime, const char *key, jitk_text_t *explanation,
                                              jitk_error_t *error);
/*
 * What a stored entry holds: dumps of code and recipe, and its figures; nothing is compiled, and no other dump is
 * there. `key` as above. Fails as jitk_store_explain_key does; INVALID_ARGUMENT too if the entry is no kernel's, or of
 * another version of the schemas.
 */
JITK_API jitk_status_t jitk_store_read(jitk_runtime_t runtime, const char *key, jitk_artifact_t *artifact,
                                       jitk_error_t *error);
/*
 * Writes a bundle: one file with all good entries of the disk store. It can be moved anywhere, and is given to a
 * runtime in jitk_runtime_options_t. `*count` (may be NULL) is how many it holds. Fails with UNAVAILABLE without a disk
 * store, or if the file cannot be written, which then is what it was before.
 */
JITK_API jitk_status_t jitk_store_export(jitk_runtime_t runtime, const char *path, size_t *count, jitk_error_t *error);
/*
 * Puts the good entries of a bundle into the disk store. `*count` (may be NULL) is how many they are. Fails with
 * UNAVAILABLE without a disk store, if the file cannot be read, or if the store cannot be written: then those before it
 * are there; DATA_LOSS for a file that is no bundle.
 */
JITK_API jitk_status_t jitk_store_import(jitk_runtime_t runtime, const char *path, size_t *count, jitk_error_t *error);
/*
 * Removes least recently used entries until the store holds at most `bytes`, and all of the quarantine. Kernels that
 * are loaded or in memory are not touched. Waits for other processes that remove entries, for ten seconds at most.
 * Fails with UNAVAILABLE without a disk store, if they take longer, or if entries cannot be removed.
 */
JITK_API jitk_status_t jitk_store_collect(jitk_runtime_t runtime, uint64_t bytes, jitk_error_t *error);

#ifdef __cplusplus
}
#endif

#endif
