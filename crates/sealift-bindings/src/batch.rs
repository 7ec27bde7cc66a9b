//! Sealing and opening a batch.

use crate::column::Given;
use crate::errors::{Failure, Outcome, wrong_type};
use crate::ffi::{Column, FreshBytes};
use crate::gil;
use crate::keys::GivenKeys;
use crate::overlap::{self, Apart};
use crate::place::Target;
use crate::room;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sealift::{
    Algorithm, Batch, Engine, EngineError, NonceRule, Op, Ops, Options, Output, Report, Role,
    Stability, Status, TagLength, Tags, Text,
};
use smallvec::SmallVec;

/// What a batch over columns gave.
#[pyclass(frozen, get_all, module = "sealift")]
pub(crate) struct BatchResult {
    /// Ciphertexts or plaintexts: the `out` that was given, or a `Column`.
    ///
    /// For a list of texts whose nonces were counted or drawn: a list of ciphertexts, each with its tag
    /// behind it.
    text: Py<PyAny>,
    /// Tags of seals: the `tags` that was given, or a `Column`. None where there are none apart.
    tags: Option<Py<PyAny>>,
    /// The nonces that were counted or drawn, in rows. None where they were given.
    nonces: Option<Py<Column>>,
    /// One byte a message: 0 worked, 1 did not open and its text is zeros.
    status: Py<PyBytes>,
    /// The name of the device that worked it.
    device: String,
    /// How long the device took, in seconds.
    seconds: f64,
}

#[pymethods]
impl BatchResult {
    fn __len__(&self, py: Python<'_>) -> usize {
        self.status.as_bytes(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let status = self.status.as_bytes(py);
        let failed = status.iter().filter(|&&status| status != 0).count();
        let Self { device, seconds, .. } = self;
        format!(
            "BatchResult({} messages, {failed} failed, device {device:?}, {seconds:.6} s)",
            status.len()
        )
    }
}

/// Everything a batch reads, held for the length of a call.
pub(crate) struct Inputs<'py> {
    pub(crate) keys: GivenKeys<'py>,
    pub(crate) nonces: Given<'py>,
    pub(crate) texts: Given<'py>,
    pub(crate) aad: Given<'py>,
    /// Tags to check, when they are apart from the texts.
    pub(crate) tags: Given<'py>,
}

/// How a batch is worked.
pub(crate) struct Manner {
    pub(crate) options: Options,
    pub(crate) nonce_rule: NonceRule,
    pub(crate) tag_length: TagLength,
}

/// What becomes of messages that don't open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnError {
    /// An exception names them.
    Raise,
    /// They are None, or zeros with a status.
    Mask,
}

impl OnError {
    pub(crate) fn read(name: &str) -> Outcome<Self> {
        match name {
            "raise" => Ok(Self::Raise),
            "mask" => Ok(Self::Mask),
            _ => Err(Failure::Input(format!("on_error is {name:?}: give \"raise\" or \"mask\""))),
        }
    }
}

/// Seals a batch: a list of bytes for a list of texts, else a [`BatchResult`].
pub(crate) fn seal<'py>(
    py: Python<'py>,
    engine: &Engine,
    mut inputs: Inputs<'py>,
    manner: &Manner,
    out: Option<&Bound<'py, PyAny>>,
    tags: Option<&Bound<'py, PyAny>>,
) -> Outcome<Py<PyAny>> {
    let count = inputs.check_counts("texts")?;
    let nonces = inputs.count_nonces(engine, manner, count)?;
    let tag_bytes = manner.tag_length.bytes();
    if let (Given::Each(each), None) = (&inputs.texts, out) {
        if tags.is_some() {
            let hint = "give `out` too, or no place: then tags lie behind the ciphertexts";
            return Err(Failure::Input(format!(
                "texts is a list and only `tags` has a place: {hint}"
            )));
        }
        let lengths = each.iter().map(|text| text.as_slice().len() + tag_bytes);
        let text = Target::Objects(FreshBytes::new(py, lengths)?);
        let job = Job { op: Op::Seal, inputs: &inputs, manner, appended: true };
        let ran = job.run(py, engine, text, Target::Nothing);
        let (done, text, _) = ran.map_err(|failure| with_nonces(py, failure, nonces.as_ref()))?;
        let list = done.list(py, text)?;
        return match nonces {
            Some(_) => done.result(py, engine, list, None, nonces),
            None => Ok(list),
        };
    }
    let text = match out {
        Some(out) => Target::given(out, "out")?,
        None => Target::own(&inputs.texts, count, |bytes| bytes)?,
    };
    let tags = match tags {
        Some(tags) => Target::given(tags, "tags")?,
        None => Target::own_fixed(count, tag_bytes, "tags")?,
    };
    let job = Job { op: Op::Seal, inputs: &inputs, manner, appended: false };
    let ran = job.run(py, engine, text, tags);
    let (done, text, tags) = ran.map_err(|failure| with_nonces(py, failure, nonces.as_ref()))?;
    done.columns(py, engine, text, tags, nonces)
}

/// Opens a batch: a list of bytes for a list of ciphertexts, else a [`BatchResult`].
pub(crate) fn open<'py>(
    py: Python<'py>,
    engine: &Engine,
    inputs: &Inputs<'py>,
    manner: &Manner,
    out: Option<&Bound<'py, PyAny>>,
    on_error: OnError,
) -> Outcome<Py<PyAny>> {
    let count = inputs.check_counts("sealed")?;
    let appended = matches!(inputs.tags, Given::Empty);
    let tag_bytes = if appended { manner.tag_length.bytes() } else { 0 };
    let opened = |bytes: usize| bytes.saturating_sub(tag_bytes);
    let job = Job { op: Op::Open, inputs, manner, appended };
    let as_list = matches!(inputs.texts, Given::Each(_)) && out.is_none();
    let text = match (out, &inputs.texts) {
        (Some(out), _) => Target::given(out, "out")?,
        (None, Given::Each(each)) => {
            let lengths = each.iter().map(|text| opened(text.as_slice().len()));
            Target::Objects(FreshBytes::new(py, lengths)?)
        }
        (None, texts) => Target::own(texts, count, opened)?,
    };
    let (done, text, _) = job.run(py, engine, text, Target::Nothing)?;
    if on_error == OnError::Raise {
        done.raise_failures(inputs.hint(appended))?;
    }
    match as_list {
        true => done.list(py, text),
        false => done.columns(py, engine, text, Target::Nothing, None),
    }
}

impl Inputs<'_> {
    /// Takes nonces from the sessions' counters, or draws them, where none were given.
    pub(crate) fn count_nonces(
        &mut self,
        engine: &Engine,
        manner: &Manner,
        count: usize,
    ) -> Outcome<Option<MadeNonces>> {
        if manner.nonce_rule != NonceRule::Counted {
            return Ok(None);
        }
        let (algorithm, keys) = (self.keys.algorithm(engine)?, self.keys.lend(false));
        let bytes = match algorithm {
            Algorithm::Xaes256Gcm => engine.draw_nonces(algorithm, count)?,
            _ => engine.next_nonces(&keys, count)?,
        };
        let nonces = MadeNonces { bytes, width: algorithm.nonce_bytes() };
        self.nonces = Given::Nonces(room::copy(&nonces.bytes, "nonces")?, nonces.width);
        Ok(Some(nonces))
    }

    /// What may be wrong where nothing opens.
    pub(crate) fn hint(&self, appended: bool) -> &'static str {
        if appended && matches!(self.texts, Given::Rows(_)) { TAGS_APART } else { "" }
    }

    /// Checks that all columns are for the same number of messages, and says how many.
    pub(crate) fn check_counts(&self, texts: &'static str) -> Outcome<usize> {
        let Some(count) = self.texts.count() else {
            return Err(wrong_type(format!("{texts} is no column")).into());
        };
        check_messages(count, texts)?;
        self.keys.check_count(count)?;
        self.nonces.check_count("nonces", count)?;
        self.aad.check_count("aad", count)?;
        self.tags.check_count("tags", count)?;
        Ok(count)
    }

    pub(crate) fn stability(&self) -> Stability {
        let columns = [&self.nonces, &self.texts, &self.aad, &self.tags];
        let frozen = columns.into_iter().all(Given::is_frozen) && self.keys.is_frozen();
        if frozen { Stability::Frozen } else { Stability::Shared }
    }
}

/// A batch that is ready to be worked.
struct Job<'a, 'py> {
    op: Op,
    inputs: &'a Inputs<'py>,
    manner: &'a Manner,
    /// Whether tags lie behind the ciphertexts.
    appended: bool,
}

impl<'py> Job<'_, 'py> {
    /// Works it without the GIL and gives the targets back.
    fn run(
        &self,
        py: Python<'py>,
        engine: &Engine,
        mut text: Target<'py>,
        mut tags: Target<'py>,
    ) -> Outcome<(Done, Target<'py>, Target<'py>)> {
        let count = self.inputs.texts.count().unwrap_or(0);
        let in_place = self.is_in_place(&text);
        self.check_target(&text, "out", count)?;
        self.check_target(&tags, "tags", count)?;
        let apart = self.check_overlap(&text, &tags, in_place)?;
        let mut status = room::statuses(count)?;
        let algorithm = self.inputs.keys.algorithm(engine)?;
        let batch = self.batch(algorithm, count, in_place, &apart);
        let output =
            Output { text: text.place(&apart), tags: tags.place(&apart), status: &mut status };
        let options = &self.manner.options;
        let (ran, interrupt) = if self.is_small(engine, count) {
            (engine.run(&batch, output, options), None)
        } else {
            gil::leave_until(py, |stop| engine.run_until(&batch, output, options, stop))
        };
        drop(batch);
        match (ran, interrupt) {
            (Ok(report), None) => Ok((Done { status, report }, text, tags)),
            (Err(error), None) if error != EngineError::Stopped => Err(error.into()),
            (_, interrupt) => {
                let error = interrupted(py, interrupt, &status);
                if let Ok(Some(tags)) = tags.into_object(py) {
                    // An exception that takes no attribute is still the one to raise.
                    let _ = error.value(py).setattr("tags", tags);
                }
                Err(error.into())
            }
        }
    }

    /// Whether it takes less time than leaving the GIL may.
    fn is_small(&self, engine: &Engine, count: usize) -> bool {
        if count > FEW || !works_at_once(engine, self.manner) {
            return false;
        }
        let Inputs { texts, aad, .. } = self.inputs;
        let bytes = |column: &Given<'_>| (0..count).map(|at| column.len_of(at)).sum::<usize>();
        !gil::is_worth_leaving(bytes(texts).saturating_add(bytes(aad)))
    }

    fn batch(
        &self,
        algorithm: Algorithm,
        count: usize,
        in_place: bool,
        apart: &Apart,
    ) -> Batch<'_> {
        let Inputs { keys, nonces, texts, aad, tags } = self.inputs;
        let rows = apart.interleaved;
        let text = if in_place { Text::InPlace } else { Text::Apart(texts.lend(rows)) };
        let tags = if self.appended { Tags::Appended } else { Tags::Apart(tags.lend(rows)) };
        Batch {
            algorithm,
            ops: Ops::All(self.op),
            aad: aad.lend(rows),
            tags,
            tag_length: self.manner.tag_length,
            nonce_rule: self.manner.nonce_rule_for(algorithm),
            stability: self.inputs.stability(),
            ..Batch::seal(count, keys.lend(rows), nonces.lend(rows), text)
        }
    }

    /// Whether results go exactly where the texts are.
    fn is_in_place(&self, text: &Target<'_>) -> bool {
        match (text.rows(), &self.inputs.texts) {
            (Some(out), Given::Rows(texts)) => out.is_same_place(texts),
            _ => false,
        }
    }

    fn check_target(
        &self,
        target: &Target<'_>,
        column: &'static str,
        expected: usize,
    ) -> Outcome<()> {
        match target.rows() {
            Some(rows) if rows.count != expected => {
                let found = rows.count;
                Err(sealift::BatchError::Count { column, found, expected }.into())
            }
            _ => Ok(()),
        }
    }

    fn check_overlap(
        &self,
        text: &Target<'_>,
        tags: &Target<'_>,
        in_place: bool,
    ) -> Outcome<Apart> {
        if text.rows().is_none() && tags.rows().is_none() {
            return Ok(Apart { interleaved: false });
        }
        let outputs: Vec<_> = [("out", text.rows()), ("tags", tags.rows())]
            .into_iter()
            .filter_map(|(name, rows)| Some((name, rows?)))
            .collect();
        let Inputs { keys, nonces, texts, aad, tags } = self.inputs;
        let mut inputs = vec![("nonces", nonces), ("aad", aad), ("tags", tags)];
        if let GivenKeys::Raw(column) = keys {
            inputs.push(("keys", column));
        }
        if !in_place {
            inputs.push(("texts", texts));
        }
        overlap::check(&outputs, &inputs)
    }
}

/// Most batches of few messages are of one.
pub(crate) type Statuses = SmallVec<[Status; 8]>;

/// A batch that was worked.
pub(crate) struct Done {
    pub(crate) status: Statuses,
    pub(crate) report: Report,
}

impl Done {
    /// Raises what did not open; `hint` is said where nothing did.
    pub(crate) fn raise_failures(&self, hint: &'static str) -> Outcome<()> {
        let failed = |(_, status): &(usize, &Status)| **status != Status::Ok;
        let indices: Vec<_> =
            self.status.iter().enumerate().filter(failed).map(|(i, _)| i).collect();
        if indices.is_empty() {
            return Ok(());
        }
        let messages = self.status.len();
        let hint = if indices.len() == messages { hint } else { "" };
        Err(Failure::InvalidTag { indices, messages, hint })
    }

    /// A list of bytes, with None for messages that did not open.
    fn list(&self, py: Python<'_>, text: Target<'_>) -> Outcome<Py<PyAny>> {
        let Target::Objects(objects) = text else {
            return Err(Failure::Input("a list of results has no other place".into()));
        };
        let items = objects.into_objects().zip(&self.status);
        let items = items.map(|(bytes, status)| (*status == Status::Ok).then_some(bytes));
        Ok(PyList::new(py, items)?.into_any().unbind())
    }

    fn columns<'py>(
        &self,
        py: Python<'py>,
        engine: &Engine,
        text: Target<'py>,
        tags: Target<'py>,
        nonces: Option<MadeNonces>,
    ) -> Outcome<Py<PyAny>> {
        let text = text.into_object(py)?.unwrap_or_else(|| py.None());
        self.result(py, engine, text, tags.into_object(py)?, nonces)
    }

    pub(crate) fn result(
        &self,
        py: Python<'_>,
        engine: &Engine,
        text: Py<PyAny>,
        tags: Option<Py<PyAny>>,
        nonces: Option<MadeNonces>,
    ) -> Outcome<Py<PyAny>> {
        let device = self.report.device;
        let name = engine.devices().find(|(id, _)| *id == device);
        let timing = self.report.timing;
        let result = BatchResult {
            text,
            tags,
            nonces: nonces.map(|nonces| Py::new(py, nonces.into_column())).transpose()?,
            status: codes(py, &self.status)?,
            device: name.map(|(_, capabilities)| capabilities.name.clone()).unwrap_or_default(),
            seconds: timing.end_ns.saturating_sub(timing.start_ns) as f64 / 1e9,
        };
        Ok(Py::new(py, result)?.into_any())
    }
}

/// Statuses as Python has them.
fn codes(py: Python<'_>, statuses: &[Status]) -> PyResult<Py<PyBytes>> {
    let codes = PyBytes::new_with(py, statuses.len(), |bytes| {
        let codes = statuses.iter().map(|status| match status {
            Status::Ok => 0,
            Status::AuthFailed => 1,
            Status::NotProcessed => 2,
            Status::Wiped => 3,
        });
        bytes.iter_mut().zip(codes).for_each(|(byte, code)| *byte = code);
        Ok(())
    });
    codes.map(Bound::unbind)
}

/// What a signal raised in a batch, with what became of the messages.
fn interrupted(py: Python<'_>, interrupt: Option<PyErr>, statuses: &[Status]) -> PyErr {
    let error = interrupt.unwrap_or_else(|| PyKeyboardInterrupt::new_err(()));
    let is_done = |status: &&Status| matches!(status, Status::Ok | Status::AuthFailed);
    let done = statuses.iter().filter(is_done).count();
    let note = format!(
        "sealift: {done} of {} messages were worked; `status` of this exception has 0 or 1 for them, 2 for those not begun and 3 for long ones that were wiped half-way",
        statuses.len()
    );
    let value = error.value(py);
    // An exception that takes neither is still the one to raise.
    let _ = codes(py, statuses).and_then(|codes| value.setattr("status", codes));
    let _ = value.call_method1("add_note", (note,));
    error
}

/// Nonces that were counted or drawn for a batch.
#[derive(Clone)]
pub(crate) struct MadeNonces {
    bytes: Vec<u8>,
    /// Bytes of each.
    width: usize,
}

impl MadeNonces {
    fn into_column(self) -> Column {
        Column::of_rows(self.bytes, self.width)
    }
}

/// The same failure with the nonces that were made for the batch: what was sealed in place opens only with them.
fn with_nonces(py: Python<'_>, failure: Failure, nonces: Option<&MadeNonces>) -> Failure {
    let Some(nonces) = nonces else { return failure };
    let error = PyErr::from(failure);
    let column = Py::new(py, nonces.clone().into_column());
    // An exception that takes no attribute is still the one to raise.
    let _ = column.and_then(|column| error.value(py).setattr("nonces", column));
    error.into()
}

impl Manner {
    pub(crate) fn new(options: Options, tag_length: i64, nonce_rule: NonceRule) -> Outcome<Self> {
        let bytes = crate::forms::at_least(0, tag_length, "tag_length")?;
        Ok(Self { options, nonce_rule, tag_length: TagLength::new(bytes)? })
    }

    /// The rule of a batch: where no nonces were given they are counted, and under XAES-256-GCM drawn.
    pub(crate) fn nonce_rule_for(&self, algorithm: Algorithm) -> NonceRule {
        match (algorithm, self.nonce_rule) {
            (Algorithm::Xaes256Gcm, NonceRule::Counted) => NonceRule::Standard,
            (_, rule) => rule,
        }
    }
}

/// Whether every device that may get a batch works a short one at once.
pub(crate) fn works_at_once(engine: &Engine, manner: &Manner) -> bool {
    let mut devices = engine.devices().filter(|(id, device)| match manner.options.on {
        Some(named) => named == *id,
        None => device.role == Role::Real,
    });
    devices.all(|(_, device)| {
        device.role == Role::Real && device.works_on.is_cores() && device.prepares.is_zero()
    })
}

/// Refuses more messages than a batch takes.
pub(crate) fn check_messages(count: usize, texts: &str) -> Outcome<()> {
    if count <= MESSAGES_MAX {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "{texts} has {count} messages: a batch takes at most {MESSAGES_MAX}, split it"
    )))
}

/// As many as one key may seal (SP 800-38D section 8.3). Rows without bytes take no memory, so that
/// nothing else bounds their number.
const MESSAGES_MAX: usize = u32::MAX as usize;
/// So many messages are worked within a microsecond or two.
const FEW: usize = 16;
const TAGS_APART: &str = "; if their tags are in a column of their own, give it as tags=";
