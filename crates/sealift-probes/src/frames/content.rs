//! What stands in a frame: every byte follows from the seed, the direction and the frame's number.

use super::rules::Side;
use crate::ArmError;
use crate::memory::Memory;
use crate::random::Random;
use std::fmt::Write;

/// The frames that one process sends. Both processes have it: one fills, the other compares.
///
/// A frame is a pattern with a word over it that changes from frame to frame, so that a frame of another
/// number, of another place or of two halves differs, in nearly every byte.
pub(super) struct Content {
    pattern: Memory,
    seed: u64,
    side: Side,
    lanes: Lanes,
}

impl Content {
    pub(super) fn of(side: Side, seed: u64, frame_bytes: usize) -> Self {
        let pattern = Random::new(seed, side as u64).bytes(frame_bytes);
        Self { pattern: Memory::holding(&pattern), seed, side, lanes: Lanes::widest() }
    }

    /// Writes a frame, or as much of its beginning as there is room for.
    pub(super) fn fill(&self, frame: &mut [u8], number: u64) {
        (self.lanes.fill)(frame, &self.pattern[..frame.len()], self.word(number));
    }

    /// Compares every byte of a frame, or of its beginning.
    pub(super) fn check(&self, frame: &[u8], number: u64) -> Result<(), String> {
        let pattern = &self.pattern[..frame.len()];
        if (self.lanes.is_same)(frame, pattern, self.word(number)) {
            return Ok(());
        }
        Err(self.difference(frame, number))
    }

    fn word(&self, number: u64) -> [u8; 8] {
        // Another stream than the patterns'.
        Random::new(self.seed.wrapping_add(number), 2 + self.side as u64).next_u64().to_le_bytes()
    }

    fn difference(&self, frame: &[u8], number: u64) -> String {
        let mut right = vec![0; frame.len()];
        self.fill(&mut right, number);
        let at = frame.iter().zip(&right).position(|(found, right)| found != right);
        let mut told = format!("frame {number} of the {} process", self.side);
        if let Some(at) = at {
            let (found, right) = (frame[at], right[at]);
            let of = frame.len();
            let _ =
                write!(told, " has {found:#04x} at byte {at} of {of}, and {right:#04x} is right");
        }
        told
    }
}

/// A wrong frame, by the way it came.
pub(super) fn wrong(way: &'static str, what: String) -> ArmError {
    ArmError::Wrong { device: format!("frames by {way}"), what }
}

/// The loops, on the widest registers that there are.
#[derive(Clone, Copy)]
struct Lanes {
    fill: fn(&mut [u8], &[u8], [u8; 8]),
    is_same: fn(&[u8], &[u8], [u8; 8]) -> bool,
}

impl Lanes {
    fn widest() -> Self {
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        if let Some(lanes) = super::ffi::wide_lanes() {
            return lanes.into();
        }
        Self { fill, is_same }
    }
}

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
impl From<super::ffi::WideLanes> for Lanes {
    fn from((fill, is_same): super::ffi::WideLanes) -> Self {
        Self { fill, is_same }
    }
}

/// The compiler makes both loops as wide as the function around them may be.
#[inline(always)]
pub(super) fn fill(frame: &mut [u8], pattern: &[u8], word: [u8; 8]) {
    let (frames, rest) = frame.as_chunks_mut::<8>();
    let (patterns, pattern_rest) = pattern.as_chunks::<8>();
    let number = u64::from_ne_bytes(word);
    for (to, from) in frames.iter_mut().zip(patterns) {
        *to = (u64::from_ne_bytes(*from) ^ number).to_ne_bytes();
    }
    for ((to, from), mask) in rest.iter_mut().zip(pattern_rest).zip(word) {
        *to = from ^ mask;
    }
}

#[inline(always)]
pub(super) fn is_same(frame: &[u8], pattern: &[u8], word: [u8; 8]) -> bool {
    let (frames, rest) = frame.as_chunks::<8>();
    let (patterns, pattern_rest) = pattern.as_chunks::<8>();
    let number = u64::from_ne_bytes(word);
    let words = frames.iter().zip(patterns).fold(0, |differing, (found, from)| {
        differing | (u64::from_ne_bytes(*found) ^ u64::from_ne_bytes(*from) ^ number)
    });
    let bytes = rest.iter().zip(pattern_rest).zip(word);
    words == 0
        && bytes.fold(0, |differing, ((found, from), mask)| differing | (found ^ from ^ mask)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_only_itself() {
        for len in [1, 7, 16, 100, 4_096] {
            let (near, far) = (Content::of(Side::Near, 5, len), Content::of(Side::Far, 5, len));
            let mut frame = vec![0; len];
            near.fill(&mut frame, 9);
            assert_eq!(near.check(&frame, 9), Ok(()));
            let error = near.check(&frame, 10).unwrap_err();
            assert!(error.starts_with("frame 10 of the near process has 0x"), "{error}");
            assert!(far.check(&frame, 9).is_err());
            assert!(Content::of(Side::Near, 6, len).check(&frame, 9).is_err());
        }
    }

    #[test]
    fn any_flipped_bit_is_found_and_named() {
        let content = Content::of(Side::Near, 1, 77);
        let mut frame = vec![0; 77];
        content.fill(&mut frame, 3);
        for bit in 0..77 * 8 {
            frame[bit / 8] ^= 1 << (bit % 8);
            let error = content.check(&frame, 3).unwrap_err();
            assert!(error.contains(&format!("at byte {} of 77", bit / 8)), "{error}");
            frame[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(content.check(&frame, 3), Ok(()));
    }

    #[test]
    fn every_width_writes_the_same() {
        let widest = Content::of(Side::Far, 2, 1_001);
        let plain = Content { lanes: Lanes { fill, is_same }, ..Content::of(Side::Far, 2, 1_001) };
        for len in [0, 1, 8, 63, 64, 999, 1_001] {
            let mut frames = [vec![0; len], vec![0; len]];
            widest.fill(&mut frames[0], 4);
            plain.fill(&mut frames[1], 4);
            assert_eq!(frames[0], frames[1]);
            assert_eq!((plain.check(&frames[0], 4), widest.check(&frames[1], 4)), (Ok(()), Ok(())));
        }
    }
}
