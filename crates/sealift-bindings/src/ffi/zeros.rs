use std::alloc::{Layout, alloc_zeroed};

/// Zeros, or nothing if there is no memory for so many.
///
/// Fresh pages are zeros by themselves: `Vec::resize` would write to all of them once more.
pub(crate) fn zeros(bytes: usize) -> Option<Vec<u8>> {
    if bytes == 0 {
        return Some(vec![]);
    }
    let layout = Layout::array::<u8>(bytes).ok()?;
    // SAFETY: the layout has bytes.
    let start = unsafe { alloc_zeroed(layout) };
    if start.is_null() {
        return None;
    }
    // SAFETY: the allocator that vectors use gave so many bytes, which are all set.
    Some(unsafe { Vec::from_raw_parts(start, bytes, bytes) })
}
