//! Time a row of sealing and of opening a column, by number of keys and of threads.
//!
//! Usage: cargo bench -p sealift-columns --bench rows [-- ROWS]

#![allow(clippy::cast_possible_truncation, reason = "offsets of 32 bits")]

use sealift::{Engine, Key};
use sealift_columns::{
    ColumnOptions, IdKind, Ids, Integers, KeyId, Keyring, Offsets, OnError, Output, Rows, Segment,
    Values, open, seal,
};
use std::num::NonZeroUsize;
use std::time::Instant;

fn main() {
    let rows = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(1_000_000);
    let engine = Engine::detect().expect("a device");
    let (bytes, offsets) = texts(rows);
    println!("{rows} rows of 100 to 140 bytes; ns a row, the best of five");
    println!("{:>8} {:>8} {:>8} {:>8}", "keys", "threads", "seal", "open");
    for keys in [1, 100, 1_000, 5_000, 20_000] {
        let keyring = Keyring::new();
        for id in 0..keys {
            let key: Vec<u8> = (0..32).map(|at| (id >> (at % 8)) as u8 ^ at).collect();
            keyring
                .rotate(&KeyId::Integer(id), &Key::new(&key).expect("32 bytes"))
                .expect("a new id");
        }
        let ids: Vec<u64> = (0..rows as u64).map(|row| mix(row) % keys).collect();
        let values = Values { len: rows, rows: Rows::Offsets32(&bytes, &offsets), validity: None };
        let ids = Ids { kind: IdKind::Integers(Integers::U64(&ids)), validity: None };
        let plain = vec![vec![Segment { values, ids: Some(ids), aad: vec![], apart: None }]];
        for threads in [1, 2] {
            let options =
                ColumnOptions { threads: NonZeroUsize::new(threads), ..ColumnOptions::default() };
            let [mut seal_ns, mut open_ns] = [f64::INFINITY; 2];
            for _ in 0..5 {
                let (sealed, ns) =
                    timed(rows, || seal(&engine, &keyring, &plain, &options, &mut || false));
                seal_ns = ns.min(seal_ns);
                let sealed = sealed.expect("rows are sealed").remove(0);
                let offsets = offsets_of(&sealed);
                let values = Values {
                    len: rows,
                    rows: Rows::Offsets32(&sealed.bytes, &offsets),
                    validity: None,
                };
                let sealed = vec![vec![Segment { values, ids: None, aad: vec![], apart: None }]];
                let (opened, ns) = timed(rows, || {
                    open(&engine, &keyring, &sealed, OnError::Raise, &options, &mut || false)
                });
                open_ns = ns.min(open_ns);
                assert!(opened.expect("rows open").outputs[0].bytes == bytes);
            }
            println!("{keys:>8} {threads:>8} {seal_ns:>8.1} {open_ns:>8.1}");
        }
    }
}

fn timed<T>(rows: usize, work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let done = work();
    (done, start.elapsed().as_nanos() as f64 / rows as f64)
}

fn offsets_of(output: &Output) -> Vec<u32> {
    match &output.offsets {
        Offsets::I32(offsets) => offsets.iter().map(|offset| offset.cast_unsigned()).collect(),
        Offsets::I64(_) => panic!("more than 2 GiB: take fewer rows"),
    }
}

fn texts(rows: usize) -> (Vec<u8>, Vec<u32>) {
    let lens = (0..rows as u64).map(|row| 100 + (mix(row + (1 << 40)) % 41) as u32);
    let offsets: Vec<u32> = std::iter::once(0)
        .chain(lens.scan(0, |end, len| {
            *end += len;
            Some(*end)
        }))
        .collect();
    let bytes = (0..offsets[rows]).map(|at| at as u8).collect();
    (bytes, offsets)
}

/// Numbers without a pattern (splitmix64).
fn mix(number: u64) -> u64 {
    let a = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let b = (a ^ a >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let c = (b ^ b >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    c ^ c >> 31
}
