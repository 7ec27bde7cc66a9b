//! What a pool of devices would do, some or all of which are not here.

use crate::errors::{Failure, Outcome, type_name, wrong_type};
use crate::gil::{self, Signals};
use crate::lab::cards::{Card, within};
use crate::schedule::Cost;
use pyo3::prelude::*;
use sealift::{OpenLoad, Player, RehearsalError};

/// Works an open load on modelled devices in virtual time, with the engine's own scheduler.
///
/// Batches come at random moments (Poisson), however many are still in flight. Messages are true:
/// each is sealed on its device and compared, which takes most of the time of this call. It looks
/// for Ctrl-C ten times a second.
///
/// Hosts are not shared: each card hands over as if a processor of this machine were there for it
/// alone, beside those of the machine's own devices, and each has a bus of its own. So a pool does
/// no better than this says, and worse where `host_utilisation` comes near the processors there
/// are.
///
/// Args:
///     devices: Cards, and this machine's processors as (name, cost of a batch on one worker,
///         workers); the cost is one of `Engine.costs()`, the time its work takes is the host's.
///     batches_per_s: How many come a second in the mean, from 0.00001 to 10**9.
///     messages: Messages of each, 1 to 2**24.
///     message_bytes: Bytes of each text.
///     batches: How many in all, 1 to 10**7, which may come for 10**6 seconds.
///     policy: Who chooses a device for each, as in `Engine`.
///     seed: Where moments, keys and texts are drawn from, 0 to 2**64 - 1.
///
/// Raises:
///     TypeError: If a device is neither a `Card` nor such a tuple.
///     InputError: If a number is out of range, there is no device or no such policy, or as many
///         batches as devices hold take more than 2 GiB, or two cards of one name differ.
///     DeviceError: If two devices have one name.
#[pyfunction]
#[pyo3(signature = (devices, *, batches_per_s, messages, message_bytes, batches = 20_000, policy = "earliest-finish", seed = 0))]
#[expect(clippy::too_many_arguments, reason = "by name in Python")]
pub(crate) fn rehearse(
    py: Python<'_>,
    devices: Vec<Bound<'_, PyAny>>,
    batches_per_s: f64,
    messages: i128,
    message_bytes: i128,
    batches: i128,
    policy: &str,
    seed: i128,
) -> Outcome<Rehearsal> {
    let players = devices.iter().map(player).collect::<Outcome<Vec<_>>>()?;
    let load = OpenLoad {
        batches_per_s,
        messages: size("messages", messages)?,
        message_bytes: natural("message_bytes", message_bytes)?,
        batches: natural("batches", batches)?,
        policy: policy.to_owned(),
        seed: natural("seed", seed)?,
    };
    let mut interrupt = None;
    let found = gil::leave(py, || {
        let mut signals = Signals::default();
        sealift::rehearse(&players, &load, &mut || {
            interrupt = signals.look();
            interrupt.is_none()
        })
    });
    match interrupt {
        Some(interrupt) => Err(interrupt.into()),
        None => found.map(Rehearsal::new).map_err(failure),
    }
}

/// What became of a load. Nothing of it was measured: the origin of its times is "simulated".
#[pyclass(frozen, get_all, module = "sealift")]
pub(crate) struct Rehearsal {
    /// Batches that came back.
    batches: u64,
    /// Batches that were handed back, once or more often, because every device was full.
    refused: u64,
    /// Batches that did not come back, or without results.
    lost: u64,
    /// From sending to taking back, waiting for a slot included.
    response_ns_mean: f64,
    /// What 99 of 100 batches stay within.
    response_ns_p99: f64,
    /// From the start to the end of the last batch.
    span_ns: u64,
    /// Processors of this machine that were busy for all devices, in the mean over the span.
    host_utilisation: f64,
    /// The devices, in their order.
    devices: Vec<Rehearsed>,
}

#[pymethods]
impl Rehearsal {
    fn __repr__(&self) -> String {
        let Self { batches, response_ns_mean, response_ns_p99, .. } = self;
        format!(
            "Rehearsal({batches} batches, {response_ns_mean:.0} ns, p99 {response_ns_p99:.0} ns)"
        )
    }
}

impl Rehearsal {
    fn new(found: sealift::Rehearsal) -> Self {
        let rehearsed = |device: sealift::Rehearsed| {
            let sealift::Rehearsed { name, batches, utilisation, host_utilisation } = device;
            Rehearsed { name, batches, utilisation, host_utilisation }
        };
        Self {
            batches: found.batches,
            refused: found.refused,
            lost: found.lost,
            response_ns_mean: found.response_ns_mean,
            response_ns_p99: found.response_ns_p99,
            span_ns: found.span_ns,
            host_utilisation: found.host_utilisation,
            devices: found.devices.into_iter().map(rehearsed).collect(),
        }
    }
}

/// What a device had to do in a rehearsal.
#[pyclass(frozen, get_all, module = "sealift")]
#[derive(Clone)]
pub(crate) struct Rehearsed {
    /// Its name; of a second card of one kind with ",number=2" behind it.
    name: String,
    /// Batches and parts of batches that it worked.
    batches: u64,
    /// Share of the time that its workers were busy; of a card, share of the batches that it could
    /// have worked at its best.
    utilisation: f64,
    /// Processors of this machine that were busy for it, in the mean over the span.
    host_utilisation: f64,
}

#[pymethods]
impl Rehearsed {
    fn __repr__(&self) -> String {
        let Self { name, batches, utilisation, .. } = self;
        format!("Rehearsed({name:?}, {batches} batches, {:.1} % busy)", 100.0 * utilisation)
    }
}

fn player(device: &Bound<'_, PyAny>) -> Outcome<Player> {
    if let Ok(card) = device.cast::<Card>() {
        return Ok(Player::Card(Box::new(card.get().0.clone())));
    }
    let Ok((name, cost, workers)) = device.extract::<(String, PyRef<'_, Cost>, i128)>() else {
        return Err(wrong_type(format!(
            "a device is {}: give a Card, or a tuple of name (str), Cost and workers (int)",
            type_name(device)
        ))
        .into());
    };
    Ok(Player::Machine { name, cost: cost.native(), workers: size("workers", workers)? })
}

pub(crate) fn failure(error: RehearsalError) -> Failure {
    match error {
        RehearsalError::Engine(error) => error.into(),
        RehearsalError::Open(error) => sealift::EngineError::from(error).into(),
        error => Failure::Input(error.to_string()),
    }
}

fn natural(name: &str, value: i128) -> Outcome<u64> {
    within(name, value, 0, u64::MAX)
}

fn size(name: &str, value: i128) -> Outcome<usize> {
    let value = natural(name, value)?;
    usize::try_from(value).map_err(|_| Failure::Input(format!("{name} is {value}: give less")))
}
