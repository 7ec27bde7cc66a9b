//! The Python module `sealift._sealift`: the library.

use pyo3::prelude::*;

#[pymodule]
fn _sealift(module: &Bound<'_, PyModule>) -> PyResult<()> {
    sealift_bindings::add_library(module)
}
