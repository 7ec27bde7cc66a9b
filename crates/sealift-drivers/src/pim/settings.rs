//! How many DPUs, of which system.

use super::messages::{Item, Round};
use dpu_sim::kernels::Division;
use dpu_sim::{Preset, Timing};
use sealift_core::{Cost, Spec};

/// What a spec asks for.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) dpus: usize,
    pub(super) system: Preset,
    pub(super) tasklets: u32,
}

impl Settings {
    /// Reads `dpus=64,preset=upmem-640-266,tasklets=16,hazard=on`.
    pub(super) fn of(spec: &Spec) -> Result<Self, String> {
        let system = Preset::named(spec.setting("preset").unwrap_or(PRESET));
        let mut system = system.map_err(|error| format!("preset: {error}"))?;
        let hazard = match spec.setting("hazard") {
            None | Some("off") => false,
            Some("on") => true,
            Some(other) => return Err(format!("hazard={other}: write on or off")),
        };
        system.timing = Timing { hazard, ..system.timing };
        let available = system.dpus();
        let dpus = whole(spec, "dpus", DPUS.min(available), available)?;
        let tasklets = whole(spec, "tasklets", TASKLETS, dpu_sim::TASKLETS)?;
        let tasklets = u32::try_from(tasklets).map_err(|error| error.to_string())?;
        Ok(Self { dpus, system, tasklets })
    }

    pub(super) fn detail(&self) -> String {
        let Self { dpus, system, tasklets } = self;
        let hazard = if system.timing.hazard { ", with the register hazard" } else { "" };
        let clock_mhz = system.clock_hz / 1e6;
        format!(
            "{dpus} of {} DPUs at {clock_mhz:.0} MHz, {tasklets} tasklets each{hazard}; simulated",
            system.dpus()
        )
    }

    /// For messages under many keys.
    pub(super) fn many(&self) -> Result<Division, String> {
        Division::new(self.tasklets, MANY_CHUNK).map_err(|error| error.to_string())
    }

    /// For one long message: the largest chunks that leave the tables room.
    pub(super) fn long(&self) -> Result<Division, String> {
        let chunk = (CHUNKS_BYTES / self.tasklets).min(CHUNK_MAX);
        let chunk = 1 << chunk.ilog2();
        Division::new(self.tasklets, chunk).map_err(|error| error.to_string())
    }

    /// Whether a message is worked by all DPUs together: it is long, and by itself would leave most of them idle.
    pub(super) fn is_long(&self, item: &Item, round: &Round) -> bool {
        let few = self.dpus.max(self.tasklets as usize);
        item.text.len() >= LONG_BYTES && round.items.len() < few
    }

    /// What a batch takes before any was worked: instructions of the kernels, one a cycle.
    pub(super) fn cost(&self) -> Cost {
        let cycle_ns = 1e9 / self.system.clock_hz;
        #[expect(clippy::cast_precision_loss, reason = "there are a few thousand DPUs")]
        let dpus = self.dpus as f64;
        Cost::clamped(
            ALONE_CYCLES * cycle_ns,
            MESSAGE_CYCLES * cycle_ns / dpus,
            BYTE_CYCLES * cycle_ns / dpus,
        )
    }
}

fn whole(spec: &Spec, name: &str, usual: usize, most: usize) -> Result<usize, String> {
    let Some(text) = spec.setting(name) else { return Ok(usual) };
    let number = text.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("{name}={text}: give a whole number from 1 to {most}"))
}

const PRESET: &str = "upmem-640-266";
const DPUS: usize = 64;
const TASKLETS: usize = 16;
const MANY_CHUNK: u32 = 1024;
/// What tables leave of WRAM to chunks of the kernel for one key.
const CHUNKS_BYTES: u32 = 21 * 1024;
const CHUNK_MAX: u32 = 2048;
/// Shorter messages are not worth a program and tables of their own.
const LONG_BYTES: usize = 32 * 1024;
/// A message that a tasklet works alone has an instruction every eleven cycles.
const ALONE_CYCLES: f64 = 100_000.0;
const MESSAGE_CYCLES: f64 = 8_000.0;
const BYTE_CYCLES: f64 = 60.0;
