//! What an engine has done, as values.

use crate::info::origin;
use pyo3::prelude::*;
use sealift::End;

/// One attempt at a batch that is over. Times are nanoseconds on the engine's clock.
#[pyclass(frozen, get_all, module = "sealift")]
pub(crate) struct Record {
    /// The device that worked it.
    device: String,
    /// What came of it: "done", "failed", "abandoned" (no answer in time) or "wrong" (its results
    /// did not open elsewhere).
    end: &'static str,
    /// Which attempt at the batch, from 0: a batch that a device fails goes to another one.
    attempt: u32,
    /// Messages in it.
    messages: usize,
    /// Bytes of its texts.
    text_bytes: u64,
    /// Messages that did not open.
    auth_failed: usize,
    /// Why this device.
    because: String,
    /// What it was predicted to take, in nanoseconds.
    predicted_ns: f64,
    /// Who was asked, and what each was predicted to take; the first 8 of a larger number.
    quotes: Vec<(String, f64)>,
    /// When it came to the engine.
    arrived_ns: u64,
    /// When the device began.
    start_ns: u64,
    /// When the results were there.
    end_ns: u64,
    /// Moving inputs to the device; 0 where it reads the caller's memory.
    copy_in_ns: u64,
    /// Computing.
    compute_ns: u64,
    /// Moving results back.
    copy_out_ns: u64,
    /// Whose nanoseconds these are: "measured", "simulated" or "projected".
    origin: &'static str,
    /// Copying to and from a simulated device on this machine: measured; 0 where all of it is.
    measured_copy_ns: u64,
}

#[pymethods]
impl Record {
    fn __repr__(&self) -> String {
        let Self { device, end, messages, text_bytes, .. } = self;
        let spent_ns = self.end_ns.saturating_sub(self.start_ns);
        format!("Record({device:?}, {end}, {messages} messages, {text_bytes} bytes, {spent_ns} ns)")
    }
}

impl Record {
    pub(crate) fn new(record: &sealift::Record, devices: &[String]) -> Self {
        let (timing, decision) = (record.timing, &record.decision);
        let name = |id: sealift::DeviceId| devices.get(id.index()).cloned().unwrap_or_default();
        Self {
            device: name(record.device),
            end: match record.end {
                End::Done => "done",
                End::Failed => "failed",
                End::Abandoned => "abandoned",
                End::Wrong => "wrong",
            },
            attempt: record.attempt,
            messages: record.messages,
            text_bytes: record.text_bytes,
            auth_failed: record.auth_failed,
            because: decision.because.to_string(),
            predicted_ns: decision.predicted_ns,
            quotes: decision.quotes().map(|(id, ns)| (name(id), ns)).collect(),
            arrived_ns: record.arrived_ns,
            start_ns: timing.start_ns,
            end_ns: timing.end_ns,
            copy_in_ns: timing.copy_in_ns,
            compute_ns: timing.compute_ns,
            copy_out_ns: timing.copy_out_ns,
            origin: origin(timing.origin),
            measured_copy_ns: timing.measured_copy_ns,
        }
    }
}

/// What a device has done so far.
#[pyclass(frozen, get_all, module = "sealift")]
pub(crate) struct Counters {
    /// Batches finished.
    batches: u64,
    /// Messages in them.
    messages: u64,
    /// Bytes of their texts.
    text_bytes: u64,
    /// Messages that did not open.
    auth_failed: u64,
    /// Batches that the device failed.
    failed: u64,
    /// Batches that were given up because it did not answer in time.
    abandoned: u64,
    /// Batches whose results did not open elsewhere.
    wrong: u64,
    /// Abandoned batches that it gave results for after all; they were wiped.
    late: u64,
    /// Nanoseconds between start and end of all finished batches.
    busy_ns: u64,
}

#[pymethods]
impl Counters {
    fn __repr__(&self) -> String {
        let Self { batches, messages, text_bytes, .. } = self;
        format!("Counters({batches} batches, {messages} messages, {text_bytes} bytes)")
    }
}

impl Counters {
    pub(crate) fn new(counters: sealift::Counters) -> Self {
        Self {
            batches: counters.batches,
            messages: counters.messages,
            text_bytes: counters.text_bytes,
            auth_failed: counters.auth_failed,
            failed: counters.failed,
            abandoned: counters.abandoned,
            wrong: counters.wrong,
            late: counters.late,
            busy_ns: counters.busy_ns,
        }
    }
}
