//! Takes samples of a group's arms in turn, block by block, as the lab does.

use crate::arm::Arm;
use crate::folder::{Folder, PLAN, SAMPLES, VERIFY};
use crate::machine::Facts;
use crate::plan::{BLOCKS, Cell};
use crate::trouble::Trouble;
use sealift_probes::{Random, Sample};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs;
use std::time::{Duration, Instant};

/// A group of the plan: cells that are compared with each other.
#[derive(Clone, Debug)]
struct Group {
    experiment: String,
    number: usize,
    /// Its cells, the reference first.
    cells: Vec<Cell>,
}

/// What was found of a cell.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The cell.
    pub(crate) cell: Cell,
    /// Nanoseconds an operation in the middle, bytes of an operation, and how many samples; or why there is nothing.
    pub(crate) found: Result<(f64, f64, usize), Trouble>,
}

impl Row {
    /// Payload in 10^9 bytes a second.
    pub(crate) fn gb_per_s(&self) -> Option<f64> {
        let (ns, bytes, _) = *self.found.as_ref().ok()?;
        Some(bytes / ns)
    }

    /// 10^9 operations a second.
    pub(crate) fn operations_per_ns(&self) -> Option<f64> {
        let (ns, ..) = *self.found.as_ref().ok()?;
        Some(1.0 / ns)
    }

    /// Why there is nothing; "" where there is something.
    pub(crate) fn why(&self) -> String {
        match &self.found {
            Ok(_) => String::new(),
            Err(Trouble::Skip(why) | Trouble::Failed(why) | Trouble::Wrong(why)) => why.clone(),
        }
    }

    /// How many samples are behind it.
    fn counted(&self) -> String {
        match self.found {
            Ok((.., 1)) => " [1 sample]".to_owned(),
            Ok((.., samples)) => format!(" [{samples} samples]"),
            Err(_) => String::new(),
        }
    }

    /// What is wrong with it, where something is.
    pub(crate) fn failure(&self) -> Option<&str> {
        match &self.found {
            Err(Trouble::Failed(why) | Trouble::Wrong(why)) => Some(why),
            _ => None,
        }
    }
}

/// What earlier steps of a run measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measured {
    /// The cell.
    pub(crate) cell: Cell,
    /// Nanoseconds an operation, in the middle of its samples.
    pub(crate) ns: f64,
    /// Of an operation.
    pub(crate) bytes: f64,
}

/// The rows of an experiment and a device that there are samples of. What is measured beside the device is not among them.
///
/// # Errors
/// The folder can't be read.
pub(crate) fn measured(
    folder: &Folder,
    experiment: &str,
    device: &str,
) -> Result<Vec<Measured>, String> {
    let lines = folder.lines(SAMPLES)?;
    let mut rows = vec![];
    for group in groups(folder, experiment, device)? {
        let cells = group.cells.iter().enumerate();
        for (place, cell) in cells.filter(|(_, cell)| is_of(cell.get("device"), device)) {
            let of_cell = |line: &&Value| {
                line["experiment"] == experiment
                    && line["group"] == group.number
                    && line["arm"] == place
            };
            let samples: Vec<_> = lines.iter().filter(of_cell).filter_map(counts).collect();
            if let Some((ns, bytes, _)) = middle(&samples) {
                rows.push(Measured { cell: cell.clone(), ns, bytes });
            }
        }
    }
    Ok(rows)
}

/// How many blocks there was no time for, and how many there were to be, of all groups of a run that could be measured.
///
/// # Errors
/// The folder can't be read.
pub(crate) fn missing(folder: &Folder) -> Result<(usize, usize), String> {
    let group = |line: &Value| (line["experiment"].to_string(), line["group"].as_u64());
    let is_late = |line: &Value| line["skipped"] == "" || line["skipped"] == TIME_UP;
    let checked = folder.lines(VERIFY)?;
    let planned: HashSet<_> = checked.iter().filter(|line| is_late(line)).map(group).collect();
    let samples = folder.lines(SAMPLES)?;
    let taken = samples.iter().map(|line| (group(line), line["block"].as_u64()));
    let taken: HashSet<_> = taken.filter(|(group, _)| planned.contains(group)).collect();
    let all = BLOCKS * planned.len();
    Ok((all.saturating_sub(taken.len()), all))
}

/// The groups of a run's plan that are of an experiment and a device.
///
/// # Errors
/// There is no plan.
fn groups(folder: &Folder, experiment: &str, device: &str) -> Result<Vec<Group>, String> {
    let file = folder.path().join(PLAN);
    let wrong = |error: &dyn std::error::Error| format!("{}: {error}", file.display());
    let text = fs::read_to_string(&file).map_err(|error| wrong(&error))?;
    let plan: Value = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    let empty = vec![];
    let experiments = plan["experiments"].as_array().unwrap_or(&empty);
    let planned = experiments.iter().find(|planned| planned["name"] == experiment);
    let groups = planned.and_then(|planned| planned["groups"].as_array()).unwrap_or(&empty);
    let of_device = |(_, cells): &(usize, &Value)| {
        cells.as_array().unwrap_or(&empty).iter().any(|cell| is_of(cell.get("device"), device))
    };
    let of_device = groups.iter().enumerate().filter(of_device);
    let group = |(number, cells): (usize, &Value)| Group {
        experiment: experiment.to_owned(),
        number,
        cells: cells
            .as_array()
            .unwrap_or(&empty)
            .iter()
            .filter_map(|cell| cell.as_object().cloned())
            .collect(),
    };
    Ok(of_device.map(group).collect())
}

/// Whether a cell's device is this one, or a part of it that it names behind a comma: `cuda, 1 thread`.
fn is_of(named: Option<&Value>, device: &str) -> bool {
    let rest = named.and_then(Value::as_str).and_then(|named| named.strip_prefix(device));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(", "))
}

/// How a group is measured.
pub(crate) struct Measuring<'f> {
    /// Where samples go.
    pub(crate) folder: &'f Folder,
    /// When it is to be over.
    pub(crate) until: Instant,
    /// Of the order in blocks.
    pub(crate) seed: u64,
    /// Why nothing is timed, where that is so.
    pub(crate) untimed: Option<&'f str>,
}

impl Measuring<'_> {
    /// Measures all groups of an experiment and a device, and says a line of each row; what failed.
    ///
    /// # Errors
    /// The folder takes nothing.
    pub(crate) fn all(
        &self,
        experiment: &str,
        device: &str,
        mut make: impl FnMut(&Cell) -> Result<Box<dyn Arm>, Trouble>,
        said: impl Fn(&Row) -> String,
    ) -> Result<Vec<String>, String> {
        let groups = groups(self.folder, experiment, device)?;
        let mut failures = vec![];
        for (done, group) in groups.iter().enumerate() {
            for row in self.share(groups.len() - done).group(group, &mut make)? {
                eprintln!("  {}{}", said(&row), row.counted());
                failures.extend(row.failure().map(|_| format!("{experiment}: {}", said(&row))));
            }
        }
        Ok(failures)
    }

    /// The same with the time that the first of so many has.
    pub(crate) fn share(&self, of: usize) -> Self {
        let now = Instant::now();
        let parts = u32::try_from(of).unwrap_or(u32::MAX).max(1);
        Self { until: now + self.until.saturating_duration_since(now) / parts, ..*self }
    }

    /// Makes the arms, takes samples until the time is up, and checks what the arms gave.
    ///
    /// # Errors
    /// The folder takes nothing.
    fn group(
        &self,
        group: &Group,
        mut make: impl FnMut(&Cell) -> Result<Box<dyn Arm>, Trouble>,
    ) -> Result<Vec<Row>, String> {
        let is_late = Instant::now() >= self.until;
        let mut prepared = |cell: &Cell| {
            if is_late { Err(Trouble::Skip(TIME_UP.to_owned())) } else { make(cell) }
        };
        let mut arms: Vec<_> = group.cells.iter().map(&mut prepared).collect();
        let samples = if self.untimed.is_none() { self.blocks(group, &mut arms)? } else { vec![] };
        let mut rows = vec![];
        for (place, (arm, cell)) in arms.into_iter().zip(&group.cells).enumerate() {
            let checked = arm.and_then(|mut arm| arm.check());
            let of_arm = samples.iter().filter(|(of, _)| *of == place);
            let own: Vec<_> =
                of_arm.map(|(_, sample)| [sample.ns, sample.operations, sample.bytes]).collect();
            self.folder.add(VERIFY, &[self.verified(group, place, &checked, own.is_empty())])?;
            let found = match (checked, middle(&own)) {
                (Err(trouble), _) => Err(trouble),
                (Ok(_), Some(found)) => Ok(found),
                (Ok(_), None) => Err(Trouble::Skip(self.untimed.unwrap_or(TIME_UP).to_owned())),
            };
            rows.push(Row { cell: cell.clone(), found });
        }
        Ok(rows)
    }

    /// Whole blocks, each of which is written at once. An arm that fails is left out from then on.
    fn blocks(
        &self,
        group: &Group,
        arms: &mut [Result<Box<dyn Arm>, Trouble>],
    ) -> Result<Vec<(usize, Sample)>, String> {
        let mut random = Random::new(self.seed, group.number as u64);
        let (mut kept, mut block, mut longest) = (vec![], 0, Duration::ZERO);
        let Some(reference) = arms.iter().position(Result::is_ok) else { return Ok(kept) };
        while block < BLOCKS && arms[reference].is_ok() {
            // What took all its time to get ready is not thrown away without a figure.
            if block > 0 && Instant::now() + longest > self.until {
                break;
            }
            let began = Instant::now();
            let there: Vec<_> = (0..arms.len()).filter(|place| arms[*place].is_ok()).collect();
            let left = self.until.saturating_duration_since(began).as_secs_f64();
            #[expect(clippy::cast_precision_loss)]
            let samples_left = ((BLOCKS - block) * (there.len() + 1)) as f64;
            let seconds = (left / samples_left).clamp(SAMPLE_S_MIN, SAMPLE_S_MAX);
            let doubled = there[block % there.len()];
            let mut order = there.clone();
            order.push(doubled);
            shuffle(&mut order, &mut random);
            let taken = take(arms, &order, seconds);
            // Without the reference or the pair a block says nothing.
            if [reference, doubled].iter().all(|place| arms[*place].is_ok()) {
                self.folder.add(SAMPLES, &lines(group, block, doubled, &taken))?;
                kept.extend(taken);
                block += 1;
                longest = longest.max(began.elapsed());
            }
        }
        Ok(kept)
    }

    fn verified(
        &self,
        group: &Group,
        place: usize,
        checked: &Result<Facts, Trouble>,
        untimed: bool,
    ) -> Value {
        let (mut facts, mut skipped, mut wrong) = (Facts::new(), "", "");
        match checked {
            Ok(found) => {
                facts.clone_from(found);
                skipped = if untimed { self.untimed.unwrap_or(TIME_UP) } else { "" };
            }
            Err(Trouble::Skip(why) | Trouble::Failed(why)) => skipped = why,
            Err(Trouble::Wrong(why)) => wrong = why,
        }
        json!({
            "experiment": group.experiment, "group": group.number, "arm": place, "restart": 0,
            "facts": facts, "skipped": skipped, "wrong": wrong, "may_pass": false
        })
    }
}

fn take(
    arms: &mut [Result<Box<dyn Arm>, Trouble>],
    order: &[usize],
    seconds: f64,
) -> Vec<(usize, Sample)> {
    let mut taken = vec![];
    for place in order {
        let Ok(arm) = &mut arms[*place] else { continue };
        match arm.sample(seconds) {
            Ok(sample) => taken.push((*place, sample)),
            Err(trouble) => arms[*place] = Err(trouble),
        }
    }
    taken
}

/// The second sample of the doubled arm ends the block.
fn lines(group: &Group, block: usize, doubled: usize, taken: &[(usize, Sample)]) -> Vec<Value> {
    let last = taken.iter().rposition(|(place, _)| *place == doubled);
    let line = |(place, sample): &(usize, Sample), again: bool| {
        json!({
            "experiment": group.experiment, "group": group.number, "arm": place, "again": again,
            "restart": 0, "block": block, "ns": sample.ns, "operations": sample.operations,
            "bytes": sample.bytes, "involuntary_switches": sample.involuntary_switches,
            "cpu_share": sample.cpu_share, "steal_ns": sample.steal_ns, "clock_ghz": sample.clock_ghz
        })
    };
    let singles = taken.iter().enumerate().filter(|(at, _)| Some(*at) != last);
    let singles = singles.map(|(_, each)| line(each, false));
    singles.chain(last.map(|last| line(&taken[last], true))).collect()
}

/// Of a sample: nanoseconds, operations, bytes.
type Counts = [u64; 3];

fn counts(line: &Value) -> Option<Counts> {
    Some([line["ns"].as_u64()?, line["operations"].as_u64()?, line["bytes"].as_u64()?])
}

/// The median of nanoseconds an operation, with the bytes of an operation.
#[expect(clippy::cast_precision_loss)]
fn middle(samples: &[Counts]) -> Option<(f64, f64, usize)> {
    let [_, operations, bytes] = samples.first()?;
    let mut ns: Vec<_> = samples.iter().map(|[ns, of, _]| *ns as f64 / *of as f64).collect();
    ns.sort_by(f64::total_cmp);
    let (low, high) = (ns[(ns.len() - 1) / 2], ns[ns.len() / 2]);
    Some((low.midpoint(high), *bytes as f64 / *operations as f64, ns.len()))
}

fn shuffle(order: &mut [usize], random: &mut Random) {
    for left in (1..order.len()).rev() {
        #[expect(clippy::cast_possible_truncation)]
        order.swap(left, (random.next_u64() % (left as u64 + 1)) as usize);
    }
}

const TIME_UP: &str = "the time was up before this was measured";
const SAMPLE_S_MIN: f64 = 0.002;
const SAMPLE_S_MAX: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, process};

    #[test]
    fn blocks_are_missed_of_groups_that_lacked_time_and_of_no_others() {
        let path = env::temp_dir().join(format!("sealift-gpu-measure-{}", process::id()));
        let folder = Folder::create(&path).unwrap();
        assert_eq!(missing(&folder).unwrap(), (0, 0));
        let line = |group: u32, skipped: &str| json!({"experiment": "one", "group": group, "skipped": skipped});
        let lines = [line(0, ""), line(0, "too old"), line(1, TIME_UP), line(2, "too old")];
        folder.add(VERIFY, &lines).unwrap();
        let sample = |block: u32| json!({"experiment": "one", "group": 0, "block": block});
        folder.add(SAMPLES, &[sample(0), sample(0), sample(1)]).unwrap();
        assert_eq!(missing(&folder).unwrap(), (2 * BLOCKS - 2, 2 * BLOCKS));
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_part_of_a_device_is_of_it_and_a_device_that_begins_alike_is_not() {
        let is_of = |named: &str| is_of(Some(&named.into()), "cuda");
        assert!(is_of("cuda") && is_of("cuda, 1 thread"));
        assert!(!is_of("cuda:1") && !is_of("cuda:1, 1 thread") && !is_of("cpu, 1 core"));
    }
}
