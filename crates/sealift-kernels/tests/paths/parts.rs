//! A message worked in parts gives what the same message gives whole, and refuses what that refuses.

use crate::common::{KEY_LENGTHS, Message, PLACES, Place, Random, Sealed, WRAPPING_NONCES};
use sealift_core::{Algorithm, LongMessage, Op, PartHash, Slot, SlotTag, SlotText, Status};
use sealift_kernels::{Parts, Path};
use std::thread;

#[test]
fn parts_give_what_the_whole_gives_wherever_it_is_cut() {
    let mut random = Random(60);
    for path in Path::available() {
        for text in [0, 1, 16, 17, 100, 600, 1_024, 4_113, 20_000] {
            let (key, nonce) = (random.pick(&KEY_LENGTHS), random.pick(&[12, 12, 7, 16]));
            let aad = random.below(40);
            let message = random.message(key, nonce, aad, text);
            for most in [1, 3, 64, 1_000] {
                check(path, &message, &cuts(&mut random, text, most));
            }
            check(path, &message, &[]);
        }
    }
}

/// One block more than 16, 32 or 48 is what registers of any width leave over.
#[test]
fn a_part_may_end_before_any_block() {
    let message = Random(62).message(32, 12, 20, 1_500);
    for path in Path::available() {
        for cut in 1..70 {
            check(path, &message, &[cut, cut + 17]);
        }
        check(path, &message, &[17, 33, 49]);
    }
}

#[test]
fn counters_wrap_in_a_part_and_between_two() {
    for (_, nonce, tag) in WRAPPING_NONCES {
        let message = Message {
            key: vec![0x42; 16],
            nonce: nonce.to_be_bytes().to_vec(),
            aad: vec![],
            text: vec![0x5a; 1_500],
            tag_len: 16,
        };
        for path in Path::available() {
            for cut in 1..93 {
                let (status, sealed) = worked(path, &message, Op::Seal, Place::Apart, None, &[cut]);
                assert_eq!((status, &sealed.tag[..]), (Status::Ok, &tag.to_be_bytes()[..]));
            }
            check(path, &message, &[2, 30, 31, 64]);
        }
    }
}

#[test]
fn hashes_that_are_not_of_the_whole_text_make_no_tag_and_leave_zeros() {
    for path in Path::available() {
        let message = Random(61).message(16, 12, 5, 100);
        let parts =
            Parts::new(path, Algorithm::AesGcm, &message.key, Op::Seal, &message.nonce).unwrap();
        let (mut output, mut tag) = (vec![0; 100], vec![0; message.tag_len]);
        let text = SlotText::Apart { input: &message.text[..48], output: &mut output[..48] };
        let hash = parts.work_part(0, text);
        assert_eq!(format!("{hash:?}"), "PartHash(3 blocks, secret)");
        let slot = Slot {
            op: Op::Seal,
            nonce: &message.nonce,
            aad: &message.aad,
            text: SlotText::Apart { input: &message.text, output: &mut output },
            tag: SlotTag::Write(&mut tag),
        };
        assert_eq!(parts.conclude(slot, &[hash]), Status::NotProcessed);
        assert!(output.iter().chain(&tag).all(|byte| *byte == 0));
    }
}

/// Blocks before which a text is cut, rising.
fn cuts(random: &mut Random, text: usize, most: usize) -> Vec<u32> {
    let blocks = text / 16;
    let mut cuts: Vec<_> = (0..most.min(blocks))
        .map(|_| u32::try_from(random.below(blocks)).unwrap())
        .filter(|block| *block > 0)
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Seals, opens, verifies and refuses a message in parts.
fn check(path: Path, message: &Message, cuts: &[u32]) {
    let sealed = message.seal(Path::Model, Place::Apart);
    let mut wrong = sealed.clone();
    wrong.tag[message.tag_len - 1] ^= 1;
    for place in PLACES {
        let made = worked(path, message, Op::Seal, place, None, cuts);
        assert_eq!(made, (Status::Ok, sealed.clone()), "{path:?} {cuts:?}");
        let (status, opened) = worked(path, message, Op::Open, place, Some(&sealed), cuts);
        assert_eq!((status, &opened.text), (Status::Ok, &message.text));
        let (status, refused) = worked(path, message, Op::Open, place, Some(&wrong), cuts);
        assert_eq!(status, Status::AuthFailed);
        assert!(refused.text.iter().all(|byte| *byte == 0));
    }
    for (given, expected) in [(&sealed, Status::Ok), (&wrong, Status::AuthFailed)] {
        let (status, _) = worked(path, message, Op::Verify, Place::Apart, Some(given), cuts);
        assert_eq!(status, expected);
    }
}

/// A message worked in parts by as many threads, whichever comes first.
fn worked(
    path: Path,
    message: &Message,
    op: Op,
    place: Place,
    sealed: Option<&Sealed>,
    cuts: &[u32],
) -> (Status, Sealed) {
    let input = sealed.map_or(&message.text, |sealed| &sealed.text);
    let mut output = match place {
        Place::Apart => vec![0xee; input.len()],
        Place::InPlace => input.clone(),
    };
    let mut tag = vec![0xee; message.tag_len];
    let parts = Parts::new(path, Algorithm::AesGcm, &message.key, op, &message.nonce).unwrap();
    let starts: Vec<_> = [0].iter().chain(cuts).copied().collect();
    let end_of = |part: usize| starts.get(part + 1).map_or(input.len(), |cut| *cut as usize * 16);
    let hashes: Vec<PartHash> = thread::scope(|scope| {
        let mut rest = &mut output[..];
        let mut at = 0;
        let work: Vec<_> = starts
            .iter()
            .enumerate()
            .map(|(part, start)| {
                let (own, later) = std::mem::take(&mut rest).split_at_mut(end_of(part) - at);
                let read = &input[at..end_of(part)];
                (rest, at) = (later, end_of(part));
                let text = match (op, place) {
                    (Op::Verify, _) => SlotText::Read(read),
                    (_, Place::Apart) => SlotText::Apart { input: read, output: own },
                    (_, Place::InPlace) => SlotText::InPlace(own),
                };
                let parts = &parts;
                move || parts.work_part(*start, text)
            })
            .collect();
        if work.len() > 8 {
            return work.into_iter().map(|work| work()).collect();
        }
        let threads: Vec<_> = work.into_iter().map(|work| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let text = match (op, place) {
        (Op::Verify, _) => SlotText::Read(input),
        (_, Place::Apart) => SlotText::Apart { input, output: &mut output },
        (_, Place::InPlace) => SlotText::InPlace(&mut output),
    };
    let given = match sealed {
        Some(sealed) => SlotTag::Check(&sealed.tag),
        None => SlotTag::Write(&mut tag),
    };
    let slot = Slot { op, nonce: &message.nonce, aad: &message.aad, text, tag: given };
    let status = parts.conclude(slot, &hashes);
    (status, Sealed { text: output, tag })
}
