//! Building blocks that protect nothing by themselves.

use crate::bytes::Lent;
use crate::gil;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealift::{Key, hazmat, wipe_after};

/// Encrypts or decrypts with AES in counter mode (SP 800-38A, section 6.5).
///
/// It authenticates nothing: whoever can change a ciphertext can flip any bit of the plaintext, and
/// nobody notices. Use `sealift.AESGCM` unless a protocol asks for counter mode.
///
/// Args:
///     key: 16, 24 or 32 bytes.
///     counter: The first counter block, 16 bytes: a big-endian number. Each 16 bytes of data take
///         the next one, and behind the last comes 0. Never let counters of two texts meet under
///         the same key.
///     data: A plaintext or a ciphertext of any length.
///
/// Returns:
///     The other one, as long as `data`.
///
/// Raises:
///     TypeError: If an argument is not bytes-like.
///     BufferError: If a buffer is not contiguous.
///     ValueError: If `key` or `counter` has another length.
#[pyfunction]
pub(crate) fn aes_ctr<'py>(
    py: Python<'py>,
    key: &Bound<'py, PyAny>,
    counter: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (key, counter) = (Lent::read(key, "key")?, Lent::read(counter, "counter")?);
    let data = Lent::read(data, "data")?;
    let counter = block(counter.as_slice())?;
    let data = data.as_slice();
    wipe_after(|| {
        let key = Key::new(key.as_slice()).map_err(wrong)?;
        PyBytes::new_with(py, data.len(), |out| {
            gil::leave_for(py, data.len(), || hazmat::aes_ctr(&key, counter, data, out))
                .map_err(wrong)
        })
    })
}

fn block(bytes: &[u8]) -> PyResult<[u8; 16]> {
    bytes.try_into().map_err(|_| {
        wrong(format!("counter has {} bytes: it must have 16, one AES block", bytes.len()))
    })
}

fn wrong(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}
