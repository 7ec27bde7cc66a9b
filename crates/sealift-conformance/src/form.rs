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

    /// So many consecutive forms have every arrangement of inputs and of outputs, and every combination of
    /// text, keys and stability, wherever they begin: no check needs more to have met each kind once.
    pub(crate) const COVERING: usize = 14;

    /// The `n`-th form that a device takes; after [`COUNT`](Self::COUNT) they begin again.
    pub(crate) fn nth(n: usize, capabilities: &Capabilities) -> Self {
        // Found by a search over all numbers without a factor in common with `COUNT`.
        let n = n * 29 % Self::COUNT;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Candidate;
    use sealift_drivers::reference::Reference;
    use std::collections::HashSet;
    use std::hash::Hash;

    fn kinds<T: Hash + Eq>(forms: &[Form], kind: impl Fn(&Form) -> T) -> usize {
        forms.iter().map(kind).collect::<HashSet<_>>().len()
    }

    #[test]
    fn a_few_consecutive_forms_have_every_kind() {
        let subject = Candidate::new(&Reference, "reference").subject().unwrap().unwrap();
        for first in 0..Form::COUNT {
            let few = first..first + Form::COVERING;
            let forms: Vec<_> = few.map(|n| Form::nth(n, subject.capabilities())).collect();
            assert_eq!(kinds(&forms, |form| form.inputs as u8), 5);
            assert_eq!(kinds(&forms, |form| form.outputs as u8), 5);
            assert_eq!(kinds(&forms, |form| (form.tags as u8, form.text as u8)), 4);
            let combined = |form: &Form| (form.text as u8, form.keys as u8, form.stability as u8);
            assert_eq!(kinds(&forms, combined), 8);
        }
        let all: Vec<_> = (0..Form::COUNT).map(|n| Form::nth(n, subject.capabilities())).collect();
        assert_eq!(kinds(&all, |form| format!("{form:?}")), Form::COUNT);
    }
}
