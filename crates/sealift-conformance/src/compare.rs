//! Has a device work a group in a form and compares every byte with the truth.

use crate::arranged::Arranged;
use crate::form::Form;
use crate::message::{Group, Hex, Message, Truth, parts};
use sealift_core::{BatchError, Device, LimitError, OwnedOutput, Status, Timing};
use std::collections::BTreeMap;
use std::fmt;

/// What became of a group that met no fault.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// Every byte was right.
    Passed,
    /// Nobody takes such a batch, or this device's capabilities say that it doesn't.
    Refused(String),
}

/// Works a group and compares.
///
/// # Errors
/// The first fault: a wrong byte or status, a byte written outside, a refusal that the capabilities
/// don't announce, a batch worked that they say is refused.
pub(crate) fn conform(device: &dyn Device, group: &Group, form: Form) -> Result<Attempt, String> {
    let mut arranged = Arranged::new(group, form);
    let fault = |what| format!("{}: {what}, in {form:?}", device.capabilities().name);
    let ran = arranged.with_work(|work| {
        let limit = device.capabilities().accept(work.shape());
        (limit.err(), device.run(work))
    });
    match ran {
        Err(error @ (BatchError::NonceLength { .. } | BatchError::AlgorithmNonceLength { .. })) => {
            Ok(Attempt::Refused(no_batch(&error)))
        }
        Err(error) => Err(fault(format!("the suite made a batch that is none: {error}"))),
        Ok((Some(limit), Ok(_))) => Err(fault(format!("worked although it says: {limit}"))),
        Ok((Some(limit), Err(_))) => Ok(Attempt::Refused(limit_name(&limit))),
        Ok((None, Err(error))) => Err(fault(format!("refused without saying so before: {error}"))),
        Ok((None, Ok(timing))) => {
            check_timing(&timing).map_err(fault)?;
            check(group, |message| arranged.result(message)).map_err(fault)?;
            arranged.find_damage().map_or(Ok(Attempt::Passed), |damage| Err(fault(damage)))
        }
    }
}

/// The same for groups that the device has to take, in as many batches as it needs.
pub(crate) fn must_conform(device: &dyn Device, group: &Group, form: Form) -> Result<(), String> {
    let messages_max = device.capabilities().messages_max;
    if group.messages.len() > messages_max {
        let mut parts = parts(group, messages_max);
        return parts.try_for_each(|part| must_conform(device, &part, form));
    }
    match conform(device, group, form)? {
        Attempt::Passed => Ok(()),
        Attempt::Refused(limit) => {
            Err(format!("{}: refused ({limit}), in {form:?}", device.capabilities().name))
        }
    }
}

/// Compares the results of a submitted batch.
pub(crate) fn check_owned(group: &Group, output: &OwnedOutput) -> Result<(), String> {
    let has_tags = !output.tags().is_empty();
    check(group, |message| {
        let truth = &group.truths[message];
        let text = output.text_of(message);
        let (text, behind) = text.split_at(truth.text.len().min(text.len()));
        let tag = if has_tags && !truth.tag.is_empty() { output.tag_of(message) } else { behind };
        (output.status()[message], text, tag)
    })
}

/// Has a trusted device say what sealing gives.
pub(crate) fn seal_truths(oracle: &dyn Device, group: &mut Group) -> Result<(), String> {
    let mut arranged = Arranged::new(group, Form::PLAIN);
    let ran = arranged.with_work(|work| oracle.run(work)).map_err(|error| error.to_string())?;
    ran.map_err(|error| format!("the oracle: {error}"))?;
    let truth = |message| match arranged.result(message) {
        (Status::Ok, text, tag) => Ok(Truth::sealed(text, tag)),
        (status, ..) => Err(format!("the oracle left message {message} {status:?}")),
    };
    let truths = (0..group.messages.len()).map(truth).collect::<Result<_, _>>()?;
    group.truths = truths;
    Ok(())
}

/// Counts what passed and what was refused, by limit.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    refused: BTreeMap<String, usize>,
}

impl Tally {
    pub(crate) fn add(&mut self, attempt: Attempt, messages: usize) {
        match attempt {
            Attempt::Passed => self.passed += messages,
            Attempt::Refused(limit) => *self.refused.entry(limit).or_default() += messages,
        }
    }

    pub(crate) fn total(&self) -> usize {
        self.passed + self.refused.values().sum::<usize>()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} passed", grouped(self.total()), grouped(self.passed))?;
        let mut refused = self.refused.iter();
        refused.try_for_each(|(limit, count)| write!(f, ", {} refused: {limit}", grouped(*count)))
    }
}

/// 1234567 as 1,234,567.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let comma = |i: usize| if i > 0 && (digits.len() - i).is_multiple_of(3) { "," } else { "" };
    digits.chars().enumerate().map(|(i, digit)| format!("{}{digit}", comma(i))).collect()
}

fn check<'r>(
    group: &Group,
    result: impl Fn(usize) -> (Status, &'r [u8], &'r [u8]),
) -> Result<(), String> {
    for (i, (message, truth)) in group.messages.iter().zip(&group.truths).enumerate() {
        let (status, text, tag) = result(i);
        if status != truth.status || text != truth.text || tag != truth.tag {
            let count = group.messages.len();
            let found = Truth { status, text: text.to_vec(), tag: tag.to_vec() };
            return Err(format!(
                "message {i} of {count} ({}): {}",
                describe(group, message),
                difference(&found, truth)
            ));
        }
    }
    Ok(())
}

fn describe(group: &Group, message: &Message) -> String {
    let (algorithm, key) = (group.ring.algorithm(), group.ring.key_bytes(message.key));
    let Message { op, nonce, aad, text, .. } = message;
    let lengths = [key.len(), nonce.len(), aad.len(), text.len(), group.tag_length.bytes()];
    let [key, nonce_len, aad, text, tag] = lengths;
    let nonce = Hex(nonce);
    format!(
        "{op:?} by {algorithm}, key {key} B, nonce {nonce} of {nonce_len}, aad {aad} B, text {text} B, tag {tag} B"
    )
}

fn difference(found: &Truth, truth: &Truth) -> String {
    let at = found.text.iter().zip(&truth.text).position(|(one, other)| one != other);
    let at = at.map_or(String::new(), |at| format!(" (texts differ from byte {at})"));
    format!("found {found:?}, right is {truth:?}{at}")
}

fn check_timing(timing: &Timing) -> Result<(), String> {
    let Timing { start_ns, end_ns, copy_in_ns, compute_ns, copy_out_ns, .. } = *timing;
    let parts = copy_in_ns + compute_ns + copy_out_ns;
    if end_ns >= start_ns && parts <= end_ns - start_ns {
        return Ok(());
    }
    Err(format!("its timing does not add up: {timing:?}"))
}

fn no_batch(error: &BatchError) -> String {
    match error {
        BatchError::NonceLength { bytes, .. } | BatchError::AlgorithmNonceLength { bytes, .. } => {
            format!("no batch has nonces of {bytes} B")
        }
        other => other.to_string(),
    }
}

fn limit_name(limit: &LimitError) -> String {
    match limit {
        LimitError::Algorithm { algorithm, .. } => format!("does not compute {algorithm}"),
        LimitError::Messages { limit, .. } => format!("takes {limit} messages a batch"),
        LimitError::TextBytes { limit, .. } => format!("takes texts of {limit} B"),
        LimitError::AadBytes { limit, .. } => format!("takes aads of {limit} B"),
        LimitError::NonceLength { bytes, .. } => format!("takes no nonces of {bytes} B"),
        LimitError::TagLength { bytes, .. } => format!("takes no tags of {bytes} B"),
        LimitError::InPlace { .. } => "does not work in place".to_owned(),
        other => other.to_string(),
    }
}
