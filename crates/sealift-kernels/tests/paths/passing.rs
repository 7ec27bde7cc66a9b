//! A few messages of a batch so large that results go past the caches, where a path has that.

use crate::common::Random;
use sealift_core::{
    Batch, Column, Key, KeySource, Keys, Op, Ops, Output, Piece, Place, SessionId, Status, Tags,
    Work,
};
use sealift_kernels::{Path, Schedule, Schedules, run};
use std::sync::Arc;

const SESSION: SessionId = SessionId { slot: 0, generation: 0 };

/// Of texts in all, as much as three eighths of any cache. Only the first messages are worked, and the system has to
/// find memory for these alone.
const BYTES: usize = 1 << 28;

struct NoKeys;
impl KeySource for NoKeys {
    fn key(&self, _: SessionId) -> Option<Arc<Key>> {
        None
    }
}

/// How keys are given.
#[derive(Clone, Copy, Debug)]
enum Form {
    One,
    Each,
    Raw,
}

/// What came of the first messages of a batch whose texts are the same.
struct Worked {
    texts: Vec<u8>,
    tags: Vec<u8>,
    statuses: Vec<Status>,
}

/// Messages with the same text and nonce, those whose tags are wrong refused. Results begin so many bytes behind a
/// cache line.
fn worked(
    path: Path,
    op: Op,
    form: Form,
    key: &[u8],
    text: &[u8],
    tags: &[u8],
    behind: usize,
) -> Worked {
    let messages = BYTES / text.len();
    let nonces: Vec<u8> =
        (0..messages as u128).flat_map(|n| n.to_le_bytes()[..12].to_vec()).collect();
    let keys = match form {
        Form::Raw => Keys::Raw(Column::Same(key.into())),
        _ => Keys::Session(SESSION),
    };
    let nonce = match op {
        Op::Seal => Column::fixed(&nonces, 12),
        _ => Column::Same(nonces[..12].into()),
    };
    let mut all_tags = vec![0; 16 * messages];
    all_tags[..tags.len()].copy_from_slice(tags);
    let batch = Batch {
        ops: Ops::All(op),
        tags: Tags::Apart(Column::fixed(&all_tags, 16)),
        ..Batch::seal(messages, keys, nonce, Column::Same(text.into()))
    };
    // What lies around results is seen, too.
    let mut room = vec![0; BYTES + 128];
    let start = room.as_ptr().align_offset(64) + behind;
    let (mut made, mut status) = (vec![0; 16 * messages], vec![Status::NotProcessed; messages]);
    let output = Output {
        text: Place::fixed(&mut room[start..start + messages * text.len()], text.len()),
        tags: Place::fixed(&mut made, 16),
        status: &mut status,
    };
    let mut work = Work::new(&batch, output, &NoKeys).unwrap();
    let schedule = Schedule::from_raw(path, key).unwrap();
    let piece = work.cut(messages / MESSAGES, false).into_iter().next();
    let Some(Piece::Messages(first)) = piece else { panic!("pieces of messages") };
    let worked = first.run(|work| {
        let schedules = vec![&schedule; work.len()];
        let schedules = match form {
            Form::One => Schedules::One(&schedule),
            Form::Each => Schedules::Each(&schedules),
            Form::Raw => Schedules::Raw,
        };
        run(path, work, 0..work.len(), schedules);
        work.len()
    });
    let end = start + worked * text.len();
    let around = room[..start].iter().chain(&room[end..end + 64]);
    assert!(around.copied().all(|byte| byte == 0), "{path:?} {op:?} wrote beside its results");
    Worked {
        texts: room[start..end].to_vec(),
        tags: made[..16 * worked].to_vec(),
        statuses: status[..worked].to_vec(),
    }
}

/// About so many are worked.
const MESSAGES: usize = 8;

#[test]
fn results_that_go_past_the_caches_are_the_same() {
    let mut random = Random(37);
    for path in Path::available() {
        for (i, text_bytes) in
            [1_500, 1_536, 1_552, 1_600, 2_048, 4_096 + 64, 6_000, 16_384, 16_400, 20_001, 16_448]
                .into_iter()
                .enumerate()
        {
            let (key, text) = (random.bytes([16, 24, 32][i % 3]), random.bytes(text_bytes));
            let right = worked(Path::Model, Op::Seal, Form::One, &key, &text, &[], 0);
            for form in [Form::One, Form::Each, Form::Raw] {
                for behind in [0, 16 * (1 + i % 3), 17] {
                    let case = format!("{path:?} {form:?} {text_bytes} bytes, {behind} behind");
                    let sealed = worked(path, Op::Seal, form, &key, &text, &[], behind);
                    assert!(sealed.texts == right.texts && sealed.tags == right.tags, "{case}");
                    assert!(sealed.statuses.iter().all(|status| *status == Status::Ok), "{case}");
                    let count = sealed.statuses.len();
                    let mut tags = sealed.tags[..16].repeat(count);
                    tags[16] ^= 1;
                    let zeros = vec![0; text_bytes];
                    let ciphertext = &sealed.texts[..text_bytes];
                    let opened = worked(path, Op::Open, form, &key, ciphertext, &tags, behind);
                    for (message, one) in opened.texts.chunks(text_bytes).enumerate() {
                        let (status, expected) = match message {
                            1 => (Status::AuthFailed, &zeros[..]),
                            _ => (Status::Ok, &text[..]),
                        };
                        assert_eq!(opened.statuses[message], status, "{case}, {message}");
                        assert!(one == expected, "{case}, {message}");
                    }
                }
            }
        }
    }
}
