//! Whether the results of a batch have room.

use crate::batch::by_chunks;
use crate::{Batch, BatchError, Op, Ops, Output, Place, Shape, Tags, Text};

/// Checks that the columns fit each other, the standard and the output.
///
/// # Errors
/// The first thing that doesn't fit, with its numbers.
pub(crate) fn check(batch: &Batch<'_>, output: &Output<'_>) -> Result<Shape, BatchError> {
    let found = output.status.len();
    if found != batch.len {
        return Err(BatchError::Count { column: "status", found, expected: batch.len });
    }
    let in_place = matches!(batch.text, Text::InPlace);
    if in_place && matches!(output.text, Place::Empty) && batch.len > 0 {
        return Err(BatchError::NoPlace);
    }
    let room = output.text.check("out", batch.len)?;
    let tag_room = output.tags.check("tag", batch.len)?;
    let shape = batch.check(|message| output.text.room(message), room)?;
    if !surely_has_room(batch, output, room, tag_room) {
        check_rooms(batch, output)?;
    }
    Ok(shape)
}

/// Checks message by message that each has room for its result.
#[inline(never)]
fn check_rooms(batch: &Batch<'_>, output: &Output<'_>) -> Result<(), BatchError> {
    let tags_apart = matches!(batch.tags, Tags::Apart(_));
    for message in 0..batch.len {
        let room = output.text.room(message);
        let geometry = batch.geometry(message, room);
        if room < geometry.output {
            let needed = geometry.output;
            return Err(BatchError::NoRoom { column: "out", message, room, needed });
        }
        let (room, needed) = (output.tags.room(message), batch.tag_length.bytes());
        if tags_apart && geometry.op == Op::Seal && room < needed {
            return Err(BatchError::NoRoom { column: "tag", message, room, needed });
        }
    }
    Ok(())
}

/// Whether all results have room, as far as that can be told in a loop without branches; `room` and `tag_room` are what all
/// have, where that is the same.
#[inline(always)]
fn surely_has_room(
    batch: &Batch<'_>,
    output: &Output<'_>,
    room: Option<usize>,
    tag_room: Option<usize>,
) -> bool {
    let has_tags = matches!(batch.ops, Ops::All(Op::Open | Op::Verify))
        || matches!(batch.tags, Tags::Appended)
        || tag_room.is_some_and(|room| room >= batch.tag_length.bytes());
    // In place what is there is the text with its tag.
    let (true, Text::Apart(column)) = (has_tags, &batch.text) else { return has_tags };
    let appended = batch.appended_bytes();
    // What comes to a seal, an open and a verify, and what goes: which of them a message is can't be foretold.
    let (comes, goes) = ([appended, 0, 0], [0, appended, usize::MAX]);
    let needed = |op: Op, input: usize| {
        input.saturating_add(comes[op as usize]).saturating_sub(goes[op as usize])
    };
    if let (Some(input), Some(room)) = (column.uniform_len(), room) {
        let op = match batch.ops {
            Ops::All(op) => op,
            // Nothing needs more.
            Ops::Each(_) => Op::Seal,
        };
        return needed(op, input) <= room;
    }
    let (mut fits, mut first) = (true, 0);
    by_chunks(batch.len, column, &output.text, |inputs, rooms| {
        let mut do_fit = true;
        for (message, (input, room)) in (first..).zip(inputs.iter().zip(rooms)) {
            do_fit &= needed(batch.ops.get(message), *input) <= *room;
        }
        fits &= do_fit;
        first += inputs.len();
    });
    fits
}
