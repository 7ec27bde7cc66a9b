//! A window of messages, those that are worked together behind each other.

use core::ops::Range;

use sealift_core::{Op, Span, TextSpan};

use super::class::{ClassId, known_blocks};
use super::item::{Class, Item, KeyForm};
use super::progression::Progression;
use super::source::{Lot, Source};
use crate::Schedules;

/// A window of messages; used again for the next one, so that nothing is allocated a call.
#[derive(Default)]
pub(super) struct Desk {
    /// As many as a window ever had, so that none is written twice.
    items: Vec<Item>,
    /// How many of these are of this window.
    taken: usize,
    /// The class of each message.
    ids: Vec<ClassId>,
    /// The key of each message, where its item is made from those of others.
    keys: Vec<*const u8>,
    /// The text of each message, where texts alone differ.
    texts: Vec<TextSpan>,
    /// Some messages that are taken column by column.
    spans: Vec<Span>,
    /// What the items are put into when they are sorted.
    sorted: Vec<Item>,
    /// The classes that there are.
    classes: Vec<ClassId>,
    lots: Vec<Lot>,
    /// Where messages of each class go.
    places: Places,
    /// What is worked together, and where its items end.
    groups: Vec<(Together, usize)>,
}

/// Messages that are worked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::x86_64) enum Together {
    /// Of one class, by the kernel for it.
    Alike(Class),
    /// Of many, under keys of as many rounds.
    Mixed {
        /// What keys are.
        keys: KeyForm,
        /// 10, 12 or 14.
        rounds: usize,
        /// Length of every tag.
        tag_bytes: usize,
    },
}

/// How the messages of a class are worked; what is worked alone comes behind the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::x86_64) enum How {
    /// With others of their class.
    Alike,
    /// With messages of other classes.
    Mixed,
    /// One by one.
    Alone,
}

impl Desk {
    /// Takes the messages of a window; those that are worked one by one go to the source's rest.
    pub(super) fn fill(&mut self, source: &mut Source<'_, '_, '_>, window: Range<usize>) {
        self.clear();
        let (is_many, rows) = (window.len() > 1, &source.rows);
        let taken = if is_many && rows.are_regular() {
            self.take_regular(source, &window)
        } else if is_many && rows.are_regular_but_for_texts() {
            self.take_texts(source, &window)
        } else {
            None
        };
        let taken = taken.unwrap_or_else(|| self.take_each(source, window));
        self.give_back(source, taken);
    }

    /// Takes everything off.
    pub(super) fn clear(&mut self) {
        self.taken = 0;
        self.ids.clear();
        self.keys.clear();
        self.places.forget(&self.classes);
        self.classes.clear();
        self.lots.clear();
        self.groups.clear();
    }

    /// The messages in the order in which they are worked.
    pub(super) fn items(&self) -> &[Item] {
        &self.items[..self.taken]
    }

    /// What is worked together.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&Together, &[Item])> {
        let starts = core::iter::once(0).chain(self.groups.iter().map(|(_, end)| *end));
        self.groups
            .iter()
            .zip(starts)
            .map(|((group, end), start)| (group, &self.items[start..*end]))
    }

    /// Takes messages wherever they lie; returns how many are in a group.
    fn take_each(&mut self, source: &mut Source<'_, '_, '_>, window: Range<usize>) -> usize {
        self.clear();
        self.room(window.len());
        for start in window.clone().step_by(SPANS) {
            let some = start..window.end.min(start + SPANS);
            self.spans.resize(some.len(), Span::NOBODYS);
            let are_all = source.spans.fill(some.clone(), &mut self.spans);
            for (at, message) in some.enumerate() {
                let span = if are_all { Some(self.spans[at]) } else { source.spans.get(message) };
                match span.and_then(|span| source.item(&span, message)) {
                    Some((item, id)) => {
                        self.items[self.ids.len()] = item;
                        self.ids.push(id);
                    }
                    None => source.rest.push(message),
                }
            }
        }
        self.taken = self.ids.len();
        if let Some(id) = self.common_id() {
            return self.alike(source, id);
        }
        let taken = self.place(source);
        if self.sorted.len() < self.taken {
            self.sorted.resize(self.items.len(), Item::NOBODYS);
        }
        for (item, id) in self.items.iter().zip(&self.ids) {
            self.sorted[self.places.next(*id)] = *item;
        }
        core::mem::swap(&mut self.items, &mut self.sorted);
        taken
    }

    /// Takes messages that lie at equal distances; returns how many are in a group, or none if they can't
    /// be taken so.
    fn take_regular(
        &mut self,
        source: &mut Source<'_, '_, '_>,
        window: &Range<usize>,
    ) -> Option<usize> {
        let three = match source.spans.common_op() {
            None => OPS.map(|op| source.progression(op, window.start)),
            Some(op) => {
                let (progression, id) = source.progression(op, window.start)?;
                if let Some(id) = self.take_alike(source, window, &progression, id) {
                    return Some(self.alike(source, id));
                }
                [Some((progression, id)); 3]
            }
        };
        let [Some(seal), Some(open), Some(verify)] = three else { return None };
        self.take_keys(source, window, [seal.1, open.1, verify.1])?;
        let taken = self.place(source);
        let ops = window.clone().map(|message| source.spans.op(message) as usize);
        let (progressions, messages) = ([seal.0, open.0, verify.0], window.len());
        self.room(messages);
        let places = &mut self.places;
        let to = self.ids.iter().zip(&self.keys).map(|(id, key)| (places.next(*id), *key));
        let items = &mut self.items[..messages];
        Progression::put_three(&progressions, source.token, ops.zip(to), items);
        Some(taken)
    }

    /// Takes messages of which only the texts lie at unequal distances; returns how many are in a group, or none if they
    /// can't be taken so.
    fn take_texts(
        &mut self,
        source: &mut Source<'_, '_, '_>,
        window: &Range<usize>,
    ) -> Option<usize> {
        let op = source.spans.common_op()?;
        let (progression, first) = source.progression(op, window.start)?;
        if !source.spans.texts(window.clone(), op, &mut self.texts) {
            return None;
        }
        if self.texts.iter().fold(0, |longest, text| text.bytes.max(longest))
            > source.terms.longest_text
        {
            return None;
        }
        let long = source.terms.long_blocks;
        let ids = ROUNDS.map(|rounds| first.of_all_texts().map(|id| id.under(rounds)));
        let id =
            |text: &TextSpan, rounds: usize| ids[(rounds - 10) / 2][known_blocks(text.bytes, long)];
        // A loop for each kind of keys spares a branch for each message.
        if let Schedules::Each(each) = source.schedules {
            let each = &each[window.start - source.first..][..window.len()];
            let mut are_fast = true;
            self.keys.extend(each.iter().map(|schedule| schedule.address()));
            self.ids.extend(self.texts.iter().zip(each).map(|(text, schedule)| {
                are_fast &= schedule.fast_rounds() > 0;
                id(text, schedule.fast_rounds().max(10))
            }));
            are_fast.then_some(())?;
        } else {
            for (text, message) in self.texts.iter().zip(window.clone()) {
                let (key, rounds) = source.key(message)?;
                self.keys.push(key);
                self.ids.push(id(text, rounds));
            }
        }
        let taken = self.place(source);
        self.room(window.len());
        let places = &mut self.places;
        let to = self.ids.iter().zip(&self.keys).map(|(id, key)| (places.next(*id), *key));
        let items = &mut self.items[..window.len()];
        progression.put_texts(source.token, self.texts.iter().zip(to), items);
        Some(taken)
    }

    /// Takes messages to all of which the same is done, and returns their class if they have one in common.
    fn take_alike(
        &mut self,
        source: &Source<'_, '_, '_>,
        window: &Range<usize>,
        progression: &Progression,
        id: ClassId,
    ) -> Option<ClassId> {
        let (_, rounds) = source.key(window.start)?;
        let each = match source.schedules {
            Schedules::Each(each) => &each[window.start - source.first..][..window.len()],
            _ if source.has_common_key() => &[],
            _ => return None,
        };
        let items = self.room(window.len());
        progression.put(source.token, items);
        let mut differing = 0;
        for (item, schedule) in items.iter_mut().zip(each) {
            item.key = schedule.address();
            differing |= schedule.fast_rounds() ^ rounds;
        }
        (differing == 0).then(|| id.under(rounds))
    }

    /// Takes each message's key and class; none if the kernels don't take one of the keys.
    fn take_keys(
        &mut self,
        source: &Source<'_, '_, '_>,
        window: &Range<usize>,
        ids: [ClassId; 3],
    ) -> Option<()> {
        let ids = ids.map(|id| ROUNDS.map(|rounds| id.under(rounds)));
        for message in window.clone() {
            let (key, rounds) = source.key(message)?;
            self.keys.push(key);
            self.ids.push(ids[source.spans.op(message) as usize][(rounds - 10) / 2]);
        }
        Some(())
    }

    fn common_id(&self) -> Option<ClassId> {
        let first = self.ids.first()?;
        self.ids.iter().all(|id| id == first).then_some(*first)
    }

    /// Room for so many items, which are those of the window then.
    fn room(&mut self, messages: usize) -> &mut [Item] {
        if self.items.len() < messages {
            self.items.resize(messages, Item::NOBODYS);
        }
        self.taken = messages;
        &mut self.items[..messages]
    }

    /// Makes a group of all items, of one class; returns how many are in it.
    fn alike(&mut self, source: &Source<'_, '_, '_>, id: ClassId) -> usize {
        let Some(together) = source.lot(id, self.taken, self.taken).together() else { return 0 };
        self.groups.push((together, self.taken));
        self.taken
    }

    /// Finds where messages go so that those that are worked together are behind each other, and returns how many of
    /// them are in a group.
    fn place(&mut self, source: &Source<'_, '_, '_>) -> usize {
        for id in &self.ids {
            if self.places.next(*id) == 0 {
                self.classes.push(*id);
            }
        }
        let (places, all) = (&self.places.0, self.ids.len());
        let lot = |id: &ClassId| source.lot(*id, usize::from(places[id.place()]), all);
        self.lots.extend(self.classes.iter().map(lot));
        self.lots.sort_unstable_by_key(|lot| (lot.how, lot.joint, lot.id));
        self.group()
    }

    /// Makes groups of the lots, each of which has its place then, and returns how many messages are in a
    /// group; the others come behind them.
    fn group(&mut self) -> usize {
        let (mut end, mut taken) = (0, 0);
        for lot in &self.lots {
            self.places.0[lot.id.place()] = u16::try_from(end).unwrap_or(u16::MAX);
            end += lot.messages;
            let Some(together) = lot.together() else { continue };
            taken = end;
            match self.groups.last_mut() {
                Some((last, last_end)) if *last == together => *last_end = end,
                _ => self.groups.push((together, end)),
            }
        }
        debug_assert!(end == self.lots.iter().map(|lot| lot.messages).sum(), "a lot is nowhere");
        taken
    }

    /// Gives back the messages from a place on.
    fn give_back(&mut self, source: &mut Source<'_, '_, '_>, from: usize) {
        let zero = source.spans.status(0).addr();
        source
            .rest
            .extend(self.items[from..self.taken].iter().map(|item| item.status.addr() - zero));
        self.taken = from;
    }
}

/// Where the next message of each class goes. Kept from window to window: there are more classes than most windows have messages.
struct Places(Box<[u16; ClassId::NUMBER]>);

impl Default for Places {
    fn default() -> Places {
        Places(Box::new([0; ClassId::NUMBER]))
    }
}

impl Places {
    /// Begins again with these classes; no others have places.
    fn forget(&mut self, classes: &[ClassId]) {
        for id in classes {
            self.0[id.place()] = 0;
        }
    }

    #[inline(always)]
    fn next(&mut self, id: ClassId) -> usize {
        let place = &mut self.0[id.place()];
        *place += 1;
        usize::from(*place - 1)
    }
}

/// Messages that are taken column by column at a time: as many as stay in the nearest cache.
const SPANS: usize = 64;

/// In the order of their numbers.
const OPS: [Op; 3] = [Op::Seal, Op::Open, Op::Verify];

/// Of keys, the shortest first.
const ROUNDS: [usize; 3] = [10, 12, 14];
