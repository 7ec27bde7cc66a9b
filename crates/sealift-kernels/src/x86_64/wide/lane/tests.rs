use core::{ptr, slice};

use sealift_core::Op;

use super::{
    super::item::{Ahead, Class, Item, KeyForm, LONG_TEXT_MAX, MEDIUM_AAD},
    SCRATCH, run, takes, wipe,
};
use crate::{
    Path,
    x86_64::{
        cpu::HaveVaes512,
        window::messages::{self, Message, Random},
    },
};

const OPS: [Op; 3] = [Op::Seal, Op::Open, Op::Verify];
const FORMS: [KeyForm; 2] = [KeyForm::Each, KeyForm::Raw];
const TAG_BYTES: [usize; 7] = [4, 8, 12, 13, 14, 15, 16];

/// Whether there is something in what messages are worked with.
fn holds_something() -> bool {
    SCRATCH.with_borrow(|scratch| {
        let Some(scratch) = scratch else { return false };
        let (between, keys) = (&scratch.between, &scratch.keys);
        let places = [
            bytes_of(&between.secret),
            bytes_of(&between.hashed),
            bytes_of(&keys.schedules),
            bytes_of(&keys.words),
        ];
        places.iter().any(|place| place.iter().any(|byte| *byte != 0))
    })
}

/// The bytes of registers.
fn bytes_of<T>(registers: &T) -> &[u8] {
    // SAFETY: a reference; registers have no padding.
    unsafe { slice::from_raw_parts(ptr::from_ref(registers).cast(), size_of::<T>()) }
}

fn skip() {
    eprintln!("skipped: this processor lacks the instructions");
}

fn check(class: &Class, messages: &[Message], wrong: &[bool], in_place: bool) -> bool {
    let Ok(token) = HaveVaes512::check() else { return false };
    let kernel = |items: &[Item]| {
        assert!(takes(class), "{class:?}");
        // SAFETY: addresses of buffers of those lengths.
        unsafe { run(token, class, items, &mut Ahead::nothing()) };
        assert!(holds_something(), "what messages were worked with is not where it is looked for");
        wipe();
        assert!(!holds_something(), "something is left of {class:?}");
    };
    messages::check(Path::Vaes512(token), kernel, class, messages, wrong, in_place);
    true
}

/// All shapes of a class that this kernel takes, with a tag length each.
fn classes(random: &mut Random) -> Vec<Class> {
    let mut classes = vec![];
    for keys in FORMS {
        for rounds in [10, 12, 14] {
            let blocks = if keys == KeyForm::Raw { 32 } else { 8 };
            for (text_blocks, aad_blocks) in (0..=blocks).flat_map(|t| (0..=3).map(move |a| (t, a)))
            {
                for op in OPS {
                    let tag_bytes = TAG_BYTES[random.below(TAG_BYTES.len())];
                    classes.push(Class {
                        op,
                        keys,
                        rounds,
                        tag_bytes,
                        has_plain_nonces: true,
                        text_blocks,
                        aad_blocks,
                    });
                }
            }
        }
    }
    classes
}

#[test]
fn every_shape_gives_what_the_model_gives() {
    let mut random = Random(50);
    for class in classes(&mut random) {
        let count = 1 + random.below(9);
        let messages: Vec<_> = (0..count).map(|_| Message::new(&mut random, &class)).collect();
        for in_place in [false, true] {
            if !check(&class, &messages, &[false; 9], in_place) {
                return skip();
            }
        }
    }
}

#[test]
fn any_number_of_messages_is_worked() {
    let mut random = Random(51);
    let lengths = [(KeyForm::Each, 2), (KeyForm::Raw, 2), (KeyForm::Raw, 13), (KeyForm::Raw, 32)];
    for (count, (keys, text_blocks)) in
        (1..=40).flat_map(|count| lengths.map(|length| (count, length)))
    {
        for rounds in [10, 12, 14] {
            let op = OPS[random.below(3)];
            let class = Class {
                op,
                keys,
                rounds,
                tag_bytes: 16,
                has_plain_nonces: true,
                text_blocks,
                aad_blocks: random.below(4),
            };
            let messages: Vec<_> = (0..count).map(|_| Message::new(&mut random, &class)).collect();
            if !check(&class, &messages, &[false; 40], false) {
                return skip();
            }
        }
    }
}

#[test]
fn a_message_with_a_flipped_bit_fails_alone_and_leaves_zeros() {
    let mut random = Random(52);
    for mut class in classes(&mut random).into_iter().filter(|class| class.op != Op::Seal) {
        class.tag_bytes = TAG_BYTES[random.below(TAG_BYTES.len())];
        let count = 1 + random.below(9);
        let wrong: Vec<_> = (0..count).map(|_| random.below(2) == 0).collect();
        let messages: Vec<_> = wrong
            .iter()
            .map(|wrong| {
                let message = Message::new(&mut random, &class);
                if *wrong { message.spoilt(&mut random) } else { message }
            })
            .collect();
        for in_place in [false, true] {
            if !check(&class, &messages, &wrong, in_place) {
                return skip();
            }
        }
    }
}

#[test]
fn whichever_messages_of_a_group_fail_the_others_open() {
    let mut random = Random(54);
    for (choice, keys) in (0..16).flat_map(|choice| FORMS.map(|keys| (choice, keys))) {
        for (text_blocks, op) in [0, 1, 2, 4, 5, 8, 9, 12, 16, 20, 32]
            .into_iter()
            .flat_map(|t| [Op::Open, Op::Verify].map(|op| (t, op)))
        {
            if text_blocks > 8 && keys == KeyForm::Each {
                continue;
            }
            let tag_bytes = TAG_BYTES[random.below(TAG_BYTES.len())];
            let class = Class {
                op,
                keys,
                rounds: 10,
                tag_bytes,
                has_plain_nonces: true,
                text_blocks,
                aad_blocks: 0,
            };
            // Two groups that fail alike, and one that isn't whole.
            let wrong: Vec<_> = (0..11).map(|i| (choice >> (i % 4)) & 1 == 1).collect();
            let messages: Vec<_> = wrong
                .iter()
                .map(|wrong| {
                    let mut message = Message::new(&mut random, &class);
                    message.tag[random.below(tag_bytes)] ^= u8::from(*wrong) << random.below(8);
                    message
                })
                .collect();
            for in_place in [false, true] {
                if !check(&class, &messages, &wrong, in_place) {
                    return skip();
                }
            }
        }
    }
}

#[test]
fn every_byte_of_a_tag_counts() {
    let mut random = Random(53);
    for (tag_bytes, keys) in TAG_BYTES.into_iter().flat_map(|bytes| FORMS.map(|keys| (bytes, keys)))
    {
        let class = Class {
            op: Op::Verify,
            keys,
            rounds: 10,
            tag_bytes,
            has_plain_nonces: true,
            text_blocks: 1,
            aad_blocks: 1,
        };
        let right = Message::new(&mut random, &class);
        let messages: Vec<_> = (0..tag_bytes)
            .map(|byte| {
                let mut message = right.clone();
                message.tag[byte] ^= 0x80 >> (byte % 8);
                message
            })
            .collect();
        if !check(&class, &messages, &[true; 16], false) {
            return skip();
        }
    }
}

#[test]
fn longer_messages_are_for_others() {
    let takes = |keys, text_blocks, aad_blocks| {
        let (op, rounds, tag_bytes) = (Op::Seal, 10, 16);
        let has_plain_nonces = true;
        takes(&Class { op, keys, rounds, tag_bytes, has_plain_nonces, text_blocks, aad_blocks })
    };
    assert!(takes(KeyForm::Each, 8, 3) && takes(KeyForm::Raw, 32, 3));
    assert!(!takes(KeyForm::Each, 9, 0) && !takes(KeyForm::Raw, LONG_TEXT_MAX, 0));
    assert!(!takes(KeyForm::Raw, 1, MEDIUM_AAD) && !takes(KeyForm::One, 1, 0));
}
