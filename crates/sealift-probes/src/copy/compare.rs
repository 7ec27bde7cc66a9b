//! Compares memory that nobody promises to be ordinary.

/// Whether memory holds these bytes; else which of them is the first that differs.
pub(super) fn same(memory: *const u8, expected: &[u8]) -> Result<(), usize> {
    let mut copy = [0; CHUNK_BYTES];
    for (number, chunk) in expected.chunks(CHUNK_BYTES).enumerate() {
        let at = number * CHUNK_BYTES;
        fetch(&mut copy[..chunk.len()], memory.wrapping_add(at));
        if copy[..chunk.len()] != *chunk {
            let differs = copy.iter().zip(chunk).position(|(own, other)| own != other);
            return Err(at + differs.unwrap_or(0));
        }
    }
    Ok(())
}

/// Whether two places hold the same; else which byte is the first that differs.
pub(super) fn alike(memory: *const u8, other: *const u8, len: usize) -> Result<(), usize> {
    let mut chunk = [0; CHUNK_BYTES];
    for at in (0..len).step_by(CHUNK_BYTES) {
        let chunk = &mut chunk[..CHUNK_BYTES.min(len - at)];
        fetch(chunk, other.wrapping_add(at));
        same(memory.wrapping_add(at), chunk).map_err(|byte| at + byte)?;
    }
    Ok(())
}

/// All words of some memory, folded by exclusive or.
pub(super) fn fold(memory: *const u8, len: usize) -> u64 {
    let (mut chunk, mut folded) = ([0; CHUNK_BYTES], 0);
    for at in (0..len).step_by(CHUNK_BYTES) {
        let chunk = &mut chunk[..CHUNK_BYTES.min(len - at)];
        fetch(chunk, memory.wrapping_add(at));
        for word in chunk.chunks_exact(8) {
            folded ^= word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        }
    }
    folded
}

/// Copies bytes out of a device's memory, which takes words and no more.
fn fetch(to: &mut [u8], from: *const u8) {
    // SAFETY: callers vouch for as many bytes as they expect; the copy is written in assembly, so that
    // another process that writes them meanwhile breaks no promise to the compiler.
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    unsafe {
        super::movers::words(to.as_mut_ptr(), from, to.len());
    }
    #[cfg(not(all(target_arch = "x86_64", not(sealift_portable))))]
    for (at, byte) in to.iter_mut().enumerate() {
        // SAFETY: callers vouch for as many bytes as they expect.
        *byte = unsafe { from.wrapping_add(at).read_volatile() };
    }
}

const CHUNK_BYTES: usize = 4_096;
