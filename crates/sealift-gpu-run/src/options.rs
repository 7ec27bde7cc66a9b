//! The command line.

use crate::part::{Part, Step};
use std::path::PathBuf;
use std::time::Duration;

/// What was asked for.
#[derive(Debug, PartialEq)]
pub(crate) enum Asked {
    /// To be told how this is used.
    Help,
    /// Which version this is.
    Version,
    /// Everything.
    Run(Options),
    /// One part of it, in the process that was started for it.
    Part(Part),
}

/// How everything is done.
#[derive(Debug, PartialEq)]
pub(crate) struct Options {
    /// Where results go; a folder of the current one where nothing is said.
    pub(crate) out: Option<PathBuf>,
    /// What to measure; the GPUs that are found where nothing is said.
    pub(crate) devices: Vec<String>,
    /// The time for all of it.
    pub(crate) budget: Duration,
    /// What to do, in the order of all steps.
    pub(crate) steps: Vec<Step>,
    /// Of everything that is drawn.
    pub(crate) seed: u64,
    /// The command line.
    pub(crate) words: Vec<String>,
}

/// Reads the words behind the program's name.
///
/// # Errors
/// The first that isn't right, and what would be.
pub(crate) fn read(words: impl IntoIterator<Item = String>) -> Result<Asked, String> {
    let words: Vec<_> = words.into_iter().collect();
    let mut options = Options {
        out: None,
        devices: vec![],
        budget: BUDGET,
        steps: vec![],
        seed: 1,
        words: ["sealift-gpu".to_owned()].into_iter().chain(words.clone()).collect(),
    };
    let (mut part, mut rest) = (None, words.into_iter());
    while let Some(word) = rest.next() {
        if word == "--help" || word == "-h" {
            return Ok(Asked::Help);
        }
        if word == "--version" {
            return Ok(Asked::Version);
        }
        if !KNOWN.contains(&&*word) {
            return Err(format!("{word:?} is no option; there are {}", KNOWN[1..].join(", ")));
        }
        let value = rest.next().ok_or_else(|| format!("{word} without a value"))?;
        match &*word {
            "--part" => part = Some(Step::parse(&value)?),
            _ => set(&mut options, &word, value)?,
        }
    }
    let Some(step) = part else {
        options.steps = in_order(&options.steps);
        return Ok(Asked::Run(options));
    };
    let whole = options.out.zip(options.devices.pop());
    let (folder, device) = whole.ok_or("--part needs --out and --device")?;
    Ok(Asked::Part(Part { step, device, folder, time: options.budget, seed: options.seed }))
}

fn set(options: &mut Options, word: &str, value: String) -> Result<(), String> {
    let wrong = |right: &str| format!("{word} {value}: right would be {right}");
    match word {
        "--out" => options.out = Some(value.into()),
        "--device" if options.devices.contains(&value) => {
            return Err(format!("{word} {value} stands twice; name each device once"));
        }
        "--device" => options.devices.push(value),
        "--step" => options.steps.push(Step::parse(&value)?),
        "--seed" => options.seed = value.parse().map_err(|_| wrong("a whole number"))?,
        _ => {
            let seconds = seconds(&value).filter(|seconds| (1.0..=DAY_S).contains(seconds));
            let budget = seconds.map(Duration::from_secs_f64);
            options.budget =
                budget.ok_or_else(|| wrong("1 to 86400 seconds, as in 90, 90s or 5m"))?;
        }
    }
    Ok(())
}

/// Reads `90`, `90s`, `3m` or `1.5h`, as the lab does.
fn seconds(text: &str) -> Option<f64> {
    let (number, unit) = text.split_at(text.trim_end_matches(char::is_alphabetic).len());
    let seconds_of = match unit {
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3_600.0,
        _ => return None,
    };
    number.parse().ok().map(|number: f64| number * seconds_of)
}

/// Those that were named, or all.
fn in_order(named: &[Step]) -> Vec<Step> {
    let wanted = |step: &Step| named.is_empty() || named.contains(step);
    Step::ALL.into_iter().filter(wanted).collect()
}

pub(crate) const HELP: &str = "\
Checks and measures the GPUs of this machine, and leaves a folder for `sealift lab report`.

Usage: sealift-gpu [OPTIONS]

  --out FOLDER      where results go, a new folder (sealift-gpu-DATE in this one)
  --budget TIME     the time for all of it, as in 90, 90s or 5m (450)
  --device SPEC     what to measure, instead of the GPUs that are found; may stand again: cuda:1, opencl:0
  --step NAME       only this, and others named so: conformance, rates, copies, messages, host, cores, grids
  --seed NUMBER     of everything that is drawn (1)
  --version         which one this is

It needs a GPU's driver and nothing else. SEALIFT_LIBCUDA names another libcuda.so.1, CUDA_VISIBLE_DEVICES hides
devices, SEALIFT_TEST_SCALE=0.01 makes less of the large numbers of the conformance suite.

Status: 0 all was measured and nothing failed, 1 not so, 2 the command line is wrong, 3 there is nothing to measure.
";

const KNOWN: [&str; 6] = ["--part", "--out", "--device", "--step", "--seed", "--budget"];
/// Under eight minutes, with what ends late.
const BUDGET: Duration = Duration::from_secs(450);
const DAY_S: f64 = 86_400.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(words: &str) -> Result<Asked, String> {
        read(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn without_a_word_everything_is_done_in_under_eight_minutes() {
        let Ok(Asked::Run(options)) = asked("") else { panic!("it is a run") };
        assert_eq!(options.steps, Step::ALL);
        assert!(options.budget < Duration::from_secs(480) && options.devices.is_empty());
    }

    #[test]
    fn steps_are_worked_in_their_own_order() {
        let Ok(Asked::Run(options)) = asked("--step rates --step conformance --budget 2.5") else {
            panic!("it is a run")
        };
        assert_eq!(options.steps, [Step::Conformance, Step::Rates]);
        assert_eq!(options.budget, Duration::from_millis(2_500));
        assert_eq!(options.words.len(), 7);
    }

    #[test]
    fn a_budget_has_units_as_in_the_lab() {
        for (text, right) in [("90", 90.0), ("90s", 90.0), ("5m", 300.0), ("1.5h", 5_400.0)] {
            assert_eq!(seconds(text), Some(right), "{text}");
        }
    }

    #[test]
    fn what_is_not_right_is_told_with_what_would_be() {
        for (words, told) in [
            ("--fast 1", "--fast\" is no option; there are --out"),
            ("--out", "--out without a value"),
            ("--budget 0", "--budget 0: right would be 1 to 86400 seconds"),
            ("--budget 5d", "--budget 5d: right would be 1 to 86400 seconds, as in 90, 90s or 5m"),
            ("--budget nan", "--budget nan: right would be"),
            ("--device cuda:0 --device cuda:0", "--device cuda:0 stands twice"),
            ("--seed x", "--seed x: right would be a whole number"),
            ("--step speed", "speed is no step; there are conformance"),
            ("--part rates --out x", "--part needs --out and --device"),
        ] {
            let error = asked(words).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }
}
