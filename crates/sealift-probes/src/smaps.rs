//! What the system tells of this process's mappings.

use std::fs;
use std::ops::Range;

/// Looks whether some memory that was written lies in huge pages: asking for them is no promise.
///
/// # Errors
/// It doesn't, or the system doesn't tell; says what would be right.
pub(crate) fn check_huge(start: *const u8, bytes: usize) -> Result<(), String> {
    let told = fs::read_to_string("/proc/self/smaps").map_err(|error| {
        format!("/proc/self/smaps, which tells of pages, can't be read: {error}")
    })?;
    is_huge(&told, start.addr()..start.addr() + bytes)
}

fn is_huge(told: &str, memory: Range<usize>) -> Result<(), String> {
    let [there, huge] = ["Rss:", "AnonHugePages:"].map(|name| bytes_of(told, &memory, name));
    // One page at each end may be a small one.
    if huge > 0 && huge >= there / 10 * 9 {
        return Ok(());
    }
    Err(format!(
        "of {there} bytes the kernel gave {huge} as huge pages; /sys/kernel/mm/transparent_hugepage/enabled is to say \
         madvise or always, and memory to be free"
    ))
}

/// The sum of a figure over all mappings that have a part of some memory.
fn bytes_of(told: &str, memory: &Range<usize>, name: &str) -> usize {
    let (mut is_part, mut kib) = (false, 0);
    for line in told.lines() {
        if let Some(mapping) = range_of(line) {
            is_part = mapping.start < memory.end && memory.start < mapping.end;
        } else if is_part && let Some(figure) = line.strip_prefix(name) {
            kib += figure.split_whitespace().next().and_then(|kib| kib.parse().ok()).unwrap_or(0);
        }
    }
    kib << 10
}

/// Of the line that a mapping begins with, as in `7f5a00000000-7f5a00200000 rw-p 00000000 00:00 0`.
fn range_of(line: &str) -> Option<Range<usize>> {
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some(address(start)?..address(end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = "\
10000-20000 rw-p 00000000 00:00 0 [heap]
Rss:                  64 kB
AnonHugePages:         0 kB
200000-600000 rw-p 00000000 00:00 0
Size:               4096 kB
Rss:                4096 kB
AnonHugePages:      4096 kB
ShmemPmdMapped:        0 kB
VmFlags: rd wr mr mw me ac sd hg
600000-a00000 rw-p 00000000 00:00 0
Rss:                4096 kB
AnonHugePages:      2048 kB
";

    #[test]
    fn figures_are_those_of_the_mappings_that_memory_lies_in() {
        assert_eq!(bytes_of(TOLD, &(0x20_0000..0x20_1000), "Rss:"), 4 << 20);
        assert_eq!(bytes_of(TOLD, &(0x5f_ffff..0x60_0001), "AnonHugePages:"), 6 << 20);
        assert_eq!(bytes_of(TOLD, &(0x2_0000..0x20_0000), "Rss:"), 0, "between two");
        assert_eq!(range_of("VmFlags: rd wr mr mw me ac sd hg"), None);
    }

    #[test]
    fn memory_is_huge_where_nearly_all_of_it_is() {
        assert_eq!(is_huge(TOLD, 0x20_0000..0x60_0000), Ok(()));
        for memory in [0x1_0000..0x2_0000, 0x60_0000..0xa0_0000, 0xb0_0000..0xc0_0000] {
            let error = is_huge(TOLD, memory).unwrap_err();
            assert!(
                error.contains("as huge pages; /sys/kernel/mm/transparent_hugepage"),
                "{error}"
            );
        }
        assert!(
            check_huge(TOLD.as_ptr(), TOLD.len()).is_err(),
            "a program's file is mapped by small ones"
        );
    }
}
