//! Kernels for language models, compiled at run time: libjitk for Rust, through its C API (`include/jitk/jitk.h`).
//!
//! Each type is a counted reference: a clone shares, and references may be dropped in any order. All are safe to share
//! between threads. A failed call is an [`Error`] with what the library says of it. What a function does in detail stands
//! in `jitk.h` under the name that it has in [`sys`].
//!
//! ```no_run
//! # fn main() -> Result<(), jitk::Error> {
//! let runtime = jitk::Runtime::new(&jitk::RuntimeOptions::default())?;
//! let device = runtime.device("cuda:0")?;
//! let plan = runtime.plan(jitk::Miss::Fail)?;
//! let matmul = jitk::Description::parse("matmul m=*<=4096 n=4096 k=7168 dtype=bf16")?;
//! plan.add(&matmul, 0)?;
//! plan.prepare(&device)?;
//! plan.wait()?;
//! plan.seal()?;
//! let kernel = plan.kernel(&device, &matmul)?;
//! # Ok(()) }
//! ```

pub mod sys;

mod error;
mod handle;
mod kernel;
mod plan;
mod runtime;

pub use error::{Error, Status};
pub use kernel::{Buffer, Dispatch, Kernel, KernelInfo, Launch, Scalar};
pub use plan::{Miss, Plan, Progress};
pub use runtime::{build_id, op_info, ops, version, Artifact, Description, Device, Runtime, RuntimeOptions};
