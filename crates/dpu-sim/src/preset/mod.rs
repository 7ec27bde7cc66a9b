//! Systems of DPUs, by name or from TOML.

mod reader;
mod tables;
mod transfers;

pub use transfers::{Rate, TransferTime, Transfers};

use crate::timing::Timing;
use reader::{Reader, line_of};
use tables::{timing, transfers};
use toml::de::DeTable;

/// A system: how many DPUs, how fast, how far from the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// What it is called.
    pub name: String,
    /// A line about it.
    pub summary: String,
    /// Where its figures come from.
    pub source: String,
    /// Ranks, which transfers and allocations are counted in.
    pub ranks: u32,
    /// DPUs of each rank, up to 64.
    pub dpus_per_rank: u32,
    /// Cycles a second.
    pub clock_hz: f64,
    /// How a DPU is timed.
    pub timing: Timing,
    /// How fast its host reaches DPUs.
    pub transfers: Transfers,
}

/// The systems that are known by name.
pub const PRESETS: [(&str, &str); 3] = [
    ("upmem-640-266", include_str!("../../data/presets/upmem-640-266.toml")),
    ("upmem-640-267", include_str!("../../data/presets/upmem-640-267.toml")),
    ("upmem-2560-350", include_str!("../../data/presets/upmem-2560-350.toml")),
];

/// What is wrong with a description.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PresetError {
    /// It is no TOML.
    #[error("line {line}: {reason}")]
    Syntax {
        /// From 1.
        line: usize,
        /// What the reader says.
        reason: String,
    },
    /// A key that is none.
    #[error("line {line}: there is no key {key}; {known} are")]
    Key {
        /// From 1.
        line: usize,
        /// With its table.
        key: String,
        /// All that there are.
        known: &'static str,
    },
    /// A value that is missing.
    #[error("{key} is missing: {right} belongs there")]
    Missing {
        /// With its table.
        key: String,
        /// What would be right.
        right: String,
    },
    /// A value that is wrong.
    #[error("line {line}: {key} is {value}: {right} belongs here")]
    Value {
        /// From 1.
        line: usize,
        /// With its table.
        key: String,
        /// As it stands there, or the beginning of it.
        value: String,
        /// What would be right.
        right: String,
    },
    /// A name that is not known.
    #[error("there is no preset {0}; {names} are", names = PRESETS.map(|(name, _)| name).join(", "))]
    Name(String),
}

impl Preset {
    /// One of `PRESETS`.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn named(name: &str) -> Result<Self, PresetError> {
        let found = PRESETS.iter().find(|(known, _)| *known == name);
        Self::parse(found.ok_or_else(|| PresetError::Name(name.to_owned()))?.1)
    }

    /// Reads a description. `name`, `summary`, `source` and the table `system` (`ranks`, `dpus_per_rank`, `clock_mhz`) have
    /// to be there; `timing` and `dma` have the values of `Timing::default`, and `transfer` those of `Transfers::default`.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(text: &str) -> Result<Self, PresetError> {
        let root = DeTable::parse(text).map_err(|error| PresetError::Syntax {
            line: line_of(text, error.span().map_or(0, |span| span.start)),
            reason: error.message().to_owned(),
        })?;
        let root = Reader { text, path: String::new(), table: Some(root.get_ref()) };
        root.only(ROOT, &["name", "summary", "source", "system", "timing", "dma", "transfer"])?;
        let system = root.table("system")?;
        system.only(SYSTEM, &["ranks", "dpus_per_rank", "clock_mhz"])?;
        Ok(Self {
            name: root.text("name")?,
            summary: root.text("summary")?,
            source: root.text("source")?,
            ranks: system.whole("ranks", None, 1, 4096)?,
            dpus_per_rank: system.whole("dpus_per_rank", None, 1, 64)?,
            clock_hz: 1e6 * system.real("clock_mhz", None)?,
            timing: timing(&root)?,
            transfers: transfers(&root)?,
        })
    }

    /// All its DPUs.
    #[must_use]
    pub fn dpus(&self) -> usize {
        self.ranks as usize * self.dpus_per_rank as usize
    }

    /// Cycles as seconds.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "2^53 cycles are a year")]
    pub fn seconds(&self, cycles: u64) -> f64 {
        cycles as f64 / self.clock_hz
    }
}

const ROOT: &str = "name, summary, source, system, timing, dma and transfer";
const SYSTEM: &str = "ranks, dpus_per_rank and clock_mhz";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_the_systems_they_are_named_after() {
        for (name, dpus, clock_hz) in [
            ("upmem-640-266", 640, 266e6),
            ("upmem-640-267", 640, 267e6),
            ("upmem-2560-350", 2560, 350e6),
        ] {
            let preset = Preset::named(name).unwrap();
            assert_eq!((preset.name.as_str(), preset.dpus()), (name, dpus));
            assert!((preset.clock_hz - clock_hz).abs() < 1.0);
            assert_eq!((preset.timing, preset.transfers), Default::default());
        }
    }

    #[test]
    fn a_wrong_description_is_told_with_key_and_what_would_be_right() {
        let text = |system: &str| format!("name = 'a'\nsummary = ''\nsource = ''\n{system}");
        for (system, expected) in [
            (
                "[system]\nranks = 0",
                "line 5: system.ranks is 0: a whole number from 1 to 4096 belongs here",
            ),
            ("[system]\nranks = 1", "system.dpus_per_rank is missing: a whole number from 1 to 64"),
            (
                "[system]\nrank = 1",
                "line 5: there is no key system.rank; ranks, dpus_per_rank and clock_mhz are",
            ),
            ("[system", "line 4: "),
            ("system = 3", "line 4: system is 3: a table belongs here"),
            (
                "[system]\nranks = 1\ndpus_per_rank = 8\nclock_mhz = 'fast'",
                "line 7: system.clock_mhz is 'fast': a number above 0 and below 1e9 belongs here",
            ),
        ] {
            let error = Preset::parse(&text(system)).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        assert!(matches!(Preset::named("hifn"), Err(PresetError::Name(_))));
    }

    #[test]
    fn a_description_may_change_the_transfers() {
        let text = |transfer: &str| {
            format!(
                "name = 'a'\nsummary = ''\nsource = ''\n[system]\nranks = 1\n\
                 dpus_per_rank = 8\nclock_mhz = 400\n[transfer]\n{transfer}"
            )
        };
        let rates = "dpus = [1, 8]\nto_dpus_gb_per_s = [1, 4]\nfrom_dpus_gb_per_s = [0.5, 2.5]";
        let preset = Preset::parse(&text(rates)).unwrap();
        let last = Rate { dpus: 8, to_dpus_bytes_per_s: 4e9, from_dpus_bytes_per_s: 2.5e9 };
        assert_eq!(preset.transfers.rates()[1], last);
        let short =
            "[transfer.short]\ndpus = 8\nbytes_each = [64]\nto_dpus_us = [5]\nfrom_dpus_us = [10]";
        let preset = Preset::parse(&text(&format!("{rates}\n{short}"))).unwrap();
        let seconds = preset.transfers.seconds(crate::host::Push::FromDpus, 8, 8 * 64);
        assert!((seconds - 1e-5).abs() < 1e-12);
        for (transfer, expected) in [
            (
                "dpus = 3",
                "line 9: transfer.dpus is 3: a row of whole numbers up to 4294967295 belongs here",
            ),
            ("dpus = [1.5]", "line 9: transfer.dpus is [1.5]: a row of whole numbers"),
            (
                "to_dpus_gb_per_s = [0]",
                "line 9: transfer.to_dpus_gb_per_s is [0]: a row of numbers above 0 and below 1e9",
            ),
            ("to_dpus_gb_per_s = [1]", "transfer.dpus is missing: a row of rising numbers"),
            ("dpus = [1]", "transfer.to_dpus_gb_per_s is missing: a row of 1, as of dpus,"),
            (
                "dpus = [2, 1]\nto_dpus_gb_per_s = [1, 1]\nfrom_dpus_gb_per_s = [1, 1]",
                "line 9: transfer.dpus is [2, 1]: a row of rising numbers, as in",
            ),
            (
                "[transfer.short]\nbytes = [8]",
                "line 10: there is no key transfer.short.bytes; dpus, bytes_each, to_dpus_us,",
            ),
            (
                "[transfer.short]\nbytes_each = [8]",
                "transfer.short.dpus is missing: a whole number from 1",
            ),
            (
                "[transfer.short]\ndpus = 1\nbytes_each = [8, 9]\nto_dpus_us = [1]",
                "line 12: transfer.short.to_dpus_us is [1]: a row of 2, as of bytes_each,",
            ),
            (
                "[transfer.short]\ndpus = 1\nbytes_each = [9, 8]\nto_dpus_us = [1, 2]\nfrom_dpus_us = [1, 2]",
                "line 11: transfer.short.bytes_each is [9, 8]: a row of rising numbers, as in [1024",
            ),
            (
                "[transfer.short]\ndpus = 1\nbytes_each = [8, 9]\nto_dpus_us = [1, 1]\nfrom_dpus_us = [9, 1]",
                "line 13: transfer.short.from_dpus_us is [9, 1]: a row of times of which none is below",
            ),
        ] {
            let error = Preset::parse(&text(transfer)).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_description_may_change_the_timing() {
        let text = "name = 'a'\nsummary = ''\nsource = ''\n\
            [system]\nranks = 1\ndpus_per_rank = 8\nclock_mhz = 400\n\
            [timing]\nregister_hazard = true\n[dma]\nread_setup_cycles = 100\n";
        let preset = Preset::parse(text).unwrap();
        assert!(preset.timing.hazard);
        assert_eq!(preset.timing.dma.read_setup, 100);
        assert_eq!(preset.timing.dma.write_setup, 61);
    }
}
