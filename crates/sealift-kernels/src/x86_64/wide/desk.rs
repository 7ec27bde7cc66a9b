//! A window of messages, sorted by what they have in common.
#![allow(unsafe_code)]

use core::ops::Range;

use sealift_core::{Op, Spans, Status};

use super::item::{Class, Item, KeyForm, LONG_AAD, LONG_TEXT};
use crate::{Schedule, Schedules};

/// A window of messages; used again for the next one, so that nothing is allocated a call.
#[derive(Default)]
pub(super) struct Desk {
    items: Vec<Item>,
    /// The class of each item.
    ids: Vec<ClassId>,
    /// The items by class, when there are several.
    sorted: Vec<Item>,
    /// The classes in order, and where the items of each end.
    classes: Vec<(Class, usize)>,
}

/// A batch as its messages are taken from it.
pub(super) struct Source<'b, 's, 'w> {
    pub(super) spans: &'b mut Spans<'s, 'w>,
    pub(super) schedules: Schedules<'b>,
    /// The message that the first of several schedules is for.
    pub(super) first: usize,
    /// Messages that no kernel takes.
    pub(super) rest: &'b mut Vec<usize>,
}

impl Desk {
    /// Takes the messages of a window; those that `takes` says no kernel takes stay in the source's rest.
    pub(super) fn fill(
        &mut self,
        source: &mut Source<'_, '_, '_>,
        window: Range<usize>,
        takes: impl Fn(&Class) -> bool,
    ) {
        self.clear();
        if source.spans.is_regular() && window.len() > 1 {
            self.fill_regular(source, window);
        } else {
            window.for_each(|message| self.take(source, message));
        }
        self.sort(source, takes);
        for item in &self.items {
            // SAFETY: the status of a message of the batch, which is borrowed.
            unsafe { item.status.write(Status::Ok) };
        }
    }

    /// Takes everything off.
    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.ids.clear();
        self.classes.clear();
    }

    /// The messages in the order in which they are worked.
    pub(super) fn items(&self) -> &[Item] {
        &self.items
    }

    /// The messages of each class.
    pub(super) fn classes(&self) -> impl Iterator<Item = (&Class, &[Item])> {
        let starts = core::iter::once(0).chain(self.classes.iter().map(|(_, end)| *end));
        self.classes
            .iter()
            .zip(starts)
            .map(|((class, end), start)| (class, &self.items[start..*end]))
    }

    fn take(&mut self, source: &mut Source<'_, '_, '_>, message: usize) {
        match source.item(message) {
            Some((item, id)) => {
                self.items.push(item);
                self.ids.push(id);
            }
            None => source.rest.push(message),
        }
    }

    /// Takes messages that lie at equal distances: two tell where all are.
    fn fill_regular(&mut self, source: &mut Source<'_, '_, '_>, window: Range<usize>) {
        let start = window.start;
        let (Some((item, id)), Some((second, _))) = (source.item(start), source.item(start + 1))
        else {
            return window.for_each(|message| self.take(source, message));
        };
        let mut item = item;
        let step = item.step_to(&second);
        self.items.extend(window.clone().map(|_| {
            let this = item;
            item = item.stepped(&step);
            this
        }));
        self.ids.resize(window.len(), id);
        if let Schedules::Each(each) = source.schedules {
            self.set_keys(&each[start - source.first..], source.rest, start);
        }
    }

    fn set_keys(&mut self, schedules: &[&Schedule], rest: &mut Vec<usize>, start: usize) {
        let places = self.items.iter_mut().zip(&mut self.ids).zip(schedules);
        let mut slow = false;
        for ((item, id), schedule) in places {
            item.key = schedule.address();
            match schedule.fast_rounds() {
                Some(rounds) => *id = id.with_rounds(rounds),
                None => slow = true,
            }
        }
        if slow {
            rest.extend(start..start + self.items.len());
            self.clear();
        }
    }

    /// Puts the messages of each class together.
    fn sort(&mut self, source: &mut Source<'_, '_, '_>, takes: impl Fn(&Class) -> bool) {
        let Some(first) = self.ids.first() else { return };
        if self.ids.iter().all(|id| id == first) {
            let class = source.class(*first);
            if takes(&class) {
                self.classes.push((class, self.items.len()));
            } else {
                self.give_back(source, 0);
            }
            return;
        }
        let mut ends = [0_u16; ClassId::NUMBER];
        self.ids.iter().for_each(|id| ends[id.place()] += 1);
        let taken = self.place_classes(source, &mut ends, takes);
        self.sorted.clear();
        self.sorted.extend_from_slice(&self.items);
        for (item, id) in self.items.iter().zip(&self.ids) {
            let place = &mut ends[id.place()];
            self.sorted[usize::from(*place)] = *item;
            *place += 1;
        }
        core::mem::swap(&mut self.items, &mut self.sorted);
        self.give_back(source, taken);
    }

    /// Turns the number of each class into the place where it begins, those that are taken first, and
    /// returns how many messages are taken.
    fn place_classes(
        &mut self,
        source: &Source<'_, '_, '_>,
        numbers: &mut [u16; ClassId::NUMBER],
        takes: impl Fn(&Class) -> bool,
    ) -> usize {
        let mut end = 0;
        let mut refused = vec![];
        for (place, number) in numbers.iter_mut().enumerate().filter(|(_, number)| **number > 0) {
            let class = source.class(ClassId::at(place));
            if takes(&class) {
                let start = end;
                end += *number;
                *number = start;
                self.classes.push((class, usize::from(end)));
            } else {
                refused.push(place);
            }
        }
        let taken = end;
        for place in refused {
            let start = end;
            end += numbers[place];
            numbers[place] = start;
        }
        usize::from(taken)
    }

    /// Gives back the messages from a place on.
    fn give_back(&mut self, source: &mut Source<'_, '_, '_>, from: usize) {
        let zero = source.spans.status(0).addr();
        source.rest.extend(self.items.drain(from..).map(|item| item.status.addr() - zero));
    }
}

impl Source<'_, '_, '_> {
    /// A message as an item; none if the kernels take no such message.
    #[inline]
    fn item(&mut self, message: usize) -> Option<(Item, ClassId)> {
        let span = self.spans.get(message)?;
        let (key, rounds) = match self.schedules {
            Schedules::One(schedule) => (schedule.address(), schedule.fast_rounds()?),
            Schedules::Each(each) => {
                let schedule = each[message - self.first];
                (schedule.address(), schedule.fast_rounds()?)
            }
            Schedules::Raw => {
                let key = self.spans.raw_key(message)?;
                (key.as_ptr(), key.len() / 4 + 6)
            }
        };
        let item = Item::new(&span, key)?;
        Some((item, ClassId::new(span.op, rounds, span.text_bytes, span.aad_bytes)))
    }

    fn class(&self, id: ClassId) -> Class {
        let keys = match self.schedules {
            Schedules::One(_) => KeyForm::One,
            Schedules::Each(_) => KeyForm::Each,
            Schedules::Raw => KeyForm::Raw,
        };
        id.class(keys, self.spans.tag_bytes())
    }
}

/// What differs between the classes of a batch, in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClassId(u16);

impl ClassId {
    /// How many there can be.
    const NUMBER: usize = 3 * 3 * Self::SHAPES as usize;
    const AADS: u16 = LONG_AAD as u16 + 1;
    const SHAPES: u16 = (LONG_TEXT as u16 + 1) * Self::AADS;

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "both are small after the minimum")]
    fn new(op: Op, rounds: usize, text_bytes: usize, aad_bytes: usize) -> ClassId {
        let op = match op {
            Op::Seal => 0,
            Op::Open => 1,
            Op::Verify => 2,
        };
        let text = text_bytes.div_ceil(16).min(LONG_TEXT) as u16;
        let aad = aad_bytes.div_ceil(16).min(LONG_AAD) as u16;
        ClassId(op * 3 * Self::SHAPES + text * Self::AADS + aad).with_rounds(rounds)
    }

    #[inline]
    fn with_rounds(self, rounds: usize) -> ClassId {
        let of_op = self.0 / (3 * Self::SHAPES) * (3 * Self::SHAPES);
        let key = match rounds {
            10 => 0,
            12 => 1,
            _ => 2,
        };
        ClassId(of_op + key * Self::SHAPES + self.0 % Self::SHAPES)
    }

    #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 65,536")]
    fn at(place: usize) -> ClassId {
        ClassId(place as u16)
    }

    #[inline]
    fn place(self) -> usize {
        usize::from(self.0)
    }

    fn class(self, keys: KeyForm, tag_bytes: usize) -> Class {
        let op = match self.0 / (3 * Self::SHAPES) {
            0 => Op::Seal,
            1 => Op::Open,
            _ => Op::Verify,
        };
        let rounds = 10 + 2 * usize::from(self.0 / Self::SHAPES % 3);
        let text_blocks = usize::from(self.0 % Self::SHAPES / Self::AADS);
        let aad_blocks = usize::from(self.0 % Self::AADS);
        Class { op, keys, rounds, tag_bytes, text_blocks, aad_blocks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_for_one_class() {
        let mut seen = [false; ClassId::NUMBER];
        for op in [Op::Seal, Op::Open, Op::Verify] {
            for (rounds, text, aad) in (0..3).flat_map(|rounds| {
                (0..=LONG_TEXT)
                    .flat_map(move |text| (0..=LONG_AAD).map(move |aad| (rounds, text, aad)))
            }) {
                let rounds = 10 + 2 * rounds;
                let id = ClassId::new(op, rounds, 16 * text, 16 * aad);
                let class = id.class(KeyForm::Each, 16);
                assert_eq!((class.op, class.rounds), (op, rounds));
                assert_eq!((class.text_blocks, class.aad_blocks), (text, aad));
                assert_eq!(ClassId::new(op, 10, 16 * text, 16 * aad).with_rounds(rounds), id);
                assert!(!core::mem::replace(&mut seen[id.place()], true), "{class:?}");
            }
        }
        assert!(seen.iter().all(|seen| *seen));
    }

    #[test]
    fn long_messages_are_in_the_last_classes() {
        let class = ClassId::new(Op::Open, 12, 1 << 20, 5_000).class(KeyForm::One, 12);
        assert_eq!((class.text_blocks, class.aad_blocks), (LONG_TEXT, LONG_AAD));
        let part = ClassId::new(Op::Open, 12, 113, 33).class(KeyForm::One, 12);
        assert_eq!((part.text_blocks, part.aad_blocks), (8, 3));
    }
}
