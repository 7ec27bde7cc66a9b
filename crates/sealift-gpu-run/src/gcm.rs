//! AES-GCM over messages that lie in the GPU's memory, and what it was to reach.

use crate::arm::{Again, Arm, Resident};
use crate::device::Device;
use crate::limits::{Limit, Limited, Rates, Work};
use crate::measure::{Measuring, Row};
use crate::plan::{Cell, Experiment, Plot, cell, number, text};
use crate::trouble::Trouble;
use sealift_core::KeyLength;
use sealift_gpu::bench::{Bench, BenchSpec, Code, Mode, Shape};
use sealift_gpu::gpu::{About, Gpu};
use sealift_gpu::message::{MANY_BYTES, Operation};
use sealift_gpu::variant::Tables;
use std::sync::Arc;

/// What is done to which messages.
struct Kind {
    name: &'static str,
    operation: Operation,
    text_bytes: usize,
    own_keys: bool,
    /// 10^9 bytes a second that AES-128 with tables was to reach, and more than that.
    goals: [f64; 2],
}

/// A group for each kind and length of keys, with tables and without.
pub(crate) fn experiment(device: &Device) -> Experiment {
    // Each length is a program of its own, which compilers for processors take seconds for.
    let lengths = if device.is_real() { &KEY_BITS[..] } else { &KEY_BITS[..1] };
    let mut groups = vec![];
    for kind in KINDS {
        for bits in lengths {
            let cell = |tables: &str| {
                let (device, bytes) = (device.label().into(), kind.text_bytes.into());
                cell(AXES, [device, kind.name.into(), bytes, (*bits).into(), tables.into()])
            };
            groups.push(vec![cell(WITH_TABLES), cell(STRICT)]);
        }
    }
    Experiment {
        name: NAME,
        id: "",
        of_the_lab: false,
        title: "AES-GCM in a GPU's memory",
        why: "What does a GPU encrypt a second when messages lie in its memory, and what does it cost to look nothing up?",
        operation: "message",
        axes: AXES,
        compare: "s_box",
        plot: Some(Plot::by(["key_bits", "payload_MB_per_s", "work"])),
        groups,
    }
}

/// Measures them; what failed.
///
/// # Errors
/// The device is absent, or the folder takes nothing.
pub(crate) fn work(device: &Device, measuring: &Measuring<'_>) -> Result<Vec<String>, String> {
    let gpu = device.gpu()?;
    let rates = Rates::of(measuring.folder, &device.label())?;
    let limit = |cell: &Cell| limit(gpu.about(), cell, rates?);
    let is_real = device.is_real();
    let make = |cell: &Cell| {
        let limit = limit(cell);
        Ok(Box::new(Limited { arm: arm(&gpu, cell, is_real)?, limit }) as Box<dyn Arm>)
    };
    measuring.all(NAME, &device.label(), make, |row| said(row, is_real, limit(&row.cell)))
}

fn limit(about: &About, cell: &Cell, rates: Rates) -> Option<Limit> {
    let kind = kind(cell).ok()?;
    let work = match kind.operation {
        Operation::CounterMode => Work::CounterMode,
        _ if kind.text_bytes > MANY_BYTES => Work::Long,
        _ => Work::Messages,
    };
    let tables = match tables(about, cell) {
        Tables::FourForEachLane => 4,
        Tables::OneForEachLane => 1,
        Tables::None => 0,
        Tables::OneShared => return None,
    };
    work.limit(rates, about.capability, number(cell, "key_bits"), tables)
}

fn tables(about: &About, cell: &Cell) -> Tables {
    if text(cell, "s_box") == STRICT { Tables::None } else { Tables::best(about) }
}

fn arm(gpu: &Arc<dyn Gpu>, cell: &Cell, is_real: bool) -> Result<Box<dyn Arm>, Trouble> {
    let kind = kind(cell)?;
    let key = match number(cell, "key_bits") {
        128 => KeyLength::Aes128,
        192 => KeyLength::Aes192,
        _ => KeyLength::Aes256,
    };
    let tables = tables(gpu.about(), cell);
    let bytes = if is_real { BYTES } else { FEWER_BYTES };
    let spec = BenchSpec {
        code: Code::Ours(tables),
        mode: Mode::Partitioned,
        grid: None,
        shape: Shape {
            messages: (bytes / kind.text_bytes).max(2),
            text_bytes: kind.text_bytes,
            aad_bytes: 0,
            key,
            operation: kind.operation,
            own_keys: kind.own_keys,
        },
        seed: SEED,
    };
    Ok(Box::new(Again::new(Resident::new(Bench::new(gpu, &spec)?, gpu.about()))?))
}

fn kind(cell: &Cell) -> Result<&'static Kind, Trouble> {
    let (name, bytes) = (text(cell, "work"), number(cell, "message_bytes"));
    let found = KINDS.iter().find(|kind| kind.name == name && kind.text_bytes as u64 == bytes);
    found.ok_or_else(|| Trouble::Failed(format!("no work {name} of {bytes} B")))
}

/// A line for people, with what rates allow and with the goals, where there are some.
fn said(row: &Row, is_real: bool, limit: Option<Limit>) -> String {
    let cell = &row.cell;
    let what = format!(
        "{}, {} B, AES-{}, {}",
        text(cell, "work"),
        number(cell, "message_bytes"),
        number(cell, "key_bits"),
        text(cell, "s_box")
    );
    let Some(rate) = row.gb_per_s() else { return format!("{what}: {}", row.why()) };
    let has_goals = number(cell, "key_bits") == 128 && text(cell, "s_box") == WITH_TABLES;
    let goals = kind(cell).ok().filter(|_| is_real && has_goals).map(|kind| kind.goals);
    let beside = limit.map_or_else(String::new, |limit| format!(", {}", limit.beside(rate)));
    let judged = goals.map_or_else(String::new, |goals| format!(" ({})", judged(rate, goals)));
    format!("{what}: {rate:.1} GB/s{beside}{judged}")
}

/// Whether a rate reaches its goals.
pub(crate) fn judged(rate: f64, [goal, stretch]: [f64; 2]) -> String {
    let met = |goal| if rate >= goal { "met" } else { "missed" };
    format!("goal {goal:.0}: {}, stretch {stretch:.0}: {}", met(goal), met(stretch))
}

pub(crate) const NAME: &str = "gpu-messages";
const AXES: &[(&str, &str)] = &[
    ("device", "device"),
    ("work", "what is done"),
    ("message_bytes", "message, bytes"),
    ("key_bits", "key, bits"),
    ("s_box", "S-box"),
];
const WITH_TABLES: &str = "tables";
const STRICT: &str = "without tables";
const KEY_BITS: [usize; 3] = [128, 192, 256];
const KINDS: &[Kind] = &[
    own_keys("seal, own keys", Operation::Seal),
    own_keys("open, own keys", Operation::Open),
    one_key("seal, one key", Operation::Seal, 16 << 10, [350.0, 600.0]),
    one_key("seal, one key", Operation::Seal, 1 << 20, [350.0, 600.0]),
    one_key("counter mode, one key", Operation::CounterMode, 1 << 20, [550.0, 750.0]),
];
/// Of text at once: some waves over the largest GPU.
const BYTES: usize = 128 << 20;
const FEWER_BYTES: usize = 8 << 10;
const SEED: u64 = 1;

const fn own_keys(name: &'static str, operation: Operation) -> Kind {
    Kind { name, operation, text_bytes: 128, own_keys: true, goals: [200.0, 320.0] }
}

const fn one_key(
    name: &'static str,
    operation: Operation,
    text_bytes: usize,
    goals: [f64; 2],
) -> Kind {
    Kind { name, operation, text_bytes, own_keys: false, goals }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_from_its_own_value_on() {
        assert_eq!(judged(320.0, [200.0, 320.0]), "goal 200: met, stretch 320: met");
        assert_eq!(judged(199.9, [200.0, 320.0]), "goal 200: missed, stretch 320: missed");
    }
}
