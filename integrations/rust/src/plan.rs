//! The closed set of kernels that an engine needs.

use crate::{
    error::check,
    handle::{c_text, take_text, Handle},
    sys, Description, Device, Dispatch, Error, Kernel, KernelInfo, Runtime,
};
use std::{
    os::raw::c_void,
    panic::{catch_unwind, AssertUnwindSafe},
    sync::{Arc, Mutex},
};

/// What happens when a kernel is asked for that was not prepared, in a plan that is not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// The caller waits until it is found or compiled.
    Compile,
    /// A generic kernel of the op serves, until the kernel itself is made.
    Background,
    /// The call fails with [`crate::Status::NotPrepared`].
    Fail,
}

/// What became of one kernel of a preparation.
#[derive(Debug)]
pub struct Progress {
    /// Kernels finished, this one included.
    pub done: usize,
    /// Kernels of the preparation.
    pub total: usize,
    pub info: KernelInfo,
    pub failure: Option<Error>,
}

type Callback = Box<dyn Fn(&Progress) + Send + Sync>;

/// A set of descriptions, and the kernels made of them.
#[derive(Clone)]
pub struct Plan(Arc<Inner>);

struct Inner {
    // Dropped first: its last reference waits for a preparation, which may call back.
    handle: Handle<sys::jitk_plan_s>,
    // Boxed twice, so that the address that the library has does not change.
    #[allow(clippy::vec_box)]
    callbacks: Mutex<Vec<Box<Callback>>>,
}

impl Plan {
    pub(crate) fn new(runtime: &Runtime, on_miss: Miss) -> Result<Self, Error> {
        let on_miss = match on_miss {
            Miss::Compile => sys::JITK_MISS_COMPILE,
            Miss::Background => sys::JITK_MISS_BACKGROUND,
            Miss::Fail => sys::JITK_MISS_FAIL,
        };
        let options = sys::jitk_plan_options_t { on_miss, ..Default::default() };
        let handle = Handle::make(sys::jitk_plan_retain, sys::jitk_plan_release, |plan, error| unsafe {
            sys::jitk_plan_create_with_options(runtime.raw(), &options, plan, error)
        })?;
        Ok(Plan(Arc::new(Inner { handle, callbacks: Mutex::default() })))
    }

    /// Adds a description. Higher priorities are prepared first; 0 is usual.
    pub fn add(&self, description: &Description, priority: i32) -> Result<(), Error> {
        check(|error| unsafe { sys::jitk_plan_add(self.raw(), description.raw(), priority, error) })
    }

    /// Adds what a plan file holds.
    pub fn add_json(&self, json: &str) -> Result<(), Error> {
        let json = c_text(json)?;
        check(|error| unsafe { sys::jitk_plan_add_json(self.raw(), json.as_ptr(), error) })
    }

    /// The plan file of this plan.
    pub fn to_json(&self) -> Result<String, Error> {
        take_text(|json, error| unsafe { sys::jitk_plan_to_json(self.raw(), json, error) })
    }

    /// Number of distinct descriptions.
    pub fn len(&self) -> usize {
        unsafe { sys::jitk_plan_size(self.raw()) }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Starts to prepare all kernels for a device on the workers, and returns.
    pub fn prepare(&self, device: &Device) -> Result<(), Error> {
        self.start(sys::jitk_prepare_options_t { device: device.raw(), ..Default::default() })
    }

    /// The same; `progress` is called once for each kernel, from worker threads, one call at a time. It must neither
    /// wait for the plan nor own it.
    pub fn prepare_with(
        &self,
        device: &Device,
        progress: impl Fn(&Progress) + Send + Sync + 'static,
    ) -> Result<(), Error> {
        let callback: Box<Callback> = Box::new(Box::new(progress));
        let options = sys::jitk_prepare_options_t {
            device: device.raw(),
            progress: Some(call_back),
            progress_user: &*callback as *const Callback as *mut c_void,
            ..Default::default()
        };
        // Kept before the first call can come, and as long as the plan.
        self.0.callbacks.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(callback);
        self.start(options)
    }

    /// Only fills the store, for a target such as "sm_90a".
    pub fn prepare_store(&self, target: &str) -> Result<(), Error> {
        let target = c_text(target)?;
        self.start(sys::jitk_prepare_options_t { target: target.as_ptr(), ..Default::default() })
    }

    /// Writes a bundle of this plan's kernels for a target, and no others.
    pub fn export(&self, target: &str, path: &str) -> Result<(), Error> {
        let (target, path) = (c_text(target)?, c_text(path)?);
        check(|error| unsafe { sys::jitk_plan_export(self.raw(), target.as_ptr(), path.as_ptr(), error) })
    }

    fn start(&self, options: sys::jitk_prepare_options_t) -> Result<(), Error> {
        check(|error| unsafe { sys::jitk_plan_prepare(self.raw(), &options, error) })
    }

    /// Waits for the end of the preparation; the first failure, if one failed.
    pub fn wait(&self) -> Result<(), Error> {
        self.wait_for(u32::MAX)
    }

    /// Waits for at most so long; then the failure is [`crate::Status::DeadlineExceeded`], and the preparation goes on.
    pub fn wait_for(&self, milliseconds: u32) -> Result<(), Error> {
        check(|error| unsafe { sys::jitk_plan_wait(self.raw(), milliseconds, error) })
    }

    /// The same for one kernel of the preparation.
    pub fn wait_kernel(&self, description: &Description, milliseconds: u32) -> Result<(), Error> {
        check(|error| unsafe { sys::jitk_plan_wait_kernel(self.raw(), description.raw(), milliseconds, error) })
    }

    /// The time line of the last preparation in Chrome's trace event format, as JSON.
    pub fn trace(&self) -> Result<String, Error> {
        take_text(|trace, error| unsafe { sys::jitk_plan_trace(self.raw(), trace, error) })
    }

    /// Kernels that are not begun are not begun.
    pub fn cancel(&self) {
        unsafe { sys::jitk_plan_cancel(self.raw()) }
    }

    /// From here on nothing compiles and nothing loads.
    pub fn seal(&self) -> Result<(), Error> {
        check(|error| unsafe { sys::jitk_plan_seal(self.raw(), error) })
    }

    /// The kernel of a description on a device; in a sealed plan a look-up.
    pub fn kernel(&self, device: &Device, description: &Description) -> Result<Kernel, Error> {
        Kernel::make(|kernel, error| unsafe {
            sys::jitk_plan_kernel(self.raw(), device.raw(), description.raw(), kernel, error)
        })
    }

    /// A table of this plan's kernels, which is sealed, whose description equals `pattern` in all but these dimensions.
    pub fn dispatch(&self, device: &Device, pattern: &Description, dimensions: &[&str]) -> Result<Dispatch, Error> {
        Dispatch::new(self, device, pattern, dimensions)
    }

    pub(crate) fn raw(&self) -> sys::jitk_plan_t {
        self.0.handle.raw()
    }
}

unsafe extern "C" fn call_back(user: *mut c_void, raw: *const sys::jitk_progress_t) {
    let callback = &*(user as *const Callback);
    let raw = &*raw;
    let failed = raw.status != sys::JITK_STATUS_OK;
    let progress = Progress {
        done: raw.done,
        total: raw.total,
        info: KernelInfo::copy(&*raw.info),
        failure: failed.then(|| Error::borrowed(raw.status, raw.error)),
    };
    // A panic must not run into the library; its message was printed.
    let _ = catch_unwind(AssertUnwindSafe(|| callback(&progress)));
}
