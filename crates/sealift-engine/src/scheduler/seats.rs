//! Which devices have room.

use crate::DeviceId;

/// The devices that have room, so that a few of them are found without looking at all.
#[derive(Debug)]
pub(super) struct Seats {
    open: Vec<DeviceId>,
    /// Where each device stands in `open`.
    places: Vec<Option<usize>>,
    drawn: u64,
}

impl Seats {
    /// So many devices that all have room.
    pub(super) fn of(devices: usize) -> Self {
        let open = (0..devices).map(DeviceId).collect();
        Self { open, places: (0..devices).map(Some).collect(), drawn: 0 }
    }

    /// A device has room, or has none any more.
    pub(super) fn set(&mut self, device: DeviceId, has_room: bool) {
        match (self.places[device.0], has_room) {
            (None, true) => {
                self.places[device.0] = Some(self.open.len());
                self.open.push(device);
            }
            (Some(place), false) => {
                self.open.swap_remove(place);
                if let Some(moved) = self.open.get(place) {
                    self.places[moved.0] = Some(place);
                }
                self.places[device.0] = None;
            }
            _ => {}
        }
    }

    /// Those that have room, in no order.
    pub(super) fn open(&self) -> &[DeviceId] {
        &self.open
    }

    /// A place below `places`, another one each time; 0 of none.
    #[expect(clippy::cast_possible_truncation, reason = "the high half of a product is less")]
    pub(super) fn draw(&mut self, places: usize) -> usize {
        self.drawn = self.drawn.wrapping_add(GOLDEN);
        ((u128::from(self.drawn) * places as u128) >> 64) as usize
    }
}

/// 2^64 over the golden ratio: its multiples are spread evenly, however many are drawn.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_stands_there_while_it_has_room() {
        let mut seats = Seats::of(3);
        let open = |seats: &Seats| {
            let mut open: Vec<_> = seats.open().iter().map(|device| device.0).collect();
            open.sort_unstable();
            open
        };
        seats.set(DeviceId(0), false);
        seats.set(DeviceId(0), false);
        assert_eq!(open(&seats), [1, 2]);
        seats.set(DeviceId(2), false);
        seats.set(DeviceId(0), true);
        seats.set(DeviceId(0), true);
        assert_eq!(open(&seats), [0, 1]);
        seats.set(DeviceId(1), false);
        seats.set(DeviceId(0), false);
        assert_eq!(open(&seats), []);
    }

    #[test]
    fn draws_are_spread_evenly() {
        let mut seats = Seats::of(0);
        let mut counts = [0; 10];
        (0..1_000).for_each(|_| counts[seats.draw(10)] += 1);
        assert!(counts.iter().all(|count| (95..=105).contains(count)), "{counts:?}");
        assert_eq!(seats.draw(0), 0);
    }
}
