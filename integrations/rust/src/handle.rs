//! Ownership of the library's handles.

use crate::{
    error::{check, text},
    sys, Error,
};
use std::{ffi::CString, ptr};

/// One reference to a counted object of the library's, never null.
pub(crate) struct Handle<T> {
    raw: *mut T,
    retain: unsafe extern "C" fn(*mut T),
    release: unsafe extern "C" fn(*mut T),
}

// jitk.h: every function may be called from any thread at any time, on the same objects too.
unsafe impl<T> Send for Handle<T> {}
unsafe impl<T> Sync for Handle<T> {}

impl<T> Handle<T> {
    /// Takes the reference that a successful call left in the place that `body` is handed.
    pub(crate) fn make(
        retain: unsafe extern "C" fn(*mut T),
        release: unsafe extern "C" fn(*mut T),
        body: impl FnOnce(*mut *mut T, *mut sys::jitk_error_t) -> sys::jitk_status_t,
    ) -> Result<Self, Error> {
        let mut raw = ptr::null_mut();
        check(|error| body(&mut raw, error))?;
        Ok(Handle { raw, retain, release })
    }

    /// Adds a reference to an object that someone else owns.
    ///
    /// # Safety
    /// `raw` is alive.
    pub(crate) unsafe fn share(
        raw: *mut T,
        retain: unsafe extern "C" fn(*mut T),
        release: unsafe extern "C" fn(*mut T),
    ) -> Self {
        retain(raw);
        Handle { raw, retain, release }
    }

    pub(crate) fn raw(&self) -> *mut T {
        self.raw
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        unsafe { Handle::share(self.raw, self.retain, self.release) }
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        unsafe { (self.release)(self.raw) }
    }
}

/// A text that a call makes for the caller.
pub(crate) fn take_text(
    body: impl FnOnce(*mut sys::jitk_text_t, *mut sys::jitk_error_t) -> sys::jitk_status_t,
) -> Result<String, Error> {
    let mut raw = ptr::null_mut();
    check(|error| body(&mut raw, error))?;
    unsafe {
        let copy = text(sys::jitk_text_data(raw));
        sys::jitk_text_release(raw);
        Ok(copy)
    }
}

/// The text as C has it. A zero in it, which C cannot have, is refused.
pub(crate) fn c_text(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::invalid(format!("text must have no zero in it: got {text:?}")))
}
