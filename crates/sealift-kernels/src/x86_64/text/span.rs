//! Where a text is.

use core::ptr;

use sealift_core::SlotText;

use crate::caches::Caching;

/// A text as pointers: the buffers may change under us, which Rust's references don't allow for.
#[derive(Clone, Copy)]
pub(in crate::x86_64) struct Span {
    from: *const u8,
    /// Null if nothing is written.
    to: *mut u8,
    len: usize,
    /// What is read after it, which only the cache is asked for; null if the caches aren't asked.
    next: *const u8,
    /// Whether its result is to go past the caches from where a block begins with a cache line, if one does.
    passes: bool,
    /// Whether that is where it begins.
    is_passed: bool,
}

impl Span {
    /// The span of a text: readable for its length, and unless it is only read writable too.
    #[inline(always)]
    pub(in crate::x86_64) fn of(text: SlotText<'_>) -> Span {
        let (from, to, len) = match text {
            SlotText::Apart { input, output } => {
                (input.as_ptr(), output.as_mut_ptr(), input.len().min(output.len()))
            }
            SlotText::InPlace(text) => {
                let (place, len) = (text.as_mut_ptr(), text.len());
                // One address for both: to borrow the text again would end what was borrowed first.
                (place.cast_const(), place, len)
            }
            SlotText::Read(text) => (text.as_ptr(), ptr::null_mut(), text.len()),
        };
        Span { from, to, len, next: ptr::null(), passes: false, is_passed: false }
    }

    /// The span of a text at addresses.
    #[inline(always)]
    pub(in crate::x86_64) fn at(from: *const u8, to: *mut u8, len: usize) -> Span {
        Span { from, to, len, next: ptr::null(), passes: false, is_passed: false }
    }

    /// The same with what is done about the caches. Nothing goes past them that was just read, nor where too many lines would be
    /// stored in parts.
    #[inline(always)]
    pub(in crate::x86_64) fn with(self, caching: Caching) -> Span {
        match caching {
            Caching::Nothing => self,
            Caching::Asked(next) => Span { next, ..self },
            Caching::Passed => {
                let begins_line = self.to.addr().is_multiple_of(LINE);
                let has_whole_lines = begins_line && self.len.is_multiple_of(LINE);
                let is_apart = self.from != self.to.cast_const();
                let passes = is_apart && (has_whole_lines || self.len >= PARTS_MIN);
                Span { passes, is_passed: passes && begins_line, ..self }
            }
        }
    }

    /// How many whole blocks come before a cache line's begin, of a result that is to go past the caches from there on; none
    /// where it begins with one, or within a block.
    #[inline(always)]
    pub(in crate::x86_64) fn blocks_before_line(&self) -> Option<usize> {
        let bytes = self.to.addr().wrapping_neg() % LINE;
        (self.passes && !self.is_passed && bytes.is_multiple_of(16)).then_some(bytes / 16)
    }

    /// Goes on behind so many bytes, where a cache line begins.
    #[inline(always)]
    pub(in crate::x86_64) fn begin_line(&mut self, bytes: usize) {
        self.advance(bytes);
        debug_assert!(self.to.addr().is_multiple_of(LINE), "{:p}", self.to);
        self.is_passed = self.passes;
    }

    /// Whether its result goes past the caches. Then it begins with a cache line.
    #[inline(always)]
    pub(in crate::x86_64) fn is_passed(&self) -> bool {
        self.is_passed
    }

    /// Whether the caches have to be asked for it.
    #[inline(always)]
    pub(in crate::x86_64) fn is_far(&self) -> bool {
        !self.next.is_null()
    }

    /// What will be read in `bytes`: `width` bytes of the text, or of what comes after it.
    #[inline(always)]
    pub(in crate::x86_64) fn ahead(&self, bytes: usize, width: usize) -> *const u8 {
        if bytes + width <= self.len {
            self.from.wrapping_add(bytes)
        } else {
            self.next.wrapping_add(bytes.saturating_sub(self.len))
        }
    }

    #[inline(always)]
    pub(in crate::x86_64) fn from(&self) -> *const u8 {
        self.from
    }

    #[inline(always)]
    pub(in crate::x86_64) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(in crate::x86_64) fn to(&self) -> *mut u8 {
        self.to
    }

    #[inline(always)]
    pub(in crate::x86_64) fn advance(&mut self, bytes: usize) {
        self.from = self.from.wrapping_add(bytes);
        self.to = self.to.wrapping_add(bytes);
        self.len -= bytes;
    }

    /// Its first bytes.
    #[inline(always)]
    pub(in crate::x86_64) fn first(self, bytes: usize) -> Span {
        Span { len: bytes.min(self.len), ..self }
    }
}

/// Results of fewer bytes pass the caches only as whole lines.
// IMPLEMENTATION NOTE: of 64 MiB in huge pages, beginning 16 to 48 bytes behind a line, texts of 16 KiB took an eighth to a fifth
// less time so, 8 KiB a twentieth more, and 1,600 bytes half as much again (Zen 4). In pages of 4 KiB nothing was shown.
const PARTS_MIN: usize = 16 << 10;

/// Bytes of a cache line.
pub(super) const LINE: usize = 64;
