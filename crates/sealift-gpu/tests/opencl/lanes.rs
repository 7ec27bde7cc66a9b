//! Lanes by hand.

use super::load::{bytes, device};
use sealift_core::{Key, KeyLength};
use sealift_gpu::GpuError;
use sealift_gpu::gpu::{Gpu, KEY_BYTES, KEY_SLOTS, KeysAt, Lane, Launch, Room, Slab};
use sealift_gpu::message::{
    LANES, MESSAGE_BYTES, Message, Operation, PARTIAL_BYTES, PIECE_BLOCKS, PREPARED_BYTES,
    UNIT_BYTES, Verdict,
};
use sealift_gpu::opencl::OpenCl;
use sealift_gpu::piece::{PIECE_BYTES, Part, Piece};
use sealift_gpu::variant::{Kernel, Tables, Variant};
use sealift_kernels::{Path, Schedule};
use std::time::Duration;

#[test]
fn counter_mode_by_itself_is_right_for_short_and_long_texts() {
    let Some(device) = device() else { return };
    let variant = Variant { key: KeyLength::Aes128, tables: Tables::OneShared };
    for (length, long) in [(500, false), (50_000, true)] {
        count_and_wipe(&device, variant, length, long);
    }
}

/// Works a text in counter mode, and holds it against what this processor makes of it.
pub(crate) fn count_and_wipe(device: &OpenCl, variant: Variant, length: usize, long: bool) {
    let path = Path::best().unwrap().unwrap_or(Path::Model);
    let mut lane = device.lane().unwrap();
    let (key, text) = (bytes(variant.key.bytes(), 1), bytes(length, 2));
    // Its low word is about to wrap, and carries.
    let counter = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0xff, 0xff, 0xff, 0xff, 0xfe];
    let out = counted(&mut *lane, variant, (&key, counter), &text, long);
    let key = Key::new(&key).unwrap();
    let mut right = vec![0; length];
    sealift_kernels::ctr(path, &Schedule::new(path, &key), counter, &text, &mut right).unwrap();
    assert!(out == right, "{length} bytes");
    let blocks = length.div_ceil(UNIT_BYTES);
    let pieces = if long { blocks.div_ceil(PIECE_BLOCKS) } else { 0 };
    assert_wiped(&mut *lane, &room(blocks, pieces));
}

/// One text in counter mode, on a lane of which everything is done by hand.
fn counted(
    lane: &mut dyn Lane,
    variant: Variant,
    (key, counter): (&[u8], [u8; 16]),
    text: &[u8],
    long: bool,
) -> Vec<u8> {
    let blocks = text.len().div_ceil(UNIT_BYTES);
    let pieces = if long { blocks.div_ceil(PIECE_BLOCKS) } else { 0 };
    let room = room(blocks, pieces);
    lane.reserve(&room).unwrap();
    let number = |number: usize| u32::try_from(number).unwrap();
    let message = Message {
        key: 0,
        nonce: 0,
        aad: 1,
        text: 1,
        expected: 1,
        out: 0,
        result: number(blocks),
        operation: Operation::CounterMode,
        text_bytes: number(text.len()),
        aad_bytes: 0,
        nonce_bytes: 16,
        tag_bytes: 0,
        first_piece: 0,
        pieces: number(pieces),
    };
    let host = lane.host();
    host.keys[..key.len()].copy_from_slice(key);
    host.input[..16].copy_from_slice(&counter);
    host.input[16..][..text.len()].copy_from_slice(text);
    host.messages[..MESSAGE_BYTES].copy_from_slice(&message.bytes());
    let mut first_block = 0;
    for (number_of, place) in (1..=pieces).zip(host.pieces.as_chunks_mut().0) {
        let blocks = (blocks - first_block - 1) % PIECE_BLOCKS + 1;
        let (behind, part, gap) = (number(pieces - number_of), Part::Text, 0);
        let (first, count) = (number(first_block), number(blocks));
        *place = Piece { message: 0, part, first_block: first, blocks: count, gap, behind }.bytes();
        first_block += blocks;
    }
    for slab in [Slab::Keys, Slab::Input, Slab::Messages, Slab::Pieces] {
        if room.of(slab) > 0 {
            lane.write(slab, room.of(slab)).unwrap();
        }
    }
    let long_ones = [Kernel::LongPrepare, Kernel::LongPieces, Kernel::LongJoin, Kernel::LongFinish];
    for kernel in if long { &long_ones[..] } else { &[Kernel::Many] } {
        let keys = KeysAt::Lane;
        let (groups, group_items) = (2, 2 * LANES);
        let (kernel, pieces) = (*kernel, number(pieces));
        let program = variant.into();
        let launch = Launch { program, kernel, keys, messages: 1, pieces, groups, group_items };
        lane.launch(&launch).unwrap();
    }
    lane.read(Slab::Output, room.of(Slab::Output)).unwrap();
    lane.flush().unwrap();
    let took = lane.wait(MINUTE).unwrap();
    assert!(took.compute_ns > 0, "{took:?}");
    let output = lane.host().output;
    assert_eq!(Verdict::read(&output[UNIT_BYTES * blocks..]).unwrap().0, Verdict::Ok);
    output[..text.len()].to_vec()
}

fn room(blocks: usize, pieces: usize) -> Room {
    Room::default()
        .with(Slab::Keys, KEY_BYTES)
        .with(Slab::Input, UNIT_BYTES * (blocks + 1))
        .with(Slab::Messages, MESSAGE_BYTES)
        .with(Slab::Pieces, PIECE_BYTES * pieces)
        .with(Slab::Output, UNIT_BYTES * (blocks + Verdict::UNITS))
        .with(Slab::Prepared, if pieces > 0 { PREPARED_BYTES } else { 0 })
        .with(Slab::Partial, PARTIAL_BYTES * pieces)
}

/// Wipes a lane that was used, and looks at what is left on both sides of what it used.
fn assert_wiped(lane: &mut dyn Lane, room: &Room) {
    fn side<'l>(lane: &'l mut dyn Lane, room: &Room, slab: Slab) -> &'l mut [u8] {
        let host = lane.host();
        let side = match slab {
            Slab::Keys => host.keys,
            Slab::Input => host.input,
            _ => host.output,
        };
        &mut side[..room.of(slab)]
    }
    let left = |bytes: &[u8]| bytes.iter().filter(|byte| **byte != 0).count();
    let slabs = [Slab::Keys, Slab::Input, Slab::Output];
    assert!(slabs.iter().all(|slab| left(side(lane, room, *slab)) > 0));
    lane.wipe().unwrap();
    for slab in slabs {
        assert_eq!(left(side(lane, room, slab)), 0, "the host's {slab:?}");
        side(lane, room, slab).fill(0xee);
        lane.read(slab, room.of(slab)).unwrap();
        lane.wait(MINUTE).unwrap();
        assert_eq!(left(side(lane, room, slab)), 0, "the device's {slab:?}");
    }
}

#[test]
fn what_a_lane_has_no_room_for_is_refused_by_name() {
    let Some(device) = device() else { return };
    let mut lane = device.lane().unwrap();
    let refused = lane.write(Slab::Input, 16).unwrap_err();
    assert!(refused.to_string().ends_with("a lane has no room for input"), "{refused}");
    let variant = Variant { key: KeyLength::Aes128, tables: Tables::OneShared };
    let launch = Launch {
        program: variant.into(),
        kernel: Kernel::Many,
        keys: KeysAt::Device,
        messages: 1,
        pieces: 0,
        groups: 1,
        group_items: LANES,
    };
    let refused = lane.launch(&launch).unwrap_err();
    assert!(matches!(refused, GpuError::Call { .. }), "{refused}");
    let too_much = device.about().buffer_bytes_max.saturating_mul(2);
    let refused = lane.reserve(&Room::default().with(Slab::Prepared, too_much)).unwrap_err();
    assert!(matches!(refused, GpuError::OutOfMemory { what: "prepared", .. }), "{refused}");
    assert_eq!(lane.wait(MINUTE).unwrap().compute_ns, 0);
    lane.reserve(&Room::default().with(Slab::Input, 16)).unwrap();
    let len = lane.host().input.len();
    for refused in [
        lane.write(Slab::Input, len + 1),
        lane.read(Slab::Input, len + 1),
        lane.read_part(Slab::Input, len..len + 1),
        device.write_keys(KEY_SLOTS - 1, &[1; 2 * KEY_BYTES]),
        // So many bytes that they count as none.
        device.write_keys(1 << 59, &[1; KEY_BYTES]),
    ] {
        let refused = refused.unwrap_err();
        assert!(refused.to_string().ends_with("gave -30, invalid value"), "{refused}");
    }
    device.write_keys(KEY_SLOTS - 1, &[1; KEY_BYTES]).unwrap();
}

#[test]
fn a_part_of_a_slab_goes_there_and_back_and_nothing_else_of_it() {
    let Some(device) = device() else { return };
    let mut lane = device.lane().unwrap();
    lane.reserve(&Room::default().with(Slab::Input, 1_000)).unwrap();
    lane.clear(Slab::Input, 1_000).unwrap();
    lane.host().input[..1_000].fill(1);
    lane.write_part(Slab::Input, 100..300).unwrap();
    lane.wait(MINUTE).unwrap();
    lane.host().input[..1_000].fill(2);
    lane.read_part(Slab::Input, 200..500).unwrap();
    lane.wait(MINUTE).unwrap();
    let expected: Vec<_> = [(2, 200), (1, 100), (0, 200), (2, 500)]
        .into_iter()
        .flat_map(|(byte, count)| vec![byte; count])
        .collect();
    assert!(lane.host().input[..1_000] == expected);
}

#[test]
fn a_device_that_does_not_answer_is_lost_for_all_its_lanes_and_nobody_waits_again() {
    let Some(device) = device() else { return };
    let (mut lane, mut other) = (device.lane().unwrap(), device.lane().unwrap());
    let bytes = 64 << 20;
    lane.reserve(&Room::default().with(Slab::Input, bytes)).unwrap();
    for _ in 0..16 {
        lane.write(Slab::Input, bytes).unwrap();
    }
    let lost = lane.wait(Duration::ZERO).unwrap_err();
    assert!(matches!(lost, GpuError::TimedOut { .. }), "{lost}");
    for again in [
        lane.wait(MINUTE).map(drop),
        other.wait(MINUTE).map(drop),
        device.lane().map(drop),
        device.write_keys(0, &[0; KEY_BYTES]),
    ] {
        assert_eq!(again.unwrap_err(), lost);
    }
}

const MINUTE: Duration = Duration::from_secs(60);
