//! Batches in this machine's memory, by way of an engine and the device's driver, and back.

use crate::arm::{Arm, Batches, Engined, Worker};
use crate::device::Device;
use crate::gcm::judged;
use crate::limits::{Limit, Limited, by_copies};
use crate::measure::{Measuring, Row};
use crate::plan::{Cell, Experiment, Plot, cell, number, text};
use crate::trouble::Trouble;
use sealift_probes::Regime;

/// A group for each size, with all regimes of keys.
pub(crate) fn experiment(device: &Device) -> Experiment {
    let group = |bytes: u64| {
        let cell = |keys: &str| cell(AXES, [device.label().into(), bytes.into(), keys.into()]);
        // Fewer messages than sessions would leave sessions without one.
        let has_sessions = bytes * SESSIONS <= SMALL_BATCH_BYTES;
        let keys = KEYS.iter().map(|(keys, _)| *keys);
        keys.filter(|keys| has_sessions || *keys != IN_SESSIONS).map(cell).collect()
    };
    Experiment {
        name: NAME,
        id: "",
        of_the_lab: false,
        title: "AES-GCM from host memory and back",
        why: "What is left of a GPU when messages come from this machine's memory and go back there?",
        operation: "message",
        axes: AXES,
        compare: "keys",
        plot: Some(Plot::by(["message_bytes", "payload_MB_per_s", "keys"])),
        groups: SIZES.into_iter().map(group).collect(),
    }
}

/// Measures them; what failed.
///
/// # Errors
/// The folder takes nothing, or can't be read.
pub(crate) fn work(device: &Device, measuring: &Measuring<'_>) -> Result<Vec<String>, String> {
    let is_real = device.is_real();
    let limit = if is_real { by_copies(measuring.folder, &device.label())? } else { None };
    let make =
        |cell: &Cell| Ok(Box::new(Limited { arm: arm(device, cell)?, limit }) as Box<dyn Arm>);
    measuring.all(NAME, &device.label(), make, |row| said(row, is_real, limit))
}

fn arm(device: &Device, cell: &Cell) -> Result<Box<dyn Arm>, Trouble> {
    if let Some(untimed) = device.untimed() {
        return Err(Trouble::Skip(untimed.to_owned()));
    }
    let (bytes, keys) = (number(cell, "message_bytes"), text(cell, "keys"));
    let regime = KEYS.iter().find(|(name, _)| *name == keys).map(|(_, regime)| *regime);
    let regime = regime.ok_or_else(|| Trouble::Failed(format!("no keys {keys}")))?;
    let all = if device.is_real() { BATCH_BYTES } else { SMALL_BATCH_BYTES };
    let messages = usize::try_from(all / bytes.max(1)).unwrap_or(1).clamp(1, MESSAGES_MAX);
    let batches =
        Batches { messages, text_bytes: bytes, keys: regime, batch: messages, threads: 1 };
    Ok(Box::new(Engined::new(&device.spec, Worker::Device, &batches)?))
}

fn said(row: &Row, is_real: bool, limit: Option<Limit>) -> String {
    let what = format!("{} B, {}", number(&row.cell, "message_bytes"), text(&row.cell, "keys"));
    let Some(rate) = row.gb_per_s() else { return format!("{what}: {}", row.why()) };
    let beside = limit.map_or_else(String::new, |limit| format!(", {}", limit.beside(rate)));
    let judged = if is_real { format!(" ({})", judged(rate, GOALS)) } else { String::new() };
    format!("{what}: {rate:.2} GB/s{beside}{judged}")
}

const NAME: &str = "gpu-host-to-host";
const AXES: &[(&str, &str)] =
    &[("device", "device"), ("message_bytes", "message, bytes"), ("keys", "keys")];
const KEYS: [(&str, Regime); 3] =
    [("one key", Regime::One), (IN_SESSIONS, Regime::Sessions(1_024)), ("own keys", Regime::Fresh)];
const SIZES: [u64; 3] = [128, 16 << 10, 1 << 20];
const SESSIONS: u64 = 1_024;
const IN_SESSIONS: &str = "1,024 sessions";
const BATCH_BYTES: u64 = 64 << 20;
const SMALL_BATCH_BYTES: u64 = 128 << 10;
const MESSAGES_MAX: usize = 1 << 19;
/// 10^9 bytes a second, for whatever there and back.
const GOALS: [f64; 2] = [40.0, 48.0];
