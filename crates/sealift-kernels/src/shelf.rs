//! Places for expanded keys.
#![allow(unsafe_code)]

use core::{
    fmt,
    hint::black_box,
    ops::{Deref, DerefMut},
    ptr::{self, NonNull},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use memmap2::MmapMut;
use sealift_core::Key;

use crate::{Path, Schedule, schedule::Expanded};

/// Room for the expanded keys of many sessions, side by side.
///
/// Each takes 15 cache lines, and a processor remembers where some two thousand pages of memory are. Under more keys than lie in
/// these, and keys lie among whatever else was allocated, a message of 128 bytes took a quarter longer. So most places of a
/// shelf are in pages of 2 MiB, where the system has such pages.
///
/// Schedules keep their shelf. Of boards that hold none of them any more one is kept, and the memory of others given back.
#[derive(Default)]
pub struct Shelf(Mutex<Boards>);

#[derive(Default)]
struct Boards {
    /// By where their places begin.
    boards: BTreeMap<usize, Board>,
    /// Places that are free, those that are taken next at the end.
    free: Vec<Free>,
}

struct Board {
    taken: usize,
    /// What the places lie in.
    _memory: MmapMut,
}

/// A place that holds nothing.
#[derive(Clone, Copy)]
struct Free(NonNull<Slot>);

// SAFETY: it is an address, and nobody else's.
unsafe impl Send for Free {}

impl Shelf {
    /// An empty one; it takes memory with the first key.
    #[must_use]
    pub fn new() -> Arc<Shelf> {
        Arc::default()
    }

    /// Expands a key for a path, to be kept here.
    #[must_use]
    pub fn expand(self: &Arc<Self>, path: Path, key: &Key) -> Schedule {
        Schedule::at(Place::on(self), path, key)
    }

    fn boards(&self) -> MutexGuard<'_, Boards> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let boards = self.boards();
        let taken: usize = boards.boards.values().map(|board| board.taken).sum();
        write!(f, "Shelf({taken} keys)")
    }
}

impl Boards {
    /// A free place; none if there is no memory.
    fn take(&mut self) -> Option<NonNull<Slot>> {
        if self.free.is_empty() {
            self.add_board()?;
        }
        let Free(place) = self.free.pop()?;
        self.board(place)?.1.taken += 1;
        Some(place)
    }

    fn give_back(&mut self, place: NonNull<Slot>) {
        self.free.push(Free(place));
        let Some((start, board)) = self.board(place) else { return };
        board.taken -= 1;
        // Another board's worth stays free, so that one key more or less doesn't move memory each time.
        if board.taken == 0 && self.free.len() >= 2 * PLACES {
            let own = start..start + BOARD_BYTES;
            self.free.retain(|Free(place)| !own.contains(&place.as_ptr().addr()));
            self.boards.remove(&start);
        }
    }

    /// The board of a place, and where its places begin.
    fn board(&mut self, place: NonNull<Slot>) -> Option<(usize, &mut Board)> {
        let (start, board) = self.boards.range_mut(..=place.as_ptr().addr()).next_back()?;
        Some((*start, board))
    }

    fn add_board(&mut self) -> Option<()> {
        let mut memory = MmapMut::map_anon(BOARD_BYTES + LARGE_PAGE).ok()?;
        let unaligned = memory.as_mut_ptr();
        let skipped = unaligned.align_offset(LARGE_PAGE);
        #[cfg(target_os = "linux")]
        {
            // The first keys don't take 2 MiB at once. What the system refuses costs speed only.
            let small = if self.boards.is_empty() { LARGE_PAGE } else { 0 };
            let _ = memory.advise_range(
                memmap2::Advice::HugePage,
                skipped + small,
                BOARD_BYTES - small,
            );
        }
        let start = NonNull::new(unaligned.wrapping_add(skipped).cast::<Slot>())?;
        let board = Board { taken: 0, _memory: memory };
        self.boards.insert(start.as_ptr().addr(), board);
        // SAFETY: so many places are within the board.
        let places = (0..PLACES).rev().map(|place| Free(unsafe { start.add(place) }));
        self.free.extend(places);
        Some(())
    }
}

/// Bytes of a page that holds many keys.
const LARGE_PAGE: usize = 2 << 20;

/// Bytes of a board.
const BOARD_BYTES: usize = 8 * LARGE_PAGE;

/// Keys on a board.
const PLACES: usize = BOARD_BYTES / size_of::<Slot>();

// Were the distance a power of two, all keys would share a few sets of each cache.
const _: () = assert!((size_of::<Slot>() / 64) % 2 == 1 && align_of::<Slot>() == 64);

/// An expanded key where it lies, wiped when it is dropped.
#[repr(C)]
struct Slot {
    expanded: Expanded,
    /// None for one by itself.
    shelf: Option<Arc<Shelf>>,
}

/// An expanded key on a shelf, or by itself.
pub(crate) struct Place(NonNull<Slot>);

// SAFETY: it owns what is there: integers, and a shelf, which may be shared.
unsafe impl Send for Place {}
// SAFETY: shared, it gives shared references only.
unsafe impl Sync for Place {}

impl Place {
    /// One by itself.
    pub(crate) fn alone() -> Place {
        let slot = Slot { expanded: Expanded::empty(), shelf: None };
        Place(NonNull::from(Box::leak(Box::new(slot))))
    }

    /// One on a shelf; by itself if the shelf gets no memory.
    fn on(shelf: &Arc<Shelf>) -> Place {
        let Some(at) = shelf.boards().take() else { return Place::alone() };
        let slot = Slot { expanded: Expanded::empty(), shelf: Some(Arc::clone(shelf)) };
        // SAFETY: a free place is writable and aligned, and taken by nobody else now.
        unsafe { at.write(slot) };
        Place(at)
    }

    /// Leaves only zeros, in stores of whole registers.
    pub(crate) fn wipe(&mut self) {
        // SAFETY: zeros are a value of each of its fields, and none of them has to be dropped.
        unsafe { ptr::from_mut(&mut **self).write_bytes(0, 1) };
        black_box(self);
    }
}

impl Deref for Place {
    type Target = Expanded;

    #[inline(always)]
    fn deref(&self) -> &Expanded {
        // SAFETY: it owns what is there, which was written.
        &unsafe { self.0.as_ref() }.expanded
    }
}

impl DerefMut for Place {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Expanded {
        // SAFETY: it owns what is there, which was written, and is borrowed for as long.
        &mut unsafe { self.0.as_mut() }.expanded
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // SAFETY: it owns what is there, which was written.
        let Some(shelf) = unsafe { self.0.as_mut() }.shelf.take() else {
            // SAFETY: what is on no shelf was leaked from a box, and is not used any more.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
            return;
        };
        // SAFETY: it was written, and is not used any more.
        unsafe { self.0.drop_in_place() };
        shelf.boards().give_back(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(shelf: &Arc<Shelf>, count: usize) -> Vec<Place> {
        (0..count).map(|_| Place::on(shelf)).collect()
    }

    fn state(shelf: &Shelf) -> (usize, usize) {
        let boards = shelf.boards();
        (boards.boards.len(), boards.free.len())
    }

    #[test]
    fn keys_lie_side_by_side_and_places_are_used_again() {
        let shelf = Shelf::new();
        let mut places = keys(&shelf, 3);
        let at = |place: &Place| place.0.as_ptr().addr();
        assert_eq!(at(&places[0]) % LARGE_PAGE, 0);
        assert_eq!([1, 2].map(|i| at(&places[i]) - at(&places[0])), [960, 2 * 960]);
        let freed = at(&places.remove(1));
        assert_eq!(at(&Place::on(&shelf)), freed);
        assert_eq!(format!("{shelf:?}"), "Shelf(2 keys)");
    }

    #[test]
    fn memory_is_given_back_and_not_with_each_key() {
        let shelf = Shelf::new();
        assert_eq!(state(&shelf), (0, 0));
        let first = keys(&shelf, PLACES);
        let mut more = keys(&shelf, PLACES + 1);
        assert_eq!(state(&shelf), (3, PLACES - 1));
        more.pop();
        assert_eq!(state(&shelf), (3, PLACES));
        drop(first);
        assert_eq!(state(&shelf), (2, PLACES), "one of the two that hold nothing");
        drop(more);
        assert_eq!(state(&shelf), (1, PLACES));
        assert_eq!(keys(&shelf, 2).len(), 2);
    }

    #[test]
    fn a_shelf_lives_as_long_as_its_keys_and_threads_share_it() {
        let shelf = Shelf::new();
        let key = Key::Aes128([7; 16]);
        let schedules: Vec<_> = std::thread::scope(|scope| {
            let expand = || (0..50).map(|_| shelf.expand(Path::Model, &key)).collect::<Vec<_>>();
            let threads = [(); 4].map(|()| scope.spawn(expand));
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(format!("{shelf:?}"), "Shelf(200 keys)");
        drop(shelf);
        let alone = Schedule::new(Path::Model, &key);
        let same = |each: &Schedule| each.expanded().hash_key() == alone.expanded().hash_key();
        assert!(schedules.iter().all(same));
    }

    #[test]
    fn a_place_given_back_holds_zeros() {
        let shelf = Shelf::new();
        for path in Path::available() {
            let place = Place::on(&shelf);
            let at = place.0.as_ptr().cast::<u8>();
            let schedule = Schedule::at(place, path, &Key::Aes256([9; 32]));
            assert!(schedule.expanded().hash_key() != 0);
            drop(schedule);
            // All but its last line, of which a part is padding, and which has no secret.
            // SAFETY: the board is still there, and these bytes were written.
            let left = unsafe { core::slice::from_raw_parts(at, size_of::<Expanded>() - 64) };
            assert!(left.iter().all(|byte| *byte == 0), "{}", path.name());
        }
    }
}
