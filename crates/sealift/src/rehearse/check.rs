//! What can be rehearsed.

use super::{OpenLoad, Player, RehearsalError};
use sealift_core::MAX_TEXT_BYTES;

/// Refuses numbers out of range.
pub(super) fn numbers(players: &[Player], load: &OpenLoad) -> Result<(), RehearsalError> {
    let (least, most) = BATCHES_PER_S;
    if !(least..=most).contains(&load.batches_per_s) {
        let right = format!("a number from {least} to {most}");
        return Err(wrong("batches_per_s", load.batches_per_s, right));
    }
    whole("messages", load.messages as u64, 1, MESSAGES_MAX)?;
    whole("message_bytes", load.message_bytes, 0, MAX_TEXT_BYTES)?;
    whole("batches", load.batches, 1, BATCHES_MAX)?;
    let span_s = load.batches as f64 / load.batches_per_s;
    if span_s > SPAN_S_MAX {
        let right = format!("fewer batches or more a second, for at most {SPAN_S_MAX} s");
        return Err(wrong("batches / batches_per_s", format!("{span_s:.0} s"), right));
    }
    players.iter().try_for_each(player)
}

/// How many batches may be in flight: as many as all devices hold.
///
/// # Errors
/// They would not fit memory, or there is no device.
pub(super) fn in_flight_max(players: &[Player], load: &OpenLoad) -> Result<usize, RehearsalError> {
    let slots = players.iter().map(Player::slots).fold(0, usize::saturating_add);
    if slots == 0 {
        return Err(RehearsalError::Nobody);
    }
    let &OpenLoad { messages, message_bytes, batches, .. } = load;
    let in_flight = (slots as u64).min(batches);
    let message = COPIES.saturating_mul(message_bytes).saturating_add(MESSAGE_EXTRA_BYTES);
    let flying = in_flight.saturating_mul(messages as u64).saturating_mul(message);
    if flying.saturating_add(batches * WAITING_BYTES) > HELD_BYTES_MAX {
        return Err(RehearsalError::TooMuch { batches, in_flight, messages, message_bytes });
    }
    Ok(slots)
}

fn player(player: &Player) -> Result<(), RehearsalError> {
    let Player::Machine { name, workers, .. } = player else { return Ok(()) };
    if name.trim().is_empty() {
        return Err(wrong("a device's name", format!("{name:?}"), "a name".to_owned()));
    }
    whole("workers", *workers as u64, 1, WORKERS_MAX)
}

pub(super) fn whole(
    what: &'static str,
    value: u64,
    least: u64,
    most: u64,
) -> Result<(), RehearsalError> {
    let right = || format!("a whole number from {least} to {most}");
    if (least..=most).contains(&value) { Ok(()) } else { Err(wrong(what, value, right())) }
}

fn wrong(what: &'static str, value: impl ToString, right: String) -> RehearsalError {
    RehearsalError::Number { what, value: value.to_string(), right }
}

/// A day from one batch to the next, and one each nanosecond.
const BATCHES_PER_S: (f64, f64) = (1e-5, 1e9);
/// Eleven days: nanoseconds are counted in whole numbers, and sums of them in floating point.
const SPAN_S_MAX: f64 = 1e6;
const MESSAGES_MAX: u64 = 1 << 24;
const BATCHES_MAX: u64 = 10_000_000;
const WORKERS_MAX: u64 = 1 << 16;

/// Texts, results and what they should be.
const COPIES: u64 = 4;
/// Nonce, tags, offsets.
const MESSAGE_EXTRA_BYTES: u64 = 256;
/// Of a batch that waits outside, and of its response time.
const WAITING_BYTES: u64 = 128;
pub(super) const HELD_BYTES_MAX: u64 = 2 << 30;
