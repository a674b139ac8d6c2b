//! Failures.

use crate::sys;
use std::{ffi::CStr, fmt, os::raw::c_char, ptr};

/// Whose fault a failure is; `jitk_status_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    InvalidArgument,
    Unsupported,
    Unavailable,
    OutOfMemory,
    DeviceLost,
    NotPrepared,
    Cancelled,
    DeadlineExceeded,
    DataLoss,
    Forked,
    Internal,
    /// One that a newer library has.
    Other(i32),
}

impl Status {
    /// The status that a number of the C API stands for. Not for 0, which is success.
    pub fn from_raw(status: sys::jitk_status_t) -> Self {
        match status {
            1 => Status::InvalidArgument,
            2 => Status::Unsupported,
            3 => Status::Unavailable,
            4 => Status::OutOfMemory,
            5 => Status::DeviceLost,
            6 => Status::NotPrepared,
            7 => Status::Cancelled,
            8 => Status::DeadlineExceeded,
            9 => Status::DataLoss,
            10 => Status::Forked,
            11 => Status::Internal,
            other => Status::Other(other),
        }
    }
}

/// What the library says of a call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub status: Status,
    pub message: String,
    /// "schema", "store", "build", "load", "launch", ... or nothing.
    pub stage: String,
    /// What an external tool printed.
    pub tool_output: String,
    /// The key of the kernel concerned.
    pub key: String,
}

impl Error {
    /// A failure on this side of the C API.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        let nothing = String::new;
        Error {
            status: Status::InvalidArgument,
            message: message.into(),
            stage: nothing(),
            tool_output: nothing(),
            key: nothing(),
        }
    }

    /// The details of `error`, which stays the caller's.
    ///
    /// # Safety
    /// `error` is null or a reference that is alive.
    pub(crate) unsafe fn borrowed(status: sys::jitk_status_t, error: sys::jitk_error_t) -> Self {
        Error {
            status: Status::from_raw(status),
            message: text(sys::jitk_error_message(error)),
            stage: text(sys::jitk_error_stage(error)),
            tool_output: text(sys::jitk_error_tool_output(error)),
            key: text(sys::jitk_error_key(error)),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.status, self.message)
    }
}

impl std::error::Error for Error {}

/// A copy of a text of the library's; empty for null.
///
/// # Safety
/// `data` is null or ends with a zero.
pub(crate) unsafe fn text(data: *const c_char) -> String {
    if data.is_null() {
        return String::new();
    }
    CStr::from_ptr(data).to_string_lossy().into_owned()
}

/// Makes a call that gives its details through the pointer that `body` is handed.
pub(crate) fn check(body: impl FnOnce(*mut sys::jitk_error_t) -> sys::jitk_status_t) -> Result<(), Error> {
    let mut error = ptr::null_mut();
    let status = body(&mut error);
    if status == sys::JITK_STATUS_OK {
        return Ok(());
    }
    // The library gave one reference, or null.
    unsafe {
        let details = Error::borrowed(status, error);
        sys::jitk_error_release(error);
        Err(details)
    }
}
