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
use sealift::{
    Algorithm, Cipher, EngineError, Key, Op, Slot, SlotTag, SlotText, Stability, Status, TagLength,
    wipe_after,
};

/// Makes a class of an algorithm. The docs of its methods are those of every class; `generate_key` is its own.
macro_rules! aead_class {
    ($(#[$doc:meta])* $class:ident, $name:literal, $algorithm:expr, { $($generate_key:item)* }) => {
        $(#[$doc])*
        #[pyclass(name = $name, frozen, module = "sealift")]
        pub(crate) struct $class(OneKey);

        #[pymethods]
        impl $class {
            #[new]
            fn new(key: &Bound<'_, PyAny>) -> Outcome<Self> {
                OneKey::new($algorithm, key).map(Self)
            }

            /// Encrypts and authenticates.
            ///
            /// Args:
            ///     nonce: Of the length that the class says.
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
                self.0.encrypt(py, nonce, data, associated_data)
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
                self.0.decrypt(py, nonce, data, associated_data)
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
                self.0.encrypt_into(py, nonce, data, associated_data, buf)
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
                self.0.decrypt_into(py, nonce, data, associated_data, buf)
            }

            fn __reduce__(&self) -> PyResult<()> {
                Err(not_pickled(concat!("an ", $name)))
            }

            $($generate_key)*
        }
    };
}

aead_class! {
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
    /// Nonces have 8 to 128 bytes, 12 are usual. Never use one twice with the same key.
    ///
    /// Args:
    ///     key: 16, 24 or 32 bytes.
    ///
    /// Raises:
    ///     TypeError: If `key` is not bytes-like.
    ///     ValueError: If it has another length.
    AesGcm, "AESGCM", Algorithm::AesGcm, {
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
            random_key(py, Algorithm::AesGcm, bit_length)
        }
    }
}

aead_class! {
    /// AES-GCM-SIV (RFC 8452) for one message at a time, with the interface of pyca/cryptography.
    ///
    /// Nonces have 12 bytes. One that is used twice with the same key shows whether the two messages
    /// are equal, and nothing else. It differs from pyca's class as `AESGCM` does.
    ///
    /// Args:
    ///     key: 16 or 32 bytes.
    ///
    /// Raises:
    ///     TypeError: If `key` is not bytes-like.
    ///     ValueError: If it has another length.
    AesGcmSiv, "AESGCMSIV", Algorithm::AesGcmSiv, {
        /// A random key.
        ///
        /// Args:
        ///     bit_length: 128 or 256.
        ///
        /// Returns:
        ///     `bit_length / 8` bytes from the system.
        ///
        /// Raises:
        ///     ValueError: If it is another number.
        #[staticmethod]
        fn generate_key(py: Python<'_>, bit_length: usize) -> PyResult<Bound<'_, PyAny>> {
            random_key(py, Algorithm::AesGcmSiv, bit_length)
        }
    }
}

aead_class! {
    /// XAES-256-GCM (C2SP) for one message at a time, with the interface of pyca's AEAD classes.
    ///
    /// Nonces have 24 bytes, which may be drawn at random (`os.urandom(24)`) for 2**80 messages a
    /// key. A key of AES-256-GCM is derived for each message. In buffers and errors it is as `AESGCM`.
    ///
    /// Args:
    ///     key: 32 bytes.
    ///
    /// Raises:
    ///     TypeError: If `key` is not bytes-like.
    ///     ValueError: If it has another length.
    Xaes256Gcm, "XAES256GCM", Algorithm::Xaes256Gcm, {
        /// A random key.
        ///
        /// Returns:
        ///     32 bytes from the system.
        #[staticmethod]
        fn generate_key(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
            random_key(py, Algorithm::Xaes256Gcm, 256)
        }
    }
}

/// One key, and one message at a time.
struct OneKey {
    algorithm: Algorithm,
    cipher: Cipher,
}

impl OneKey {
    fn new(algorithm: Algorithm, key: &Bound<'_, PyAny>) -> Outcome<Self> {
        let key = Lent::read(key, "key")?;
        wipe_after(|| {
            let key = Key::with_algorithm(algorithm, key.as_slice())
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
            let cipher = Cipher::new(&key).map_err(EngineError::from)?;
            Ok(Self { algorithm, cipher })
        })
    }

    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let lent = LentMessage::read(self.algorithm, nonce, data, associated_data)?;
        let message = lent.message(Op::Seal)?;
        PyBytes::new_with(py, message.text.len() + TAG_BYTES, |out| {
            self.work(py, &message, out)?;
            Ok(())
        })
    }

    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let lent = LentMessage::read(self.algorithm, nonce, data, associated_data)?;
        let message = lent.message(Op::Open)?;
        let text_bytes = message.opened_bytes()?;
        PyBytes::new_with(py, text_bytes, |out| {
            let status = self.work(py, &message, out)?;
            opened(status)
        })
    }

    fn encrypt_into<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
        buf: &Bound<'py, PyAny>,
    ) -> PyResult<usize> {
        let lent = LentMessage::read(self.algorithm, nonce, data, associated_data)?;
        let mut buf = Lent::read_writable(buf, "buf")?;
        let message = lent.message(Op::Seal)?;
        check_room(buf.len(), message.text.len() + TAG_BYTES)?;
        self.work_into(py, &message, &mut buf)?;
        Ok(buf.len())
    }

    fn decrypt_into<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        associated_data: Option<&Bound<'py, PyAny>>,
        buf: &Bound<'py, PyAny>,
    ) -> PyResult<usize> {
        let lent = LentMessage::read(self.algorithm, nonce, data, associated_data)?;
        let mut buf = Lent::read_writable(buf, "buf")?;
        let message = lent.message(Op::Open)?;
        check_room(buf.len(), message.opened_bytes()?)?;
        opened(self.work_into(py, &message, &mut buf)?)?;
        Ok(buf.len())
    }

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
    algorithm: Algorithm,
    nonce: Lent<'py>,
    data: Lent<'py>,
    aad: Option<Lent<'py>>,
}

impl<'py> LentMessage<'py> {
    fn read(
        algorithm: Algorithm,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let nonce = Lent::read(nonce, "nonce")?;
        let data = Lent::read(data, "data")?;
        let aad = aad.map(|aad| Lent::read(aad, "associated_data")).transpose()?;
        Ok(Self { algorithm, nonce, data, aad })
    }

    fn message(&self, op: Op) -> PyResult<Message<'_>> {
        let all = [Some(&self.nonce), Some(&self.data), self.aad.as_ref()];
        let frozen = all.into_iter().flatten().all(Lent::is_frozen);
        let stability = if frozen { Stability::Frozen } else { Stability::Shared };
        let nonce = self.nonce.as_slice();
        let bytes = self.algorithm.nonce_bytes();
        let (takes, right) = match self.algorithm {
            Algorithm::AesGcm => (NONCE_LENGTHS, "8 to 128, 12 are usual".to_owned()),
            _ => (bytes..=bytes, bytes.to_string()),
        };
        if !takes.contains(&nonce.len()) {
            let found = nonce.len();
            return Err(PyValueError::new_err(format!(
                "nonce has {found} bytes: it must have {right}"
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

/// A key of so many bits from the system.
fn random_key(
    py: Python<'_>,
    algorithm: Algorithm,
    bit_length: usize,
) -> PyResult<Bound<'_, PyAny>> {
    let lengths: Vec<_> = algorithm.key_bytes().iter().map(|bytes| 8 * bytes).collect();
    if !lengths.contains(&bit_length) {
        let right = lengths.iter().map(ToString::to_string).collect::<Vec<_>>();
        let right = match &right[..] {
            [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
            all => all.concat(),
        };
        return Err(PyValueError::new_err(format!(
            "bit_length is {bit_length}: it must be {right}"
        )));
    }
    py.import("os")?.call_method1("urandom", (bit_length / 8,))
}

const TAG_BYTES: usize = TagLength::FULL.bytes();
const NONCE_LENGTHS: std::ops::RangeInclusive<usize> = 8..=sealift::MAX_NONCE_BYTES;
