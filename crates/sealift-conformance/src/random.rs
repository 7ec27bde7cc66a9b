//! A small seeded generator, so that a failure's seed repeats it.

/// xoshiro256++, seeded through splitmix64.
#[derive(Clone)]
pub(crate) struct Random([u64; 4]);

impl Random {
    /// The stream of a seed and a number of a part, which a failure names.
    pub(crate) fn new(seed: u64, part: u64) -> Self {
        let mut state = seed ^ part.wrapping_mul(0xd134_2543_de82_ef95);
        Self(std::array::from_fn(|_| splitmix(&mut state)))
    }

    /// 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        let state = &mut self.0;
        let result = state[0].wrapping_add(state[3]).rotate_left(23).wrapping_add(state[0]);
        let third = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= third;
        state[3] = state[3].rotate_left(45);
        result
    }

    /// A number from 0 to `bound` - 1.
    #[expect(clippy::cast_possible_truncation, reason = "less than `bound`")]
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// A number from 0 to `last`.
    pub(crate) fn up_to(&mut self, last: usize) -> usize {
        self.below(last + 1)
    }

    /// True once in `n` times.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of some things.
    pub(crate) fn pick<T: Copy>(&mut self, things: &[T]) -> T {
        things[self.below(things.len())]
    }

    /// So many bytes.
    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
        bytes
    }
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
