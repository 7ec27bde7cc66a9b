//! What every path does with a message before and after its cipher: checks and verdict.

use sealift_core::{MAX_NONCE_BYTES, MAX_TEXT_BYTES, Op, Slot, SlotTag, SlotText, Status};
use subtle::ConstantTimeEq;

use crate::{caches::settle, once};

/// A message whose parts fit its operation and each other.
///
/// A checked batch gives only such, but a slot can also be put together by hand, and the kernels'
/// unsafe code relies on it: a seal and an open have a text to read and to write, of one length in
/// both places; the tag has a length of the standard; nonce and text are within its limits.
///
/// It borrows the slot: moving one costs as much as a short message.
pub(crate) struct Fitting<'a, 's>(&'a mut Slot<'s>);

impl<'a, 's> Fitting<'a, 's> {
    /// Checks the parts; none if they don't fit.
    #[inline]
    pub(crate) fn of(slot: &'a mut Slot<'s>) -> Option<Fitting<'a, 's>> {
        let text_len = match (slot.op, &slot.text) {
            (Op::Seal | Op::Open, SlotText::Apart { input, output })
                if input.len() == output.len() =>
            {
                input.len()
            }
            (Op::Seal | Op::Open, SlotText::InPlace(text)) => text.len(),
            (Op::Verify, SlotText::Read(text)) => text.len(),
            _ => return None,
        };
        let tag_len = match (slot.op, &slot.tag) {
            (Op::Seal, SlotTag::Write(tag)) => tag.len(),
            (Op::Open | Op::Verify, SlotTag::Check(tag)) => tag.len(),
            _ => return None,
        };
        let fits = matches!(tag_len, 4 | 8 | 12..=16)
            && matches!(slot.nonce.len(), 1..=MAX_NONCE_BYTES)
            && text_len as u64 <= MAX_TEXT_BYTES;
        fits.then_some(Fitting(slot))
    }

    /// What is done to it.
    #[inline(always)]
    pub(crate) fn op(&self) -> Op {
        self.0.op
    }

    /// 1 to 128 bytes.
    #[inline(always)]
    pub(crate) fn nonce(&self) -> &'s [u8] {
        self.0.nonce
    }

    /// Authenticated only.
    #[inline(always)]
    pub(crate) fn aad(&self) -> &'s [u8] {
        self.0.aad
    }

    /// Length of the text.
    #[inline(always)]
    pub(crate) fn text_len(&self) -> usize {
        match &self.0.text {
            SlotText::Apart { input, .. } => input.len(),
            SlotText::InPlace(text) => text.len(),
            SlotText::Read(text) => text.len(),
        }
    }

    /// The text, to read and write for a seal and an open.
    #[inline(always)]
    pub(crate) fn text(&mut self) -> SlotText<'_> {
        match &mut self.0.text {
            SlotText::Apart { input, output } => SlotText::Apart { input, output },
            SlotText::InPlace(text) => SlotText::InPlace(text),
            SlotText::Read(text) => SlotText::Read(text),
        }
    }

    /// Writes the tag of a sealed message or compares that of an opened one; a message that fails
    /// leaves only zeros.
    ///
    /// `tag` is the computed tag, its first byte lowest.
    #[inline]
    pub(crate) fn conclude(mut self, tag: u128) -> Status {
        let accepted = match &mut self.0.tag {
            SlotTag::Write(to) => {
                write(to, tag.to_le_bytes());
                true
            }
            SlotTag::Check(expected) => public(is_equal(tag, expected)),
            SlotTag::Missing => false,
        };
        if accepted {
            return Status::Ok;
        }
        // No zero is overtaken by what was stored past the caches.
        settle();
        fail(self.text())
    }
}

/// Zeroes the output of a message and says that it failed.
pub(crate) fn fail(text: SlotText<'_>) -> Status {
    match text {
        SlotText::Apart { output, .. } => output.fill(0),
        SlotText::InPlace(text) => text.fill(0),
        SlotText::Read(_) => {}
    }
    Status::AuthFailed
}

/// The same verdict. Of all that is computed from secrets it alone may decide a branch: an open tells
/// it to its caller. The build that `make ctgrind` checks is told so here.
#[inline(always)]
pub(crate) fn public(verdict: bool) -> bool {
    #[cfg(sealift_ctgrind)]
    let verdict = crate::valgrind::declassified(verdict);
    verdict
}

/// Writes as many bytes of a tag as there is room for, 4, 8 or 12 to 16.
// IMPLEMENTATION NOTE: as two ends that may overlap. A copy of some bytes would be a call of `memcpy`, also of 16 by themselves.
fn write(to: &mut [u8], tag: [u8; 16]) {
    fn ends<const N: usize>(to: &mut [u8], from: &[u8]) {
        if let (Some(to), Some(from)) = (to.first_chunk_mut::<N>(), from.first_chunk()) {
            *to = *from;
        }
        if let (Some(to), Some(from)) = (to.last_chunk_mut::<N>(), from.last_chunk()) {
            *to = *from;
        }
    }
    let from = &tag[..to.len()];
    if to.len() < 8 { ends::<4>(to, from) } else { ends::<8>(to, from) }
}

/// Compares the first bytes of a tag with the expected 4 to 16 ones, in constant time.
fn is_equal(tag: u128, expected: &[u8]) -> bool {
    let mask = u128::MAX >> (128 - 8 * expected.len());
    let expected = u128::from_le_bytes(once::block(expected));
    bool::from((tag & mask).ct_eq(&expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths of a message's parts.
    #[derive(Clone, Copy, Debug)]
    struct Lengths {
        input: usize,
        output: usize,
        nonce: usize,
        tag: usize,
    }

    const RIGHT: Lengths = Lengths { input: 20, output: 20, nonce: 12, tag: 16 };
    const OPS: [Op; 3] = [Op::Seal, Op::Open, Op::Verify];

    /// Whether a message fits whose text is of the kind that `text` is for, its tag that `tag` is for.
    fn fits(op: Op, text: Op, tag: Op, lengths: Lengths) -> bool {
        let (mut output, mut made) = (vec![0; lengths.output], vec![0; lengths.tag]);
        let (input, expected) = (vec![0; lengths.input], vec![0; lengths.tag]);
        let text = match text {
            Op::Seal => SlotText::Apart { input: &input, output: &mut output },
            Op::Open => SlotText::InPlace(&mut output),
            Op::Verify => SlotText::Read(&input),
        };
        let tag = match tag {
            Op::Seal => SlotTag::Write(&mut made),
            Op::Open => SlotTag::Check(&expected),
            Op::Verify => SlotTag::Missing,
        };
        let nonce = vec![0; lengths.nonce];
        Fitting::of(&mut Slot { op, nonce: &nonce, aad: &[], text, tag }).is_some()
    }

    #[test]
    fn a_message_fits_only_with_the_kinds_of_text_and_tag_that_its_operation_has() {
        for (op, text, tag) in OPS.iter().flat_map(|op| {
            OPS.iter().flat_map(move |text| OPS.iter().map(move |tag| (*op, *text, *tag)))
        }) {
            let right_text = (op == Op::Verify) == (text == Op::Verify);
            let right_tag = tag == if op == Op::Seal { Op::Seal } else { Op::Open };
            assert_eq!(
                fits(op, text, tag, RIGHT),
                right_text && right_tag,
                "{op:?} {text:?} {tag:?}"
            );
        }
    }

    #[test]
    fn a_message_fits_only_with_lengths_of_the_standard() {
        for output in [0, 19, 21, 64] {
            assert!(!fits(Op::Seal, Op::Seal, Op::Seal, Lengths { output, ..RIGHT }), "{output}");
            assert!(!fits(Op::Open, Op::Seal, Op::Open, Lengths { output, ..RIGHT }), "{output}");
        }
        for op in [Op::Seal, Op::Open] {
            for nonce in [0, 1, 128, 129] {
                let expected = matches!(nonce, 1..=128);
                assert_eq!(fits(op, Op::Seal, op, Lengths { nonce, ..RIGHT }), expected, "{nonce}");
            }
            for tag in 0..=17 {
                let expected = matches!(tag, 4 | 8 | 12..=16);
                assert_eq!(fits(op, Op::Seal, op, Lengths { tag, ..RIGHT }), expected, "{tag}");
            }
        }
    }
}
