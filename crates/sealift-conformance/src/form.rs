//! The forms in which the same batch can be said.

use crate::memory::Where;
use crate::strip::Arrangement;
use sealift_core::{Capabilities, Stability};

/// Where tags are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagPlace {
    Apart,
    Appended,
}

/// Where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextPlace {
    Apart,
    InPlace,
}

/// How keys are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyForm {
    Sessions,
    Raw,
}

/// One way to say a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) inputs: Arrangement,
    pub(crate) outputs: Arrangement,
    pub(crate) tags: TagPlace,
    pub(crate) text: TextPlace,
    pub(crate) keys: KeyForm,
    pub(crate) memory: Where,
    pub(crate) stability: Stability,
}

impl Form {
    /// The plainest.
    pub(crate) const PLAIN: Self = Self {
        inputs: Arrangement::Offsets32,
        outputs: Arrangement::Offsets32,
        tags: TagPlace::Apart,
        text: TextPlace::Apart,
        keys: KeyForm::Sessions,
        memory: Where::Heap,
        stability: Stability::Frozen,
    };

    /// How many [`nth`](Self::nth) knows.
    pub(crate) const COUNT: usize = 400;

    /// The `n`-th form that a device takes; after [`COUNT`](Self::COUNT) they begin again.
    pub(crate) fn nth(n: usize, capabilities: &Capabilities) -> Self {
        let in_place = n % 2 == 1 && capabilities.in_place;
        Self {
            text: if in_place { TextPlace::InPlace } else { TextPlace::Apart },
            tags: [TagPlace::Apart, TagPlace::Appended][n / 2 % 2],
            keys: [KeyForm::Sessions, KeyForm::Raw][n / 4 % 2],
            inputs: Arrangement::ALL[n / 8 % 5],
            outputs: Arrangement::ALL[n / 40 % 5],
            stability: [Stability::Frozen, Stability::Shared][n / 200 % 2],
            memory: Where::Heap,
        }
    }
}
