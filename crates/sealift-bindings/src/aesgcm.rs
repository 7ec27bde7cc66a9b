//! One message at a time, with the interface of pyca/cryptography.

use crate::bytes::Lent;
use crate::errors::{Failure, Outcome, not_pickled};
use crate::ffi::Memory;
use crate::gil;
use crate::overlap;
use crate::room;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealift::{EngineError, Key, Op, Slot, SlotTag, SlotText, Stability, Status, TagLength};

/// AES-GCM for one message at a time, with the interface of pyca/cryptography.
///
/// It differs from `cryptography.hazmat.primitives.ciphers.aead.AESGCM` in this:
///
/// - `InvalidTag` is `sealift.InvalidTag`, and pyca's, too, where that is imported; messages of
///   errors are worded differently.
/// - A failed `decrypt_into` leaves zeros in `buf` instead of plaintext that nobody vouches for.
/// - `data` may overlap `buf` in any way, not only exactly; it is copied first then.
/// - Text and associated data may be longer than 2**31 - 1 bytes; text up to 2**36 - 32.
/// - A key seals at most 2**32 messages in a process (SP 800-38D section 8.3), then it raises
///   `SealLimitError`.
///
/// An instance may be used by several threads, and in a child after `os.fork`.
///
/// Args:
///     key: 16, 24 or 32 bytes.
///
/// Raises:
///     TypeError: If `key` is not bytes-like.
///     ValueError: If it has another length.
#[pyclass(name = "AESGCM", frozen, module = "sealift")]
pub(crate) struct AesGcm {
    cipher: sealift::AesGcm,
}

#[pymethods]
impl AesGcm {
    #[new]
    fn new(key: &Bound<'_, PyAny>) -> Outcome<Self> {
        let key = Lent::read(key, "key")?;
        let key =
            Key::new(key.as_slice()).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let cipher = sealift::AesGcm::new(&key).map_err(EngineError::from)?;
        Ok(Self { cipher })
    }

    /// A random key.
    ///
    /// Args:
    ///     bit_length: 128, 192 or 256.
    ///
    /// Returns:
    ///     `bit_length / 8` bytes from the system.
    ///
    /// Raises:
    ///     ValueError: If it is another number.
    #[staticmethod]
    fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyAny>> {
        if ![128, 192, 256].contains(&bit_length) {
            return Err(PyValueError::new_err(format!(
                "bit_length is {bit_length}: it must be 128, 192 or 256"
            )));
        }
        py.import("os")?.call_method1("urandom", (bit_length / 8,))
    }

    /// Encrypts and authenticates.
    ///
    /// Args:
    ///     nonce: 8 to 128 bytes, 12 are usual. Never use one twice with the same key.
    ///     data: The plaintext.
    ///     associated_data: Authenticated and not encrypted; None is the same as no bytes.
    ///
    /// Returns:
    ///     The ciphertext and behind it the tag of 16 bytes.
    ///
    /// Raises:
    ///     TypeError: If an argument is not bytes-like.
    ///     BufferError: If a buffer is not contiguous.
    ///     ValueError: If `nonce` has another length.
    #[pyo3(signature = (nonce, data, associated_data))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let lent = LentMessage::read(nonce, data, associated_data)?;
        let message = lent.message(Op::Seal)?;
        PyBytes::new_with(py, message.text.len() + TAG_BYTES, |out| {
            self.work(py, &message, out)?;
            Ok(())
        })
    }

    /// Checks the tag and decrypts.
    ///
    /// Args:
    ///     nonce: The one it was encrypted with.
    ///     data: The ciphertext and behind it the tag of 16 bytes.
    ///     associated_data: What it was encrypted with.
    ///
    /// Returns:
    ///     The plaintext.
    ///
    /// Raises:
    ///     InvalidTag: If the tag does not belong to key, nonce, data and associated data, or
    ///         `data` is shorter than a tag.
    ///     TypeError: If an argument is not bytes-like.
    ///     BufferError: If a buffer is not contiguous.
    ///     ValueError: If `nonce` has another length.
    #[pyo3(signature = (nonce, data, associated_data))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let lent = LentMessage::read(nonce, data, associated_data)?;
        let message = lent.message(Op::Open)?;
        let text_bytes = message.opened_bytes()?;
        PyBytes::new_with(py, text_bytes, |out| {
            let status = self.work(py, &message, out)?;
            opened(status)
        })
    }

    /// Encrypts into a buffer.
    ///
    /// As `encrypt`, but the result goes to `buf`, a writable buffer of exactly `len(data) + 16`
    /// bytes in which `data` may lie.
    ///
    /// Returns:
    ///     The number of bytes written.
    ///
    /// Raises:
    ///     TypeError: If `buf` is read-only, and as `encrypt`.
    ///     ValueError: If `buf` has another length, and as `encrypt`.
    #[pyo3(signature = (nonce, data, associated_data, buf))]
    fn encrypt_into<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
        buf: &Bound<'py, PyAny>,
    ) -> PyResult<usize> {
        let lent = LentMessage::read(nonce, data, associated_data)?;
        let mut buf = Lent::read_writable(buf, "buf")?;
        let message = lent.message(Op::Seal)?;
        check_room(buf.len(), message.text.len() + TAG_BYTES)?;
        self.work_into(py, &message, &mut buf)?;
        Ok(buf.len())
    }

    /// Checks the tag and decrypts into a buffer.
    ///
    /// As `decrypt`, but the result goes to `buf`, a writable buffer of exactly `len(data) - 16`
    /// bytes in which `data` may lie. It holds zeros if the tag is wrong.
    ///
    /// Returns:
    ///     The number of bytes written.
    ///
    /// Raises:
    ///     InvalidTag: As `decrypt`.
    ///     TypeError: If `buf` is read-only, and as `decrypt`.
    ///     ValueError: If `buf` has another length, and as `decrypt`.
    #[pyo3(signature = (nonce, data, associated_data, buf))]
    fn decrypt_into<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
        buf: &Bound<'py, PyAny>,
    ) -> PyResult<usize> {
        let lent = LentMessage::read(nonce, data, associated_data)?;
        let mut buf = Lent::read_writable(buf, "buf")?;
        let message = lent.message(Op::Open)?;
        check_room(buf.len(), message.opened_bytes()?)?;
        opened(self.work_into(py, &message, &mut buf)?)?;
        Ok(buf.len())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled("an AESGCM"))
    }
}

impl AesGcm {
    fn work(&self, py: Python<'_>, message: &Message<'_>, out: &mut [u8]) -> Outcome<Status> {
        let Message { op, text, .. } = *message;
        match (op, text.split_last_chunk::<TAG_BYTES>()) {
            (Op::Seal, _) => {
                let (output, tag) = out.split_at_mut(text.len());
                self.run(py, message, SlotText::Apart { input: text, output }, SlotTag::Write(tag))
            }
            (_, Some((input, tag))) => {
                let text = SlotText::Apart { input, output: out };
                self.run(py, message, text, SlotTag::Check(tag))
            }
            (_, None) => Ok(Status::AuthFailed),
        }
    }

    /// Works into a caller's buffer, in which inputs may lie.
    fn work_into(
        &self,
        py: Python<'_>,
        message: &Message<'_>,
        buf: &mut Memory,
    ) -> Outcome<Status> {
        let Message { nonce, aad, text, .. } = *message;
        if let Some(proof) = overlap::check_one(buf, &[nonce, aad, text]) {
            return self.work(py, message, buf.bytes_mut(&proof));
        }
        if buf.address() == text.as_ptr().addr()
            && let Some(proof) = overlap::check_one(buf, &[nonce, aad])
        {
            return match message.op {
                Op::Seal => {
                    let (text, tag) = buf.bytes_mut(&proof).split_at_mut(text.len());
                    self.run(py, message, SlotText::InPlace(text), SlotTag::Write(tag))
                }
                Op::Open | Op::Verify => {
                    let tag: Vec<u8> = text[text.len() - TAG_BYTES..].to_vec();
                    let text = SlotText::InPlace(buf.bytes_mut(&proof));
                    self.run(py, message, text, SlotTag::Check(&tag))
                }
            };
        }
        let copies = [
            room::copy(nonce, "nonce")?,
            room::copy(aad, "associated_data")?,
            room::copy(text, "data")?,
        ];
        let [nonce, aad, text] = &copies;
        let inputs = [nonce.as_slice(), aad, text];
        let Some(proof) = overlap::check_one(buf, &inputs) else {
            return Err(Failure::Input("a copy lies in the caller's buffer".into()));
        };
        let message = Message { nonce, aad, text, ..*message };
        self.work(py, &message, buf.bytes_mut(&proof))
    }

    fn run(
        &self,
        py: Python<'_>,
        message: &Message<'_>,
        text: SlotText<'_>,
        tag: SlotTag<'_>,
    ) -> Outcome<Status> {
        let Message { op, nonce, aad, stability, .. } = *message;
        let slot = Slot { op, nonce, aad, text, tag };
        let bytes = message.text.len() + aad.len();
        Ok(gil::leave_for(py, bytes, || self.cipher.process(slot, stability))?)
    }
}

/// One message's inputs, held.
struct LentMessage<'py> {
    nonce: Lent<'py>,
    data: Lent<'py>,
    aad: Option<Lent<'py>>,
}

impl<'py> LentMessage<'py> {
    fn read(
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let nonce = Lent::read(nonce, "nonce")?;
        let data = Lent::read(data, "data")?;
        let aad = aad.map(|aad| Lent::read(aad, "associated_data")).transpose()?;
        Ok(Self { nonce, data, aad })
    }

    fn message(&self, op: Op) -> PyResult<Message<'_>> {
        let all = [Some(&self.nonce), Some(&self.data), self.aad.as_ref()];
        let frozen = all.into_iter().flatten().all(Lent::is_frozen);
        let stability = if frozen { Stability::Frozen } else { Stability::Shared };
        let nonce = self.nonce.as_slice();
        if !NONCE_LENGTHS.contains(&nonce.len()) {
            return Err(PyValueError::new_err(format!(
                "nonce has {} bytes: it must have 8 to 128, 12 are usual",
                nonce.len()
            )));
        }
        let aad = self.aad.as_ref().map_or(&[][..], Lent::as_slice);
        Ok(Message { op, nonce, aad, text: self.data.as_slice(), stability })
    }
}

/// One message's inputs.
#[derive(Clone, Copy)]
struct Message<'a> {
    op: Op,
    nonce: &'a [u8],
    aad: &'a [u8],
    text: &'a [u8],
    stability: Stability,
}

impl Message<'_> {
    /// Bytes of plaintext in a ciphertext with its tag.
    fn opened_bytes(&self) -> Outcome<usize> {
        let bytes = self.text.len().checked_sub(TAG_BYTES);
        bytes.ok_or(Failure::InvalidTag { indices: vec![0], messages: 1, hint: "" })
    }
}

fn opened(status: Status) -> PyResult<()> {
    match status {
        Status::Ok => Ok(()),
        Status::AuthFailed | Status::NotProcessed | Status::Wiped => {
            Err(Failure::InvalidTag { indices: vec![0], messages: 1, hint: "" }.into())
        }
    }
}

fn check_room(room: usize, needed: usize) -> PyResult<()> {
    if room == needed {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("buf has {room} bytes: it must have exactly {needed}")))
}

const TAG_BYTES: usize = TagLength::FULL.bytes();
const NONCE_LENGTHS: std::ops::RangeInclusive<usize> = 8..=sealift::MAX_NONCE_BYTES;
