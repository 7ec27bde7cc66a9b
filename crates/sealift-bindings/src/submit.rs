//! Batches in flight.

use crate::batch::{Done, Inputs, MadeNonces, Manner, OnError};
use crate::column::Given;
use crate::errors::{Failure, Outcome};
use crate::ffi::{Column, let_go};
use crate::gil;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sealift::{
    Batch, Completed, Engine, EngineError, Op, Ops, Options, OwnedOutput, Status, SubmitRefusal,
    Tags, Text, Ticket,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Gives batches to an engine and takes them back, for `sealift.futures`.
#[pyclass(frozen, module = "sealift._sealift")]
pub(crate) struct InFlight {
    engine: Engine,
}

/// A batch that may be given to an engine, and what is to become of its results.
#[pyclass(frozen, module = "sealift._sealift")]
pub(crate) struct Submission {
    // Only taken under the GIL and never while it is left.
    batch: Mutex<Option<Batch<'static>>>,
    options: Options,
    form: Form,
}

/// What results become.
struct Form {
    is_list: bool,
    on_error: OnError,
    hint: &'static str,
    nonces: Option<MadeNonces>,
}

/// A batch that an engine gave back.
#[pyclass(frozen, module = "sealift._sealift")]
pub(crate) struct Finished {
    // Only taken under the GIL.
    completed: Mutex<Option<Completed>>,
}

#[pymethods]
impl InFlight {
    /// Gives a batch to the engine: its ticket, or None when the engine is full.
    fn submit(&self, submission: &Submission) -> Outcome<Option<u64>> {
        let mut waiting = lock(&submission.batch);
        let Some(batch) = waiting.take() else {
            return Err(Failure::Input("a batch is submitted once".into()));
        };
        match self.engine.submit(batch, &submission.options) {
            Ok(Ticket(ticket)) => Ok(Some(ticket)),
            Err(back) => match back.reason {
                SubmitRefusal::Full { .. } => {
                    *waiting = Some(*back.batch);
                    Ok(None)
                }
                SubmitRefusal::Engine(error) => Err(error.into()),
                other => Err(Failure::Input(other.to_string())),
            },
        }
    }

    /// Takes all batches that are finished, by ticket; waits so many seconds for one.
    fn take(&self, py: Python<'_>, timeout_s: f64) -> Outcome<Vec<(u64, Finished)>> {
        let timeout = Duration::try_from_secs_f64(timeout_s).unwrap_or_default();
        let taken = gil::leave(py, || match timeout {
            // Nobody else has to be woken for what is not waited for.
            Duration::ZERO => std::iter::from_fn(|| self.engine.poll().transpose()).collect(),
            _ => self.engine.wait_many(1, Some(timeout)),
        });
        let finished = |completed: Completed| {
            (completed.ticket.0, Finished { completed: Mutex::new(Some(completed)) })
        };
        let_go(py);
        let taken: Result<Vec<_>, EngineError> = taken;
        Ok(taken?.into_iter().map(finished).collect())
    }

    /// A descriptor that is readable when `take` may have something.
    fn descriptor(&self) -> Outcome<i32> {
        use std::os::fd::AsRawFd;
        Ok(self.engine.event_fd()?.as_raw_fd())
    }

    /// What a submission asked for. Lets go of the batch's objects.
    fn result(
        &self,
        py: Python<'_>,
        submission: &Submission,
        finished: &Finished,
    ) -> Outcome<Py<PyAny>> {
        let Some(Completed { batch, outcome, .. }) = lock(&finished.completed).take() else {
            return Err(Failure::Input("a finished batch is taken once".into()));
        };
        let tag_bytes = batch.tag_length.bytes();
        gil::leave(py, || drop_last(batch));
        let_go(py);
        let (output, report) = outcome.map_err(EngineError::from)?;
        let Form { is_list, on_error, hint, nonces } = &submission.form;
        let done = Done { status: output.status().into(), report };
        if *on_error == OnError::Raise {
            done.raise_failures(hint)?;
        }
        let (text, tags) = match is_list {
            true => (list(py, &output)?, None),
            false => {
                let (bytes, layout) = output.text();
                let text = Column::new(bytes.to_vec(), layout.clone(), done.status.len());
                let tags = match output.tags() {
                    [] => None,
                    tags => {
                        Some(Py::new(py, Column::of_rows(tags.to_vec(), tag_bytes))?.into_any())
                    }
                };
                (Py::new(py, text)?.into_any(), tags)
            }
        };
        match *is_list && nonces.is_none() {
            true => Ok(text),
            false => done.result(py, &self.engine, text, tags, nonces.clone()),
        }
    }
}

/// A bytes object for each message, None for those that did not open.
fn list(py: Python<'_>, output: &OwnedOutput) -> PyResult<Py<PyAny>> {
    let bytes = |(message, status): (usize, &Status)| {
        (*status == Status::Ok).then(|| PyBytes::new(py, output.text_of(message)))
    };
    Ok(PyList::new(py, output.status().iter().enumerate().map(bytes))?.into_any().unbind())
}

/// Drops a batch when nobody else has it any more, or soon: its worker lets go right after it has told the result.
fn drop_last(batch: Arc<Batch<'static>>) {
    for _ in 0..LOOKS_MAX {
        if Arc::strong_count(&batch) == 1 {
            break;
        }
        thread::yield_now();
    }
    drop(batch);
}

/// Some milliseconds: a device that hangs may have it for ever.
const LOOKS_MAX: usize = 10_000;

impl InFlight {
    pub(crate) fn of(engine: &Engine) -> Self {
        Self { engine: engine.clone() }
    }
}

impl Submission {
    /// Reads a batch that outlives the call; its inputs are held until it is finished.
    pub(crate) fn new(
        engine: &Engine,
        op: Op,
        mut inputs: Inputs<'_>,
        manner: Manner,
        on_error: OnError,
    ) -> Outcome<Self> {
        let count = inputs.check_counts(if op == Op::Seal { "texts" } else { "sealed" })?;
        let is_list = matches!(inputs.texts, Given::Each(_));
        let nonces = inputs.count_nonces(engine, &manner, count)?;
        let appended = matches!(inputs.tags, Given::Empty) && (op == Op::Open || is_list);
        let hint = inputs.hint(appended);
        let (stability, algorithm) = (inputs.stability(), inputs.keys.algorithm(engine)?);
        let Inputs { keys, nonces: column, texts, aad, tags } = inputs;
        let tags = if appended { Tags::Appended } else { Tags::Apart(tags.outliving()) };
        let batch = Batch {
            algorithm,
            ops: Ops::All(op),
            aad: aad.outliving(),
            tags,
            tag_length: manner.tag_length,
            nonce_rule: manner.nonce_rule_for(algorithm),
            stability,
            ..Batch::seal(
                count,
                keys.outliving(),
                column.outliving(),
                Text::Apart(texts.outliving()),
            )
        };
        let form = Form { is_list, on_error, hint, nonces };
        Ok(Self { batch: Mutex::new(Some(batch)), options: manner.options, form })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
