//! What the C library, the system and our own kernels do.

use super::{Mover, Route};
use std::hint::black_box;

pub(super) struct Nothing;
pub(super) struct Glibc;
pub(super) struct Ours;
pub(super) struct Pread;
pub(super) struct Pwrite;
pub(super) struct MapRead;
pub(super) struct MapWrite;
pub(super) struct FirstTouch;
pub(super) struct Populated;
pub(super) struct GlibcFill;

impl Mover for Nothing {
    #[inline(always)]
    unsafe fn go(route: &Route, skip: usize) -> u64 {
        black_box((route.to.wrapping_add(skip), route.from.wrapping_add(skip), route.len));
        0
    }
}

impl Mover for Glibc {
    #[inline(always)]
    unsafe fn go(route: &Route, skip: usize) -> u64 {
        let (to, from) = (route.to.wrapping_add(skip), route.from.wrapping_add(skip));
        // SAFETY: the caller vouches for the route, whose two sides don't overlap.
        unsafe { libc::memcpy(to.cast(), from.cast(), black_box(route.len)) };
        0
    }
}

impl Mover for Ours {
    #[inline(always)]
    unsafe fn go(route: &Route, skip: usize) -> u64 {
        let (to, from) = (route.to.wrapping_add(skip), route.from.wrapping_add(skip));
        // SAFETY: the caller vouches for the route; no other thread has this part of it.
        let to = unsafe { std::slice::from_raw_parts_mut(to, route.len) };
        // SAFETY: as above, and nobody writes the source meanwhile.
        let from = unsafe { std::slice::from_raw_parts(from, route.len) };
        sealift_kernels::copy::copy(to, from);
        0
    }
}

impl Mover for Pread {
    #[inline(always)]
    unsafe fn go(route: &Route, skip: usize) -> u64 {
        let (to, at) = (route.to.wrapping_add(skip), route.file_offset(route.from, skip));
        // SAFETY: the destination is valid for the length, as the caller vouches.
        let read = unsafe { libc::pread(route.file, to.cast(), route.len, at) };
        u64::from(usize::try_from(read) != Ok(route.len))
    }
}

impl Mover for Pwrite {
    #[inline(always)]
    unsafe fn go(route: &Route, skip: usize) -> u64 {
        let (from, at) = (route.from.wrapping_add(skip), route.file_offset(route.to, skip));
        // SAFETY: the source is valid for the length, as the caller vouches.
        let written = unsafe { libc::pwrite(route.file, from.cast(), route.len, at) };
        u64::from(usize::try_from(written) != Ok(route.len))
    }
}

impl Mover for MapRead {
    #[inline(always)]
    unsafe fn go(route: &Route, skip: usize) -> u64 {
        let (to, at) = (route.to.wrapping_add(skip), route.file_offset(route.from, skip));
        // SAFETY: the destination is valid for the length, as the caller vouches.
        unsafe { through_mapping(route, at, |pages| (to, pages)) }
    }
}

impl Mover for MapWrite {
    #[inline(always)]
    unsafe fn go(route: &Route, skip: usize) -> u64 {
        let (from, at) = (route.from.wrapping_add(skip), route.file_offset(route.to, skip));
        // SAFETY: the source is valid for the length, as the caller vouches.
        unsafe { through_mapping(route, at, |pages| (pages, from)) }
    }
}

/// Maps a part of the route's file, copies between the two ends that it makes, and lets it go.
#[inline(always)]
unsafe fn through_mapping(
    route: &Route,
    at: i64,
    ends: impl FnOnce(*mut u8) -> (*mut u8, *const u8),
) -> u64 {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let (len, none) = (route.len, std::ptr::null_mut());
    // SAFETY: a new mapping, where the system likes.
    let pages = unsafe { libc::mmap(none, len, access, libc::MAP_SHARED, route.file, at) };
    if pages == libc::MAP_FAILED {
        return 1;
    }
    let (to, from) = ends(pages.cast());
    // SAFETY: the caller vouches for one end, the other one was just mapped with this length.
    unsafe { libc::memcpy(to.cast(), from.cast(), black_box(len)) };
    // SAFETY: it was just mapped, and nothing points into it any more.
    let failed = unsafe { libc::munmap(pages, len) };
    u64::from(failed != 0)
}

impl Mover for FirstTouch {
    #[inline(always)]
    unsafe fn go(route: &Route, skip: usize) -> u64 {
        // SAFETY: as the caller promises.
        unsafe { into_fresh_pages(route, skip, 0) }
    }
}

impl Mover for Populated {
    #[inline(always)]
    unsafe fn go(route: &Route, skip: usize) -> u64 {
        // SAFETY: as the caller promises.
        unsafe { into_fresh_pages(route, skip, libc::MAP_POPULATE) }
    }
}

/// Gives the destination's pages back, takes new ones in their place, and copies into them.
#[inline(always)]
unsafe fn into_fresh_pages(route: &Route, skip: usize, more: i32) -> u64 {
    let (to, from) = (route.to.wrapping_add(skip), route.from.wrapping_add(skip));
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | more;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the route's destination is anonymous memory in whole pages, whose contents nobody
    // else needs; the arm checks it.
    let pages = unsafe { libc::mmap(to.cast(), route.len, access, flags, -1, 0) };
    if pages == libc::MAP_FAILED {
        return 1;
    }
    // SAFETY: the pages were just mapped, and the caller vouches for the source.
    unsafe { libc::memcpy(to.cast(), from.cast(), black_box(route.len)) };
    0
}

impl Mover for GlibcFill {
    #[inline(always)]
    unsafe fn go(route: &Route, skip: usize) -> u64 {
        // SAFETY: the caller vouches for the source.
        let byte = unsafe { *route.from };
        let to = route.to.wrapping_add(skip);
        // SAFETY: the destination is valid for the length, as the caller vouches.
        unsafe { libc::memset(to.cast(), i32::from(byte), black_box(route.len)) };
        0
    }
}
