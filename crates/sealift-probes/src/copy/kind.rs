//! The kinds of memory, and their names.

use super::region::Region;
use crate::ArmError;
use std::fmt::{self, Display, Formatter};

/// What kind of memory bytes lie in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// From the C library's allocator.
    Heap,
    /// Anonymous pages, none of them huge.
    Small,
    /// Anonymous pages that the kernel was asked to make huge.
    Huge,
    /// A file in memory, without a name.
    Memfd,
    /// A file without a name in /dev/shm.
    Shm,
    /// A file without a name in a folder, mapped.
    File,
    /// Huge pages that were reserved before.
    Hugetlb,
    /// A part of a device's memory, or of a file that stands for it.
    Region(Region),
}

impl Kind {
    /// The kind of a name; a region is none of them, and must be named as one.
    ///
    /// # Errors
    /// There is none; with those there are.
    pub fn parse(name: &str) -> Result<Self, ArmError> {
        let named = NAMES.iter().find(|(known, _)| *known == name);
        named.map(|(_, kind)| kind.clone()).ok_or_else(|| ArmError::Spec {
            what: "memory",
            value: format!("{name:?}"),
            right: NAMES.map(|(name, _)| name).join(", "),
        })
    }

    /// Whether the system's calls for files reach it.
    pub(super) fn is_file(&self) -> bool {
        matches!(self, Self::File | Self::Memfd | Self::Shm)
    }
}

impl Display for Kind {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        if let Self::Region(region) = self {
            return write!(formatter, "region {region}");
        }
        let name = NAMES.iter().find(|(_, kind)| kind == self).map_or("", |(name, _)| name);
        formatter.write_str(name)
    }
}

const NAMES: [(&str, Kind); 7] = [
    ("heap", Kind::Heap),
    ("pages", Kind::Small),
    ("huge-pages", Kind::Huge),
    ("memfd", Kind::Memfd),
    ("shm", Kind::Shm),
    ("file", Kind::File),
    ("hugetlb", Kind::Hugetlb),
];
