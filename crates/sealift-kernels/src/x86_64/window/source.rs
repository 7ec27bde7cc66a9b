//! Messages of a batch on their way to a desk.

use sealift_core::{Op, Rows, Span, Spans};

use super::Terms;
use super::class::ClassId;
use super::desk::{How, Together};
use super::item::{Class, Item, KeyForm, LONG_TEXT_MAX};
use super::progression::Progression;
use crate::Schedules;
use crate::x86_64::cpu::HaveVaes512;

/// A batch as its messages are taken from it.
pub(super) struct Source<'b, 's, 'w> {
    /// For making items at equal distances, if there is one.
    pub(super) token: Option<HaveVaes512>,
    pub(super) spans: &'b mut Spans<'s, 'w>,
    /// Of the spans.
    pub(super) rows: Rows,
    pub(super) schedules: Schedules<'b>,
    /// The message that the first of several schedules is for.
    pub(super) first: usize,
    /// Messages to be worked one by one.
    pub(super) rest: &'b mut Vec<usize>,
    pub(super) terms: Terms,
}

/// The messages of one class.
pub(super) struct Lot {
    pub(super) how: How,
    /// The class that it is worked as.
    pub(super) joint: ClassId,
    pub(super) id: ClassId,
    pub(super) class: Class,
    pub(super) messages: usize,
}

impl Lot {
    /// What is given to a kernel; none if they are worked one by one.
    pub(super) fn together(&self) -> Option<Together> {
        let Class { keys, rounds, tag_bytes, .. } = self.class;
        match self.how {
            How::Alike => Some(Together::Alike(self.class)),
            How::Mixed => Some(Together::Mixed { keys, rounds, tag_bytes }),
            How::Alone => None,
        }
    }
}

impl Source<'_, '_, '_> {
    /// A message as an item; none if it is worked alone whatever the others are.
    #[inline]
    pub(super) fn item(&self, span: &Span, message: usize) -> Option<(Item, ClassId)> {
        let (key, rounds) = self.key(message)?;
        Some((self.new_item(span, key)?, self.id_of(span).under(rounds)))
    }

    /// Where messages that lie at equal distances would be if something were done to all of them, from one
    /// on, and their class but for the key.
    pub(super) fn progression(&self, op: Op, start: usize) -> Option<(Progression, ClassId)> {
        let (span, strides) = self.rows.message(start, op)?;
        let key = self.key(start)?.0;
        let key_stride = match self.schedules {
            // Of keys of their own each is put in place afterwards.
            Schedules::One(_) | Schedules::Each(_) => 0,
            Schedules::Raw => self.key(start + 1)?.0.addr().wrapping_sub(key.addr()),
        };
        let item = self.new_item(&span, key)?;
        Some((Progression::of(item, &strides, key_stride), self.id_of(&span)))
    }

    #[inline]
    fn new_item(&self, span: &Span, key: *const u8) -> Option<Item> {
        if span.text_bytes > self.terms.longest_text { None } else { Item::new(span, key) }
    }

    /// The class of a message but for its key.
    #[inline]
    fn id_of(&self, span: &Span) -> ClassId {
        let long = self.terms.long_blocks;
        ClassId::new(span.op, span.text_bytes, span.aad_bytes, span.nonce_bytes, long)
    }

    /// Where a message's key is and how many rounds it has; none if the kernels don't take it.
    #[inline]
    pub(super) fn key(&self, message: usize) -> Option<(*const u8, usize)> {
        match self.schedules {
            Schedules::One(schedule) => schedule.fast(),
            Schedules::Each(each) => each[message - self.first].fast(),
            Schedules::Raw => {
                self.spans.raw_key(message).map(|key| (key.as_ptr(), key.len() / 4 + 6))
            }
        }
    }

    /// Whether keys lie at equal distances, too, and have as many rounds.
    pub(super) fn has_common_key(&self) -> bool {
        match self.schedules {
            Schedules::One(_) => true,
            Schedules::Each(_) => false,
            Schedules::Raw => self.spans.has_regular_keys(),
        }
    }

    /// So many messages of a class, of so many in all.
    pub(super) fn lot(&self, id: ClassId, messages: usize, all: usize) -> Lot {
        let keys = match self.schedules {
            Schedules::One(_) => KeyForm::One,
            Schedules::Each(_) => KeyForm::Each,
            Schedules::Raw => KeyForm::Raw,
        };
        let mut class = id.class(keys, self.spans.tag_bytes());
        let how = (self.terms.how)(&mut class, messages, all);
        let joint =
            if class.text_blocks == LONG_TEXT_MAX { id.of_all_texts()[LONG_TEXT_MAX] } else { id };
        Lot { how, joint, id, class, messages }
    }
}
