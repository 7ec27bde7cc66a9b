//! Every path gives the bytes that the model gives.

mod common;

use common::{KEY_LENGTHS, Message, NONCE_LENGTHS, PLACES, Place, Random, TAG_LENGTHS};
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

/// Blocks of text before the counter's last 32 bits wrap to 0; a nonce of 16 bytes that hashes to
/// such a first counter under the key 42 42 42 ...; the tag that OpenSSL gives for 1,500 bytes 5a.
///
/// A nonce N of 16 bytes gives the first counter `N * H^2 + 128 * H`, which can be solved for N.
const WRAPPING_NONCES: [(usize, u128, u128); 9] = [
    (0, 0xab28_c8a1_e6ab_dcd0_54f7_2d73_7ffe_2d99, 0x08b0_d2dd_9e76_e516_2280_77fc_09c2_b1f0),
    (1, 0x3b37_455a_8d79_47ba_345f_695a_24bc_1d9f, 0x133c_b204_0dfb_1efa_36bc_7132_2099_afb8),
    (2, 0x4917_d357_310e_ea04_95a7_a521_c97a_4d94, 0x7772_001b_3120_af9c_b440_5857_d79f_8bbe),
    (3, 0xd908_5eac_5adc_716e_f50f_e108_9238_7d92, 0x2150_c0da_e1cd_a930_310c_fab8_2d7b_2938),
    (6, 0x4f69_e4ba_9e44_87ad_1706_b584_a472_8d8f, 0xcc8d_a46b_72e9_a504_2109_de47_d136_98fd),
    (15, 0xd38a_069a_ab02_c794_72ec_d0e7_2521_3dbf, 0xc176_11bb_e048_9833_b430_d2e5_0e51_add8),
    (30, 0x5a6d_54d7_7df9_ea58_18c0_d65b_ca40_0dd5, 0xd4f6_d761_afd2_d9d5_93cc_e3ba_847d_ebb1),
    (62, 0x699c_ebba_07aa_8714_0dc8_5370_a206_0d0d, 0x1e51_ddaa_7993_9328_469e_8c76_f4a8_1bd7),
    (90, 0x3bf0_1de0_2615_5d69_b070_cca8_77c4_cc7e, 0x8bb0_8853_24f6_6c67_d49d_c8a8_84ad_6060),
];

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
