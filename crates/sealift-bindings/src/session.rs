//! An installed key, from Python.

use crate::errors::{Failure, Outcome, not_pickled};
use crate::ffi::Column;
use crate::forms::whole_at_least;
use crate::room;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use sealift::{Algorithm, NONCE_BYTES, SEALS_MAX, SessionId};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An installed key. Made by `Engine.session(key)`.
///
/// The key lives until `close()`, the end of a `with` block, or until nothing refers to the
/// session; then it is wiped, as soon as no batch in flight needs it.
#[pyclass(frozen, module = "sealift")]
pub(crate) struct Session {
    id: SessionId,
    algorithm: Algorithm,
    is_open: AtomicBool,
    // Only taken under the GIL, so that no fork finds it held.
    open: Mutex<Option<sealift::Session>>,
}

#[pymethods]
impl Session {
    /// The number that stands for it in a column of keys (uint64).
    #[getter]
    fn id(&self) -> u64 {
        self.id.to_u64()
    }

    /// What its key is for: "AES-GCM", "XAES-256-GCM" or "AES-GCM-SIV".
    #[getter]
    fn algorithm(&self) -> Outcome<String> {
        self.with(|session| Ok(session.algorithm().to_string()))
    }

    /// Messages sealed under it so far.
    ///
    /// Raises:
    ///     SessionError: If it is closed.
    ///     ForkedError: In a forked child.
    #[getter]
    fn sealed(&self) -> Outcome<u64> {
        self.with(|session| Ok(session.sealed()?))
    }

    /// A nonce of 12 bytes that this session has not given before.
    ///
    /// The first is random and each later one is the next number (SP 800-38D section 8.2.2).
    ///
    /// Raises:
    ///     SessionError: If it is closed.
    ///     InputError: If its key is not for AES-GCM, whose nonces alone are counted.
    ///     SealLimitError: After 2**32 nonces.
    ///     ForkedError: In a forked child, where parent and child would give the same ones.
    fn next_nonce<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        let nonce = self.with(|session| Ok(session.next_nonce()?))?;
        Ok(PyBytes::new(py, nonce.as_bytes()))
    }

    /// So many nonces that this session has not given before.
    ///
    /// They are the next ones of those that `next_nonce` gives.
    ///
    /// Returns:
    ///     A `Column` of `count` rows of 12 bytes, which a batch takes as its nonces.
    ///
    /// Raises:
    ///     InputError: If `count` is negative or over 2**32, or its key is not for AES-GCM.
    ///     SessionError: If it is closed.
    ///     SealLimitError: If fewer are left of 2**32; then none is used up.
    ///     ForkedError: In a forked child.
    fn next_nonces(&self, count: &Bound<'_, PyAny>) -> Outcome<Column> {
        let count = whole_at_least(0, count, "count")?;
        if count as u64 > SEALS_MAX {
            return Err(Failure::Input(format!("count is {count}: give 0 to {SEALS_MAX}")));
        }
        let mut nonces = room::empty(count.saturating_mul(NONCE_BYTES), "count")?;
        self.with(|session| {
            nonces.extend(session.next_nonces(count)?.flat_map(|nonce| *nonce.as_bytes()));
            Ok(())
        })?;
        Ok(Column::of_rows(nonces, NONCE_BYTES))
    }

    /// Retires the key. Closing twice is allowed.
    fn close(&self) {
        self.is_open.store(false, Ordering::Relaxed);
        self.lock().take();
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __exit__(
        &self,
        _exc_type: Option<&Bound<'_, PyType>>,
        _exc_value: Option<&Bound<'_, PyAny>>,
        _traceback: Option<&Bound<'_, PyAny>>,
    ) {
        self.close();
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled("a Session"))
    }

    fn __repr__(&self) -> String {
        let closed = if self.lock().is_none() { ", closed" } else { "" };
        format!("Session({}{closed})", self.id)
    }
}

impl Session {
    pub(crate) fn new(session: sealift::Session) -> Self {
        let is_open = AtomicBool::new(true);
        let (id, algorithm) = (session.id(), session.algorithm());
        Self { id, algorithm, is_open, open: Mutex::new(Some(session)) }
    }

    /// What its key is for, whether it is open or not.
    pub(crate) fn algorithm_of_key(&self) -> Algorithm {
        self.algorithm
    }

    /// What batches name it by.
    pub(crate) fn open_id(&self) -> Outcome<SessionId> {
        // Asked of each message: without the lock. It may be closed right after, with the lock, too.
        if self.is_open.load(Ordering::Relaxed) { Ok(self.id) } else { Err(self.closed()) }
    }

    fn closed(&self) -> Failure {
        Failure::Closed(format!(
            "session {} is closed: make another with engine.session(key)",
            self.id
        ))
    }

    fn with<T>(&self, use_it: impl FnOnce(&sealift::Session) -> Outcome<T>) -> Outcome<T> {
        match &*self.lock() {
            Some(session) => use_it(session),
            None => Err(self.closed()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<sealift::Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
