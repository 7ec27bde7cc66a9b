//! Models: loom tries every order in which threads can do what they do here, up to [`PREEMPTIONS`] (`make models`). The code is
//! the table's own, over loom's locks.

use super::*;
use crate::testing::{KeyRing, key, session};
use loom::cell::UnsafeCell;
use loom::thread::{self, JoinHandle};
use sealift_core::{Batch, Column, Keys, Op, Ops, Output, Place, Status};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stands for an expanded key. loom sees when it is used and when it is dropped, and fails where these meet.
struct Record {
    key: Vec<u8>,
    memory: UnsafeCell<()>,
    alive: Arc<AtomicUsize>,
}

impl Record {
    fn is_used_for(&self, slot: u32) {
        self.memory.with(|_| {
            assert_eq!(self.key, key(slot).as_bytes());
            thread::yield_now();
        });
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.memory.with_mut(|_| ());
        self.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Clone, Default)]
struct Records(Arc<AtomicUsize>);

impl Expander for Records {
    type Expanded = Record;

    fn device(&self) -> &str {
        "model"
    }

    fn expand(&self, key: &Key) -> Result<Record, DeviceError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let alive = Arc::clone(&self.0);
        Ok(Record { key: key.as_bytes().to_vec(), memory: UnsafeCell::new(()), alive })
    }

    fn serves(&self, _: &Record) -> bool {
        true
    }
}

type Table = loom::sync::Arc<KeyTable<Record>>;

/// Works a message under each of these sessions.
fn run(table: &Table, records: &Records, slots: &[u32]) {
    let sessions: Vec<_> = slots.iter().map(|&slot| session(slot)).collect();
    let (nonces, keys) = (vec![0; 12 * slots.len()], KeyRing::of(4));
    let batch = Batch {
        ops: Ops::All(Op::Verify),
        tags: Column::Same((&[0; 16]).into()).into(),
        ..Batch::seal(
            slots.len(),
            Keys::from(&sessions[..]),
            Column::fixed(&nonces, 12),
            Column::Empty,
        )
    };
    let mut status = vec![Status::NotProcessed; slots.len()];
    let output = Output { text: Place::Empty, tags: Place::Empty, status: &mut status };
    let mut work = Work::new(&batch, output, &keys).unwrap();
    let step = |_: &mut Work<'_>, range: Range<usize>, lent: Lent<'_, Record>| {
        match lent {
            Lent::One(one) => range.for_each(|message| one.is_used_for(slots[message])),
            Lent::Each(each) => {
                range.zip(each).for_each(|(message, each)| each.is_used_for(slots[message]));
            }
        }
        Ok(())
    };
    table.run_each(&sessions, &mut work, records, step).unwrap();
}

fn spawn(table: &Table, act: impl FnOnce(&Table) + 'static) -> JoinHandle<()> {
    let table = Table::clone(table);
    thread::spawn(move || act(&table))
}

/// Each batch gets its own keys, and no key is wiped while a batch has it: sessions 0 and 2 share a place and evict each
/// other, and 3 is retired from the place of 1.
#[test]
fn a_key_that_is_lent_is_not_wiped_by_those_who_evict_and_retire() {
    let orders = Arc::new(AtomicUsize::new(0));
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check({
        let orders = Arc::clone(&orders);
        move || {
            orders.fetch_add(1, Ordering::SeqCst);
            let records = Records::default();
            let table = Table::new(KeyTable::with_capacity(2));
            run(&table, &records, &[0, 3]);
            let of = |slots: &'static [u32]| {
                let records = records.clone();
                spawn(&table, move |table| run(table, &records, slots))
            };
            let batches = [of(&[0, 1]), of(&[2])];
            table.retire(session(3));
            for batch in batches {
                batch.join().unwrap();
            }
            // Nobody brings back what was retired.
            assert!(table.read().iter().flatten().all(|(kept, _)| *kept != session(3)));
            drop(table);
            assert_eq!(records.0.load(Ordering::SeqCst), 0, "a key was not wiped");
        }
    });
    let orders = orders.load(Ordering::SeqCst);
    eprintln!("keys: {orders} orders");
    assert!(orders > 20, "{orders} orders are no model of threads");
}

const PREEMPTIONS: usize = 3;
