//! Counter mode by itself: the standard's vectors, and every path as the model.

use crate::common::{KEY_LENGTHS, Random};
use sealift_kernels::{CtrError, Path, Schedule, ctr, ctr_in_place};

#[test]
fn the_vectors_of_sp_800_38a_come_out() {
    for path in Path::available() {
        for (key, ciphertext) in VECTORS {
            let schedule = Schedule::from_raw(path, &bytes(key)).unwrap();
            let counter = bytes(COUNTER).try_into().unwrap();
            let (plaintext, expected) = (bytes(PLAINTEXT), bytes(ciphertext));
            let mut output = vec![0; plaintext.len()];
            ctr(path, &schedule, counter, &plaintext, &mut output).unwrap();
            assert_eq!(output, expected, "{}, {} bytes of key", path.name(), key.len() / 2);
            ctr_in_place(path, &schedule, counter, &mut output);
            assert_eq!(output, plaintext, "{}", path.name());
        }
    }
}

#[test]
fn all_paths_agree_on_every_short_length() {
    let mut random = Random(60);
    for len in (0..=300).chain([511, 512, 513, 1_024, 1_500]) {
        let counter = random.bytes(16).try_into().unwrap();
        agree(&mut random, counter, len);
    }
}

#[test]
fn the_counter_carries_over_all_of_its_bits() {
    let mut random = Random(61);
    let edges = [u128::MAX, 0xffff_ffff, u128::from(u64::MAX), u128::MAX << 32 | 0xffff_fff0];
    for edge in edges {
        for before in (0..=9).chain([15, 16, 31, 32, 33]) {
            for len in [0, 1, 16, 17, 100, 600, 1_100] {
                agree(&mut random, edge.wrapping_sub(before).to_be_bytes(), len);
            }
        }
    }
}

#[test]
fn a_carry_is_a_sum_of_two_texts() {
    let mut random = Random(62);
    let (low, zeros) = (0xffff_ffff_u128, [0; 32]);
    for path in Path::available() {
        let schedule = Schedule::from_raw(path, &random.bytes(16)).unwrap();
        let stream = |counter: u128, len| {
            let mut output = vec![0; len];
            ctr(path, &schedule, counter.to_be_bytes(), &zeros[..len], &mut output).unwrap();
            output
        };
        for high in [0, 1, u128::MAX >> 32] {
            let last = (high << 32) | low;
            let two = [stream(last, 16), stream(last.wrapping_add(1), 16)].concat();
            assert_eq!(stream(last, 32), two, "{} {last:x}", path.name());
        }
    }
}

#[test]
fn an_output_of_another_length_is_left_alone() {
    for path in Path::available() {
        let schedule = Schedule::from_raw(path, &[1; 16]).unwrap();
        let mut output = [7; 20];
        let error = ctr(path, &schedule, [0; 16], &[1; 21], &mut output).unwrap_err();
        assert_eq!(error, CtrError::Lengths { input: 21, output: 20 });
        assert!(error.to_string().contains("output has 20 bytes: it must have 21"), "{error}");
        assert_eq!(output, [7; 20]);
    }
}

/// All paths give what the model gives, in place and apart, and touch nothing behind it.
fn agree(random: &mut Random, counter: [u8; 16], len: usize) {
    let (key_len, input) = (random.pick(&KEY_LENGTHS), random.bytes(len));
    let key = random.bytes(key_len);
    let mut expected = input.clone();
    let model = Schedule::from_raw(Path::Model, &key).unwrap();
    ctr_in_place(Path::Model, &model, counter, &mut expected);
    for path in Path::available() {
        let what = || format!("{} {len} bytes from {counter:02x?}", path.name());
        let schedule = Schedule::from_raw(path, &key).unwrap();
        let mut output = vec![0xee; len + 1];
        ctr(path, &schedule, counter, &input, &mut output[..len]).unwrap();
        assert!(output[..len] == expected && output[len] == 0xee, "{}", what());
        let mut text = input.clone();
        ctr_in_place(path, &schedule, counter, &mut text);
        assert!(text == expected, "in place: {}", what());
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |byte: u8| u8::try_from(char::from(byte).to_digit(16).unwrap()).unwrap();
    hex.as_bytes().chunks(2).map(|pair| 16 * digit(pair[0]) + digit(pair[1])).collect()
}

/// Section F.5: the first counter block, the plaintext, and keys with their ciphertexts.
const COUNTER: &str = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
const PLAINTEXT: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                         30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
const VECTORS: [(&str, &str); 3] = [
    (
        "2b7e151628aed2a6abf7158809cf4f3c",
        "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff\
         5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee",
    ),
    (
        "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
        "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94\
         1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050",
    ),
    (
        "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
        "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5\
         2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
    ),
];
