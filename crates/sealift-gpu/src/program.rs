//! What kernels are compiled to: the drivers' programs, and the lab's.

use crate::bench::LabProgram;
use crate::variant::{Kernel, SOURCES, Variant};

/// A program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Program {
    /// One that drivers use.
    Driver(Variant),
    /// One that only the lab uses.
    Lab(LabProgram),
}

impl Program {
    /// Its name, which names its file, too.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Driver(variant) => variant.name(),
            Self::Lab(program) => program.name().to_owned(),
        }
    }

    /// The kernels that it has.
    #[must_use]
    pub fn kernels(self) -> &'static [Kernel] {
        match self {
            Self::Driver(_) => &Kernel::OF_DRIVERS,
            Self::Lab(program) => program.kernels(),
        }
    }

    /// Its source: files one behind the other.
    pub(crate) fn source(self) -> String {
        match self {
            Self::Driver(_) => SOURCES.iter().map(|(_, text)| *text).collect(),
            Self::Lab(program) => program.source(),
        }
    }

    /// What the source is compiled with.
    pub(crate) fn defines(self) -> Vec<(&'static str, usize)> {
        match self {
            Self::Driver(variant) => variant.defines().to_vec(),
            Self::Lab(program) => program.defines().to_vec(),
        }
    }

    /// Local memory behind [`Argument::Table`](crate::gpu::Argument::Table) of OpenCL's kernels, in bytes.
    pub(crate) fn local_bytes(self) -> usize {
        match self {
            Self::Driver(variant) => variant.tables.local_bytes(),
            Self::Lab(_) => 0,
        }
    }
}

impl From<Variant> for Program {
    fn from(variant: Variant) -> Self {
        Self::Driver(variant)
    }
}

impl From<LabProgram> for Program {
    fn from(program: LabProgram) -> Self {
        Self::Lab(program)
    }
}
