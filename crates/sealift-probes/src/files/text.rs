//! Text to write.

use crate::random::Random;

/// Words of lorem ipsum in an order drawn by a seed: so many bytes.
pub(super) fn lorem_ipsum(len: usize, seed: u64) -> Vec<u8> {
    let words: Vec<_> = LOREM_IPSUM.split(' ').collect();
    let mut random = Random::new(seed, 1);
    let mut text = Vec::with_capacity(len + 16);
    while text.len() < len {
        #[expect(clippy::cast_possible_truncation, reason = "below the number of words")]
        let word = words[(random.next_u64() % words.len() as u64) as usize];
        text.extend_from_slice(word.as_bytes());
        let is_end = random.next_u64().is_multiple_of(12);
        text.push(if is_end { b'\n' } else { b' ' });
    }
    text.truncate(len);
    text
}

const LOREM_IPSUM: &str = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor \
    incididunt ut labore et dolore magna aliqua ut enim ad minim veniam quis nostrud exercitation ullamco \
    laboris nisi ut aliquip ex ea commodo consequat duis aute irure dolor in reprehenderit in voluptate \
    velit esse cillum dolore eu fugiat nulla pariatur excepteur sint occaecat cupidatat non proident sunt \
    in culpa qui officia deserunt mollit anim id est laborum";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_words() {
        let text = lorem_ipsum(10_000, 1);
        assert_eq!(text.len(), 10_000);
        assert_eq!(lorem_ipsum(10_000, 1), text);
        assert_ne!(lorem_ipsum(10_000, 2), text);
        let words = String::from_utf8(text).unwrap();
        assert!(words.split_whitespace().rev().skip(1).all(|word| LOREM_IPSUM.contains(word)));
    }
}
