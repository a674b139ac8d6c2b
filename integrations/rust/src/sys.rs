//! `jitk.h` as it is: types, functions, and nothing else. The contract of each is in the header, under the same name.
//! `tests/header.rs` compares the functions with the header, and the structs with what a C compiler makes of them.
#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_void};

macro_rules! handles {
    ($($handle:ident $struct:ident),+ $(,)?) => {$(
        #[repr(C)]
        pub struct $struct {
            _opaque: [u8; 0],
        }
        pub type $handle = *mut $struct;
    )+};
}

handles!(
    jitk_error_t jitk_error_s,
    jitk_text_t jitk_text_s,
    jitk_description_t jitk_description_s,
    jitk_runtime_t jitk_runtime_s,
    jitk_device_t jitk_device_s,
    jitk_kernel_t jitk_kernel_s,
    jitk_plan_t jitk_plan_s,
    jitk_dispatch_t jitk_dispatch_s,
    jitk_artifact_t jitk_artifact_s,
);

// Integers, and no enum of Rust's: a newer library may return a value that is not listed here.
pub type jitk_status_t = c_int;
pub type jitk_log_level_t = c_int;
pub type jitk_tier_t = c_int;
pub type jitk_scalar_kind_t = c_int;
pub type jitk_cause_t = c_int;
pub type jitk_miss_t = c_int;
pub type jitk_dump_t = c_int;

pub const JITK_STATUS_OK: jitk_status_t = 0;
pub const JITK_SCALAR_FLOAT: jitk_scalar_kind_t = 1;
pub const JITK_SCALAR_INT: jitk_scalar_kind_t = 2;
pub const JITK_SCALAR_UINT: jitk_scalar_kind_t = 3;
pub const JITK_LAUNCH_PROGRAMMATIC: u64 = 1;
pub const JITK_CAUSE_REQUESTED: jitk_cause_t = 1;
pub const JITK_CAUSE_MISSED: jitk_cause_t = 2;
pub const JITK_CAUSE_BACKGROUND: jitk_cause_t = 3;
pub const JITK_MISS_COMPILE: jitk_miss_t = 0;
pub const JITK_MISS_BACKGROUND: jitk_miss_t = 1;
pub const JITK_MISS_FAIL: jitk_miss_t = 2;
pub const JITK_DUMP_COMMON_IR: jitk_dump_t = 1;
pub const JITK_DUMP_TTGIR: jitk_dump_t = 2;
pub const JITK_DUMP_LLVM_IR: jitk_dump_t = 3;
pub const JITK_DUMP_PTX: jitk_dump_t = 4;
pub const JITK_DUMP_CODE: jitk_dump_t = 5;
pub const JITK_DUMP_RECIPE: jitk_dump_t = 6;

pub type jitk_log_callback_t = Option<
    unsafe extern "C" fn(user: *mut c_void, level: jitk_log_level_t, category: *const c_char, message: *const c_char),
>;
pub type jitk_late_compilation_callback_t =
    Option<unsafe extern "C" fn(user: *mut c_void, compilation: *const jitk_late_compilation_t)>;
pub type jitk_progress_callback_t = Option<unsafe extern "C" fn(user: *mut c_void, progress: *const jitk_progress_t)>;

/// Structs that begin with their size. `default()` sets it, and all else to zero, which is every default.
macro_rules! structs {
    ($($(#[$attribute:meta])* pub struct $name:ident { $(pub $field:ident: $type:ty,)+ })+) => {$(
        $(#[$attribute])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $name {
            pub struct_size: usize,
            $(pub $field: $type,)+
        }
        impl Default for $name {
            fn default() -> Self {
                // Every field is a number, a pointer or an optional function, all of which may be zero.
                let mut all: Self = unsafe { std::mem::zeroed() };
                all.struct_size = std::mem::size_of::<Self>();
                all
            }
        }
    )+};
}

structs! {
    pub struct jitk_runtime_options_t {
        pub store_path: *const c_char,
        pub store_bytes: u64,
        pub memory_bytes: u64,
        pub lock_deadline_ms: u32,
        pub jobs: u32,
        pub compiler_library: *const c_char,
        pub assembler: *const c_char,
        pub log: jitk_log_callback_t,
        pub log_user: *mut c_void,
        pub log_level: jitk_log_level_t,
        pub bundles: *const *const c_char,
        pub num_bundles: usize,
        pub isolate_compiler: u32,
        pub compile_deadline_ms: u32,
        pub compile_memory_bytes: u64,
        pub compiler_program: *const c_char,
        pub shared_store: *const c_char,
        pub shared_deadline_ms: u32,
        pub host_jobs: u32,
        pub reproducers: *const c_char,
        pub worker_nice: u32,
        pub use_tuned: u32,
        pub late_compilation: jitk_late_compilation_callback_t,
        pub late_compilation_user: *mut c_void,
    }
    pub struct jitk_late_compilation_t {
        pub cause: jitk_cause_t,
        pub status: jitk_status_t,
        pub key: *const c_char,
        pub description: *const c_char,
        pub target: *const c_char,
        pub compile_ms: f64,
    }
    pub struct jitk_counters_t {
        pub found_loaded: u64,
        pub found_in_memory: u64,
        pub found_on_disk: u64,
        pub found_in_bundles: u64,
        pub found_in_shared_store: u64,
        pub joined: u64,
        pub compiled: u64,
        pub failed: u64,
        pub compilations: u64,
        pub failed_compilations: u64,
        pub compile_us: u64,
        pub lock_timeouts: u64,
        pub loads: u64,
        pub loaded_bytes: u64,
        pub found_equal: u64,
    }
    pub struct jitk_device_options_t {
        pub emulator_immediate: u32,
        pub emulator_workers: u32,
        pub emulator_seed: u64,
        pub cuda_context: *mut c_void,
    }
    pub struct jitk_kernel_info_t {
        pub description: *const c_char,
        pub target: *const c_char,
        pub key: *const c_char,
        pub tier: jitk_tier_t,
        pub registers: u32,
        pub spill_bytes: u32,
        pub shared_bytes: u32,
        pub num_steps: u32,
        pub code_bytes: u64,
        pub build_ms: f64,
        pub lower_ms: f64,
        pub llvm_ms: f64,
        pub assemble_ms: f64,
        pub obtain_ms: f64,
        pub load_ms: f64,
        pub stands_in: u32,
        pub threads: u32,
    }
    pub struct jitk_launch_t {
        pub tensors: *const u64,
        pub num_tensors: usize,
        pub dimensions: *const i64,
        pub num_dimensions: usize,
        pub scalars: *const f32,
        pub num_scalars: usize,
        pub workspace: u64,
        pub workspace_bytes: u64,
        pub stream: *mut c_void,
        pub device: jitk_device_t,
        pub flags: u64,
        pub typed_scalars: *const jitk_scalar_t,
        pub num_typed_scalars: usize,
    }
    pub struct jitk_dlpack_launch_t {
        pub tensors: *const *const jitk_dltensor_t,
        pub num_tensors: usize,
        pub scalars: *const f32,
        pub num_scalars: usize,
        pub dimensions: *const i64,
        pub num_dimensions: usize,
        pub workspace: u64,
        pub workspace_bytes: u64,
        pub stream: *mut c_void,
        pub flags: u64,
        pub typed_scalars: *const jitk_scalar_t,
        pub num_typed_scalars: usize,
    }
    pub struct jitk_plan_options_t {
        pub on_miss: jitk_miss_t,
        pub max_missed_kernels: u32,
    }
    pub struct jitk_progress_t {
        pub done: usize,
        pub total: usize,
        pub status: jitk_status_t,
        pub error: jitk_error_t,
        pub info: *const jitk_kernel_info_t,
    }
    pub struct jitk_prepare_options_t {
        pub device: jitk_device_t,
        pub target: *const c_char,
        pub progress: jitk_progress_callback_t,
        pub progress_user: *mut c_void,
        pub deadline_ms: u32,
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union jitk_scalar_value_t {
    pub float_value: f64,
    pub int_value: i64,
    pub uint_value: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct jitk_scalar_t {
    pub kind: jitk_scalar_kind_t,
    pub value: jitk_scalar_value_t,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct jitk_dldevice_t {
    pub device_type: i32,
    pub device_id: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct jitk_dldata_type_t {
    pub code: u8,
    pub bits: u8,
    pub lanes: u16,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct jitk_dltensor_t {
    pub data: *mut c_void,
    pub device: jitk_dldevice_t,
    pub ndim: i32,
    pub dtype: jitk_dldata_type_t,
    pub shape: *mut i64,
    pub strides: *mut i64,
    pub byte_offset: u64,
}

extern "C" {
    pub fn jitk_status_name(status: jitk_status_t) -> *const c_char;
    pub fn jitk_error_retain(error: jitk_error_t);
    pub fn jitk_error_release(error: jitk_error_t);
    pub fn jitk_error_code(error: jitk_error_t) -> jitk_status_t;
    pub fn jitk_error_message(error: jitk_error_t) -> *const c_char;
    pub fn jitk_error_stage(error: jitk_error_t) -> *const c_char;
    pub fn jitk_error_tool_output(error: jitk_error_t) -> *const c_char;
    pub fn jitk_error_key(error: jitk_error_t) -> *const c_char;
    pub fn jitk_version() -> *const c_char;
    pub fn jitk_build_id() -> *const c_char;
    pub fn jitk_text_release(text: jitk_text_t);
    pub fn jitk_text_data(text: jitk_text_t) -> *const c_char;
    pub fn jitk_text_size(text: jitk_text_t) -> usize;
    pub fn jitk_op_count() -> usize;
    pub fn jitk_op_name(index: usize) -> *const c_char;
    pub fn jitk_op_info(op: *const c_char, info: *mut jitk_text_t, error: *mut jitk_error_t) -> jitk_status_t;
    pub fn jitk_description_create(
        op: *const c_char,
        names: *const *const c_char,
        values: *const *const c_char,
        count: usize,
        description: *mut jitk_description_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_description_parse(
        text: *const c_char,
        description: *mut jitk_description_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_description_retain(description: jitk_description_t);
    pub fn jitk_description_release(description: jitk_description_t);
    pub fn jitk_description_text(description: jitk_description_t) -> *const c_char;
    pub fn jitk_description_label(description: jitk_description_t) -> *const c_char;
    pub fn jitk_description_op(description: jitk_description_t) -> *const c_char;
    pub fn jitk_runtime_create(
        options: *const jitk_runtime_options_t,
        runtime: *mut jitk_runtime_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_runtime_retain(runtime: jitk_runtime_t);
    pub fn jitk_runtime_release(runtime: jitk_runtime_t);
    pub fn jitk_runtime_report(
        runtime: jitk_runtime_t,
        report: *mut jitk_text_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_runtime_counters(
        runtime: jitk_runtime_t,
        counters: *mut jitk_counters_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_device_open(
        runtime: jitk_runtime_t,
        name: *const c_char,
        options: *const jitk_device_options_t,
        device: *mut jitk_device_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_device_retain(device: jitk_device_t);
    pub fn jitk_device_release(device: jitk_device_t);
    pub fn jitk_device_name(device: jitk_device_t) -> *const c_char;
    pub fn jitk_device_target(device: jitk_device_t) -> *const c_char;
    pub fn jitk_device_allocate(
        device: jitk_device_t,
        bytes: usize,
        address: *mut u64,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_device_free(device: jitk_device_t, address: u64, error: *mut jitk_error_t) -> jitk_status_t;
    pub fn jitk_device_copy_to_device(
        device: jitk_device_t,
        destination: u64,
        source: *const c_void,
        bytes: usize,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_device_copy_to_host(
        device: jitk_device_t,
        destination: *mut c_void,
        source: u64,
        bytes: usize,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_device_fill(
        device: jitk_device_t,
        destination: u64,
        value: u8,
        bytes: usize,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_device_synchronize(device: jitk_device_t, error: *mut jitk_error_t) -> jitk_status_t;
    pub fn jitk_runtime_kernel(
        runtime: jitk_runtime_t,
        device: jitk_device_t,
        description: jitk_description_t,
        kernel: *mut jitk_kernel_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_kernel_retain(kernel: jitk_kernel_t);
    pub fn jitk_kernel_release(kernel: jitk_kernel_t);
    pub fn jitk_kernel_info(
        kernel: jitk_kernel_t,
        info: *mut jitk_kernel_info_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_kernel_num_tensors(kernel: jitk_kernel_t) -> usize;
    pub fn jitk_kernel_tensor_name(kernel: jitk_kernel_t, index: usize) -> *const c_char;
    pub fn jitk_kernel_tensor_alignment(kernel: jitk_kernel_t, index: usize) -> u32;
    pub fn jitk_kernel_num_dimensions(kernel: jitk_kernel_t) -> usize;
    pub fn jitk_kernel_dimension_name(kernel: jitk_kernel_t, index: usize) -> *const c_char;
    pub fn jitk_kernel_num_scalars(kernel: jitk_kernel_t) -> usize;
    pub fn jitk_kernel_scalar_name(kernel: jitk_kernel_t, index: usize) -> *const c_char;
    pub fn jitk_kernel_scalar_type(kernel: jitk_kernel_t, index: usize) -> *const c_char;
    pub fn jitk_kernel_workspace_bytes(
        kernel: jitk_kernel_t,
        dimensions: *const i64,
        num_dimensions: usize,
        bytes: *mut u64,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_kernel_launch(
        kernel: jitk_kernel_t,
        launch: *const jitk_launch_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_kernel_launch_dlpack(
        kernel: jitk_kernel_t,
        launch: *const jitk_dlpack_launch_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_plan_create(runtime: jitk_runtime_t, plan: *mut jitk_plan_t, error: *mut jitk_error_t)
        -> jitk_status_t;
    pub fn jitk_plan_create_with_options(
        runtime: jitk_runtime_t,
        options: *const jitk_plan_options_t,
        plan: *mut jitk_plan_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_plan_retain(plan: jitk_plan_t);
    pub fn jitk_plan_release(plan: jitk_plan_t);
    pub fn jitk_plan_add(
        plan: jitk_plan_t,
        description: jitk_description_t,
        priority: i32,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_plan_add_json(plan: jitk_plan_t, text: *const c_char, error: *mut jitk_error_t) -> jitk_status_t;
    pub fn jitk_plan_to_json(plan: jitk_plan_t, text: *mut jitk_text_t, error: *mut jitk_error_t) -> jitk_status_t;
    pub fn jitk_plan_export(
        plan: jitk_plan_t,
        target: *const c_char,
        path: *const c_char,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_plan_size(plan: jitk_plan_t) -> usize;
    pub fn jitk_plan_prepare(
        plan: jitk_plan_t,
        options: *const jitk_prepare_options_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_plan_wait(plan: jitk_plan_t, timeout_ms: u32, error: *mut jitk_error_t) -> jitk_status_t;
    pub fn jitk_plan_wait_kernel(
        plan: jitk_plan_t,
        description: jitk_description_t,
        timeout_ms: u32,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_plan_trace(plan: jitk_plan_t, trace: *mut jitk_text_t, error: *mut jitk_error_t) -> jitk_status_t;
    pub fn jitk_plan_cancel(plan: jitk_plan_t);
    pub fn jitk_plan_seal(plan: jitk_plan_t, error: *mut jitk_error_t) -> jitk_status_t;
    pub fn jitk_plan_kernel(
        plan: jitk_plan_t,
        device: jitk_device_t,
        description: jitk_description_t,
        kernel: *mut jitk_kernel_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_dispatch_create(
        plan: jitk_plan_t,
        device: jitk_device_t,
        pattern: jitk_description_t,
        dimensions: *const *const c_char,
        count: usize,
        dispatch: *mut jitk_dispatch_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_dispatch_retain(dispatch: jitk_dispatch_t);
    pub fn jitk_dispatch_release(dispatch: jitk_dispatch_t);
    pub fn jitk_dispatch_kernel(
        dispatch: jitk_dispatch_t,
        sizes: *const i64,
        count: usize,
        kernel: *mut jitk_kernel_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_runtime_compile(
        runtime: jitk_runtime_t,
        description: jitk_description_t,
        target: *const c_char,
        artifact: *mut jitk_artifact_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_artifact_retain(artifact: jitk_artifact_t);
    pub fn jitk_artifact_release(artifact: jitk_artifact_t);
    pub fn jitk_artifact_dump(artifact: jitk_artifact_t, dump: jitk_dump_t, size: *mut usize) -> *const c_char;
    pub fn jitk_artifact_info(
        artifact: jitk_artifact_t,
        info: *mut jitk_kernel_info_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_runtime_key(
        runtime: jitk_runtime_t,
        description: jitk_description_t,
        target: *const c_char,
        key: *mut jitk_text_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_store_list(
        runtime: jitk_runtime_t,
        verify: u32,
        list: *mut jitk_text_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_store_explain(
        runtime: jitk_runtime_t,
        description: jitk_description_t,
        target: *const c_char,
        explanation: *mut jitk_text_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_store_explain_key(
        runtime: jitk_runtime_t,
        key: *const c_char,
        explanation: *mut jitk_text_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_store_read(
        runtime: jitk_runtime_t,
        key: *const c_char,
        artifact: *mut jitk_artifact_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_store_export(
        runtime: jitk_runtime_t,
        path: *const c_char,
        count: *mut usize,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_store_import(
        runtime: jitk_runtime_t,
        path: *const c_char,
        count: *mut usize,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_store_collect(runtime: jitk_runtime_t, bytes: u64, error: *mut jitk_error_t) -> jitk_status_t;
    pub fn jitk_runtime_configurations(
        runtime: jitk_runtime_t,
        description: jitk_description_t,
        target: *const c_char,
        configurations: *mut jitk_text_t,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
    pub fn jitk_runtime_store_configuration(
        runtime: jitk_runtime_t,
        device: jitk_device_t,
        description: jitk_description_t,
        configuration: *const c_char,
        error: *mut jitk_error_t,
    ) -> jitk_status_t;
}
