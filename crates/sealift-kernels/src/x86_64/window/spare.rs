//! Messages in groups.

use core::{arch::asm, mem::offset_of, ptr};

use sealift_core::Status;

use super::item::Item;

/// Messages in groups of `N`; the last one is made up with a message of nobody's.
pub(in crate::x86_64) struct Groups<'a, const N: usize> {
    whole: &'a [[Item; N]],
    rest: usize,
    tail: [Item; N],
}

/// Where a message of nobody's is.
#[repr(C, align(64))]
pub(in crate::x86_64) struct Spare {
    text: [u128; 9],
    tag: u128,
    status: Status,
}

impl<'a, const N: usize> Groups<'a, N> {
    /// Groups of messages that are all like the first.
    #[inline]
    pub(in crate::x86_64) fn of(items: &'a [Item], spare: &mut Spare) -> Option<Groups<'a, N>> {
        let (whole, rest) = items.as_chunks::<N>();
        let spare = spare.like(items.first()?);
        let mut tail = [spare; N];
        tail.iter_mut().zip(rest).for_each(|(to, item)| *to = *item);
        Some(Groups { whole, rest: rest.len(), tail })
    }

    /// How many there are.
    #[inline]
    pub(in crate::x86_64) fn len(&self) -> usize {
        self.whole.len() + usize::from(self.rest > 0)
    }

    /// A group, and two bits for each message of it that is somebody's.
    #[inline]
    pub(in crate::x86_64) fn get(&self, index: usize) -> (&[Item; N], u16) {
        match self.whole.get(index) {
            Some(group) => (group, u16::MAX),
            None => (&self.tail, (1 << (2 * self.rest)) - 1),
        }
    }
}

impl Spare {
    /// A message of zeros.
    pub(in crate::x86_64) fn new() -> Spare {
        Spare { text: [0; 9], tag: 0, status: Status::Ok }
    }

    /// Leaves only zeros: what a key makes of zeros tells of other messages.
    pub(in crate::x86_64) fn wipe(&mut self) {
        self.text = [0; 9];
        self.tag = 0;
        // SAFETY: no instruction is emitted; whoever is given the address may read what is there, so the
        // zeros are written.
        unsafe {
            asm!("/* {0} */", in(reg) ptr::from_mut(self), options(nostack, preserves_flags))
        };
    }

    /// A message as long as another, with its nonce and its aad.
    fn like(&mut self, item: &Item) -> Item {
        let start = ptr::from_mut(self);
        let at = |offset: usize| start.cast::<u8>().wrapping_add(offset);
        let text = at(offset_of!(Spare, text));
        Item {
            input: text,
            output: text,
            tag: at(offset_of!(Spare, tag)),
            status: at(offset_of!(Spare, status)).cast(),
            ..*item
        }
    }
}
