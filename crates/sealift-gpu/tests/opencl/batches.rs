//! Batches, worked in rounds.

use super::load::{device, in_rounds, seal_and_open, seal_and_open_all};
use sealift_core::Work;
use sealift_gpu::message::{MANY_BYTES, PIECE_BLOCKS, UNIT_BYTES};
use sealift_gpu::variant::Tables;
use sealift_gpu::{Settings, Worker};

#[test]
fn every_kind_of_tables_gives_what_this_processor_gives() {
    let Some(device) = device() else { return };
    for tables in Tables::ALL {
        let worker = Worker::new("opencl".to_owned(), device.clone(), Settings::new(tables));
        // One kernel for one key length: compiling takes far longer than working.
        for nonce_bytes in [12, 60] {
            seal_and_open(&in_rounds(&worker), &[0, 1, 16, 100, MANY_BYTES], &[0], nonce_bytes);
        }
    }
}

#[test]
fn a_batch_of_many_rounds_is_right() {
    let Some(device) = device() else { return };
    let worker = Worker::new("opencl".to_owned(), device, Settings::new(Tables::OneShared));
    let lengths = [&[48_000; 30][..], &[1_500; 600], &[MANY_BYTES + 1]].concat();
    seal_and_open(&in_rounds(&worker), &lengths, &[0, 1, 2, 3, 4, 5], 12);
}

#[test]
fn long_aads_are_hashed_in_pieces() {
    let Some(device) = device() else { return };
    let slot = PIECE_BLOCKS * UNIT_BYTES;
    let texts = [0, 5, MANY_BYTES + 1, slot - 16, slot, slot + 1, 3 * slot + 40];
    let aads = [MANY_BYTES, MANY_BYTES + 1, slot - 15, slot, slot + 16, 2 * slot + 7, 5 * slot];
    let all = |aad| texts.into_iter().map(move |text| (aad, text));
    let shapes: Vec<_> = aads.into_iter().flat_map(all).chain([((2 << 20) + 3, 100)]).collect();
    for tables in [Tables::OneShared, Tables::None] {
        let worker = Worker::new("opencl".to_owned(), device.clone(), Settings::new(tables));
        for nonce_bytes in [12, 60] {
            seal_and_open_all(&in_rounds(&worker), &shapes, &[0], nonce_bytes);
        }
    }
}

#[test]
fn a_held_batch_gives_what_this_processor_gives() {
    let Some(device) = device() else { return };
    let worker = Worker::new("opencl".to_owned(), device, Settings::new(Tables::OneShared));
    let hold_and_read = |work: &mut Work<'_>| {
        let mut held = worker.hold(work).unwrap();
        for _ in 0..2 {
            let took = held.work().unwrap();
            assert!(took.compute_ns > 0 && took.copy_in_ns + took.copy_out_ns == 0, "{took:?}");
        }
        assert!(held.read().unwrap().copy_out_ns > 0);
    };
    seal_and_open(&hold_and_read, &[100, 3_000, 17, 40_000], &[0, 3], 12);
}
