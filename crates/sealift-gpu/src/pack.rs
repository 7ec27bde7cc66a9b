//! A batch in rounds: messages that one program works together, laid out for it.

use crate::GpuError;
use crate::gpu::{Host, KEY_BYTES, Room, Slab};
use crate::keys::Keys;
use crate::message::{
    MESSAGE_BYTES, Message, Operation, PARTIAL_BYTES, PREPARED_BYTES, UNIT_BYTES, Verdict,
};
use crate::piece::{Cut, PIECE_BYTES, cut_up};
use crate::resident::fill;
use sealift_core::{KeyLength, Op, SlotTag, SlotText, Status, Work};
use sealift_kernels::copy::copy;
use std::ops::Range;

/// What a round's messages have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) key: KeyLength,
    pub(crate) long: bool,
}

/// A message that a round has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// Its number in the batch.
    message: u32,
    class: Class,
    /// Blocks of text.
    blocks: u32,
    /// How many it is cut into, if it is long.
    pieces: u32,
    /// Units of input.
    input: u32,
    /// Units of text that are written.
    written: u32,
}

/// A batch's messages in the order of their rounds.
#[derive(Debug)]
pub(crate) struct Plan {
    items: Vec<Item>,
    rounds: Vec<(Class, Range<usize>)>,
}

/// The device that a batch is cut for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct On<'d> {
    /// Its name, for errors.
    pub(crate) device: &'d str,
    /// Its largest buffer.
    pub(crate) buffer_bytes_max: usize,
}

/// Messages of one class, in an order that makes neighbours alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round<'p> {
    pub(crate) class: Class,
    items: &'p [Item],
}

/// What was laid out of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packed {
    pub(crate) messages: u32,
    pub(crate) pieces: u32,
    /// Whether a text has to be cleared where its tag is wrong.
    pub(crate) opens: bool,
}

/// Where a message's text lies, in bytes from the begin of a slab on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    /// Its number in the batch.
    pub(crate) message: usize,
    pub(crate) bytes: usize,
    pub(crate) input: usize,
    /// None where nothing is written.
    pub(crate) output: Option<usize>,
    /// Of its tag and its status.
    pub(crate) result: usize,
}

impl Plan {
    /// Sorts a batch's messages into rounds that overlap. One that is shorter than its tag fails here.
    pub(crate) fn of(work: &mut Work<'_>, keys: &Keys<'_>, on: On<'_>) -> Result<Self, GpuError> {
        let items = sorted(work, keys, on.device)?;
        let all: usize = items.iter().map(|item| item.input as usize).sum();
        let full = (all / SHARES).clamp(ROUND_UNITS_MIN, ROUND_UNITS);
        Self { rounds: cut(&items, full, ROUND_MESSAGES), items }.in_buffers(keys, on)
    }

    /// The same with rounds as long as their messages are alike.
    pub(crate) fn of_few(
        work: &mut Work<'_>,
        keys: &Keys<'_>,
        on: On<'_>,
    ) -> Result<Self, GpuError> {
        let items = sorted(work, keys, on.device)?;
        Self { rounds: cut(&items, UNITS_MAX, UNITS_MAX), items }.in_buffers(keys, on)
    }

    /// Halves rounds until each slab of each fits a buffer. A message that does not by itself fails here.
    fn in_buffers(mut self, keys: &Keys<'_>, on: On<'_>) -> Result<Self, GpuError> {
        let mut left: Vec<_> = self.rounds.drain(..).rev().collect();
        while let Some((class, range)) = left.pop() {
            let round = Round { class, items: &self.items[range.clone()] };
            let (found, limit) = (round.room(keys).largest(), on.buffer_bytes_max);
            if found <= limit {
                self.rounds.push((class, range));
                continue;
            }
            if range.len() == 1 {
                let device = on.device.to_owned();
                return Err(GpuError::TooLong { device, what: "messages", found, limit });
            }
            let middle = range.start + range.len() / 2;
            left.extend([(class, middle..range.end), (class, range.start..middle)]);
        }
        Ok(self)
    }

    pub(crate) fn rounds(&self) -> impl Iterator<Item = Round<'_>> {
        self.rounds
            .iter()
            .map(|(class, range)| Round { class: *class, items: &self.items[range.clone()] })
    }
}

/// A batch's messages, those alike side by side.
fn sorted(work: &mut Work<'_>, keys: &Keys<'_>, device: &str) -> Result<Vec<Item>, GpuError> {
    let mut items = Vec::with_capacity(work.len());
    for message in 0..work.len() {
        if matches!(work.slot(message).tag, SlotTag::Missing) {
            clear(work.slot(message).text);
            work.set_status(message, Status::AuthFailed);
            continue;
        }
        let key = keys.length(work, message);
        items.push(Item::of(work, message, key, device)?);
    }
    let order = |item: &Item| (item.class.order(), item.blocks);
    if !items.is_sorted_by_key(order) {
        items.sort_by_key(order);
    }
    Ok(items)
}

impl Item {
    fn of(
        work: &mut Work<'_>,
        message: usize,
        key: KeyLength,
        device: &str,
    ) -> Result<Self, GpuError> {
        let slot = work.slot(message);
        let (text, aad) = (input(&slot.text).len(), slot.aad.len());
        let parts = [("texts", text), ("aads", aad)];
        if let Some((what, found)) = parts.into_iter().find(|(_, found)| *found > PART_BYTES_MAX) {
            let (device, limit) = (device.to_owned(), PART_BYTES_MAX);
            return Err(GpuError::TooLong { device, what, found, limit });
        }
        let expected = usize::from(matches!(slot.tag, SlotTag::Check(_)));
        let written = if matches!(slot.text, SlotText::Read(_)) { 0 } else { number(units(text)) };
        let cut = Cut::of(aad, text);
        let class = Class { key, long: cut.is_some() };
        Ok(Self {
            message: number(message),
            class,
            blocks: number(units(text)),
            pieces: number(cut.map_or(0, Cut::pieces)),
            input: number(units(slot.nonce.len()) + units(aad) + units(text) + expected),
            written,
        })
    }
}

impl Class {
    fn order(self) -> (usize, bool) {
        (self.key.bytes(), self.long)
    }
}

/// Where rounds end: at another class, or when they are full.
fn cut(items: &[Item], full: usize, most: usize) -> Vec<(Class, Range<usize>)> {
    let mut rounds = vec![];
    let (mut start, mut held) = (0, 0);
    for (at, item) in items.iter().enumerate() {
        let more = item.input as usize;
        let other = at > start && items[start].class != item.class;
        if other || at > start && (held + more > full || at - start == most) {
            rounds.push((items[start].class, start..at));
            (start, held) = (at, 0);
        }
        held += more;
    }
    if start < items.len() {
        rounds.push((items[start].class, start..items.len()));
    }
    rounds
}

impl Round<'_> {
    /// What a lane needs for it.
    pub(crate) fn room(&self, keys: &Keys<'_>) -> Room {
        let count = self.items.len();
        let sum = |of: fn(&Item) -> usize| self.items.iter().map(of).sum::<usize>();
        let pieces = sum(|item| item.pieces as usize);
        Room::default()
            .with(Slab::Keys, if keys.are_on_device() { 0 } else { KEY_BYTES * count })
            .with(Slab::Input, UNIT_BYTES * sum(|item| item.input as usize))
            .with(Slab::Messages, MESSAGE_BYTES * count)
            .with(Slab::Pieces, PIECE_BYTES * pieces)
            .with(Slab::Output, UNIT_BYTES * sum(|item| item.written as usize + Verdict::UNITS))
            .with(Slab::Prepared, if self.class.long { PREPARED_BYTES * count } else { 0 })
            .with(Slab::Partial, PARTIAL_BYTES * pieces)
    }

    /// Lays it out in a lane that has the room.
    pub(crate) fn pack(&self, work: &mut Work<'_>, keys: &Keys<'_>, host: &mut Host<'_>) -> Packed {
        let mut packed = Packed { messages: 0, pieces: 0, opens: false };
        let (mut at, mut out) = (0, 0);
        let descriptors = host.messages.as_chunks_mut::<MESSAGE_BYTES>().0;
        for (item, descriptor) in self.items.iter().zip(descriptors) {
            let key = keys.place(item.message as usize, packed.messages);
            if !keys.are_on_device() {
                let record = &mut host.keys[KEY_BYTES * packed.messages as usize..][..KEY_BYTES];
                fill(record, keys.bytes(work, item.message as usize));
            }
            let mut message = laid_out(work, item, &mut *host.input, &mut at);
            (message.key, message.out, message.result) = (key, out, out + item.written);
            out = message.result + number(Verdict::UNITS);
            if self.class.long {
                (message.first_piece, message.pieces) = (packed.pieces, item.pieces);
                cut_up(&message, packed.messages, &mut *host.pieces);
                packed.pieces += message.pieces;
            }
            packed.opens |= message.operation == Operation::Open;
            *descriptor = message.bytes();
            packed.messages += 1;
        }
        packed
    }

    /// Where its texts lie, in the order in which they were laid out.
    pub(crate) fn texts(&self, work: &mut Work<'_>) -> Vec<Text> {
        let (mut at, mut out) = (0, 0);
        let mut texts = Vec::with_capacity(self.items.len());
        for item in self.items {
            let slot = work.slot(item.message as usize);
            let before = units(slot.nonce.len()) + units(slot.aad.len());
            texts.push(Text {
                message: item.message as usize,
                bytes: input(&slot.text).len(),
                input: UNIT_BYTES * (at + before),
                output: (item.written > 0).then_some(UNIT_BYTES * out),
                result: UNIT_BYTES * (out + item.written as usize),
            });
            at += item.input as usize;
            out += item.written as usize + Verdict::UNITS;
        }
        texts
    }

    /// Gives out what the device made of it.
    ///
    /// # Errors
    /// The message that no kernel worked.
    pub(crate) fn give(&self, work: &mut Work<'_>, output: &[u8]) -> Result<(), usize> {
        let mut at = 0;
        for item in self.items {
            let message = item.message as usize;
            let (text, behind) = output[at..].split_at(UNIT_BYTES * item.written as usize);
            at += text.len() + UNIT_BYTES * Verdict::UNITS;
            let (verdict, tag) = Verdict::read(behind).ok_or(message)?;
            let slot = work.slot(message);
            let status = match (verdict, slot.tag) {
                (Verdict::Ok, SlotTag::Write(place)) => {
                    let bytes = place.len();
                    copy(place, &tag[..bytes]);
                    write(slot.text, text);
                    Status::Ok
                }
                (Verdict::Ok, SlotTag::Check(_)) => {
                    write(slot.text, text);
                    Status::Ok
                }
                (Verdict::TagWrong, SlotTag::Check(_)) => {
                    clear(slot.text);
                    Status::AuthFailed
                }
                _ => return Err(message),
            };
            work.set_status(message, status);
        }
        Ok(())
    }
}

/// Copies a message's parts into the input, each padded with zeros to whole units.
fn laid_out(work: &mut Work<'_>, item: &Item, room: &mut [u8], at: &mut u32) -> Message {
    let slot = work.slot(item.message as usize);
    let mut put = |part: &[u8]| {
        let place = *at;
        let whole = UNIT_BYTES * units(part.len());
        let (bytes, padding) =
            room[UNIT_BYTES * place as usize..][..whole].split_at_mut(part.len());
        copy(bytes, part);
        padding.fill(0);
        *at += number(units(part.len()));
        place
    };
    let text = input(&slot.text);
    let (operation, tag_bytes) = match (slot.op, &slot.tag) {
        (Op::Seal, SlotTag::Write(place)) => (Operation::Seal, place.len()),
        (Op::Verify, tag) => (Operation::Verify, checked(tag).len()),
        (_, tag) => (Operation::Open, checked(tag).len()),
    };
    Message {
        key: 0,
        nonce: put(slot.nonce),
        aad: put(slot.aad),
        text: put(text),
        expected: put(checked(&slot.tag)),
        out: 0,
        result: 0,
        operation,
        text_bytes: number(text.len()),
        aad_bytes: number(slot.aad.len()),
        nonce_bytes: number(slot.nonce.len()),
        tag_bytes: number(tag_bytes),
        first_piece: 0,
        pieces: 0,
    }
}

fn checked<'s>(tag: &'s SlotTag<'_>) -> &'s [u8] {
    match tag {
        SlotTag::Check(tag) => tag,
        SlotTag::Write(_) | SlotTag::Missing => &[],
    }
}

fn input<'s>(text: &'s SlotText<'_>) -> &'s [u8] {
    match text {
        SlotText::Apart { input, .. } => input,
        SlotText::InPlace(text) => text,
        SlotText::Read(text) => text,
    }
}

fn write(text: SlotText<'_>, made: &[u8]) {
    match text {
        SlotText::Apart { output, .. } | SlotText::InPlace(output) => {
            let bytes = output.len();
            copy(output, &made[..bytes]);
        }
        SlotText::Read(_) => {}
    }
}

fn clear(text: SlotText<'_>) {
    match text {
        SlotText::Apart { output, .. } | SlotText::InPlace(output) => output.fill(0),
        SlotText::Read(_) => {}
    }
}

fn units(bytes: usize) -> usize {
    bytes.div_ceil(UNIT_BYTES)
}

/// A number that was held to its limit before.
#[expect(clippy::cast_possible_truncation, reason = "parts and rounds are held to their limits")]
fn number(number: usize) -> u32 {
    debug_assert!(u32::try_from(number).is_ok(), "{number}");
    number as u32
}

/// Longest text, and longest aad, in bytes.
pub(crate) const PART_BYTES_MAX: usize = 1 << 30;
/// Input of a round, in units: copying 8 MiB takes so long that starting it costs nothing.
const ROUND_UNITS: usize = (8 << 20) / UNIT_BYTES;
/// A batch is cut into so many rounds, that they overlap, ...
const SHARES: usize = 6;
/// ... unless they became smaller than this.
const ROUND_UNITS_MIN: usize = (1 << 20) / UNIT_BYTES;
/// Most messages of a round.
const ROUND_MESSAGES: usize = 1 << 16;
/// Places are counted in 32 bits, and results take more room than what they are made of.
const UNITS_MAX: usize = 1 << 30;
