//! The engine, from Python.

use crate::batch::{self, Inputs, Manner, OnError};
use crate::bytes::Lent;
use crate::column::Given;
use crate::errors::{Outcome, not_pickled, wrong_type};
use crate::forms::whole_at_least;
use crate::gil;
use crate::info::DeviceInfo;
use crate::keys::GivenKeys;
use crate::one::One;
use crate::records::{Counters, Record};
use crate::schedule::{self, Calibration, Cost, Explanation};
use crate::session::Session;
use crate::submit::{InFlight, Submission};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};
use sealift::{Audit, Call, Key, NonceCheck, NonceRule, Op, Options, Settings, Shape, wipe_after};
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroUsize;

/// Sessions, batches and this machine's devices behind one handle.
///
/// Several threads may use it at once. In a child after `os.fork` it raises `ForkedError`: make a
/// new one there.
///
/// `seal_batch` and `open_batch` work on the thread that calls them, and long batches on other
/// cores, too; `submit_seal` and `submit_open` on threads of the devices. What batches cost is read
/// from the cache that `calibrate` fills, and learnt from what they take.
///
/// Args:
///     devices: The devices to open, for example `["cpu:isa=aesni", "library"]`; None opens every
///         one that is present. Policies that go by order take this one. `sealift devices` shows on
///         the command line what there is.
///     policy: How it chooses among the real devices for a batch that names none: a name of
///         `policies()`, with settings as in "size-split:bytes=4096". A device that was not tried
///         for long gets a batch now and then under the usual one; "failover" keeps to the first.
///         "split" cuts batches that are submitted.
///     audit: The share of all sealed messages, above 0 and at most 1, that another device opens
///         again before anyone sees them; None checks none. A device whose results do not open is
///         quarantined, and its batch is done elsewhere unless it named the device. What was sealed
///         in place is not audited, and nobody may write to the texts meanwhile.
///     threads: How many threads, the calling one among them, one call may use; None takes the
///         environment variable SEALIFT_THREADS, else as many as this process may run at a time. A
///         batch is cut only where that pays. Give 1 in a program with a thread for each core.
///
/// Raises:
///     TypeError: If `devices` is not a sequence of str.
///     InputError: If there is no such policy, or it doesn't take a setting; if `audit` is out of
///         range, or there is no second device to check with.
///     UnknownDeviceError: If one is no device, or has a setting that its driver does not take.
///     DeviceError: If one is absent, or the list is empty.
#[pyclass(frozen, module = "sealift")]
pub(crate) struct Engine {
    // Dropped with the GIL, which waits for the devices' workers. No worker ever needs the GIL: objects whose memory a
    // submitted batch reads are let go later, and `run` lends memory only while its caller holds it.
    engine: sealift::Engine,
    /// Made with the first submitted batch.
    futures: PyOnceLock<Py<PyAny>>,
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (devices = None, *, policy = "earliest-finish", audit = None, threads = None))]
    fn new(
        devices: Option<&Bound<'_, PyAny>>,
        policy: &str,
        audit: Option<f64>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> Outcome<Self> {
        // Whoever could tell which messages are drawn could spoil the others.
        let audit =
            audit.map(|share| Audit { share, seed: RandomState::new().hash_one(share.to_bits()) });
        let threads = read_threads(threads)?;
        let settings = Settings { audit, threads, ..Settings::with_policy(policy)? };
        let Some(devices) = devices else {
            return Ok(Self::over(sealift::Engine::detect_with(settings)?));
        };
        let devices = names(devices)?;
        let specs: Vec<&str> = devices.iter().map(String::as_str).collect();
        Ok(Self::over(sealift::Engine::open(&specs, &[], settings)?))
    }

    /// An engine over every device that is present: `Engine()` by another name.
    ///
    /// A batch goes to the real device that is predicted to finish it first, and now and then to
    /// one that was not tried for long; the others work when they are named.
    ///
    /// Raises:
    ///     DeviceError: If nothing could be opened.
    #[staticmethod]
    fn detect() -> Outcome<Self> {
        Ok(Self::over(sealift::Engine::detect()?))
    }

    /// Installs a key.
    ///
    /// Args:
    ///     key: For AES-GCM 16, 24 or 32 bytes, for XAES-256-GCM 32, for AES-GCM-SIV 16 or 32.
    ///     algorithm: What it is for: "AES-GCM"; "XAES-256-GCM", whose nonces of 24 bytes may be
    ///         drawn at random for 2**80 messages; or "AES-GCM-SIV", whose nonces may repeat.
    ///     seals_max: Messages it may seal, at most 2**32 (SP 800-38D section 8.3), which is also
    ///         what None means; a key for XAES-256-GCM may seal any number.
    ///
    /// Raises:
    ///     TypeError: If `key` is not bytes-like.
    ///     InputError: If `key` has another length, there is no such algorithm, or `seals_max` is
    ///         out of range.
    ///     ForkedError: In a forked child.
    #[pyo3(signature = (key, *, algorithm = "AES-GCM", seals_max = None))]
    fn session(
        &self,
        key: &Bound<'_, PyAny>,
        algorithm: &str,
        seals_max: Option<i64>,
    ) -> Outcome<Session> {
        let (algorithm, bytes) = (algorithm.parse()?, Lent::read(key, "key")?);
        let key = || Key::with_algorithm(algorithm, bytes.as_slice());
        let session = match seals_max {
            None => wipe_after(|| Outcome::Ok(self.engine.session(key()?)?))?,
            Some(limit) => {
                let limit = crate::forms::at_least(0, limit, "seals_max")?;
                wipe_after(|| Outcome::Ok(self.engine.session_with_limit(key()?, limit as u64)?))?
            }
        };
        Ok(Session::new(session))
    }

    /// The open devices, in the order in which they were named.
    #[getter]
    fn devices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let devices = self.engine.devices().map(|(_, device)| DeviceInfo::new(device));
        PyTuple::new(py, devices.collect::<Vec<_>>())
    }

    /// The name of its policy.
    ///
    /// Raises:
    ///     ForkedError: In a forked child.
    #[getter]
    fn policy(&self) -> Outcome<&'static str> {
        Ok(self.engine.policy()?)
    }

    /// Says which device would get a batch that names none, and why.
    ///
    /// Nothing is worked, and no policy's turn is used up.
    ///
    /// Args:
    ///     messages: Messages in the batch, 1 to 2**32 - 1.
    ///     message_bytes: Bytes of each text, aad included.
    ///
    /// Raises:
    ///     InputError: If a number is out of range.
    ///     LimitError: If no device takes such a batch.
    ///     DeviceError: If none of the devices is for unnamed batches, or all have given wrong
    ///         results.
    ///     ForkedError: In a forked child.
    fn explain(
        &self,
        messages: &Bound<'_, PyAny>,
        message_bytes: &Bound<'_, PyAny>,
    ) -> Outcome<Explanation> {
        let messages = whole_at_least(1, messages, "messages")?;
        batch::check_messages(messages, "the batch")?;
        let message_bytes = whole_at_least(0, message_bytes, "message_bytes")?;
        let shape = Shape::of_seals(messages, message_bytes);
        Ok(Explanation::new(&self.engine.explain(&shape, Call::Run)?, &self.names()))
    }

    /// What batches cost on each device, as far as is known now.
    ///
    /// Returns:
    ///     A `Cost` for each device, by its name.
    ///
    /// Raises:
    ///     ForkedError: In a forked child.
    fn costs<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyDict>> {
        let costs = PyDict::new(py);
        for (id, device) in self.engine.devices() {
            costs.set_item(&device.name, Cost::new(self.engine.cost(id)?))?;
        }
        Ok(costs)
    }

    /// Finds out what batches cost on each device.
    ///
    /// From the cache where that was measured before, else by measuring, up to 0.03 s a device, and
    /// keeping it in the cache: `sealift/costs-<version>.txt` in `$XDG_CACHE_HOME` or `~/.cache`,
    /// with entries by processor, number of cores and device. An engine reads it when it is made
    /// and measures nothing by itself. Batches that this works are counted and recorded like
    /// others.
    ///
    /// Args:
    ///     anew: Whether to measure also what the cache has.
    ///
    /// Raises:
    ///     ForkedError: In a forked child.
    #[pyo3(signature = (*, anew = false))]
    fn calibrate(&self, py: Python<'_>, anew: bool) -> Outcome<Calibration> {
        let found = gil::leave(py, || match anew {
            false => self.engine.calibrate(),
            true => self.engine.calibrate_anew(),
        });
        Calibration::new(py, found?, &self.names())
    }

    /// Whether a device gets batches.
    ///
    /// "up", "down" for a while because it failed, or "quarantined" because it gave wrong results.
    ///
    /// Args:
    ///     device: Its name, as in `devices`.
    ///
    /// Raises:
    ///     UnknownDeviceError: If there is no such device.
    ///     ForkedError: In a forked child.
    fn state(&self, device: &str) -> Outcome<&'static str> {
        Ok(schedule::state(self.engine.state(self.engine.device(device)?)?))
    }

    /// Uses a device again that was down or in quarantine.
    ///
    /// Args:
    ///     device: Its name, as in `devices`.
    ///
    /// Raises:
    ///     UnknownDeviceError: If there is no such device.
    ///     ForkedError: In a forked child.
    fn reinstate(&self, device: &str) -> Outcome<()> {
        Ok(self.engine.reinstate(self.engine.device(device)?)?)
    }

    /// Lets devices give back what they hold while idle: threads, device memory.
    ///
    /// They take it again with the next batch.
    ///
    /// Raises:
    ///     ForkedError: In a forked child.
    fn release(&self) -> Outcome<()> {
        Ok(self.engine.release()?)
    }

    /// The last 1,024 attempts at batches that are over, oldest first.
    ///
    /// Each says who worked it, why, what it was predicted to take and how long it then took.
    /// `AESGCM` has an engine of its own, whose records are not among them.
    ///
    /// Raises:
    ///     ForkedError: In a forked child.
    fn records(&self) -> Outcome<Vec<Record>> {
        let (names, records) = (self.names(), self.engine.records()?);
        Ok(records.iter().map(|record| Record::new(record, &names)).collect())
    }

    /// What a device has done so far.
    ///
    /// Args:
    ///     device: Its name, as in `devices`.
    ///
    /// Raises:
    ///     UnknownDeviceError: If there is no such device.
    ///     ForkedError: In a forked child.
    fn counters(&self, device: &str) -> Outcome<Counters> {
        Ok(Counters::new(self.engine.counters(self.engine.device(device)?)?))
    }

    /// Seals many messages in one call, each under its own key and nonce.
    ///
    /// A column is a list or tuple of bytes-like objects, a 2-D buffer of bytes with a row for each
    /// message (rows contiguous, any distance between them), `Fixed` or `Offsets`. The last three
    /// are read and written where they are. Buffers are held and the GIL is left meanwhile.
    ///
    /// Args:
    ///     keys: A `Session`, a sequence of sessions, session ids in a list or buffer (uint64), or
    ///         a column of raw keys for AES-GCM. All sessions have one algorithm.
    ///     nonces: A column of 12-byte nonces, under XAES-256-GCM of 24 bytes. Never use one twice
    ///         with the same key. None lets each session count its own, never one twice; such a
    ///         session takes no others, and raw keys take none. Under XAES-256-GCM None draws
    ///         random ones, beside which a session takes others; AES-GCM-SIV wants them given.
    ///     texts: A column of plaintexts.
    ///     aad: Authenticated and not encrypted: None, one bytes-like object for all, or a column.
    ///     tag_length: Bytes of each tag: 4, 8 or 12 to 16; of other algorithms than AES-GCM 16.
    ///     out: Where ciphertexts go: a writable 2-D buffer, `Fixed` or `Offsets`. Exactly the
    ///         memory of `texts` works in place.
    ///     tags: Where tags go, likewise.
    ///     device: The name of a device, or of its driver where one such is open; None lets the
    ///         engine choose.
    ///     check_nonces: Whether to look for a nonce that seals twice under one session in this
    ///         batch. Raw keys, and two sessions with one key, are not checked.
    ///     hazmat_nonces: Whether to take nonces of 1 to 128 bytes. Lengths other than 12 are
    ///         hashed, which lowers the number of messages a key may safely seal (SP 800-38D
    ///         section 8.3).
    ///     threads: How many threads this call may use; None for as many as the engine may.
    ///
    /// Returns:
    ///     If `texts` is a list and `out` is not given: a list of bytes, each a ciphertext with its
    ///     tag behind it. Else, or where nonces were None, a `BatchResult`.
    ///
    /// Raises:
    ///     TypeError: If an argument is no column of bytes, or a place is read-only.
    ///     BufferError: If a buffer or its rows are not contiguous.
    ///     InputError: If lengths, counts or ranges don't fit, an output overlaps something else,
    ///         there are more than 2**32 - 1 messages, or `check_nonces` found a nonce twice.
    ///     SessionError: If a session is closed or of another engine, its algorithm is not that of
    ///         the first one, or if some of its nonces are given and others counted.
    ///     SealLimitError: If a session would pass its limit. Nothing was sealed.
    ///     LimitError: If no device takes the batch.
    ///     UnknownDeviceError: If there is no such device.
    ///     DeviceError: If the device failed. Outputs apart from the texts are zeros then; of texts
    ///         in place some are ciphertexts already, so never seal that memory again.
    ///     ForkedError: In a forked child.
    ///     MemoryError: If there is no memory for the results.
    ///     KeyboardInterrupt: If Ctrl-C came; the main thread looks every 0.05 s. Its `status` has
    ///         2 for messages that were not begun: their place in `out` is untouched.
    ///         3 for long ones that it stopped half-way: their place is zeros, in place too.
    #[pyo3(signature = (
        keys, nonces, texts, aad = None, *, tag_length = 16, out = None, tags = None,
        device = None, check_nonces = false, hazmat_nonces = false, threads = None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn seal_batch<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        nonces: Option<&Bound<'py, PyAny>>,
        texts: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
        tag_length: i64,
        out: Option<&Bound<'py, PyAny>>,
        tags: Option<&Bound<'py, PyAny>>,
        device: Option<&str>,
        check_nonces: bool,
        hazmat_nonces: bool,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> Outcome<Py<PyAny>> {
        let options = Options { threads: read_threads(threads)?, ..named(&self.engine, device)? };
        let manner = to_seal(options, nonces, tag_length, check_nonces, hazmat_nonces)?;
        if let (Some(nonces), None, None) = (nonces, out, tags)
            && let Some(one) = One::read(&self.engine, (keys, nonces, texts), aad, &manner)?
        {
            return one.seal(py, &self.engine);
        }
        let inputs = inputs(keys, nonces, ("texts", texts), aad, None)?;
        batch::seal(py, &self.engine, inputs, &manner, out, tags)
    }

    /// Opens many messages in one call. Columns are as in `seal_batch`.
    ///
    /// Args:
    ///     keys: As in `seal_batch`.
    ///     nonces: A column of the nonces they were sealed with.
    ///     sealed: A column of ciphertexts, with the tag behind each unless `tags` is given.
    ///     aad: What they were sealed with.
    ///     on_error: "raise" raises `InvalidTag` with the `indices` of all messages that did not
    ///         open, after all were worked. "mask" makes them None in a list, and zeros with
    ///         status 1 in a `BatchResult`.
    ///     tag_length: Bytes of each tag: 4, 8 or 12 to 16; of other algorithms than AES-GCM 16.
    ///     tags: A column of tags, when they are not behind the ciphertexts.
    ///     out: Where plaintexts go: a writable 2-D buffer, `Fixed` or `Offsets`. Exactly the
    ///         memory of `sealed` works in place. Messages that do not open leave zeros there,
    ///         also when it raises.
    ///     device: The name of a device, or of its driver where one such is open; None lets the
    ///         engine choose.
    ///     hazmat_nonces: Whether to take nonces of 1 to 128 bytes.
    ///     threads: How many threads this call may use; None for as many as the engine may.
    ///
    /// Returns:
    ///     If `sealed` is a list and `out` is not given: a list of bytes (or None). Else a
    ///     `BatchResult`.
    ///
    /// Raises:
    ///     InvalidTag: If messages did not open and `on_error` is "raise". All else is raised as
    ///         `seal_batch` does.
    #[pyo3(signature = (
        keys, nonces, sealed, aad = None, *, on_error = "raise", tag_length = 16, tags = None,
        out = None, device = None, hazmat_nonces = false, threads = None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn open_batch<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        nonces: &Bound<'py, PyAny>,
        sealed: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
        on_error: &str,
        tag_length: i64,
        tags: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        device: Option<&str>,
        hazmat_nonces: bool,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> Outcome<Py<PyAny>> {
        let on_error = OnError::read(on_error)?;
        let options = Options { threads: read_threads(threads)?, ..named(&self.engine, device)? };
        let manner = Manner::new(options, tag_length, rule(hazmat_nonces))?;
        if let (None, None) = (out, tags)
            && let Some(one) = One::read(&self.engine, (keys, nonces, sealed), aad, &manner)?
        {
            return one.open(py, &self.engine, on_error);
        }
        let inputs = inputs(keys, Some(nonces), ("sealed", sealed), aad, tags)?;
        batch::open(py, &self.engine, &inputs, &manner, out, on_error)
    }

    /// Seals a batch on a device's workers and returns at once.
    ///
    /// Arguments are those of `seal_batch`. Their buffers are held, and nobody may write to them,
    /// until the future is done, even if nobody waits for it. Bad input raises here.
    ///
    /// Returns:
    ///     A `Future` of what `seal_batch` returns: `result(timeout)`, `done()`,
    ///     `add_done_callback`, or `await` it. An engine that is full takes the batch later.
    #[pyo3(signature = (
        keys, nonces, texts, aad = None, *, tag_length = 16, device = None, check_nonces = false,
        hazmat_nonces = false,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn submit_seal<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        nonces: Option<&Bound<'py, PyAny>>,
        texts: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
        tag_length: i64,
        device: Option<&str>,
        check_nonces: bool,
        hazmat_nonces: bool,
    ) -> Outcome<Py<PyAny>> {
        let options = named(&self.engine, device)?;
        let manner = to_seal(options, nonces, tag_length, check_nonces, hazmat_nonces)?;
        let inputs = inputs(keys, nonces, ("texts", texts), aad, None)?;
        self.submit(py, Submission::new(&self.engine, Op::Seal, inputs, manner, OnError::Raise)?)
    }

    /// Opens a batch on a device's workers and returns at once.
    ///
    /// Arguments are those of `open_batch`, buffers are held as by `submit_seal`.
    ///
    /// Returns:
    ///     A `Future` of what `open_batch` returns; where that raises `InvalidTag`, `result` does.
    #[pyo3(signature = (
        keys, nonces, sealed, aad = None, *, on_error = "raise", tag_length = 16, tags = None,
        device = None, hazmat_nonces = false,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn submit_open<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, PyAny>,
        nonces: &Bound<'py, PyAny>,
        sealed: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
        on_error: &str,
        tag_length: i64,
        tags: Option<&Bound<'py, PyAny>>,
        device: Option<&str>,
        hazmat_nonces: bool,
    ) -> Outcome<Py<PyAny>> {
        let on_error = OnError::read(on_error)?;
        let manner = Manner::new(named(&self.engine, device)?, tag_length, rule(hazmat_nonces))?;
        let inputs = inputs(keys, Some(nonces), ("sealed", sealed), aad, tags)?;
        self.submit(py, Submission::new(&self.engine, Op::Open, inputs, manner, on_error)?)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled("an Engine"))
    }

    fn __repr__(&self) -> String {
        let names: Vec<_> = self.engine.devices().map(|(_, device)| &device.name).collect();
        format!("Engine({names:?})")
    }
}

impl Engine {
    fn over(engine: sealift::Engine) -> Self {
        Self { engine, futures: PyOnceLock::new() }
    }

    /// The engine itself.
    #[cfg(feature = "arrow")]
    pub(crate) fn inner(&self) -> &sealift::Engine {
        &self.engine
    }

    /// A future of what becomes of a batch.
    fn submit(&self, py: Python<'_>, submission: Submission) -> Outcome<Py<PyAny>> {
        // A forked child finds the futures as another thread may have left them.
        self.engine.in_flight()?;
        let futures = self.futures.get_or_try_init(py, || {
            let class = py.import("sealift.futures")?.getattr("Futures")?;
            Ok::<_, PyErr>(class.call1((InFlight::of(&self.engine),))?.unbind())
        })?;
        Ok(futures.bind(py).call_method1("submit", (submission,))?.unbind())
    }

    fn names(&self) -> Vec<String> {
        self.engine.devices().map(|(_, device)| device.name.clone()).collect()
    }
}

/// The arguments of a batch, held.
fn inputs<'py>(
    keys: &Bound<'py, PyAny>,
    nonces: Option<&Bound<'py, PyAny>>,
    (name, texts): (&'static str, &Bound<'py, PyAny>),
    aad: Option<&Bound<'py, PyAny>>,
    tags: Option<&Bound<'py, PyAny>>,
) -> Outcome<Inputs<'py>> {
    Ok(Inputs {
        keys: GivenKeys::read(keys)?,
        nonces: nonces.map_or(Ok(Given::Empty), Given::read_nonces)?,
        texts: Given::read(texts, name)?,
        aad: Given::read_shared(aad, "aad")?,
        tags: tags.map_or(Ok(Given::Empty), |tags| Given::read(tags, "tags"))?,
    })
}

fn to_seal(
    options: Options,
    nonces: Option<&Bound<'_, PyAny>>,
    tag_length: i64,
    check_nonces: bool,
    hazmat_nonces: bool,
) -> Outcome<Manner> {
    let check = if check_nonces { NonceCheck::WithinBatch } else { NonceCheck::Off };
    let rule = if nonces.is_some() { rule(hazmat_nonces) } else { NonceRule::Counted };
    Manner::new(Options { nonces: check, ..options }, tag_length, rule)
}

fn names(devices: &Bound<'_, PyAny>) -> Outcome<Vec<String>> {
    if devices.is_instance_of::<PyString>() {
        let message = format!("devices is a str: give a list, [{}]", devices.repr()?);
        return Err(wrong_type(message).into());
    }
    let names = devices.try_iter().and_then(|names| names.map(|name| name?.extract()).collect());
    let wrong = || wrong_type("devices is a sequence of str, for example [\"cpu\", \"library\"]");
    Ok(names.map_err(|_| wrong())?)
}

pub(crate) fn read_threads(threads: Option<&Bound<'_, PyAny>>) -> Outcome<Option<NonZeroUsize>> {
    let threads = threads.map(|threads| whole_at_least(1, threads, "threads")).transpose()?;
    Ok(threads.and_then(NonZeroUsize::new))
}

/// A batch on the device of this name, or on any.
fn named(engine: &sealift::Engine, device: Option<&str>) -> Outcome<Options> {
    let on = device.map(|name| engine.device(name)).transpose()?;
    Ok(Options { on, ..Options::default() })
}

fn rule(hazmat_nonces: bool) -> NonceRule {
    if hazmat_nonces { NonceRule::HazmatAnyLength } else { NonceRule::Standard }
}
