//! Tags to compare, in every form of a column: of the right length they are compared, of another one
//! no device sees them.

use crate::compare::grouped;
use crate::message::Ring;
use crate::random::Random;
use crate::recipe::random_key;
use crate::subject::Subject;
use sealift_core::{
    Batch, BatchError, Column, Layout, Op, Ops, Output, Place, Status, TagLength, Tags, Work,
};

/// As many as kernels that have several in flight begin with, and more.
const MESSAGES: usize = 9;
const TEXT: usize = 20;

/// Seals, opens and verifies in one batch, with tags of 0 to 17 bytes.
pub(crate) fn tag_lengths(subject: &Subject) -> Result<String, String> {
    let mut random = Random::new(subject.seed, 5);
    let ring = Ring::new(vec![random_key(&mut random)]);
    let (mut refused, mut worked) = (0, 0);
    for tag_length in subject.tag_lengths() {
        for bytes in 0..=17 {
            for (form, column) in columns(bytes) {
                for ops in mixes() {
                    let attempt = attempt(subject, &ring, &ops, tag_length, column.clone());
                    let wrong = bytes != tag_length.bytes();
                    if wrong != attempt? {
                        let expected = tag_length.bytes();
                        return Err(format!(
                            "{ops:?} with tags of {bytes} B as {form}: {expected} B are right"
                        ));
                    }
                    (refused, worked) =
                        (refused + usize::from(wrong), worked + usize::from(!wrong));
                }
            }
        }
    }
    ring.retire_all(&*subject.device);
    Ok(format!("{} batches refused, {} worked", grouped(refused), grouped(worked)))
}

/// Works a batch whose tags are wrong in value. Returns whether it was refused for their length.
fn attempt(
    subject: &Subject,
    ring: &Ring,
    ops: &[Op],
    tag_length: TagLength,
    tags: Column<'_>,
) -> Result<bool, String> {
    let (nonces, texts) = ([1; 12 * MESSAGES], [2; TEXT * MESSAGES]);
    let batch = Batch {
        ops: Ops::Each(ops.into()),
        tags: Tags::Apart(tags),
        tag_length,
        ..Batch::seal(
            MESSAGES,
            ring.session(0),
            Column::fixed(&nonces, 12),
            Column::fixed(&texts, TEXT),
        )
    };
    let (mut out, mut made) = ([5; TEXT * MESSAGES], vec![5; tag_length.bytes() * MESSAGES]);
    let mut status = [Status::NotProcessed; MESSAGES];
    let tags = Place::fixed(&mut made, tag_length.bytes());
    let output = Output { text: Place::fixed(&mut out, TEXT), tags, status: &mut status };
    let mut work = match Work::new(&batch, output, ring) {
        Err(BatchError::TagLength { .. }) => return Ok(true),
        Err(error) => return Err(format!("refused for another reason: {error}")),
        Ok(work) => work,
    };
    subject.device.run(&mut work).map_err(|error| error.to_string())?;
    for (i, op) in ops.iter().enumerate() {
        let (expected, left) = match op {
            Op::Seal => (Status::Ok, None),
            Op::Open => (Status::AuthFailed, Some(0)),
            Op::Verify => (Status::AuthFailed, Some(5)),
        };
        let text = &out[TEXT * i..][..TEXT];
        if status[i] != expected || left.is_some_and(|left| text != [left; TEXT]) {
            return Err(format!("{op:?} with a wrong tag: {:?}, wrote {text:?}", status[i]));
        }
    }
    Ok(false)
}

/// Every form of a column whose messages have so many bytes.
fn columns(bytes: usize) -> Vec<(&'static str, Column<'static>)> {
    let stride = bytes + 3;
    let buffer = || vec![7; stride * MESSAGES];
    let ends = 0..=MESSAGES;
    let narrow: Vec<_> = ends.clone().map(|i| u32::try_from(i * bytes).unwrap_or(0)).collect();
    let wide: Vec<_> = ends.map(|i| (i * bytes) as u64).collect();
    let layout = Layout::Fixed { stride, len: bytes };
    vec![
        ("the same for all", Column::Same(vec![7; bytes].into())),
        ("a fixed length", Column::fixed(vec![7; bytes * MESSAGES], bytes)),
        ("a stride", Column::Packed { buffer: buffer().into(), layout }),
        ("narrow offsets", Column::offsets(buffer(), narrow)),
        ("wide offsets", Column::offsets64(buffer(), wide)),
        ("a buffer each", Column::Scattered(vec![vec![7; bytes].into(); MESSAGES].into())),
    ]
}

/// Every three operations of which one compares a tag, over and over.
fn mixes() -> Vec<[Op; MESSAGES]> {
    let ops = [Op::Seal, Op::Open, Op::Verify];
    let threes = (0..27).map(|n| [ops[n % 3], ops[n / 3 % 3], ops[n / 9]]);
    let mixes = threes.map(|three| std::array::from_fn(|i| three[i % 3]));
    mixes.filter(|mix| *mix != [Op::Seal; MESSAGES]).collect()
}
