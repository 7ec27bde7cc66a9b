//! A window of messages, those that are worked together behind each other.
use core::ops::Range;

use sealift_core::{Op, Span, Spans};

use super::class::ClassId;
use super::item::{Class, Item, KeyForm, Progression};
use crate::x86_64::cpu::HaveVaes512;
use crate::{Schedule, Schedules};

/// A window of messages; used again for the next one, so that nothing is allocated a call.
#[derive(Default)]
pub(super) struct Desk {
    items: Vec<Item>,
    /// The class of each item.
    ids: Vec<ClassId>,
    /// What the items are copied into when they are sorted.
    sorted: Vec<Item>,
    lots: Vec<Lot>,
    /// What is worked together, and where its items end.
    groups: Vec<(Together, usize)>,
}

/// Messages that are worked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Together {
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

/// How the messages of a class are worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum How {
    /// With others of their class.
    Alike,
    /// With messages of other classes.
    Mixed,
    /// One by one.
    Alone,
}

/// A batch as its messages are taken from it.
pub(super) struct Source<'b, 's, 'w> {
    pub(super) token: HaveVaes512,
    pub(super) spans: &'b mut Spans<'s, 'w>,
    pub(super) schedules: Schedules<'b>,
    /// The message that the first of several schedules is for.
    pub(super) first: usize,
    /// Messages to be worked one by one.
    pub(super) rest: &'b mut Vec<usize>,
    /// How so many messages of a class are worked, which have nonces of 12 bytes or not.
    pub(super) how: fn(&Class, bool, usize) -> How,
}

/// The messages of one class.
struct Lot {
    how: How,
    id: ClassId,
    class: Class,
    messages: usize,
}

impl Desk {
    /// Takes the messages of a window; those that are worked one by one go to the source's rest.
    pub(super) fn fill(&mut self, source: &mut Source<'_, '_, '_>, window: Range<usize>) {
        self.clear();
        let alike = match source.spans.is_regular() && window.len() > 1 {
            true => self.take_regular(source, window),
            false => self.take_each(source, window),
        };
        self.lots.clear();
        let taken = match alike {
            Some(id) => {
                self.lots.push(source.lot(id, self.items.len()));
                self.group(|_, _| ())
            }
            None => self.sort(source),
        };
        self.give_back(source, taken);
    }

    /// Takes everything off.
    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.ids.clear();
        self.groups.clear();
    }

    /// The messages in the order in which they are worked.
    pub(super) fn items(&self) -> &[Item] {
        &self.items
    }

    /// What is worked together.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&Together, &[Item])> {
        let starts = core::iter::once(0).chain(self.groups.iter().map(|(_, end)| *end));
        self.groups
            .iter()
            .zip(starts)
            .map(|((group, end), start)| (group, &self.items[start..*end]))
    }

    /// Takes messages one by one; returns their class if they have one in common.
    fn take_each(
        &mut self,
        source: &mut Source<'_, '_, '_>,
        window: Range<usize>,
    ) -> Option<ClassId> {
        for message in window {
            match source.item(message) {
                Some((item, id)) => {
                    self.items.push(item);
                    self.ids.push(id);
                }
                None => source.rest.push(message),
            }
        }
        self.common_id()
    }

    /// Takes messages that lie at equal distances; returns their class if they have one in common.
    fn take_regular(
        &mut self,
        source: &mut Source<'_, '_, '_>,
        window: Range<usize>,
    ) -> Option<ClassId> {
        let Some(op) = source.spans.common_op() else {
            return self.take_ops(source, window);
        };
        let Some((progression, id)) = source.progression(op, window.start) else {
            return self.take_each(source, window);
        };
        progression.take(source.token, window.len(), &mut self.items);
        let common = match source.schedules {
            Schedules::Each(each) => self.take_schedules(&each[window.start - source.first..], id),
            _ if source.has_common_key() => {
                source.key(window.start).map(|(_, rounds)| id.under(rounds))
            }
            _ => None,
        };
        common.or_else(|| self.take_keys(source, window, [id; 3]))
    }

    /// The same when not the same is done to all.
    fn take_ops(
        &mut self,
        source: &mut Source<'_, '_, '_>,
        window: Range<usize>,
    ) -> Option<ClassId> {
        let of_op = OPS.map(|op| source.progression(op, window.start));
        let [Some(seal), Some(open), Some(verify)] = of_op else {
            return self.take_each(source, window);
        };
        let ops = window.clone().map(|message| source.spans.op(message) as usize);
        let three = [seal.0, open.0, verify.0];
        Progression::take_of_three(&three, source.token, ops, &mut self.items);
        self.take_keys(source, window, [seal.1, open.1, verify.1])
    }

    /// Gives each message the key of its schedule; returns their class if these have as many rounds.
    fn take_schedules(&mut self, schedules: &[&Schedule], id: ClassId) -> Option<ClassId> {
        let (_, rounds) = schedules.first()?.fast()?;
        let mut differing = 0;
        for (item, schedule) in self.items.iter_mut().zip(schedules) {
            item.key = schedule.address();
            differing |= schedule.fast_rounds() ^ rounds;
        }
        (differing == 0).then(|| id.under(rounds))
    }

    /// Gives each message its key and its class; begins anew if the kernels don't take one of the keys.
    fn take_keys(
        &mut self,
        source: &mut Source<'_, '_, '_>,
        window: Range<usize>,
        ids: [ClassId; 3],
    ) -> Option<ClassId> {
        for (message, item) in window.clone().zip(&mut self.items) {
            let Some((key, rounds)) = source.key(message) else {
                self.clear();
                return self.take_each(source, window);
            };
            item.key = key;
            self.ids.push(ids[item.op as usize].under(rounds));
        }
        self.common_id()
    }

    fn common_id(&self) -> Option<ClassId> {
        let first = self.ids.first()?;
        self.ids.iter().all(|id| id == first).then_some(*first)
    }

    /// Puts the messages that are worked together behind each other, and returns how many these are.
    fn sort(&mut self, source: &Source<'_, '_, '_>) -> usize {
        let mut counts = [0_u16; ClassId::NUMBER];
        self.ids.iter().for_each(|id| counts[id.place()] += 1);
        for id in &self.ids {
            let count = core::mem::take(&mut counts[id.place()]);
            if count > 0 {
                self.lots.push(source.lot(*id, usize::from(count)));
            }
        }
        self.lots.sort_unstable_by_key(|lot| (lot.how, lot.id));
        let mut places = counts;
        let taken = self.group(|id, start| places[id.place()] = start);
        if self.sorted.len() < self.items.len() {
            self.sorted.clone_from(&self.items);
        }
        for (item, id) in self.items.iter().zip(&self.ids) {
            let place = &mut places[id.place()];
            self.sorted[usize::from(*place)] = *item;
            *place += 1;
        }
        self.sorted.truncate(self.items.len());
        core::mem::swap(&mut self.items, &mut self.sorted);
        taken
    }

    /// Makes groups of the lots, tells where each lot begins, and returns how many messages are in a
    /// group; the others come behind them.
    fn group(&mut self, mut begin: impl FnMut(ClassId, u16)) -> usize {
        let (mut end, mut taken) = (0, 0);
        for lot in &self.lots {
            begin(lot.id, u16::try_from(end).unwrap_or(u16::MAX));
            end += lot.messages;
            let together = match lot.how {
                How::Alike => Together::Alike(lot.class),
                How::Mixed => {
                    let Class { keys, rounds, tag_bytes, .. } = lot.class;
                    Together::Mixed { keys, rounds, tag_bytes }
                }
                How::Alone => continue,
            };
            taken = end;
            match self.groups.last_mut() {
                Some((last, last_end)) if *last == together => *last_end = end,
                _ => self.groups.push((together, end)),
            }
        }
        taken
    }

    /// Gives back the messages from a place on.
    fn give_back(&mut self, source: &mut Source<'_, '_, '_>, from: usize) {
        let zero = source.spans.status(0).addr();
        source.rest.extend(self.items.drain(from..).map(|item| item.status.addr() - zero));
    }
}

impl Source<'_, '_, '_> {
    /// A message as an item; none if it is worked alone whatever the others are.
    #[inline]
    fn item(&mut self, message: usize) -> Option<(Item, ClassId)> {
        let span = self.spans.get(message)?;
        let (key, rounds) = self.key(message)?;
        Some((Item::new(&span, key)?, id_of(&span).under(rounds)))
    }

    /// Where messages that lie at equal distances would be if something were done to all of them, from one
    /// on, and their class but for the key.
    fn progression(&mut self, op: Op, start: usize) -> Option<(Progression, ClassId)> {
        let (first, second) = (self.spans.get_as(start, op)?, self.spans.get_as(start + 1, op)?);
        let (key, next_key) = (self.key(start)?.0, self.key(start + 1)?.0);
        let item = Item::new(&first, key)?;
        Some((Progression::of(item, &Item::new(&second, next_key)?), id_of(&first)))
    }

    /// Where a message's key is and how many rounds it has; none if the kernels don't take it.
    #[inline]
    fn key(&self, message: usize) -> Option<(*const u8, usize)> {
        match self.schedules {
            Schedules::One(schedule) => schedule.fast(),
            Schedules::Each(each) => each[message - self.first].fast(),
            Schedules::Raw => {
                self.spans.raw_key(message).map(|key| (key.as_ptr(), key.len() / 4 + 6))
            }
        }
    }

    /// Whether keys lie at equal distances, too, and have as many rounds.
    fn has_common_key(&self) -> bool {
        match self.schedules {
            Schedules::One(_) => true,
            Schedules::Each(_) => false,
            Schedules::Raw => self.spans.has_regular_keys(),
        }
    }

    fn lot(&self, id: ClassId, messages: usize) -> Lot {
        let keys = match self.schedules {
            Schedules::One(_) => KeyForm::One,
            Schedules::Each(_) => KeyForm::Each,
            Schedules::Raw => KeyForm::Raw,
        };
        let class = id.class(keys, self.spans.tag_bytes());
        let how = (self.how)(&class, id.has_plain_nonce(), messages);
        Lot { how, id, class, messages }
    }
}

/// The class of a message but for its key.
#[inline]
fn id_of(span: &Span) -> ClassId {
    ClassId::new(span.op, span.text_bytes, span.aad_bytes, span.nonce_bytes)
}

/// In the order of their numbers.
const OPS: [Op; 3] = [Op::Seal, Op::Open, Op::Verify];
