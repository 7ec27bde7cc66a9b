//! Systems of DPUs, by name or from TOML.

use crate::timing::{Dma, Timing};
use toml::de::{DeTable, DeValue};

/// A system: how many DPUs, how fast, how far from the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// A name of a-z, 0-9 and -.
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
    /// Bytes a second from host memory to all DPUs.
    pub to_dpus_bytes_per_s: f64,
    /// Bytes a second from all DPUs to host memory.
    pub from_dpus_bytes_per_s: f64,
}

/// The systems that are known by name.
pub const PRESETS: [(&str, &str); 3] = [
    ("upmem-640-266", include_str!("../data/presets/upmem-640-266.toml")),
    ("upmem-640-267", include_str!("../data/presets/upmem-640-267.toml")),
    ("upmem-2560-350", include_str!("../data/presets/upmem-2560-350.toml")),
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
    /// A value that is missing or wrong.
    #[error("{key}: {right} belongs here")]
    Value {
        /// With its table.
        key: String,
        /// What would be right.
        right: String,
    },
    /// A name that is not known.
    #[error("there is no preset {0}; upmem-640-266, upmem-640-267 and upmem-2560-350 are")]
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
    /// to be there; `timing` and `dma` have the values of `Timing::default`, and `transfer` 22.6 and 11.0 GB/s.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn parse(text: &str) -> Result<Self, PresetError> {
        let root = DeTable::parse(text).map_err(|error| PresetError::Syntax {
            line: line_of(text, error.span().map_or(0, |span| span.start)),
            reason: error.message().to_owned(),
        })?;
        let root = Reader { text, path: "", table: Some(root.get_ref()) };
        root.only(ROOT, &["name", "summary", "source", "system", "timing", "dma", "transfer"])?;
        let system = root.table("system")?;
        system.only(SYSTEM, &["ranks", "dpus_per_rank", "clock_mhz"])?;
        let transfer = root.table("transfer")?;
        transfer.only(TRANSFER, &["to_dpus_gb_per_s", "from_dpus_gb_per_s", "source"])?;
        Ok(Self {
            name: root.text("name")?,
            summary: root.text("summary")?,
            source: root.text("source")?,
            ranks: system.whole("ranks", None, 1, 4096)?,
            dpus_per_rank: system.whole("dpus_per_rank", None, 1, 64)?,
            clock_hz: 1e6 * system.real("clock_mhz", None)?,
            timing: timing(&root)?,
            to_dpus_bytes_per_s: 1e9 * transfer.real("to_dpus_gb_per_s", Some(22.6))?,
            from_dpus_bytes_per_s: 1e9 * transfer.real("from_dpus_gb_per_s", Some(11.0))?,
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

fn timing(root: &Reader<'_>) -> Result<Timing, PresetError> {
    let (usual, table) = (Timing::default(), root.table("timing")?);
    table.only(TIMING, &["revolver_cycles", "register_hazard", "timer_granularity_cycles"])?;
    let granularity = Some(usual.timer_granularity);
    Ok(Timing {
        revolver: table.whole("revolver_cycles", Some(usual.revolver), 1, 1000)?,
        hazard: table.flag("register_hazard", usual.hazard)?,
        dma: dma(root)?,
        timer_granularity: table.whole("timer_granularity_cycles", granularity, 1, 1 << 20)?,
    })
}

fn dma(root: &Reader<'_>) -> Result<Dma, PresetError> {
    let (usual, table) = (Dma::default(), root.table("dma")?);
    let keys =
        ["read_setup_cycles", "write_setup_cycles", "bytes_per_cycle", "row_bytes", "row_cycles"];
    table.only(DMA, &keys)?;
    Ok(Dma {
        read_setup: table.whole("read_setup_cycles", Some(usual.read_setup), 0, 1 << 20)?,
        write_setup: table.whole("write_setup_cycles", Some(usual.write_setup), 0, 1 << 20)?,
        bytes_per_cycle: table.real("bytes_per_cycle", Some(usual.bytes_per_cycle))?,
        row_bytes: table.whole("row_bytes", Some(usual.row_bytes), 8, 1 << 26)?,
        row_cycles: table.whole("row_cycles", Some(usual.row_cycles), 0, 1 << 20)?,
    })
}

/// Looks into a table; one that is not there is empty.
struct Reader<'a> {
    text: &'a str,
    path: &'a str,
    table: Option<&'a DeTable<'a>>,
}

impl<'a> Reader<'a> {
    fn get(&self, key: &str) -> Option<&'a DeValue<'a>> {
        Some(self.table?.get(key)?.get_ref())
    }

    fn wrong(&self, key: &str, right: impl Into<String>) -> PresetError {
        PresetError::Value { key: self.place(key), right: right.into() }
    }

    fn place(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn only(&self, known: &'static str, keys: &[&str]) -> Result<(), PresetError> {
        let given = self.table.into_iter().flat_map(|table| table.keys());
        for key in given {
            let name: &str = key.get_ref();
            if !keys.contains(&name) {
                let line = line_of(self.text, key.span().start);
                return Err(PresetError::Key { line, key: self.place(name), known });
            }
        }
        Ok(())
    }

    fn table(&self, key: &'a str) -> Result<Reader<'a>, PresetError> {
        let table = match self.get(key) {
            None => None,
            Some(DeValue::Table(table)) => Some(table),
            Some(_) => return Err(self.wrong(key, "a table")),
        };
        Ok(Reader { text: self.text, path: key, table })
    }

    fn text(&self, key: &str) -> Result<String, PresetError> {
        let text = self.get(key).and_then(DeValue::as_str);
        text.map(str::to_owned).ok_or_else(|| self.wrong(key, "a text"))
    }

    fn flag(&self, key: &str, usual: bool) -> Result<bool, PresetError> {
        match self.get(key) {
            None => Ok(usual),
            Some(value) => value.as_bool().ok_or_else(|| self.wrong(key, "true or false")),
        }
    }

    fn real(&self, key: &str, usual: Option<f64>) -> Result<f64, PresetError> {
        let number = match self.get(key) {
            None => usual,
            Some(DeValue::Float(value)) => value.as_str().replace('_', "").parse().ok(),
            Some(DeValue::Integer(value)) => value.as_str().replace('_', "").parse().ok(),
            Some(_) => None,
        };
        let valid = number.filter(|value: &f64| value.is_finite() && *value > 0.0 && *value < 1e9);
        valid.ok_or_else(|| self.wrong(key, "a number above 0"))
    }

    fn whole(
        &self,
        key: &str,
        usual: Option<u32>,
        least: u32,
        most: u32,
    ) -> Result<u32, PresetError> {
        let number = match self.get(key) {
            None => usual,
            Some(DeValue::Integer(value)) => {
                u32::from_str_radix(&value.as_str().replace('_', ""), value.radix()).ok()
            }
            Some(_) => None,
        };
        let valid = number.filter(|value| (least..=most).contains(value));
        valid.ok_or_else(|| self.wrong(key, format!("a whole number from {least} to {most}")))
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

const ROOT: &str = "name, summary, source, system, timing, dma and transfer";
const SYSTEM: &str = "ranks, dpus_per_rank and clock_mhz";
const TRANSFER: &str = "to_dpus_gb_per_s, from_dpus_gb_per_s and source";
const TIMING: &str = "revolver_cycles, register_hazard and timer_granularity_cycles";
const DMA: &str =
    "read_setup_cycles, write_setup_cycles, bytes_per_cycle, row_bytes and row_cycles";

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
            assert_eq!(preset.timing, Timing::default());
        }
    }

    #[test]
    fn a_wrong_description_is_told_with_key_and_what_would_be_right() {
        let text = |system: &str| format!("name = 'a'\nsummary = ''\nsource = ''\n{system}");
        for (system, expected) in [
            ("[system]\nranks = 0", "system.ranks: a whole number from 1 to 4096 belongs here"),
            (
                "[system]\nrank = 1",
                "line 5: there is no key system.rank; ranks, dpus_per_rank and clock_mhz are",
            ),
            ("[system", "line 4: "),
            ("system = 3", "system: a table belongs here"),
            (
                "[system]\nranks = 1\ndpus_per_rank = 8\nclock_mhz = 'fast'",
                "system.clock_mhz: a number above 0 belongs here",
            ),
        ] {
            let error = Preset::parse(&text(system)).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        assert!(matches!(Preset::named("hifn"), Err(PresetError::Name(_))));
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
