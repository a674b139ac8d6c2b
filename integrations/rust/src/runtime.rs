//! What is made once: the runtime, its devices, descriptions of kernels.

use crate::{
    error::{check, text},
    handle::{c_text, take_text, Handle},
    sys, Buffer, Error, Kernel, KernelInfo, Miss, Plan,
};
use std::{
    ffi::CString,
    os::raw::{c_char, c_void},
    ptr,
};

/// "0.1.0".
pub fn version() -> String {
    unsafe { text(sys::jitk_version()) }
}

/// Names the build of the library.
pub fn build_id() -> String {
    unsafe { text(sys::jitk_build_id()) }
}

/// Names of the ops that the library knows.
pub fn ops() -> Vec<String> {
    unsafe { (0..sys::jitk_op_count()).map(|index| text(sys::jitk_op_name(index))).collect() }
}

/// The schema of an op, as JSON.
pub fn op_info(op: &str) -> Result<String, Error> {
    let op = c_text(op)?;
    take_text(|info, error| unsafe { sys::jitk_op_info(op.as_ptr(), info, error) })
}

/// An op and its attributes, valid and complete.
#[derive(Clone)]
pub struct Description(Handle<sys::jitk_description_s>);

impl Description {
    /// From one line: "matmul m=* n=4096 k=7168 dtype=bf16".
    pub fn parse(line: &str) -> Result<Self, Error> {
        let line = c_text(line)?;
        Self::make(|description, error| unsafe { sys::jitk_description_parse(line.as_ptr(), description, error) })
    }

    /// From attributes in text form; of a kernel of one's own, the op is "user_kernel".
    pub fn new(op: &str, attributes: &[(&str, &str)]) -> Result<Self, Error> {
        let op = c_text(op)?;
        let names = c_texts(attributes.iter().map(|(name, _)| *name))?;
        let values = c_texts(attributes.iter().map(|(_, value)| *value))?;
        let (names, values) = (pointers(&names), pointers(&values));
        Self::make(|description, error| unsafe {
            sys::jitk_description_create(op.as_ptr(), names.as_ptr(), values.as_ptr(), names.len(), description, error)
        })
    }

    fn make(
        body: impl FnOnce(*mut sys::jitk_description_t, *mut sys::jitk_error_t) -> sys::jitk_status_t,
    ) -> Result<Self, Error> {
        Handle::make(sys::jitk_description_retain, sys::jitk_description_release, body).map(Description)
    }

    /// The canonical line: equal descriptions have equal text.
    pub fn text(&self) -> String {
        unsafe { text(sys::jitk_description_text(self.raw())) }
    }

    pub fn op(&self) -> String {
        unsafe { text(sys::jitk_description_op(self.raw())) }
    }

    pub(crate) fn raw(&self) -> sys::jitk_description_t {
        self.0.raw()
    }
}

pub(crate) fn c_texts<'a>(texts: impl Iterator<Item = &'a str>) -> Result<Vec<CString>, Error> {
    texts.map(c_text).collect()
}

pub(crate) fn pointers(texts: &[CString]) -> Vec<*const c_char> {
    texts.iter().map(|text| text.as_ptr()).collect()
}

/// The options of `jitk_runtime_options_t` that most engines set; `None` and 0 are the library's defaults.
#[derive(Clone, Debug, Default)]
pub struct RuntimeOptions {
    /// Folder of the disk store; "" for none.
    pub store: Option<String>,
    pub store_bytes: u64,
    pub jobs: u32,
    pub compiler_library: Option<String>,
    pub assembler: Option<String>,
    /// Paths of bundles, looked into in this order and before the store.
    pub bundles: Vec<String>,
    /// Whether the compiler runs in processes of its own.
    pub isolate_compiler: bool,
    pub compile_deadline_ms: u32,
    pub shared_store: Option<String>,
    pub reproducers: Option<String>,
}

/// Worker threads, the store and the compiler.
#[derive(Clone)]
pub struct Runtime(Handle<sys::jitk_runtime_s>);

impl Runtime {
    /// Touches no device and opens no compiler.
    pub fn new(options: &RuntimeOptions) -> Result<Self, Error> {
        let texts = [
            &options.store,
            &options.compiler_library,
            &options.assembler,
            &options.shared_store,
            &options.reproducers,
        ];
        let texts = texts.iter().map(|text| text.as_deref().map(c_text).transpose()).collect::<Result<Vec<_>, _>>()?;
        let pointer = |index: usize| texts[index].as_ref().map_or(ptr::null(), |text| text.as_ptr());
        let bundles = c_texts(options.bundles.iter().map(String::as_str))?;
        let bundles = pointers(&bundles);
        let raw = sys::jitk_runtime_options_t {
            store_path: pointer(0),
            compiler_library: pointer(1),
            assembler: pointer(2),
            shared_store: pointer(3),
            reproducers: pointer(4),
            store_bytes: options.store_bytes,
            jobs: options.jobs,
            bundles: if bundles.is_empty() { ptr::null() } else { bundles.as_ptr() },
            num_bundles: bundles.len(),
            isolate_compiler: options.isolate_compiler.into(),
            compile_deadline_ms: options.compile_deadline_ms,
            ..Default::default()
        };
        Handle::make(sys::jitk_runtime_retain, sys::jitk_runtime_release, |runtime, error| unsafe {
            sys::jitk_runtime_create(&raw, runtime, error)
        })
        .map(Runtime)
    }

    /// Opens "cuda:0" or "emulator:sm_90a".
    pub fn device(&self, name: &str) -> Result<Device, Error> {
        let name = c_text(name)?;
        Handle::make(sys::jitk_device_retain, sys::jitk_device_release, |device, error| unsafe {
            sys::jitk_device_open(self.raw(), name.as_ptr(), ptr::null(), device, error)
        })
        .map(Device)
    }

    /// An empty plan.
    pub fn plan(&self, on_miss: Miss) -> Result<Plan, Error> {
        Plan::new(self, on_miss)
    }

    /// Gets one kernel now: found, or compiled on this thread. An engine makes a plan.
    pub fn kernel(&self, device: &Device, description: &Description) -> Result<Kernel, Error> {
        Kernel::make(|kernel, error| unsafe {
            sys::jitk_runtime_kernel(self.raw(), device.raw(), description.raw(), kernel, error)
        })
    }

    /// What this runtime found, as JSON.
    pub fn report(&self) -> Result<String, Error> {
        take_text(|report, error| unsafe { sys::jitk_runtime_report(self.raw(), report, error) })
    }

    /// What this runtime did since it was created.
    pub fn counters(&self) -> Result<sys::jitk_counters_t, Error> {
        let mut counters = sys::jitk_counters_t::default();
        check(|error| unsafe { sys::jitk_runtime_counters(self.raw(), &mut counters, error) })?;
        Ok(counters)
    }

    /// The key of a description for a target and what it is made of, as JSON.
    pub fn key(&self, description: &Description, target: &str) -> Result<String, Error> {
        let target = c_text(target)?;
        take_text(|key, error| unsafe {
            sys::jitk_runtime_key(self.raw(), description.raw(), target.as_ptr(), key, error)
        })
    }

    /// The ways in which a kernel can be built, as JSON, the one first that the cost model takes.
    pub fn configurations(&self, description: &Description, target: &str) -> Result<String, Error> {
        let target = c_text(target)?;
        take_text(|all, error| unsafe {
            sys::jitk_runtime_configurations(self.raw(), description.raw(), target.as_ptr(), all, error)
        })
    }

    /// Stores which configuration is the fastest on devices like this one.
    pub fn store_configuration(&self, device: &Device, description: &Description, name: &str) -> Result<(), Error> {
        let name = c_text(name)?;
        check(|error| unsafe {
            sys::jitk_runtime_store_configuration(self.raw(), device.raw(), description.raw(), name.as_ptr(), error)
        })
    }

    /// Compiles on this thread, without the store, and keeps what lies between description and code.
    pub fn compile(&self, description: &Description, target: &str) -> Result<Artifact, Error> {
        let target = c_text(target)?;
        Handle::make(sys::jitk_artifact_retain, sys::jitk_artifact_release, |artifact, error| unsafe {
            sys::jitk_runtime_compile(self.raw(), description.raw(), target.as_ptr(), artifact, error)
        })
        .map(Artifact)
    }

    /// The disk store's entries, as JSON. With `verify` checksums are read, and damaged entries moved to the quarantine.
    pub fn list_store(&self, verify: bool) -> Result<String, Error> {
        take_text(|list, error| unsafe { sys::jitk_store_list(self.raw(), verify.into(), list, error) })
    }

    /// Why a description would be compiled, or would not, as JSON.
    pub fn explain(&self, description: &Description, target: &str) -> Result<String, Error> {
        let target = c_text(target)?;
        take_text(|why, error| unsafe {
            sys::jitk_store_explain(self.raw(), description.raw(), target.as_ptr(), why, error)
        })
    }

    /// What a stored entry's key is made of, and the entry that is nearest to it, as JSON.
    pub fn explain_key(&self, key: &str) -> Result<String, Error> {
        let key = c_text(key)?;
        take_text(|why, error| unsafe { sys::jitk_store_explain_key(self.raw(), key.as_ptr(), why, error) })
    }

    /// What a stored entry holds: its code, recipe and facts; nothing is compiled.
    pub fn read_entry(&self, key: &str) -> Result<Artifact, Error> {
        let key = c_text(key)?;
        Handle::make(sys::jitk_artifact_retain, sys::jitk_artifact_release, |artifact, error| unsafe {
            sys::jitk_store_read(self.raw(), key.as_ptr(), artifact, error)
        })
        .map(Artifact)
    }

    /// Writes a bundle of all good entries of the disk store; how many they are.
    pub fn export_store(&self, path: &str) -> Result<usize, Error> {
        let (path, mut count) = (c_text(path)?, 0);
        check(|error| unsafe { sys::jitk_store_export(self.raw(), path.as_ptr(), &mut count, error) })?;
        Ok(count)
    }

    /// Puts the good entries of a bundle into the disk store; how many they are.
    pub fn import_bundle(&self, path: &str) -> Result<usize, Error> {
        let (path, mut count) = (c_text(path)?, 0);
        check(|error| unsafe { sys::jitk_store_import(self.raw(), path.as_ptr(), &mut count, error) })?;
        Ok(count)
    }

    /// Removes least recently used entries until the disk store holds at most so many bytes.
    pub fn collect_store(&self, bytes: u64) -> Result<(), Error> {
        check(|error| unsafe { sys::jitk_store_collect(self.raw(), bytes, error) })
    }

    pub(crate) fn raw(&self) -> sys::jitk_runtime_t {
        self.0.raw()
    }
}

/// One compilation with its intermediate texts.
#[derive(Clone)]
pub struct Artifact(Handle<sys::jitk_artifact_s>);

impl Artifact {
    /// The bytes of a dump, one of [`sys`]'s `JITK_DUMP_...`; none if there is none.
    pub fn dump(&self, dump: sys::jitk_dump_t) -> Option<&[u8]> {
        let mut size = 0;
        unsafe {
            let bytes = sys::jitk_artifact_dump(self.0.raw(), dump, &mut size) as *const u8;
            (!bytes.is_null()).then(|| std::slice::from_raw_parts(bytes, size))
        }
    }

    pub fn info(&self) -> Result<KernelInfo, Error> {
        let mut info = sys::jitk_kernel_info_t::default();
        check(|error| unsafe { sys::jitk_artifact_info(self.0.raw(), &mut info, error) })?;
        Ok(unsafe { KernelInfo::copy(&info) })
    }
}

/// A device, and the context that its work happens in.
#[derive(Clone)]
pub struct Device(Handle<sys::jitk_device_s>);

impl Device {
    /// "NVIDIA H200", "emulator".
    pub fn name(&self) -> String {
        unsafe { text(sys::jitk_device_name(self.raw())) }
    }

    /// What code for it is compiled for: "sm_90a", "emulator:sm_90a".
    pub fn target(&self) -> String {
        unsafe { text(sys::jitk_device_target(self.raw())) }
    }

    /// Device memory, for programs that have no allocator of their own.
    pub fn allocate(&self, bytes: usize) -> Result<Buffer, Error> {
        Buffer::new(self, bytes)
    }

    /// Waits for all work. Reports the faults of kernels launched before, and what an emulator found wrong.
    pub fn synchronize(&self) -> Result<(), Error> {
        check(|error| unsafe { sys::jitk_device_synchronize(self.raw(), error) })
    }

    pub(crate) fn copy_in(&self, destination: u64, source: &[u8]) -> Result<(), Error> {
        check(|error| unsafe {
            sys::jitk_device_copy_to_device(
                self.raw(),
                destination,
                source.as_ptr() as *const c_void,
                source.len(),
                error,
            )
        })
    }

    pub(crate) fn copy_out(&self, destination: &mut [u8], source: u64) -> Result<(), Error> {
        check(|error| unsafe {
            sys::jitk_device_copy_to_host(
                self.raw(),
                destination.as_mut_ptr() as *mut c_void,
                source,
                destination.len(),
                error,
            )
        })
    }

    pub(crate) fn raw(&self) -> sys::jitk_device_t {
        self.0.raw()
    }
}
