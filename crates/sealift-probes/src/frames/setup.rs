//! The messages beside the frames, as text.

use super::control::{Broken, Message};
use super::{Form, Pattern, Way, told};
use crate::ArmError;
use rustix::fd::OwnedFd;
use std::fmt;
use std::str::{FromStr, SplitWhitespace};

/// The first message: what is exchanged, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    pub(super) form: Form,
    pub(super) seed: u64,
    /// The core that the far process keeps to; none for any.
    pub(super) core: Option<usize>,
    pub(super) spins: bool,
    /// Of the near process, and where its frames lie, for those who read them there.
    pub(super) pid: i32,
    pub(super) address: usize,
    /// The access of both processes to all regions, as text.
    pub(super) rules: String,
}

/// Its answer: where the far process's frames lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ready {
    pub(super) address: usize,
}

/// Wants so many hands exchanged, whose frames are counted from a number on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Go {
    pub(super) pattern: Pattern,
    pub(super) hands: u64,
    pub(super) first: u64,
}

/// Its answer: the far process waits for the first of them.
pub(super) struct Begun;

/// All of them were right; and what the system did to the far process meanwhile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Finished {
    pub(super) switches: u64,
    pub(super) cpu_share: f64,
}

/// Why the far process ends.
pub(super) fn last_words(broken: &Broken) -> String {
    match broken {
        Broken::Arm(ArmError::Wrong { what, .. }) => format!("wrong {what}"),
        Broken::Arm(error) => format!("failed {error}"),
        Broken::Gone => "failed the process that measures has closed its end".to_owned(),
        Broken::Silent => "failed the process that measures did nothing".to_owned(),
    }
}

/// The other way round; nothing for a message of another kind.
pub(super) fn parse_last_words(way: Way, text: &str) -> Option<ArmError> {
    if let Some(what) = text.strip_prefix("wrong ") {
        return Some(super::content::wrong(way.name(), what.to_owned()));
    }
    let why = text.strip_prefix("failed ")?;
    Some(told(way, format!("the process at the other end failed: {why}")))
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Form { way, frame_bytes, batch } = self.form;
        let Self { seed, spins, pid, address, rules, .. } = self;
        let core = self.core.map_or_else(|| "any".to_owned(), |core| core.to_string());
        let way = way.name();
        write!(
            f,
            "frames {way} {frame_bytes} {batch} {seed} {core} {spins} {pid} {address}\n{rules}"
        )
    }
}

impl Setup {
    pub(super) fn parse(message: Message) -> Result<(Self, Vec<OwnedFd>), ArmError> {
        let Message { text, descriptors } = message;
        let (line, rules) = text.split_once('\n').unwrap_or((&text, ""));
        let mut words = line.split_whitespace();
        let setup = |words: &mut SplitWhitespace<'_>| {
            (words.next()? == "frames").then_some(())?;
            let way = Way::parse(words.next()?).ok()?;
            let form = Form { way, frame_bytes: next(words)?, batch: next(words)? };
            let seed = next(words)?;
            let core = words.next()?;
            let core = if core == "any" { None } else { Some(core.parse().ok()?) };
            let (spins, pid, address) = (next(words)?, next(words)?, next(words)?);
            Some(Self { form, seed, core, spins, pid, address, rules: rules.to_owned() })
        };
        let setup = setup(&mut words).ok_or_else(|| unread(line))?;
        Ok((setup, descriptors))
    }
}

impl fmt::Display for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ready {}", self.address)
    }
}

impl Ready {
    pub(super) fn parse(text: &str) -> Result<Self, ArmError> {
        let mut words = text.strip_prefix("ready ").unwrap_or("").split_whitespace();
        next(&mut words).map(|address| Self { address }).ok_or_else(|| unread(text))
    }
}

impl fmt::Display for Go {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "go {} {} {}", self.pattern.name(), self.hands, self.first)
    }
}

impl Go {
    pub(super) fn parse(text: &str) -> Result<Self, ArmError> {
        let go = || {
            let mut words = text.strip_prefix("go ")?.split_whitespace();
            let pattern = Pattern::parse(words.next()?).ok()?;
            Some(Self { pattern, hands: next(&mut words)?, first: next(&mut words)? })
        };
        go().ok_or_else(|| unread(text))
    }
}

impl fmt::Display for Begun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("begun")
    }
}

impl Begun {
    pub(super) fn parse(text: &str) -> Result<Self, ArmError> {
        if text == "begun" { Ok(Self) } else { Err(unread(text)) }
    }
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "finished {} {}", self.switches, self.cpu_share)
    }
}

impl Finished {
    pub(super) fn parse(text: &str) -> Result<Self, ArmError> {
        let finished = || {
            let mut words = text.strip_prefix("finished ")?.split_whitespace();
            Some(Self { switches: next(&mut words)?, cpu_share: next(&mut words)? })
        };
        finished().ok_or_else(|| unread(text))
    }
}

fn next<T: FromStr>(words: &mut SplitWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

fn unread(text: &str) -> ArmError {
    let value = format!("{:?}", text.chars().take(80).collect::<String>());
    let right = "one of the same build at the other end".to_owned();
    ArmError::Spec { what: "a message between the processes", value, right }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_process_says_the_other_understands() {
        let setup = Setup {
            form: Form { way: Way::ProcessVmReadv, frame_bytes: 65_536, batch: 3 },
            seed: 9,
            core: Some(1),
            spins: true,
            pid: 77,
            address: 0x7000,
            rules: "a b\nc d\n".to_owned(),
        };
        let spoken = |text: String| Message { text, descriptors: vec![] };
        assert_eq!(Setup::parse(spoken(setup.to_string())).unwrap().0, setup);
        let anywhere = Setup { core: None, ..setup };
        assert_eq!(Setup::parse(spoken(anywhere.to_string())).unwrap().0, anywhere);
        let go = Go { pattern: Pattern::Stream, hands: 5, first: 1 << 40 };
        assert_eq!(Go::parse(&go.to_string()).unwrap(), go);
        let finished = Finished { switches: 2, cpu_share: 0.5 };
        assert_eq!(Finished::parse(&finished.to_string()).unwrap(), finished);
        assert_eq!(Ready::parse("ready 5").unwrap(), Ready { address: 5 });
        assert!(Begun::parse(&Begun.to_string()).is_ok());
    }

    #[test]
    fn last_words_are_told_apart_and_other_messages_refused() {
        let wrong = ArmError::Wrong { device: "x".into(), what: "frame 3 differs".into() };
        let heard = parse_last_words(Way::Ring, &last_words(&wrong.into())).unwrap();
        assert!(matches!(heard, ArmError::Wrong { what, .. } if what == "frame 3 differs"));
        let failed = told(Way::Pipe, "no".into());
        let heard = parse_last_words(Way::Pipe, &last_words(&failed.into())).unwrap().to_string();
        assert!(
            heard.contains("the process at the other end failed: frames by pipe: no"),
            "{heard}"
        );
        for broken in [Broken::Gone, Broken::Silent] {
            let heard = parse_last_words(Way::Pipe, &last_words(&broken)).unwrap().to_string();
            assert!(heard.contains("failed: the process that measures"), "{heard}");
        }
        assert!(parse_last_words(Way::Ring, "finished 0 1").is_none());
        for text in ["", "go", "go nowhere 1 2", "finished x 1", "frames ring 1"] {
            assert!(Go::parse(text).is_err() && Finished::parse(text).is_err());
            assert!(Setup::parse(Message { text: text.into(), descriptors: vec![] }).is_err());
        }
    }
}
