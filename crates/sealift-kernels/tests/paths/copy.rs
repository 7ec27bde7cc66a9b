//! Copies against the plain one.

use crate::common::Random;
use sealift_kernels::copy::copy;

#[test]
fn every_length_is_copied_and_nothing_beside_it_is_touched() {
    let source = Random(20).bytes(4_300);
    for len in 0..=4_200 {
        for (to, from) in [(0, 0), (1, 0), (0, 1), (12, 0), (63, 64), (64, 63)] {
            let mut destination = vec![0xee; len + 128];
            copy(&mut destination[to..to + len], &source[from..from + len]);
            let mut expected = vec![0xee; len + 128];
            expected[to..to + len].copy_from_slice(&source[from..from + len]);
            assert!(destination == expected, "{len} bytes to {to} from {from}");
        }
    }
}

#[test]
fn a_large_copy_is_right_wherever_the_two_ends_lie() {
    let source = Random(21).bytes(1 << 20);
    let mut destination = vec![0; 1 << 20];
    for len in [65_535, 65_536, 1 << 19] {
        // Some of these lie 1 to 63 bytes behind modulo 4,096, wherever the two buffers begin.
        for from in (0..4_096).step_by(48) {
            destination.fill(0xee);
            copy(&mut destination[7..7 + len], &source[from..from + len]);
            let (before, rest) = destination.split_at(7);
            assert!(rest[..len] == source[from..from + len], "{len} bytes from {from}");
            assert!(before.iter().chain(&rest[len..]).all(|byte| *byte == 0xee), "{len} {from}");
        }
    }
}

#[test]
fn a_copy_past_the_caches_is_right_at_both_sides_of_their_bound() {
    const BOUND: usize = 4 << 20;
    let source = Random(22).bytes(BOUND + 256);
    let mut destination = vec![0; BOUND + 256];
    for len in [BOUND - 1, BOUND, BOUND + 65] {
        for (to, from) in [(0, 0), (1, 0), (12, 64), (63, 5)] {
            destination.fill(0xee);
            copy(&mut destination[to..to + len], &source[from..from + len]);
            let (before, rest) = destination.split_at(to);
            assert!(rest[..len] == source[from..from + len], "{len} bytes to {to} from {from}");
            assert!(before.iter().chain(&rest[len..]).all(|byte| *byte == 0xee), "{len} {to}");
        }
    }
}

#[test]
#[should_panic(expected = "a copy of 3 bytes to 4 bytes")]
fn lengths_that_differ_are_named() {
    copy(&mut [0; 4], &[0; 3]);
}
