//! Which devices have room.

use crate::DeviceId;
use std::collections::BTreeSet;
use std::iter;

/// The devices that have room, so that a few of them are found without looking at all.
#[derive(Debug)]
pub(super) struct Seats {
    devices: usize,
    open: BTreeSet<DeviceId>,
    draws: u64,
}

impl Seats {
    /// So many devices that all have room.
    pub(super) fn of(devices: usize) -> Self {
        Self { devices, open: (0..devices).map(DeviceId).collect(), draws: 0 }
    }

    /// A device has room, or has none any more.
    pub(super) fn set(&mut self, device: DeviceId, has_room: bool) {
        if has_room {
            self.open.insert(device);
        } else {
            self.open.remove(&device);
        }
    }

    pub(super) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The device of a draw: the first with room from a place on, as if the devices stood in a ring.
    /// The places of draws that follow each other are spread evenly.
    pub(super) fn drawn(&self, draw: u64) -> Option<DeviceId> {
        let place = self.place(draw);
        self.open.range(place..).chain(self.open.range(..place)).next().copied()
    }

    /// The place of a draw, with room or without.
    #[expect(clippy::cast_possible_truncation, reason = "the high half of a product is less")]
    pub(super) fn place(&self, draw: u64) -> DeviceId {
        let spread = u128::from(self.draws.wrapping_add(draw).wrapping_mul(GOLDEN));
        DeviceId(((spread * self.devices as u128) >> 64) as usize)
    }

    /// Lets the next draws be others.
    pub(super) fn pass(&mut self, draws: u64) {
        self.draws = self.draws.wrapping_add(draws);
    }

    /// Those that have room, once round from a place on; or from both ends in turn.
    pub(super) fn open(&self, begin: usize, ends: bool) -> impl Iterator<Item = DeviceId> {
        let (sooner, later) = (..DeviceId(begin), DeviceId(begin)..);
        in_turn(self.open.range(later).chain(self.open.range(sooner)).copied(), ends)
    }

    /// The same of all devices.
    pub(super) fn all(&self, begin: usize, ends: bool) -> impl Iterator<Item = DeviceId> {
        let begin = begin.min(self.devices);
        in_turn((begin..self.devices).chain(0..begin).map(DeviceId), ends)
    }
}

/// From the beginning on, or from both ends in turn.
fn in_turn(
    mut devices: impl DoubleEndedIterator<Item = DeviceId>,
    ends: bool,
) -> impl Iterator<Item = DeviceId> {
    let mut is_end = false;
    iter::from_fn(move || {
        is_end = ends && !is_end;
        if is_end { devices.next_back() } else { devices.next() }
    })
}

/// 2^64 over the golden ratio: its multiples are spread evenly, however many are drawn.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_walked_past_while_it_has_room() {
        let mut seats = Seats::of(5);
        let walk = |seats: &Seats, begin, ends| {
            seats.open(begin, ends).map(|device| device.0).collect::<Vec<_>>()
        };
        assert_eq!(walk(&seats, 3, false), [3, 4, 0, 1, 2]);
        assert_eq!(walk(&seats, usize::MAX, false), [0, 1, 2, 3, 4]);
        assert_eq!(walk(&seats, 0, true), [4, 0, 3, 1, 2]);
        seats.set(DeviceId(0), false);
        seats.set(DeviceId(3), false);
        assert_eq!(walk(&seats, 2, false), [2, 4, 1]);
        let all = seats.all(usize::MAX, true).map(|device| device.0);
        assert_eq!(all.collect::<Vec<_>>(), [4, 0, 3, 1, 2]);
        (0..5).for_each(|at| seats.set(DeviceId(at), at == 3));
        assert_eq!((walk(&seats, 4, false), seats.drawn(0)), (vec![3], Some(DeviceId(3))));
        seats.set(DeviceId(3), false);
        assert!(!seats.has_open() && seats.drawn(0).is_none());
    }

    #[test]
    fn draws_are_spread_evenly_and_pass() {
        let mut seats = Seats::of(10);
        let mut counts = [0; 10];
        (0..1_000).for_each(|draw| counts[seats.place(draw).0] += 1);
        assert!(counts.iter().all(|count| (95..=105).contains(count)), "{counts:?}");
        let next = seats.place(7);
        seats.pass(7);
        assert_eq!(seats.place(0), next);
    }
}
