//! Messages, and what a path makes of them.
#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use sealift_core::{Key, Op, Slot, SlotTag, SlotText, Status};
use sealift_kernels::{Path, Schedule, process};

/// Every tag length of SP 800-38D, in bytes.
pub(crate) const TAG_LENGTHS: [usize; 7] = [4, 8, 12, 13, 14, 15, 16];
/// Every key length, in bytes.
pub(crate) const KEY_LENGTHS: [usize; 3] = [16, 24, 32];
/// Nonce lengths that take every way through the hash, in bytes.
pub(crate) const NONCE_LENGTHS: [usize; 8] = [1, 8, 11, 12, 13, 16, 60, 128];
/// Both places an output can have.
pub(crate) const PLACES: [Place; 2] = [Place::Apart, Place::InPlace];

/// Where the output goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Apart,
    InPlace,
}

/// What is sealed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    pub(crate) text: Vec<u8>,
    pub(crate) tag_len: usize,
}

/// What sealing gives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sealed {
    pub(crate) text: Vec<u8>,
    pub(crate) tag: Vec<u8>,
}

impl Message {
    pub(crate) fn schedule(&self, path: Path) -> Schedule {
        Schedule::new(path, &Key::new(&self.key).unwrap())
    }

    pub(crate) fn seal(&self, path: Path, place: Place) -> Sealed {
        self.seal_with(path, &self.schedule(path), place)
    }

    pub(crate) fn seal_with(&self, path: Path, schedule: &Schedule, place: Place) -> Sealed {
        let mut tag = vec![0xee; self.tag_len];
        let mut output = self.output(place, &self.text);
        let slot = Slot {
            op: Op::Seal,
            nonce: &self.nonce,
            aad: &self.aad,
            text: text(place, &self.text, &mut output),
            tag: SlotTag::Write(&mut tag),
        };
        assert_eq!(process(path, schedule, slot), Status::Ok);
        Sealed { text: output, tag }
    }

    pub(crate) fn open(&self, path: Path, place: Place, sealed: &Sealed) -> (Status, Vec<u8>) {
        let mut output = self.output(place, &sealed.text);
        let text = text(place, &sealed.text, &mut output);
        let status = self.check(path, Op::Open, text, sealed);
        (status, output)
    }

    pub(crate) fn verify(&self, path: Path, sealed: &Sealed) -> Status {
        self.check(path, Op::Verify, SlotText::Read(&sealed.text), sealed)
    }

    fn check(&self, path: Path, op: Op, text: SlotText<'_>, sealed: &Sealed) -> Status {
        let tag = SlotTag::Check(&sealed.tag);
        let slot = Slot { op, nonce: &self.nonce, aad: &self.aad, text, tag };
        process(path, &self.schedule(path), slot)
    }

    fn output(&self, place: Place, input: &[u8]) -> Vec<u8> {
        match place {
            Place::Apart => vec![0xee; input.len()],
            Place::InPlace => input.to_vec(),
        }
    }
}

fn text<'t>(place: Place, input: &'t [u8], output: &'t mut [u8]) -> SlotText<'t> {
    match place {
        Place::Apart => SlotText::Apart { input, output },
        Place::InPlace => SlotText::InPlace(output),
    }
}

/// A small generator (SplitMix64): the same numbers for the same seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 32).unwrap() % end
    }

    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    pub(crate) fn message(&mut self, key: usize, nonce: usize, aad: usize, text: usize) -> Message {
        Message {
            key: self.bytes(key),
            nonce: self.bytes(nonce),
            aad: self.bytes(aad),
            text: self.bytes(text),
            tag_len: self.pick(&TAG_LENGTHS),
        }
    }
}

/// Blocks of text before the counter's last 32 bits wrap to 0; a nonce of 16 bytes that hashes to
/// such a first counter under the key 42 42 42 ...; the tag that OpenSSL gives for 1,500 bytes 5a.
///
/// A nonce N of 16 bytes gives the first counter `N * H^2 + 128 * H`, which can be solved for N.
pub(crate) const WRAPPING_NONCES: [(usize, u128, u128); 9] = [
    (0, 0xab28_c8a1_e6ab_dcd0_54f7_2d73_7ffe_2d99, 0x08b0_d2dd_9e76_e516_2280_77fc_09c2_b1f0),
    (1, 0x3b37_455a_8d79_47ba_345f_695a_24bc_1d9f, 0x133c_b204_0dfb_1efa_36bc_7132_2099_afb8),
    (2, 0x4917_d357_310e_ea04_95a7_a521_c97a_4d94, 0x7772_001b_3120_af9c_b440_5857_d79f_8bbe),
    (3, 0xd908_5eac_5adc_716e_f50f_e108_9238_7d92, 0x2150_c0da_e1cd_a930_310c_fab8_2d7b_2938),
    (6, 0x4f69_e4ba_9e44_87ad_1706_b584_a472_8d8f, 0xcc8d_a46b_72e9_a504_2109_de47_d136_98fd),
    (15, 0xd38a_069a_ab02_c794_72ec_d0e7_2521_3dbf, 0xc176_11bb_e048_9833_b430_d2e5_0e51_add8),
    (30, 0x5a6d_54d7_7df9_ea58_18c0_d65b_ca40_0dd5, 0xd4f6_d761_afd2_d9d5_93cc_e3ba_847d_ebb1),
    (62, 0x699c_ebba_07aa_8714_0dc8_5370_a206_0d0d, 0x1e51_ddaa_7993_9328_469e_8c76_f4a8_1bd7),
    (90, 0x3bf0_1de0_2615_5d69_b070_cca8_77c4_cc7e, 0x8bb0_8853_24f6_6c67_d49d_c8a8_84ad_6060),
];
