//! What the file holds, and how it is written there.

use super::machine::Machine;
use crate::copying::CopyCost;
use sealift_core::Cost;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Everything that is kept, of other machines too.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    pub(super) entries: Vec<Entry>,
    /// This machine; not looked for where there are no entries.
    machine: Option<Machine>,
}

/// What costs something.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// The batches of a device.
    Device {
        /// Its name.
        name: String,
        /// What they cost.
        cost: Cost,
    },
    /// The processor's copies.
    Copies(CopyCost),
}

/// Something of a machine, and when it was measured.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    machine: Machine,
    measured: Measured,
    measured_at_s: u64,
}

impl Kept {
    /// What a text says; none where it is none of ours.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let lines = text.strip_prefix(HEADING)?.strip_prefix('\n')?;
        let lines = lines.strip_suffix('\n')?.strip_suffix(END)?;
        let entries: Vec<_> = lines.lines().map(Entry::parse).collect::<Option<_>>()?;
        let machine = (!entries.is_empty()).then(Machine::this);
        Some(Self { entries, machine })
    }

    pub(super) fn text(&self) -> String {
        let lines: String = self.entries.iter().map(Entry::line).collect();
        format!("{HEADING}\n{lines}{END}\n")
    }

    /// Whether nothing is kept for any machine.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What batches cost on a device of this machine, and when that was measured.
    #[must_use]
    pub fn device(&self, device: &str) -> Option<(Cost, SystemTime)> {
        self.here().find_map(|entry| match &entry.measured {
            Measured::Device { name, cost } if name == device => Some((*cost, entry.measured_at())),
            _ => None,
        })
    }

    /// What copies cost on this machine, and when that was measured.
    #[must_use]
    pub fn copies(&self) -> Option<(&CopyCost, SystemTime)> {
        self.here().find_map(|entry| match &entry.measured {
            Measured::Copies(cost) => Some((cost, entry.measured_at())),
            Measured::Device { .. } => None,
        })
    }

    fn here(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| Some(&entry.machine) == self.machine.as_ref())
    }

    pub(super) fn with(self, measured: Vec<Measured>, measured_at_s: u64) -> Self {
        let Self { mut entries, machine } = self;
        let machine = machine.unwrap_or_else(Machine::this);
        let is_new = |entry: &Entry| measured.iter().any(|new| new.replaces(&entry.measured));
        entries.retain(|entry| entry.machine != machine || !is_new(entry));
        let new = measured.into_iter().filter(Measured::fits_a_line);
        let entry = |measured| Entry { machine: machine.clone(), measured, measured_at_s };
        entries.extend(new.map(entry));
        let extra = entries.len().saturating_sub(ENTRIES_MAX);
        entries.drain(..extra);
        Self { entries, machine: Some(machine) }
    }
}

impl Measured {
    fn replaces(&self, old: &Self) -> bool {
        match (self, old) {
            (Self::Device { name, .. }, Self::Device { name: old, .. }) => name == old,
            (Self::Copies(_), Self::Copies(_)) => true,
            _ => false,
        }
    }

    /// A name that would break the lines is measured anew each time.
    fn fits_a_line(&self) -> bool {
        match self {
            Self::Device { name, .. } => !name.is_empty() && !name.contains(char::is_control),
            Self::Copies(_) => true,
        }
    }

    fn fields(&self) -> String {
        match self {
            Self::Device { name, cost } => {
                let (setup, message) = (cost.setup_ns(), cost.per_message_ns());
                format!("{name}\t{setup}\t{message}\t{}", cost.per_byte_ns())
            }
            Self::Copies(cost) => {
                let times = cost.times().iter().map(|(bytes, ns)| format!("{bytes}:{ns}"));
                format!("{COPIES}\t{}", times.collect::<Vec<_>>().join(" "))
            }
        }
    }

    fn parse(fields: &[&str]) -> Option<Self> {
        match fields {
            [COPIES, times] => {
                let time = |text: &str| {
                    let (bytes, ns) = text.split_once(':')?;
                    Some((bytes.parse().ok()?, ns.parse().ok()?))
                };
                let times = times.split(' ').map(time).collect::<Option<Vec<_>>>()?;
                Some(Self::Copies(CopyCost::new(times).ok()?))
            }
            [name, setup, message, byte] => {
                let term = |text: &str| text.parse::<f64>().ok();
                let cost = Cost::new(term(setup)?, term(message)?, term(byte)?).ok()?;
                Some(Self::Device { name: (*name).to_owned(), cost })
            }
            _ => None,
        }
    }
}

impl Entry {
    fn measured_at(&self) -> SystemTime {
        UNIX_EPOCH.checked_add(Duration::from_secs(self.measured_at_s)).unwrap_or(UNIX_EPOCH)
    }

    fn line(&self) -> String {
        let Self { machine: Machine { processor, cores }, measured, measured_at_s } = self;
        format!("{processor}\t{cores}\t{}\t{measured_at_s}\n", measured.fields())
    }

    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<_> = line.split('\t').collect();
        let [processor, cores, measured @ .., at] = &fields[..] else { return None };
        Some(Self {
            machine: Machine { processor: (*processor).to_owned(), cores: cores.parse().ok()? },
            measured: Measured::parse(measured)?,
            measured_at_s: at.parse().ok()?,
        })
    }
}

pub(super) const HEADING: &str = "sealift costs 1";
pub(super) const END: &str = "end";
const COPIES: &str = "copies";
/// The oldest ones go first.
pub(super) const ENTRIES_MAX: usize = 1_024;
