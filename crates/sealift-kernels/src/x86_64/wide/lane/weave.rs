//! Which block is hashed in which round.

/// What is multiplied during a round.
///
/// Blocks are hashed in pairs, `(sum + first) * H^2 + second * H`, so that two share a reduction and only the
/// first waits for the pair before. Of an odd number the very first is alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nothing.
    Nothing,
    /// A block by itself, from which the sum begins or goes on from that of the piece before.
    Alone(usize),
    /// The second of a pair: a product that waits for nothing.
    Second(usize),
    /// The first of a pair, with which a reduction goes.
    First(usize),
}

/// How many blocks are hashed for texts of some blocks: with the lengths, and room for the longest aad.
pub(super) const fn hashed_blocks(blocks: usize, aad: bool) -> usize {
    blocks + 1 + if aad { 3 } else { 0 }
}

/// What is multiplied in a round, counted from 1, of `rounds` of which the last one has no turn.
pub(super) const fn turn(round: usize, rounds: usize, blocks: usize) -> Turn {
    let turns = rounds - 1;
    if blocks > turns {
        return nth(round - 1 + blocks - turns, blocks);
    }
    let mut n = 0;
    while n < blocks {
        if n * turns / blocks + 1 == round {
            return nth(n, blocks);
        }
        n += 1;
    }
    Turn::Nothing
}

/// What is multiplied before the first round, because there are more blocks than rounds.
pub(super) const fn early(n: usize, rounds: usize, blocks: usize) -> Turn {
    if n + rounds - 1 < blocks { nth(n, blocks) } else { Turn::Nothing }
}

const fn nth(n: usize, blocks: usize) -> Turn {
    let odd = blocks % 2;
    if n < odd {
        return Turn::Alone(0);
    }
    let place = n - odd;
    if place.is_multiple_of(2) { Turn::Second(n + 1) } else { Turn::First(n - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_its_turn_after_those_before_it() {
        for (rounds, blocks) in [10, 12, 14].into_iter().flat_map(|r| (2..=12).map(move |b| (r, b)))
        {
            let before = (0..3).map(|n| early(n, rounds, blocks));
            let woven = (1..rounds).map(|round| turn(round, rounds, blocks));
            let turns: Vec<_> = before.chain(woven).filter(|turn| *turn != Turn::Nothing).collect();
            let mut expected = vec![];
            if blocks % 2 == 1 {
                expected.push(Turn::Alone(0));
            }
            for first in (blocks % 2..blocks).step_by(2) {
                expected.extend([Turn::Second(first + 1), Turn::First(first)]);
            }
            assert_eq!(turns, expected, "{rounds} rounds, {blocks} blocks");
        }
    }
}
