//! Nothing outside a message is read or written: its buffers touch pages that can't be accessed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests may panic")]
#![allow(unsafe_code, reason = "only the operating system can take access away")]

mod batch;
#[path = "../common/mod.rs"]
mod common;

use std::{ptr, slice};

use common::{KEY_LENGTHS, Place, Random, TAG_LENGTHS};
use sealift_core::{Op, Slot, SlotTag, SlotText, Status};
use sealift_kernels::{Path, copy::copy, process};

const PAGE_BYTES: usize = 262_144;

#[test]
fn messages_between_inaccessible_pages_are_worked_on() {
    let mut random = Random(40);
    let mut fences: [Fence; 5] = std::array::from_fn(|_| Fence::new());
    for path in Path::available() {
        for side in [Side::Start, Side::End] {
            for len in (0..=300).chain([511, 512, 513, 1_023, 1_025, 4_095, 4_097]) {
                let key = random.pick(&KEY_LENGTHS);
                let (nonce, aad) = (random.pick(&[12, 12, 1, 13, 60]), random.below(100));
                let mut message = random.message(key, nonce, aad, len);
                message.tag_len = random.pick(&TAG_LENGTHS);
                let expected = message.seal(Path::Model, Place::Apart);
                let schedule = message.schedule(path);

                let [nonce, aad, input, output, tag] = &mut fences;
                let nonce = &*nonce.place(side, &message.nonce);
                let aad = &*aad.place(side, &message.aad);
                let input = input.place(side, &message.text);
                let output = output.place(side, &vec![0xee; len]);
                let tag = tag.place(side, &vec![0xee; message.tag_len]);

                let text = SlotText::Apart { input, output };
                let slot = Slot { op: Op::Seal, nonce, aad, text, tag: SlotTag::Write(tag) };
                assert_eq!(process(path, &schedule, slot), Status::Ok);
                assert!(output == expected.text && tag == expected.tag, "{} {len}", path.name());

                let text = SlotText::Read(output);
                let slot = Slot { op: Op::Verify, nonce, aad, text, tag: SlotTag::Check(tag) };
                assert_eq!(process(path, &schedule, slot), Status::Ok);

                let text = SlotText::Apart { input: output, output: input };
                let slot = Slot { op: Op::Open, nonce, aad, text, tag: SlotTag::Check(tag) };
                assert_eq!(process(path, &schedule, slot), Status::Ok);
                assert!(input == message.text, "{} {len}", path.name());

                let text = SlotText::InPlace(output);
                let slot = Slot { op: Op::Open, nonce, aad, text, tag: SlotTag::Check(tag) };
                assert_eq!(process(path, &schedule, slot), Status::Ok);
                assert!(output == message.text, "{} {len}", path.name());
            }
        }
    }
}

#[test]
fn copies_between_inaccessible_pages_are_made() {
    let bytes = Random(41).bytes(5_000);
    let (mut source, mut destination) = (Fence::new(), Fence::new());
    for side in [Side::Start, Side::End] {
        for len in (0..1_200).chain(4_000..4_200) {
            let source = source.place(side, &bytes[..len]);
            let destination = destination.place(side, &bytes[5_000 - len..]);
            copy(destination, source);
            assert!(destination == source, "{len}");
        }
    }
}

/// Where in the accessible page a buffer lies.
#[derive(Clone, Copy, Debug)]
enum Side {
    Start,
    End,
}

/// An accessible page between two that are not.
struct Fence(*mut u8);

impl Fence {
    fn new() -> Fence {
        let (len, flags) = (3 * PAGE_BYTES, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping touches no existing memory.
        let base = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
        assert_ne!(base, libc::MAP_FAILED, "no memory for a guarded page");
        let page = base.wrapping_byte_add(PAGE_BYTES);
        // SAFETY: the middle page of the mapping above.
        let failed =
            unsafe { libc::mprotect(page, PAGE_BYTES, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(failed, 0, "a guarded page can't be opened");
        Fence(page.cast())
    }

    /// Puts bytes right behind the first inaccessible page or right before the second.
    fn place(&mut self, side: Side, bytes: &[u8]) -> &mut [u8] {
        let start = match side {
            Side::Start => 0,
            Side::End => PAGE_BYTES - bytes.len(),
        };
        // SAFETY: within the accessible page, and borrowed from its only owner.
        let place = unsafe { slice::from_raw_parts_mut(self.0.wrapping_add(start), bytes.len()) };
        place.copy_from_slice(bytes);
        place
    }

    /// As many bytes as were put there.
    fn read(&self, side: Side, len: usize) -> &[u8] {
        let start = match side {
            Side::Start => 0,
            Side::End => PAGE_BYTES - len,
        };
        // SAFETY: within the accessible page, and borrowed from its only owner.
        unsafe { slice::from_raw_parts(self.0.wrapping_add(start), len) }
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        // SAFETY: the whole mapping of `new`, borrowed by nobody.
        let failed =
            unsafe { libc::munmap(self.0.wrapping_sub(PAGE_BYTES).cast(), 3 * PAGE_BYTES) };
        assert_eq!(failed, 0, "a guarded page can't be given back");
    }
}
