//! The lab's programs.

use super::types::Type;
use crate::variant::Kernel;
use sealift_core::KeyLength;

/// A program that only the lab uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LabProgram {
    /// AES-GCM as document 003's program worked it.
    Published(KeyLength),
    /// Arithmetic on a type of numbers.
    Types(Type),
    /// Single instructions.
    Units,
    /// Products of matrices of bits, for devices from compute capability 8.0 on.
    Bmma,
}

impl LabProgram {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        let keys = [KeyLength::Aes128, KeyLength::Aes192, KeyLength::Aes256];
        let published = keys.map(Self::Published).into_iter();
        published.chain(Type::ALL.map(Self::Types)).chain([Self::Units, Self::Bmma])
    }

    /// Its name, which names its file, too.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.made().name
    }

    /// The kernels that it has.
    #[must_use]
    pub fn kernels(self) -> &'static [Kernel] {
        match self {
            Self::Published(_) => &[Kernel::Replicated, Kernel::Partitioned],
            Self::Types(_) => &[Kernel::Types],
            Self::Units => &[
                Kernel::Lop3,
                Kernel::Prmt,
                Kernel::Shf,
                Kernel::Imad,
                Kernel::ImadWide,
                Kernel::Lds,
            ],
            Self::Bmma => &[Kernel::Bmma],
        }
    }

    /// Whether it is written in NVIDIA's own instructions.
    #[must_use]
    pub fn is_for_cuda_only(self) -> bool {
        matches!(self, Self::Units | Self::Bmma)
    }

    pub(crate) fn source(self) -> String {
        [DIALECT, MESSAGE, LAB, self.made().source].concat()
    }

    /// Its own number, and that it has no tables in local memory.
    pub(crate) fn defines(self) -> [(&'static str, usize); 2] {
        [("TABLES", 0), self.made().define]
    }

    pub(crate) fn ptx(self) -> &'static str {
        self.made().ptx
    }

    fn made(self) -> &'static Made {
        &PROGRAMS[match self {
            Self::Published(key) => key.bytes() / 8 - 2,
            Self::Types(of) => 3 + of as usize,
            Self::Units => 8,
            Self::Bmma => 9,
        }]
    }
}

/// What a program is made of.
struct Made {
    name: &'static str,
    source: &'static str,
    define: (&'static str, usize),
    ptx: &'static str,
}

macro_rules! made {
    ($($name:literal for $oldest:literal: $source:literal with $define:ident = $value:literal;)*) => {
        [$(Made {
            name: $name,
            source: include_str!(concat!("../../kernels/lab/", $source)),
            define: (stringify!($define), $value),
            ptx: include_str!(concat!("../../ptx/", $name, ".ptx")),
        }),*]
    };
}

// Each for the oldest compute capability that it compiles for, in tenths. tools/gpu_kernels.py reads these lines.
static PROGRAMS: [Made; 10] = made! {
    "lab-published-aes128" for 75: "published.cl" with KEY_WORDS = 4;
    "lab-published-aes192" for 75: "published.cl" with KEY_WORDS = 6;
    "lab-published-aes256" for 75: "published.cl" with KEY_WORDS = 8;
    "lab-types-int" for 75: "types.cl" with TYPE = 0;
    "lab-types-long" for 75: "types.cl" with TYPE = 1;
    "lab-types-float" for 75: "types.cl" with TYPE = 2;
    "lab-types-double" for 75: "types.cl" with TYPE = 3;
    "lab-types-mixed" for 75: "types.cl" with TYPE = 4;
    "lab-units" for 75: "units.cl" with CHAINS = 8;
    "lab-bmma" for 80: "bmma.cl" with CHAINS = 8;
};

const DIALECT: &str = include_str!("../../kernels/dialect.h");
const MESSAGE: &str = include_str!("../../kernels/message.h");
const LAB: &str = include_str!("../../kernels/lab/lab.h");
