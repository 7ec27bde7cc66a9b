//! The classes and functions of the Python extensions.
//!
//! `sealift._sealift` has those of [`add_library`], `sealift_lab._lab` those of [`add_lab`], too. Each extension links its own
//! copy of this crate, so that no object of one is of a class of the other.
//!
//! Nothing is computed here: arguments become columns, `gil` is the one place that leaves the GIL, `errors` the one place
//! that turns an error into an exception, `ffi` the one that takes memory from Python objects.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod aead;
#[cfg(feature = "arrow")]
mod arrow;
mod batch;
mod bytes;
mod check;
mod column;
mod engine;
mod errors;
mod ffi;
mod forms;
mod gil;
mod hazmat;
mod info;
mod integers;
mod keys;
#[cfg(feature = "lab")]
mod lab;
mod one;
mod overlap;
mod place;
mod records;
mod room;
mod schedule;
mod session;
mod submit;

#[cfg(feature = "lab")]
pub use lab::add_lab;

use pyo3::prelude::*;
use pyo3::types::PyType;
use pyo3::wrap_pyfunction;

/// Adds the engine: all that `sealift` exports.
///
/// # Errors
/// Python has no memory.
pub fn add_library(module: &Bound<'_, PyModule>) -> PyResult<()> {
    #[cfg(feature = "arrow")]
    arrow::add(module)?;
    module.add_class::<aead::AesGcm>()?;
    module.add_class::<aead::AesGcmSiv>()?;
    module.add_class::<aead::Xaes256Gcm>()?;
    module.add_class::<batch::BatchResult>()?;
    module.add_class::<check::CheckResult>()?;
    module.add_class::<check::DeviceCheck>()?;
    module.add_class::<engine::Engine>()?;
    module.add_class::<ffi::Column>()?;
    module.add_class::<forms::Fixed>()?;
    module.add_class::<forms::Offsets>()?;
    module.add_class::<info::DeviceInfo>()?;
    module.add_class::<info::DriverInfo>()?;
    module.add_class::<records::Counters>()?;
    module.add_class::<records::Record>()?;
    module.add_class::<schedule::Calibrated>()?;
    module.add_class::<schedule::Calibration>()?;
    module.add_class::<schedule::Cost>()?;
    module.add_class::<schedule::Explanation>()?;
    module.add_class::<schedule::PolicyInfo>()?;
    module.add_class::<schedule::Quote>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<submit::Finished>()?;
    module.add_class::<submit::InFlight>()?;
    module.add_class::<submit::Submission>()?;
    module.add_function(wrap_pyfunction!(hazmat::aes_ctr, module)?)?;
    module.add_function(wrap_pyfunction!(info::drivers, module)?)?;
    module.add_function(wrap_pyfunction!(schedule::policies, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}

/// Makes the module the `__module__` of all classes in it, instead of the library's.
///
/// # Errors
/// Python has no memory.
pub fn own_classes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let name = module.name()?;
    for value in module.dict().values() {
        if let Ok(class) = value.cast::<PyType>() {
            class.setattr("__module__", &name)?;
        }
    }
    Ok(())
}
