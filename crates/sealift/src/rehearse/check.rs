//! What can be rehearsed.

use super::{OpenLoad, Player, RehearsalError};
use sealift_core::MAX_TEXT_BYTES;
use sealift_engine::Settings;

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
    players.iter().try_for_each(player)
}

/// Refuses what would not fit memory.
pub(super) fn room(
    players: &[Player],
    load: &OpenLoad,
    settings: &Settings,
) -> Result<(), RehearsalError> {
    let slots = players.iter().map(Player::slots).fold(0, usize::saturating_add);
    if slots == 0 {
        return Err(RehearsalError::Nobody);
    }
    let &OpenLoad { messages, message_bytes, batches, .. } = load;
    let in_flight = (slots.min(settings.in_flight_max) as u64).min(batches);
    let message = COPIES.saturating_mul(message_bytes).saturating_add(MESSAGE_EXTRA_BYTES);
    let held = in_flight.saturating_mul(messages as u64).saturating_mul(message);
    if held > HELD_BYTES_MAX {
        return Err(RehearsalError::TooMuch { in_flight, messages, message_bytes });
    }
    Ok(())
}

fn player(player: &Player) -> Result<(), RehearsalError> {
    let Player::Machine { name, workers, .. } = player else { return Ok(()) };
    if name.trim().is_empty() {
        return Err(wrong("a device's name", format!("{name:?}"), "a name".to_owned()));
    }
    whole("workers", *workers as u64, 1, WORKERS_MAX)
}

fn whole(what: &'static str, value: u64, least: u64, most: u64) -> Result<(), RehearsalError> {
    let right = || format!("a whole number from {least} to {most}");
    if (least..=most).contains(&value) { Ok(()) } else { Err(wrong(what, value, right())) }
}

fn wrong(what: &'static str, value: impl ToString, right: String) -> RehearsalError {
    RehearsalError::Number { what, value: value.to_string(), right }
}

/// A day from one batch to the next, and more than any link carries.
const BATCHES_PER_S: (f64, f64) = (1e-5, 1e12);
const MESSAGES_MAX: u64 = 1 << 24;
const BATCHES_MAX: u64 = 10_000_000;
const WORKERS_MAX: u64 = 1 << 16;

/// Texts, results and what they should be.
const COPIES: u64 = 4;
/// Nonce, tags, offsets.
const MESSAGE_EXTRA_BYTES: u64 = 256;
pub(super) const HELD_BYTES_MAX: u64 = 2 << 30;
