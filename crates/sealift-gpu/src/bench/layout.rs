//! Messages of a seed, laid out for kernels, and what has to come of them.

use super::loaded::SPOILT;
use super::spec::{Plan, Shape};
use crate::gpu::{Host, KEY_BYTES, Room, Slab};
use crate::message::{
    MESSAGE_BYTES, Message, Operation, PARTIAL_BYTES, PREPARED_BYTES, UNIT_BYTES, Verdict,
};
use crate::piece::{Cut, PIECE_BYTES, cut_up};
use sealift_core::{Op, Slot, SlotTag, SlotText};
use sealift_kernels::copy::copy;
use sealift_kernels::{Path, Schedule, ctr, process};

/// Where everything is. All messages take the same room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    shape: Shape,
    /// Pieces of each message.
    pub(super) pieces: usize,
    aad_units: usize,
    text_units: usize,
}

impl Layout {
    /// For messages of which long ones are worked in pieces, or all whole.
    pub(super) fn new(shape: Shape, cuts: bool) -> Self {
        let units = |bytes: usize| bytes.div_ceil(UNIT_BYTES);
        let cut = if cuts { Cut::of(shape.aad_bytes, shape.text_bytes) } else { None };
        let pieces = cut.map_or(0, Cut::pieces);
        let [aad_units, text_units] = [shape.aad_bytes, shape.text_bytes].map(units);
        Self { shape, pieces, aad_units, text_units }
    }

    /// None if there is more than kernels can count, which is in units and in 32 bits.
    pub(super) fn room(&self) -> Option<Room> {
        let count = self.shape.messages;
        let bytes = |each: usize, of: usize| {
            let bytes = each.checked_mul(of)?;
            u32::try_from(bytes / UNIT_BYTES).is_ok().then_some(bytes)
        };
        let pieces = self.pieces.checked_mul(count)?;
        let keys = if self.shape.own_keys { count } else { 1 };
        let room = Room::default()
            .with(Slab::Keys, bytes(KEY_BYTES, keys)?)
            .with(Slab::Input, bytes(UNIT_BYTES * self.input_units(), count)?)
            .with(Slab::Messages, bytes(MESSAGE_BYTES, count)?)
            .with(Slab::Pieces, bytes(PIECE_BYTES, pieces)?)
            .with(Slab::Output, bytes(self.output_bytes(), count)?);
        Some(match self.pieces {
            0 => room,
            _ => room
                .with(Slab::Prepared, bytes(PREPARED_BYTES, count)?)
                .with(Slab::Partial, bytes(PARTIAL_BYTES, pieces)?),
        })
    }

    /// What a message leaves in the output.
    pub(super) fn output_bytes(&self) -> usize {
        UNIT_BYTES * (self.written_units() + Verdict::UNITS)
    }

    /// Lays all of it out, and returns what has to come of it.
    pub(super) fn fill(&self, seed: u64, host: &mut Host<'_>) -> Filled {
        let mut random = Random(seed);
        let path = Path::best().ok().flatten().unwrap_or(Path::Model);
        let key_bytes = self.shape.key.bytes();
        let mut filled = Filled {
            output: vec![0; self.shape.messages * self.output_bytes()],
            checksum: [0; UNIT_BYTES],
        };
        let mut schedule = None;
        for number in 0..self.shape.messages {
            let own = if self.shape.own_keys { number } else { 0 };
            let record = &mut host.keys[KEY_BYTES * own..][..KEY_BYTES];
            if own == number {
                random.fill(&mut record[..key_bytes]);
                record[key_bytes..].fill(0);
                schedule = Schedule::from_raw(path, &record[..key_bytes]).ok();
            }
            let message = self.message(number, own);
            let descriptor = &mut host.messages[MESSAGE_BYTES * number..][..MESSAGE_BYTES];
            copy(descriptor, &message.bytes());
            if self.pieces > 0 {
                cut_up(&message, narrow(number), host.pieces);
            }
            let input = UNIT_BYTES * self.input_units();
            let input = &mut host.input[input * number..][..input];
            let output = &mut filled.output[self.output_bytes() * number..][..self.output_bytes()];
            if let Some(schedule) = &schedule {
                self.make(message.operation, (path, schedule), &mut random, input, output);
            }
            let (_, is_forged) = self.shape.plan.of(number, self.shape.messages);
            if is_forged {
                input[input.len() - UNIT_BYTES + number % UNIT_BYTES] ^= 1 << (number % 8);
            }
            self.conclude(message.operation, is_forged, output, &mut filled.checksum);
        }
        filled
    }

    /// What is left of a message's output, and of what a work-item that works all messages makes of it.
    fn conclude(
        &self,
        operation: Operation,
        is_forged: bool,
        output: &mut [u8],
        checksum: &mut [u8; UNIT_BYTES],
    ) {
        let (made, result) = output.split_at_mut(UNIT_BYTES * self.written_units());
        if operation == Operation::Verify {
            made.fill(SPOILT);
        } else {
            add(made, checksum);
        }
        if is_forged {
            // The published code writes the text before it knows that the tag is wrong.
            made.fill(0);
            add(made, checksum);
            result[UNIT_BYTES] = 2;
        }
        add(result, checksum);
    }

    /// A message's input and output.
    fn make(
        &self,
        operation: Operation,
        (path, schedule): (Path, &Schedule),
        random: &mut Random,
        input: &mut [u8],
        output: &mut [u8],
    ) {
        input.fill(0);
        let (nonce, rest) = input.split_at_mut(UNIT_BYTES);
        let (aad, rest) = rest.split_at_mut(UNIT_BYTES * self.aad_units);
        let (text, expected) = rest.split_at_mut(UNIT_BYTES * self.text_units);
        let (made, result) = output.split_at_mut(UNIT_BYTES * self.written_units());
        let aad = &mut aad[..self.shape.aad_bytes];
        let text = &mut text[..self.shape.text_bytes];
        random.fill(&mut nonce[..self.nonce_bytes()]);
        random.fill(aad);
        random.fill(text);
        let aad = &*aad;
        let (tag, status) = result.split_at_mut(UNIT_BYTES);
        status[0] = 1;
        if let (Operation::CounterMode, Some(counter)) = (operation, nonce.first_chunk()) {
            // Both texts have the same length, and it is short of 2^68 bytes.
            let _ = ctr(path, schedule, *counter, text, &mut made[..text.len()]);
            return;
        }
        let opens = operation != Operation::Seal;
        if opens && !made.is_empty() {
            copy(&mut made[..text.len()], text);
        }
        let nonce = &nonce[..NONCE_BYTES];
        let seal = |text: SlotText<'_>, tag: &mut [u8]| {
            let tag = SlotTag::Write(tag);
            // Whatever it says: a text that was not sealed is not what the device makes of it.
            let _ = process(path, schedule, Slot { op: Op::Seal, nonce, aad, text, tag });
        };
        if opens {
            seal(SlotText::InPlace(text), expected);
        } else {
            let output = &mut made[..text.len()];
            seal(SlotText::Apart { input: text, output }, tag);
        }
    }

    fn message(&self, number: usize, own: usize) -> Message {
        let [input, output] = [self.input_units(), self.output_bytes() / UNIT_BYTES]
            .map(|units| narrow(units * number));
        let aad = input + 1;
        let text = aad + narrow(self.aad_units);
        Message {
            key: narrow(KEY_BYTES / UNIT_BYTES * own),
            nonce: input,
            aad,
            text,
            expected: text + narrow(self.text_units),
            out: output,
            result: output + narrow(self.written_units()),
            operation: self.shape.plan.of(number, self.shape.messages).0,
            text_bytes: narrow(self.shape.text_bytes),
            aad_bytes: narrow(self.shape.aad_bytes),
            nonce_bytes: narrow(self.nonce_bytes()),
            tag_bytes: narrow(UNIT_BYTES),
            first_piece: narrow(self.pieces * number),
            pieces: narrow(self.pieces),
        }
    }

    /// Nonce, aad, text, and the tag that is to be.
    fn input_units(&self) -> usize {
        1 + self.aad_units + self.text_units + usize::from(self.shape.plan.compares())
    }

    fn written_units(&self) -> usize {
        if self.shape.plan == Plan::All(Operation::Verify) { 0 } else { self.text_units }
    }

    fn nonce_bytes(&self) -> usize {
        let counts = self.shape.plan == Plan::All(Operation::CounterMode);
        if counts { UNIT_BYTES } else { NONCE_BYTES }
    }
}

/// What has to come of messages.
#[derive(Default)]
pub(super) struct Filled {
    /// All that is written, and where nothing is what stood there.
    pub(super) output: Vec<u8>,
    /// What a work-item that works all messages makes of what it writes.
    pub(super) checksum: [u8; UNIT_BYTES],
}

/// Adds what is written to a checksum, as `kernels/lab/published.cl` does.
fn add(written: &[u8], checksum: &mut [u8; UNIT_BYTES]) {
    for unit in written.as_chunks::<UNIT_BYTES>().0 {
        for (sum, word) in checksum.as_chunks_mut::<4>().0.iter_mut().zip(unit.as_chunks::<4>().0) {
            let turned = u32::from_le_bytes(*sum).rotate_left(1);
            *sum = turned.wrapping_add(u32::from_le_bytes(*word)).to_le_bytes();
        }
    }
}

/// Numbers of a seed (splitmix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn fill(&mut self, bytes: &mut [u8]) {
        for place in bytes.chunks_mut(8) {
            copy(place, &self.next().to_le_bytes()[..place.len()]);
        }
    }
}

/// A number that [`Layout::room`] or a limit held to 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "what is larger has no room")]
pub(super) fn narrow(number: usize) -> u32 {
    debug_assert!(u32::try_from(number).is_ok(), "{number}");
    number as u32
}

const NONCE_BYTES: usize = 12;
