use super::*;
use crate::testing::{KeyRing, key, session};
use sealift_core::{Batch, Column, Keys, Output, Place, Status};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts how often keys are expanded and how many expanded ones are alive.
#[derive(Default)]
struct Counting {
    expanded: AtomicUsize,
    alive: AtomicUsize,
    variant: u8,
}

/// Stands for an expanded key: the key's bytes, and a count that its drop lowers.
struct Counted<'a> {
    key: Vec<u8>,
    variant: u8,
    alive: &'a AtomicUsize,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<'a> Expander for &'a Counting {
    type Expanded = Counted<'a>;

    fn device(&self) -> &str {
        "test"
    }

    fn expand(&self, key: &Key) -> Result<Counted<'a>, DeviceError> {
        self.expanded.fetch_add(1, Ordering::Relaxed);
        self.alive.fetch_add(1, Ordering::Relaxed);
        Ok(Counted { key: key.as_bytes().to_vec(), variant: self.variant, alive: &self.alive })
    }

    fn serves(&self, expanded: &Counted<'a>) -> bool {
        expanded.variant == self.variant
    }
}

impl Counting {
    fn expanded(&self) -> usize {
        self.expanded.load(Ordering::Relaxed)
    }

    fn alive(&self) -> usize {
        self.alive.load(Ordering::Relaxed)
    }
}

/// Works a batch of texts of `text_bytes` under these sessions and checks that each message got the
/// key of its session; returns the lengths of the windows.
fn run<'c>(
    table: &KeyTable<Counted<'c>>,
    counting: &'c Counting,
    slots: &[u32],
    text_bytes: usize,
) -> Vec<usize> {
    run_with_aad(table, counting, slots, text_bytes, 0)
}

/// The same with aad.
fn run_with_aad<'c>(
    table: &KeyTable<Counted<'c>>,
    counting: &'c Counting,
    slots: &[u32],
    text_bytes: usize,
    aad_bytes: usize,
) -> Vec<usize> {
    let sessions: Vec<_> = slots.iter().map(|&slot| session(slot)).collect();
    let keys = KeyRing::of(slots.iter().max().map_or(0, |max| max + 1));
    let (text, aad) = (vec![0; text_bytes], vec![0; aad_bytes]);
    let nonces = vec![0; 12 * slots.len()];
    let batch = Batch {
        ops: sealift_core::Ops::All(sealift_core::Op::Verify),
        tags: Column::Same((&[0; 16]).into()).into(),
        aad: Column::Same((&aad).into()),
        ..Batch::seal(
            slots.len(),
            Keys::from(&sessions[..]),
            Column::fixed(&nonces, 12),
            Column::Same((&text).into()),
        )
    };
    let mut status = vec![Status::NotProcessed; slots.len()];
    let output = Output { text: Place::Empty, tags: Place::Empty, status: &mut status };
    let mut work = Work::new(&batch, output, &keys).unwrap();
    let mut windows = vec![];
    let step = |_: &mut Work<'_>, range: Range<usize>, lent: Lent<'_, Counted<'c>>| {
        for (at, message) in range.clone().enumerate() {
            let lent = match lent {
                Lent::One(one) => one,
                Lent::Each(each) => each[at],
            };
            assert_eq!(lent.key, key(slots[message]).as_bytes(), "message {message}");
            assert_eq!(lent.variant, counting.variant);
        }
        windows.push(range.len());
        Ok(())
    };
    table.run_each(&sessions, &mut work, &counting, step).unwrap();
    assert_eq!(windows.iter().sum::<usize>(), slots.len());
    windows
}

#[test]
fn a_key_is_expanded_once_and_found_again() {
    let counting = Counting::default();
    let table = KeyTable::with_capacity(64);
    let slots: Vec<u32> = (0..3_000).map(|message| message % 50).collect();
    assert_eq!(run(&table, &counting, &slots, 128), [1_024, 1_024, 952]);
    assert_eq!(run(&table, &counting, &[7], 128), [1]);
    assert_eq!(run(&table, &counting, &[49, 3], 128), [2]);
    assert_eq!(counting.expanded(), 50);
}

#[test]
fn sessions_that_share_a_place_evict_each_other_and_are_worked_right() {
    let counting = Counting::default();
    let table = KeyTable::with_capacity(8);
    run(&table, &counting, &[1, 9, 1, 9, 2], 128);
    assert_eq!((counting.expanded(), counting.alive()), (3, 2));
    let stays: Vec<u32> = vec![2, 2, 2];
    run(&table, &counting, &stays, 128);
    assert_eq!(counting.expanded(), 3);
}

#[test]
fn a_batch_may_have_more_sessions_than_the_table() {
    let counting = Counting::default();
    let table = KeyTable::with_capacity(4);
    let slots: Vec<u32> = (0..2_500).collect();
    run(&table, &counting, &slots, 16);
    assert_eq!((counting.expanded(), counting.alive()), (2_500, 4));
    drop(table);
    assert_eq!(counting.alive(), 0);
}

#[test]
fn a_retired_key_is_dropped_and_a_later_session_in_its_slot_is_another() {
    let counting = Counting::default();
    let table = KeyTable::with_capacity(8);
    run(&table, &counting, &[3, 4], 128);
    table.retire(SessionId { slot: 3, generation: 999 });
    table.retire(SessionId { slot: u32::MAX, generation: 1 });
    assert_eq!(counting.alive(), 2);
    table.retire(session(3));
    table.retire(session(3));
    assert_eq!(counting.alive(), 1);
    run(&table, &counting, &[3], 128);
    assert_eq!(counting.expanded(), 3);
}

#[test]
fn a_kept_key_that_does_not_serve_is_expanded_anew() {
    let (full, short) = (Counting::default(), Counting { variant: 1, ..Counting::default() });
    let table = KeyTable::with_capacity(8);
    run(&table, &full, &[1, 2], 128);
    run(&table, &short, &[1, 2], 128);
    assert_eq!((full.alive(), short.expanded(), short.alive()), (0, 2, 2));
}

#[test]
fn long_messages_keep_nobody_waiting() {
    let counting = Counting::default();
    let table = KeyTable::with_capacity(8);
    let half = usize::try_from(HELD_BYTES_MAX / 2).unwrap();
    assert_eq!(run(&table, &counting, &[1, 2, 1, 2, 1], half), [2, 2, 1]);
    assert_eq!(counting.alive(), 2);
    assert_eq!(run(&table, &counting, &[1, 1, 2, 1], 2 * half + 1), [2, 1, 1]);
    assert_eq!((counting.expanded(), counting.alive()), (5, 2));
    assert_eq!(run(&table, &counting, &[3], 2 * half + 1), [1]);
    assert_eq!(counting.alive(), 2);
}

#[test]
fn long_aad_keeps_nobody_waiting() {
    let counting = Counting::default();
    let table = KeyTable::with_capacity(8);
    let half = usize::try_from(HELD_BYTES_MAX / 2).unwrap();
    assert_eq!(run_with_aad(&table, &counting, &[1, 2, 1, 2, 1], 0, half), [2, 2, 1]);
    assert_eq!(run_with_aad(&table, &counting, &[1, 2, 1, 2, 1], half / 2, half / 2), [2, 2, 1]);
    assert_eq!(run_with_aad(&table, &counting, &[1, 1, 2, 1], half + 1, half), [2, 1, 1]);
    assert_eq!((counting.expanded(), counting.alive()), (5, 2));
}

/// Whether somebody else could bring a key while a batch of one session is worked, whose key is kept.
fn others_may_bring_keys(messages: usize, text_bytes: usize, aad_bytes: usize) -> bool {
    let (counting, table) = (Counting::default(), KeyTable::with_capacity(8));
    assert_eq!(run(&table, &counting, &[0], 16), [1]);
    let (text, aad) = (vec![0; text_bytes], vec![0; aad_bytes]);
    let batch = Batch {
        ops: sealift_core::Ops::All(sealift_core::Op::Verify),
        tags: Column::Same((&[0; 16]).into()).into(),
        aad: Column::Same((&aad).into()),
        ..Batch::seal(
            messages,
            session(0),
            Column::Same((&[0; 12]).into()),
            Column::Same((&text).into()),
        )
    };
    let (keys, mut status) = (KeyRing::of(1), vec![Status::NotProcessed; messages]);
    let output = Output { text: Place::Empty, tags: Place::Empty, status: &mut status };
    let mut work = Work::new(&batch, output, &keys).unwrap();
    let mut free = vec![];
    let step = |_: &mut Work<'_>, _: Range<usize>, _: Lent<'_, Counted<'_>>| {
        free.push(table.entries.try_write().is_ok());
        Ok(())
    };
    table.run_one(session(0), &mut work, &&counting, step).unwrap();
    assert_eq!(free.len(), 1);
    free[0]
}

#[test]
fn a_long_batch_of_one_session_does_not_hold_the_table() {
    let half = usize::try_from(HELD_BYTES_MAX / 2).unwrap();
    assert!(!others_may_bring_keys(2, half, 0));
    assert!(!others_may_bring_keys(2, 0, half));
    assert!(!others_may_bring_keys(WINDOW, 0, 0));
    assert!(others_may_bring_keys(3, half, 0));
    assert!(others_may_bring_keys(3, 0, half));
    assert!(others_may_bring_keys(1, half, half + 1));
    assert!(others_may_bring_keys(WINDOW + 1, 0, 0));
}

#[test]
fn a_key_that_is_gone_fails_the_batch() {
    let (nonce, keys, mut status) = ([0; 12], KeyRing::of(1), [Status::Ok]);
    let batch = Batch::seal(1, session(7), Column::fixed(&nonce, 12), Column::Empty);
    let tags = &mut [0; 16];
    let output = Output { text: Place::Empty, tags: Place::fixed(tags, 16), status: &mut status };
    let mut work = Work::new(&batch, output, &keys).unwrap();
    let (counting, table) = (Counting::default(), KeyTable::with_capacity(8));
    let step = |_: &mut Work<'_>, _: Range<usize>, _: Lent<'_, Counted<'_>>| {
        panic!("there is nothing to work with")
    };
    let error = table.run_one(session(7), &mut work, &&counting, step).unwrap_err();
    assert_eq!(error.to_string(), "test was given session 7.8, whose key is gone");
}

#[test]
fn many_threads_share_a_small_table_and_each_gets_its_keys() {
    let counting = Counting::default();
    let table = KeyTable::with_capacity(16);
    std::thread::scope(|scope| {
        for thread in 0..8_u32 {
            let (table, counting) = (&table, &counting);
            scope.spawn(move || {
                for round in 0..200_u32 {
                    let slots: Vec<u32> =
                        (0..40).map(|message| (message * 7 + round * thread) % 61).collect();
                    run(table, counting, &slots, 64);
                    table.retire(session(1_000 + thread));
                }
            });
        }
    });
    assert!(counting.alive() <= 16);
    drop(table);
    assert_eq!(counting.alive(), 0);
}
