//! Published test cases, on every path.

use crate::common::{Message, PLACES, Sealed};
use sealift_core::Status;
use sealift_kernels::Path;

#[test]
fn every_path_gives_what_the_gcm_specification_prints() {
    let cases = cases();
    assert_eq!(cases.len(), 18);
    for path in Path::available() {
        for (number, (message, sealed)) in cases.iter().enumerate() {
            for place in PLACES {
                let what = format!("test case {}, {}, {place:?}", number + 1, path.name());
                assert_eq!(message.seal(path, place), *sealed, "{what}");
                let opened = message.open(path, place, sealed);
                assert_eq!(opened, (Status::Ok, message.text.clone()), "{what}");
                assert_eq!(message.verify(path, sealed), Status::Ok, "{what}");
            }
        }
    }
}

fn cases() -> Vec<(Message, Sealed)> {
    let lines = include_str!("../data/gcm-specification.txt").lines();
    lines.filter(|line| !line.starts_with('#')).map(case).collect()
}

fn case(line: &str) -> (Message, Sealed) {
    let fields: Vec<Vec<u8>> = line.split(' ').map(bytes).collect();
    let [key, nonce, aad, plaintext, ciphertext, tag] = fields.try_into().unwrap();
    let message = Message { key, nonce, aad, text: plaintext, tag_len: tag.len() };
    (message, Sealed { text: ciphertext, tag })
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits = hexadecimal.trim_matches('-').as_bytes();
    let pairs = digits.chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}
