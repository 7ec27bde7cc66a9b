//! The Python module `sealift_lab._lab`: everything the library has, with every device, and what measures and simulates.
//!
//! It shares no class with `sealift._sealift`: an engine of one doesn't take a session of the other. Both raise the
//! exceptions of `sealift.errors`.

use pyo3::prelude::*;

#[pymodule]
fn _lab(module: &Bound<'_, PyModule>) -> PyResult<()> {
    sealift_bindings::add_library(module)?;
    sealift_bindings::add_lab(module)?;
    sealift_bindings::own_classes(module)
}
