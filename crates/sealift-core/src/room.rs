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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, SessionId, Status};

    #[test]
    fn each_message_needs_the_room_of_what_is_done_to_it_whatever_the_others_are() {
        let session = SessionId { slot: 0, generation: 1 };
        let (messages, all) = (40, [Op::Seal, Op::Open, Op::Verify]);
        let lengths: Vec<usize> = (0..messages).map(|message| message * 7 % 53).collect();
        let (nonces, tags) = (vec![0; messages * 12], vec![0; messages * 16]);
        let texts =
            || Column::Scattered(lengths.iter().map(|bytes| vec![0; *bytes].into()).collect());
        let given = |batch: &Batch<'_>, rooms: &[usize]| {
            let slots = rooms.iter().map(|room| &mut *vec![0; *room].leak()).collect();
            let made = Place::fixed(vec![0; messages * 16].leak(), 16);
            let mut status = vec![Status::Ok; messages];
            let output = Output { text: Place::Scattered(slots), tags: made, status: &mut status };
            check(batch, &output).err()
        };
        for (first, is_apart) in (0..3).flat_map(|first| [(first, false), (first, true)]) {
            let ops: Vec<_> = (0..messages).map(|message| all[(message + first) % 3]).collect();
            let apart = Tags::Apart(Column::fixed(&tags, 16));
            let batch = Batch {
                ops: Ops::Each(ops.as_slice().into()),
                tags: if is_apart { apart } else { Tags::Appended },
                ..Batch::seal(messages, session, Column::fixed(&nonces, 12), texts())
            };
            let behind = if is_apart { 0 } else { 16 };
            let needed = |(op, bytes): (&Op, &usize)| match op {
                Op::Seal => bytes + behind,
                Op::Open => bytes.saturating_sub(behind),
                Op::Verify => 0,
            };
            let rooms: Vec<_> = ops.iter().zip(&lengths).map(needed).collect();
            assert_eq!(given(&batch, &rooms), None);
            for message in (0..messages).filter(|message| rooms[*message] > 0) {
                let (mut rooms, needed) = (rooms.clone(), rooms[message]);
                rooms[message] -= 1;
                let refused =
                    BatchError::NoRoom { column: "out", message, room: needed - 1, needed };
                assert_eq!(given(&batch, &rooms), Some(refused));
            }
        }
    }
}
