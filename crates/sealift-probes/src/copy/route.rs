//! Where copies go: the same place again and again, or many places, each once.

use super::spec::{CopySpec, State};
use std::os::fd::RawFd;

/// The places that one thread copies from and to.
#[derive(Clone, Copy)]
pub(super) struct Route {
    pub(super) to: *mut u8,
    pub(super) from: *const u8,
    /// Bytes of one copy.
    pub(super) len: usize,
    /// From one place to the next one in memory.
    pub(super) stride: usize,
    /// How many places, a power of two, less one.
    mask: usize,
    /// From the number of one place to that of the next one in time.
    jump: usize,
    /// The file behind source or destination, and where it is mapped; -1 where there is none.
    pub(super) file: RawFd,
    pub(super) mapped: usize,
}

/// How many places there are, and how far apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Course {
    pub(super) places: usize,
    pub(super) stride: usize,
}

impl Course {
    /// One place for hot copies. For cold ones a power of two of them, over as much memory as a sample goes
    /// through.
    pub(super) fn of(spec: &CopySpec) -> Self {
        let stride = spec.bytes.next_multiple_of(LINE_BYTES);
        let places = match spec.state {
            State::Hot => 1,
            State::Cold | State::Beyond => {
                let span = (COLD_BYTES / spec.threads).max(COLD_BYTES_A_THREAD);
                (span / stride).max(2).next_power_of_two()
            }
        };
        Self { places, stride }
    }

    /// Bytes from the first place to the end of the last one.
    pub(super) fn span(self) -> usize {
        self.places * self.stride
    }
}

impl Route {
    pub(super) fn new(course: Course, len: usize, to: *mut u8, from: *const u8) -> Self {
        // Far from one place to the next, so that short cold copies aren't fetched ahead; long ones are
        // streams of their own.
        let jump = if len < STREAM_BYTES { course.places / 8 * 5 + 1 } else { 1 };
        let mask = course.places - 1;
        Self { to, from, len, stride: course.stride, mask, jump: jump | 1, file: -1, mapped: 0 }
    }

    /// The number of the place after this one.
    #[inline(always)]
    pub(super) fn after(&self, place: usize) -> usize {
        (place + self.jump) & self.mask
    }

    pub(super) fn places(&self) -> usize {
        self.mask + 1
    }

    /// The numbers of so many places from one on.
    pub(super) fn places_from(self, first: usize, times: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(first), move |place| Some(self.after(*place))).take(times)
    }

    /// Where in the file an address lies.
    #[expect(clippy::cast_possible_wrap, reason = "an offset in memory that exists")]
    pub(super) fn file_offset(&self, address: *const u8, skip: usize) -> i64 {
        (address.addr() - self.mapped + skip) as i64
    }
}

const LINE_BYTES: usize = 64;
const STREAM_BYTES: usize = 4_096;
/// Of all threads together, on one side of a copy; some milliseconds of copying.
pub(super) const COLD_BYTES: usize = 64 << 20;
const COLD_BYTES_A_THREAD: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_comes_by_every_place_once_before_it_begins_anew() {
        for (len, places) in [(16, 1), (16, 2), (16, 4_096), (65_536, 64), (4_096, 8)] {
            let course = Course { places, stride: len };
            let route = Route::new(course, len, std::ptr::null_mut(), std::ptr::null());
            let mut met: Vec<_> = route.places_from(0, places).collect();
            assert_eq!(route.after(met[places - 1]), 0);
            met.sort_unstable();
            assert!(met.into_iter().eq(0..places), "{len} bytes, {places} places");
        }
    }
}
