//! Who may read and who may write which region: data, and asked before a region is made, lent or mapped.

use crate::ArmError;
use std::fmt;

/// One of the two processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one that measures.
    Near,
    /// The one it has started.
    Far,
}

/// What a process may do with a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Not even map it.
    None,
    /// Read it.
    Read,
    /// Read and write it.
    Write,
}

/// A stretch of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// Frames and counters that the near process writes.
    NearOutbox,
    /// Frames and counters that the far process writes.
    FarOutbox,
    /// Texts of the near process.
    NearOwn,
    /// Texts of the far process.
    FarOwn,
}

/// The access of both processes to every region.
///
/// ```
/// use sealift_probes::frames::{Access, Name, RULES, Rules, Side};
///
/// let rules = Rules::parse(RULES)?;
/// rules.check(Name::NearOutbox, Side::Far, Access::Read)?;
/// let refused = rules.check(Name::NearOwn, Side::Far, Access::Read).unwrap_err();
/// assert!(refused.to_string().contains("the far process may not read the region near-own"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    granted: [[Access; 2]; Name::ALL.len()],
}

/// The rules that frames are exchanged by: each process writes one region that the other only reads, and
/// owns one that the other may not touch.
pub const RULES: &str = include_str!("rules.txt");

impl Rules {
    /// Reads a line for each region: `near-outbox near=write far=read`.
    ///
    /// # Errors
    /// A line that is none of these, a region twice or missing; the error says what would be right.
    pub fn parse(text: &str) -> Result<Self, ArmError> {
        let mut granted = [None; Name::ALL.len()];
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let (name, near, far) = rule(line).ok_or_else(|| wrong(line))?;
            if granted[name as usize].replace([near, far]).is_some() {
                return Err(wrong(line));
            }
        }
        let missing = granted.iter().position(Option::is_none).map(|at| Name::ALL[at]);
        match missing {
            Some(name) => Err(wrong(&format!("nothing for {name}"))),
            None => Ok(Self { granted: granted.map(|both| both.unwrap_or([Access::None; 2])) }),
        }
    }

    /// What a process may do with a region.
    #[must_use]
    pub fn granted(&self, name: Name, side: Side) -> Access {
        self.granted[name as usize][side as usize]
    }

    /// Refuses what they don't allow.
    ///
    /// # Errors
    /// [`ArmError::Forbidden`].
    pub fn check(&self, name: Name, side: Side, access: Access) -> Result<(), ArmError> {
        let granted = self.granted(name, side);
        if access <= granted {
            return Ok(());
        }
        Err(ArmError::Forbidden { region: name, side, wanted: access, granted })
    }
}

/// The same text that they are read from.
impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in Name::ALL {
            let [near, far] = self.granted[name as usize];
            writeln!(f, "{name} near={near} far={far}")?;
        }
        Ok(())
    }
}

fn rule(line: &str) -> Option<(Name, Access, Access)> {
    let mut words = line.split_whitespace();
    let name = words.next()?;
    let name = Name::ALL.into_iter().find(|known| known.text() == name)?;
    let near = access(words.next()?.strip_prefix("near=")?)?;
    let far = access(words.next()?.strip_prefix("far=")?)?;
    words.next().is_none().then_some((name, near, far))
}

fn access(word: &str) -> Option<Access> {
    Access::ALL.into_iter().find(|known| known.text() == word)
}

fn wrong(line: &str) -> ArmError {
    ArmError::Spec {
        what: "a rule",
        value: format!("{line:?}"),
        right: format!("a line for each region once, as in\n{RULES}"),
    }
}

impl Side {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Near => Self::Far,
            Self::Far => Self::Near,
        }
    }
}

impl Name {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::NearOutbox, Self::FarOutbox, Self::NearOwn, Self::FarOwn];

    /// Where a process puts what the other reads.
    #[must_use]
    pub fn outbox(side: Side) -> Self {
        match side {
            Side::Near => Self::NearOutbox,
            Side::Far => Self::FarOutbox,
        }
    }

    /// What a process keeps to itself.
    #[must_use]
    pub fn own(side: Side) -> Self {
        match side {
            Side::Near => Self::NearOwn,
            Side::Far => Self::FarOwn,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::NearOutbox => "near-outbox",
            Self::FarOutbox => "far-outbox",
            Self::NearOwn => "near-own",
            Self::FarOwn => "far-own",
        }
    }
}

impl Access {
    const ALL: [Self; 3] = [Self::None, Self::Read, Self::Write];

    fn text(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Near => "near",
            Self::Far => "far",
        })
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_writes_its_own_regions_and_only_reads_the_others_outbox() {
        let rules = Rules::parse(RULES).unwrap();
        for side in [Side::Near, Side::Far] {
            assert_eq!(rules.granted(Name::outbox(side), side), Access::Write);
            assert_eq!(rules.granted(Name::own(side), side), Access::Write);
            assert_eq!(rules.granted(Name::outbox(side), side.other()), Access::Read);
            assert_eq!(rules.granted(Name::own(side), side.other()), Access::None);
        }
        assert_eq!(rules.to_string(), RULES);
    }

    #[test]
    fn what_is_not_granted_is_refused_by_name() {
        let rules = Rules::parse(RULES).unwrap();
        let refused = |name, side, access| rules.check(name, side, access).unwrap_err().to_string();
        assert_eq!(
            refused(Name::FarOutbox, Side::Near, Access::Write),
            "the near process may not write the region far-outbox: the rules grant it read"
        );
        assert!(refused(Name::FarOwn, Side::Near, Access::Read).contains("grant it none"));
        assert!(rules.check(Name::FarOutbox, Side::Near, Access::Read).is_ok());
    }

    #[test]
    fn rules_that_say_too_little_or_something_else_are_refused() {
        let missing = RULES.lines().skip(1).collect::<Vec<_>>().join("\n");
        let twice = format!("{RULES}{RULES}");
        let unknown = RULES.replace("far=read", "far=all");
        for (text, named) in [(missing, "near-outbox"), (twice, "near-outbox"), (unknown, "all")] {
            let error = Rules::parse(&text).unwrap_err().to_string();
            assert!(error.starts_with("a rule of") && error.contains(named), "{error}");
        }
    }
}
