//! Every path gives the bytes that the model gives.

use crate::common::{
    KEY_LENGTHS, Message, NONCE_LENGTHS, PLACES, Place, Random, TAG_LENGTHS, WRAPPING_NONCES,
};
use sealift_core::Status;
use sealift_kernels::Path;

#[test]
fn all_paths_agree_on_every_short_length() {
    let mut random = Random(1);
    for text in 0..=600 {
        for key in KEY_LENGTHS {
            let (nonce, aad) = (random.pick(&[12, 12, 16, 60]), random.below(40));
            agree(&random.message(key, nonce, aad, text));
        }
    }
}

#[test]
fn all_paths_agree_around_the_lengths_where_loops_begin_and_end() {
    let mut random = Random(2);
    for edge in [1_024, 1_536, 2_048, 2_560, 4_096, 16_384] {
        for text in [edge - 65, edge - 17, edge - 1, edge, edge + 1, edge + 15, edge + 63] {
            let key = random.pick(&KEY_LENGTHS);
            agree(&random.message(key, 12, 13, text));
        }
    }
}

#[test]
fn all_paths_agree_on_every_length_of_aad() {
    let mut random = Random(3);
    for aad in (0..=70).chain([255, 256, 257, 300, 1_100]) {
        for text in [0, 1, 16, 77] {
            let key = random.pick(&KEY_LENGTHS);
            agree(&random.message(key, 12, aad, text));
        }
    }
}

#[test]
fn all_paths_agree_on_all_keys_nonces_and_tags() {
    let mut random = Random(4);
    for key in KEY_LENGTHS {
        for nonce in NONCE_LENGTHS {
            for tag_len in TAG_LENGTHS {
                let (aad, text) = (random.below(33), random.below(200));
                agree(&Message { tag_len, ..random.message(key, nonce, aad, text) });
            }
        }
    }
}

#[test]
fn the_counter_wraps_in_32_bits_only() {
    for (blocks_before, nonce, tag) in WRAPPING_NONCES {
        let message = Message {
            key: vec![0x42; 16],
            nonce: nonce.to_be_bytes().to_vec(),
            aad: vec![],
            text: vec![0x5a; 1_500],
            tag_len: 16,
        };
        let sealed = message.seal(Path::Model, Place::Apart);
        assert_eq!(sealed.tag, tag.to_be_bytes(), "{blocks_before} blocks before the wrap");
        agree(&message);
    }
}

#[test]
fn a_schedule_made_for_one_path_serves_every_other() {
    let message = Random(5).message(24, 12, 21, 333);
    let expected = message.seal(Path::Model, Place::Apart);
    for made_for in Path::available() {
        let schedule = message.schedule(made_for);
        for path in Path::available() {
            let sealed = message.seal_with(path, &schedule, Place::Apart);
            assert_eq!(sealed, expected, "made for {}, used by {}", made_for.name(), path.name());
        }
    }
}

fn agree(message: &Message) {
    let expected = message.seal(Path::Model, Place::Apart);
    for path in Path::available() {
        for place in PLACES {
            let what = || {
                let Message { key, nonce, aad, text, tag_len } = message;
                let lengths = [key, nonce, aad, text].map(Vec::len);
                format!(
                    "{} {place:?} key, nonce, aad, text {lengths:?}, tag {tag_len}",
                    path.name()
                )
            };
            assert!(message.seal(path, place) == expected, "sealed otherwise: {}", what());
            let (status, text) = message.open(path, place, &expected);
            assert!(status == Status::Ok && text == message.text, "not opened: {}", what());
            assert_eq!(message.verify(path, &expected), Status::Ok, "{}", what());
        }
    }
}
