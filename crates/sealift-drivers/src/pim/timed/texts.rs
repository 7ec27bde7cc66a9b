//! What is encrypted, the same in every run.

/// The text of a DPU, another for each.
pub(super) fn plaintext(dpu: usize, bytes: usize) -> Vec<u8> {
    let mut text = vec![0; bytes];
    let mut state = dpu as u64;
    for word in text.as_chunks_mut::<8>().0 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        *word = (mixed ^ mixed >> 31).to_le_bytes();
    }
    text
}

/// A nonce that no other DPU has.
pub(super) fn nonce(dpu: usize) -> [u8; 12] {
    let [a, b, c, d, e, f, g, h] = (dpu as u64).to_be_bytes();
    [0, 0, 0, 1, a, b, c, d, e, f, g, h]
}
