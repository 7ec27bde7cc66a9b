//! Which devices have room.

use super::policy::Reach;
use crate::DeviceId;
use std::collections::BTreeSet;
use std::iter;

/// The devices that have room, so that a few of them are found without looking at all.
#[derive(Debug)]
pub(super) struct Seats {
    devices: usize,
    open: BTreeSet<DeviceId>,
    drawn: u64,
}

impl Seats {
    /// So many devices that all have room.
    pub(super) fn of(devices: usize) -> Self {
        Self { devices, open: (0..devices).map(DeviceId).collect(), drawn: 0 }
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

    /// A place among all devices, another one each time.
    #[expect(clippy::cast_possible_truncation, reason = "the high half of a product is less")]
    pub(super) fn draw(&mut self) -> usize {
        self.drawn = self.drawn.wrapping_add(GOLDEN);
        ((u128::from(self.drawn) * self.devices as u128) >> 64) as usize
    }

    /// Where the next draw stands.
    pub(super) fn drawn(&self) -> u64 {
        self.drawn
    }

    /// Draws on from there.
    pub(super) fn draw_from(&mut self, drawn: u64) {
        self.drawn = drawn;
    }

    /// Those that have room, once round from a place on; or from both ends in turn.
    pub(super) fn open(&self, begin: usize, reach: Reach) -> impl Iterator<Item = DeviceId> {
        let (sooner, later) = (..DeviceId(begin), DeviceId(begin)..);
        let mut open = self.open.range(later).chain(self.open.range(sooner)).copied();
        let mut is_end = false;
        iter::from_fn(move || {
            is_end = reach == Reach::Ends && !is_end;
            if is_end { open.next_back() } else { open.next() }
        })
    }
}

/// 2^64 over the golden ratio: its multiples are spread evenly, however many are drawn.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_walked_past_while_it_has_room() {
        let mut seats = Seats::of(5);
        let walk = |seats: &Seats, begin, reach| {
            seats.open(begin, reach).map(|device| device.0).collect::<Vec<_>>()
        };
        assert_eq!(walk(&seats, 3, Reach::From(3)), [3, 4, 0, 1, 2]);
        assert_eq!(walk(&seats, 5, Reach::From(5)), [0, 1, 2, 3, 4]);
        assert_eq!(walk(&seats, 0, Reach::Ends), [4, 0, 3, 1, 2]);
        seats.set(DeviceId(0), false);
        seats.set(DeviceId(3), false);
        assert_eq!(walk(&seats, 2, Reach::Few), [2, 4, 1]);
        (0..5).for_each(|at| seats.set(DeviceId(at), at == 3));
        assert_eq!(walk(&seats, 2, Reach::Few), [3]);
        seats.set(DeviceId(3), false);
        assert!(!seats.has_open());
    }

    #[test]
    fn draws_are_spread_evenly() {
        let mut seats = Seats::of(10);
        let mut counts = [0; 10];
        (0..1_000).for_each(|_| counts[seats.draw()] += 1);
        assert!(counts.iter().all(|count| (95..=105).contains(count)), "{counts:?}");
    }
}
