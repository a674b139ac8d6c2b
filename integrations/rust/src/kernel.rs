//! What serves: kernels, tables of them, and the memory that they are given.

use crate::{
    error::{check, text},
    handle::Handle,
    sys, Description, Device, Error, Plan,
};
use std::{
    os::raw::{c_char, c_void},
    ptr,
};

/// Device memory that frees itself, and must not outlive the work that it is given to.
pub struct Buffer {
    device: Device,
    address: u64,
    bytes: usize,
}

impl Buffer {
    pub(crate) fn new(device: &Device, bytes: usize) -> Result<Self, Error> {
        let mut address = 0;
        check(|error| unsafe { sys::jitk_device_allocate(device.raw(), bytes, &mut address, error) })?;
        Ok(Buffer { device: device.clone(), address, bytes })
    }

    pub fn address(&self) -> u64 {
        self.address
    }

    pub fn len(&self) -> usize {
        self.bytes
    }

    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Fills the buffer from its beginning, and waits until the bytes are there. More bytes than it has are refused.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        self.check_room(bytes.len())?;
        self.device.copy_in(self.address, bytes)
    }

    /// Reads from the buffer's beginning. Waits for no kernel: synchronize first.
    pub fn read(&self, bytes: &mut [u8]) -> Result<(), Error> {
        self.check_room(bytes.len())?;
        self.device.copy_out(bytes, self.address)
    }

    fn check_room(&self, bytes: usize) -> Result<(), Error> {
        if bytes <= self.bytes {
            return Ok(());
        }
        Err(Error::invalid(format!("a buffer of {} bytes must be large enough: got {bytes} bytes", self.bytes)))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        unsafe {
            sys::jitk_device_free(self.device.raw(), self.address, ptr::null_mut());
        }
    }
}

/// A number that a kernel takes by value. The kernel's type decides how it is passed; what does not fit is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    Float(f64),
    Int(i64),
    Uint(u64),
}

macro_rules! scalar_from {
    ($($number:ty => $variant:ident,)+) => {$(
        impl From<$number> for Scalar {
            fn from(number: $number) -> Self {
                Scalar::$variant(number.into())
            }
        }
    )+};
}

scalar_from! {
    f32 => Float, f64 => Float, i32 => Int, i64 => Int, u32 => Uint, u64 => Uint,
}

impl From<Scalar> for sys::jitk_scalar_t {
    fn from(scalar: Scalar) -> Self {
        use sys::jitk_scalar_value_t as Value;
        let (kind, value) = match scalar {
            Scalar::Float(number) => (sys::JITK_SCALAR_FLOAT, Value { float_value: number }),
            Scalar::Int(number) => (sys::JITK_SCALAR_INT, Value { int_value: number }),
            Scalar::Uint(number) => (sys::JITK_SCALAR_UINT, Value { uint_value: number }),
        };
        sys::jitk_scalar_t { kind, value }
    }
}

/// What one launch gives.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Device addresses, in the order of [`Kernel::tensors`].
    pub tensors: &'a [u64],
    /// Sizes, in the order of [`Kernel::dimensions`].
    pub dimensions: &'a [i64],
    /// Numbers, in the order of [`Kernel::scalars`].
    pub scalars: &'a [Scalar],
    /// Address and bytes of the workspace; zeros if the kernel needs none.
    pub workspace: (u64, u64),
    /// Whether the kernel may be started while what precedes it in the stream ends; results are the same.
    pub programmatic: bool,
    /// A `CUstream`; null: the legacy default stream. An emulator ignores it.
    pub stream: *mut c_void,
}

impl Default for Launch<'_> {
    fn default() -> Self {
        Launch {
            tensors: &[],
            dimensions: &[],
            scalars: &[],
            workspace: (0, 0),
            programmatic: false,
            stream: ptr::null_mut(),
        }
    }
}

/// Most scalars that a kernel takes: as many as it has parameters.
const MOST_SCALARS: usize = 64;

/// A kernel loaded on one device. Immutable.
#[derive(Clone)]
pub struct Kernel(Handle<sys::jitk_kernel_s>);

/// Facts of one kernel, of those that `jitk_kernel_info_t` has.
#[derive(Clone, Debug)]
pub struct KernelInfo {
    pub description: String,
    pub target: String,
    pub key: String,
    pub registers: u32,
    pub spill_bytes: u32,
    pub shared_bytes: u32,
    pub code_bytes: u64,
}

impl Kernel {
    pub(crate) fn make(
        body: impl FnOnce(*mut sys::jitk_kernel_t, *mut sys::jitk_error_t) -> sys::jitk_status_t,
    ) -> Result<Self, Error> {
        Handle::make(sys::jitk_kernel_retain, sys::jitk_kernel_release, body).map(Kernel)
    }

    pub fn tensors(&self) -> Vec<String> {
        self.names(sys::jitk_kernel_num_tensors, sys::jitk_kernel_tensor_name)
    }

    pub fn dimensions(&self) -> Vec<String> {
        self.names(sys::jitk_kernel_num_dimensions, sys::jitk_kernel_dimension_name)
    }

    pub fn scalars(&self) -> Vec<String> {
        self.names(sys::jitk_kernel_num_scalars, sys::jitk_kernel_scalar_name)
    }

    /// "fp32", "int64", ... of each scalar.
    pub fn scalar_types(&self) -> Vec<String> {
        self.names(sys::jitk_kernel_num_scalars, sys::jitk_kernel_scalar_type)
    }

    pub fn info(&self) -> Result<KernelInfo, Error> {
        let mut raw = sys::jitk_kernel_info_t::default();
        check(|error| unsafe { sys::jitk_kernel_info(self.raw(), &mut raw, error) })?;
        unsafe { Ok(KernelInfo::copy(&raw)) }
    }

    /// Bytes of workspace that a launch with these dimensions needs, at a multiple of 256.
    pub fn workspace_bytes(&self, dimensions: &[i64]) -> Result<u64, Error> {
        let mut bytes = 0;
        check(|error| unsafe {
            sys::jitk_kernel_workspace_bytes(self.raw(), dimensions.as_ptr(), dimensions.len(), &mut bytes, error)
        })?;
        Ok(bytes)
    }

    /// Enqueues the kernel: takes no lock, allocates nothing, does not synchronize.
    ///
    /// # Safety
    /// Each address is that of memory of the kernel's device that holds the tensor of its description, aligned as the
    /// library checks it; it stays until the work is done, and no other work changes it meanwhile. The stream is one of
    /// the device's context.
    pub unsafe fn launch(&self, launch: &Launch<'_>) -> Result<(), Error> {
        let count = launch.scalars.len();
        if count > MOST_SCALARS {
            return Err(Error::invalid(format!("number of scalars must be at most {MOST_SCALARS}: got {count}")));
        }
        let mut scalars = [sys::jitk_scalar_t::from(Scalar::Float(0.0)); MOST_SCALARS];
        for (raw, scalar) in scalars.iter_mut().zip(launch.scalars) {
            *raw = (*scalar).into();
        }
        let raw = sys::jitk_launch_t {
            tensors: launch.tensors.as_ptr(),
            num_tensors: launch.tensors.len(),
            dimensions: launch.dimensions.as_ptr(),
            num_dimensions: launch.dimensions.len(),
            typed_scalars: scalars.as_ptr(),
            num_typed_scalars: count,
            workspace: launch.workspace.0,
            workspace_bytes: launch.workspace.1,
            flags: if launch.programmatic { sys::JITK_LAUNCH_PROGRAMMATIC } else { 0 },
            stream: launch.stream,
            ..Default::default()
        };
        check(|error| sys::jitk_kernel_launch(self.raw(), &raw, error))
    }

    fn names(
        &self,
        count: unsafe extern "C" fn(sys::jitk_kernel_t) -> usize,
        name: unsafe extern "C" fn(sys::jitk_kernel_t, usize) -> *const c_char,
    ) -> Vec<String> {
        unsafe { (0..count(self.raw())).map(|index| text(name(self.raw(), index))).collect() }
    }

    pub(crate) fn raw(&self) -> sys::jitk_kernel_t {
        self.0.raw()
    }
}

impl KernelInfo {
    /// # Safety
    /// The texts of `raw` are alive.
    pub(crate) unsafe fn copy(raw: &sys::jitk_kernel_info_t) -> Self {
        KernelInfo {
            description: text(raw.description),
            target: text(raw.target),
            key: text(raw.key),
            registers: raw.registers,
            spill_bytes: raw.spill_bytes,
            shared_bytes: raw.shared_bytes,
            code_bytes: raw.code_bytes,
        }
    }
}

/// A table of a sealed plan's kernels that differ in some dimensions only.
#[derive(Clone)]
pub struct Dispatch(Handle<sys::jitk_dispatch_s>);

impl Dispatch {
    pub(crate) fn new(plan: &Plan, device: &Device, pattern: &Description, dimensions: &[&str]) -> Result<Self, Error> {
        let names = crate::runtime::c_texts(dimensions.iter().copied())?;
        let names = crate::runtime::pointers(&names);
        Handle::make(sys::jitk_dispatch_retain, sys::jitk_dispatch_release, |dispatch, error| unsafe {
            sys::jitk_dispatch_create(
                plan.raw(),
                device.raw(),
                pattern.raw(),
                names.as_ptr(),
                names.len(),
                dispatch,
                error,
            )
        })
        .map(Dispatch)
    }

    /// The kernel for these sizes, in the order of the dimensions' names.
    pub fn kernel(&self, sizes: &[i64]) -> Result<Kernel, Error> {
        let mut raw = ptr::null_mut();
        check(|error| unsafe {
            sys::jitk_dispatch_kernel(self.0.raw(), sizes.as_ptr(), sizes.len(), &mut raw, error)
        })?;
        // The table owns it.
        unsafe { Ok(Kernel(Handle::share(raw, sys::jitk_kernel_retain, sys::jitk_kernel_release))) }
    }
}
