//! Tags alone.

use core::arch::x86_64::*;

use super::{
    super::{item::Ahead, zmm::wide_fn},
    group::mask,
    hash::hash,
    place::load_rows,
    shared::Shared,
    spare::Groups,
    tag::{all_right, compare_tags, note_failures},
    weave::States,
};

wide_fn! {
    /// Verifies messages of one class.
    ///
    /// # Safety
    /// As for [`groups`].
    #[inline(never)]
    pub(super) unsafe fn verify<const N: usize>(
        shared: &Shared,
        items: &Groups<'_, N>,
        ahead: &mut Ahead<'_>,
    ) {
        for index in 0..items.len() {
            let (group, live) = items.get(index);
            ahead.fetch(N);
            let shared = shared.again();
            // SAFETY: the caller promises the items: nonces are readable.
            let mut states = unsafe { States::<N>::new(shared, group) };
            for round in 1..shared.class.rounds {
                states.first = states.first.map(|state| _mm512_aesenc_epi128(state, shared.key(round)));
            }
            // SAFETY: the caller promises the items: texts are readable, and `shared` is of their class.
            let rows = unsafe { load_rows::<N, 1>(shared, group) };
            // SAFETY: the caller promises the items: aads are readable.
            let hashes = unsafe { hash(shared, group, rows) };
            let tags = mask(hashes, states.masks(shared.last_key()));
            // SAFETY: the caller promises the items: expected tags are readable, and as long as the class says.
            let differ = unsafe { compare_tags(group, tags, shared.class.tag_bytes) } & live;
            if !all_right(differ) {
                // SAFETY: the caller promises the items: statuses are writable.
                unsafe { note_failures(group, differ) };
            }
        }
    }
}
