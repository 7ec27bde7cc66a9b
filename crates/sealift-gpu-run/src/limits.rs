//! What a GPU comes to at most by the rates as measured: projected, and so called.
//!
//! Each unit of a multiprocessor is asked for so many instructions by a message, which machine code tells, and worked so
//! many in a second when [`crate::rates`] measured it. Whatever is asked for longest is the limit. Waiting isn't in it, and
//! what a unit could do beyond what was measured isn't either: a figure may lie a little above.

use crate::arm::Arm;
use crate::copies;
use crate::folder::Folder;
use crate::machine::Facts;
use crate::measure::{Measured, measured};
use crate::plan::{number, text};
use crate::rates;
use crate::trouble::Trouble;
use sealift_probes::Sample;
use serde_json::Value;
use std::fmt::{self, Display, Formatter};

/// What rates come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limit {
    /// Payload in 10^9 bytes a second.
    gb_per_s: f64,
    /// What sets it.
    by: &'static str,
}

impl Limit {
    /// Beside a measured rate.
    pub(crate) fn beside(self, gb_per_s: f64) -> String {
        format!("{:.0} % of the {self}", 100.0 * gb_per_s / self.gb_per_s)
    }
}

impl Display for Limit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} GB/s that {} allow by the rates as measured", self.gb_per_s, self.by)
    }
}

/// What all of a GPU works in a nanosecond, of what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    alu: f64,
    fma: f64,
    wide: f64,
    words: f64,
}

impl Rates {
    /// Those that a run has measured of a device; nothing where it has not, or not all of them.
    ///
    /// # Errors
    /// The folder can't be read.
    pub(crate) fn of(folder: &Folder, device: &str) -> Result<Option<Self>, String> {
        Ok(Self::from(&measured(folder, rates::NAME, device)?))
    }

    fn from(rows: &[Measured]) -> Option<Self> {
        let rate = |name| {
            let row = rows.iter().find(|row| text(&row.cell, rates::INSTRUCTION) == name);
            row.map(|row| 1.0 / row.ns)
        };
        // What one unit works goes at the same rate, so that the fastest is nearest to it.
        let alu = ["LOP3", "PRMT", "SHF"].into_iter().filter_map(rate).reduce(f64::max)?;
        Some(Self { alu, fma: rate("IMAD")?, wide: rate("IMAD.WIDE")?, words: rate("LDS")? })
    }

    fn limit(self, asked: &Asked) -> Limit {
        // Wide products are the same unit's.
        let units = [
            (asked.alu / self.alu, "logic and additions"),
            (asked.fma / self.fma + asked.wide / self.wide, "products"),
            (asked.words / self.words, "loads and stores"),
        ];
        let (ns, by) = units
            .into_iter()
            .fold((0.0, ""), |most, unit| if unit.0 > most.0 { unit } else { most });
        Limit { gb_per_s: asked.payload_bytes / ns, by }
    }
}

/// What a lane is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Asked {
    payload_bytes: f64,
    alu: f64,
    fma: f64,
    wide: f64,
    words: f64,
}

/// The way that texts are worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Messages of 128 bytes with their own keys, a lane each.
    Messages,
    /// Long texts, 32 lanes a piece.
    Long,
    /// The same without a tag.
    CounterMode,
}

impl Work {
    /// What it comes to at most on a device whose rates were measured; nothing where its machine code is not.
    pub(crate) fn limit(
        self,
        rates: Rates,
        capability: Option<usize>,
        key_bits: u64,
        tables: u64,
    ) -> Option<Limit> {
        let name = match self {
            Self::Messages => "messages",
            Self::Long => "long",
            Self::CounterMode => "counter mode",
        };
        let capability = capability?;
        let all: Vec<Value> = serde_json::from_str(WORK).ok()?;
        let of_this = |one: &&Value| {
            one["work"] == name && one["key_bits"] == key_bits && one["tables"] == tables
        };
        // Its machine code is most like that of the newest before it that works with as many tables.
        let known = ARCHITECTURES.iter().filter(|(least, _)| capability >= *least);
        let mut of_known = known.filter_map(|(_, name)| {
            all.iter().filter(of_this).find(|one| one["architecture"] == *name)
        });
        let found = of_known.next()?;
        let count = |of: &str| found[of].as_f64();
        Some(rates.limit(&Asked {
            payload_bytes: count("payload_bytes")?,
            alu: count("alu")?,
            fma: count("fma")?,
            wide: count("wide")?,
            words: count("words")?,
        }))
    }
}

/// What copies leave of texts that come from the host and go back there, both ways at once; nothing where copies were not
/// measured.
///
/// # Errors
/// The folder can't be read.
pub(crate) fn by_copies(folder: &Folder, device: &str) -> Result<Option<Limit>, String> {
    let rows = measured(folder, copies::NAME, device)?;
    let both = rows.iter().filter(|row| text(&row.cell, copies::DIRECTION) == copies::BOTH);
    let largest = both.max_by_key(|row| number(&row.cell, copies::SIZE));
    // Bytes of both ways are counted, and a text goes both.
    Ok(largest.map(|row| Limit { gb_per_s: row.bytes / row.ns / 2.0, by: "copies" }))
}

/// An arm that tells its limit among what was checked.
pub(crate) struct Limited {
    /// What is timed.
    pub(crate) arm: Box<dyn Arm>,
    /// What it comes to at most by measured rates, where these are known.
    pub(crate) limit: Option<Limit>,
}

impl Arm for Limited {
    fn sample(&mut self, seconds: f64) -> Result<Sample, Trouble> {
        self.arm.sample(seconds)
    }

    fn check(&mut self) -> Result<Facts, Trouble> {
        let mut facts = self.arm.check()?;
        facts.extend(self.limit.map(|limit| (FACT.to_owned(), limit.to_string().into())));
        Ok(facts)
    }
}

/// Of which machine code is counted, by the compute capability from which on they are.
const ARCHITECTURES: [(usize, &str); 3] = [(90, "sm_90"), (80, "sm_86"), (75, "sm_75")];
/// As the lab's page lists it.
const FACT: &str = "at_most";
/// Written by `make gpu-budgets-accept`.
const WORK: &str = include_str!("work.json");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::{PLAN, SAMPLES};
    use serde_json::json;
    use std::{env, fs, process};

    /// An H200's, of 132 multiprocessors at 1.98 GHz.
    fn rates() -> Rates {
        let lanes = |a_clock: f64| a_clock * 132.0 * 1.98;
        Rates { alu: lanes(64.0), fma: lanes(64.0), wide: lanes(32.0), words: lanes(32.0) }
    }

    #[test]
    fn the_unit_that_is_asked_for_longest_is_the_limit() {
        // A block of counter mode: as the lab's tests reckon it.
        let block = Asked { payload_bytes: 16.0, alu: 243.0, fma: 0.0, wide: 0.0, words: 168.0 };
        let limit = rates().limit(&block);
        assert_eq!((limit.gb_per_s.round(), limit.by), (797.0, "loads and stores"));
        let limit = rates().limit(&Asked { alu: 483.0, ..block });
        assert_eq!((limit.gb_per_s.round(), limit.by), (554.0, "logic and additions"));
        let limit = rates().limit(&Asked { fma: 64.0, wide: 160.0, ..block });
        assert_eq!((limit.gb_per_s.round(), limit.by), (697.0, "products"));
        assert_eq!(
            limit.beside(348.5),
            "50 % of the 697.0 GB/s that products allow by the rates as measured"
        );
    }

    #[test]
    fn every_way_of_work_has_a_limit_on_every_architecture() {
        for (capability, tables) in [(75, 1), (86, 1), (89, 1), (90, 4), (100, 4), (120, 1)] {
            let limit = |work: Work, bits, tables| {
                Some(work.limit(rates(), Some(capability), bits, tables)?.gb_per_s)
            };
            for work in [Work::Messages, Work::Long, Work::CounterMode] {
                let limits = [128, 192, 256].map(|bits| limit(work, bits, tables).unwrap());
                assert!(limits.is_sorted_by(|one, other| one > other), "{work:?}: {limits:?}");
                let strict = limit(work, 128, 0);
                // What counter mode does without look-ups is not counted apart.
                assert_eq!(strict.is_none(), work == Work::CounterMode);
                assert!(strict.is_none_or(|strict| strict < limits[0]), "{work:?}: {strict:?}");
            }
        }
        assert_eq!(Work::Long.limit(rates(), Some(61), 128, 1), None);
        assert_eq!(Work::Long.limit(rates(), None, 128, 1), None);
    }

    #[test]
    fn copies_of_the_most_bytes_both_ways_leave_half_of_them_to_texts() {
        let path = env::temp_dir().join(format!("sealift-gpu-limits-{}", process::id()));
        let folder = Folder::create(&path).unwrap();
        let cell = |size: u64, way: &str, device: &str| json!({"device": device, "size_bytes": size, "direction": way});
        let ours = [
            cell(1, copies::BOTH, "cuda:0"),
            cell(2, copies::BOTH, "cuda:0"),
            cell(3, "back", "cuda:0"),
        ];
        let other = [cell(4, copies::BOTH, "cuda:1")];
        let planned = json!({"name": copies::NAME, "groups": [other, ours]});
        folder.write(PLAN, &json!({"experiments": [planned]})).unwrap();
        let sample = |group: u32, arm: u32, ns: u64| json!({"experiment": copies::NAME, "group": group, "arm": arm, "ns": ns, "operations": 2, "bytes": 4_000});
        let slow = [100, 200, 900].map(|ns| sample(1, 1, ns));
        let all = [
            sample(0, 0, 1),
            sample(1, 0, 1),
            slow[0].clone(),
            slow[1].clone(),
            slow[2].clone(),
            sample(1, 2, 1),
        ];
        assert_eq!(by_copies(&folder, "cuda:0").unwrap(), None);
        folder.add(SAMPLES, &all).unwrap();
        let limit = by_copies(&folder, "cuda:0").unwrap().unwrap();
        assert_eq!((limit.gb_per_s, limit.by), (10.0, "copies"));
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn rates_are_taken_from_rows_and_a_missing_one_leaves_none() {
        let row = |name: &str, ns: f64| Measured {
            cell: json!({"instruction": name}).as_object().unwrap().clone(),
            ns,
            bytes: 0.0,
        };
        let mut rows = vec![row("LOP3", 0.5), row("PRMT", 0.25), row("IMAD", 1.0), row("LDS", 2.0)];
        assert_eq!(Rates::from(&rows), None);
        rows.push(row("IMAD.WIDE", 4.0));
        let expected = Rates { alu: 4.0, fma: 1.0, wide: 0.25, words: 0.5 };
        assert_eq!(Rates::from(&rows), Some(expected));
    }
}
