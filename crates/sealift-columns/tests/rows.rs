//! Columns from outside: what was sealed opens, and nothing else does.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]
#![allow(clippy::cast_possible_truncation, reason = "columns of tests are small")]

use proptest::collection::vec;
use proptest::prelude::*;
use sealift::{Algorithm, Engine, Key};
use sealift_columns::{
    Apart, ColumnError, ColumnOptions, IdKind, Ids, Integers, KeyId, Keyring, Layout, Offsets,
    OnError, Output, Reseal, Rows, Segment, Validity, Values, open, reseal, seal,
};
use std::sync::LazyLock;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::with(&["cpu", "library"]).unwrap());

fn key(byte: u8, bytes: usize) -> Key {
    Key::new(&vec![byte; bytes]).unwrap()
}

/// Ids 0 to 4 in several versions; 3 and 4 share a key.
fn integers() -> Keyring {
    let keyring = Keyring::new();
    for (id, byte, bytes) in
        [(0, 1, 16), (1, 2, 32), (1, 3, 32), (2, 4, 24), (3, 9, 32), (4, 9, 32)]
    {
        keyring.rotate(&KeyId::Integer(id), &key(byte, bytes)).unwrap();
    }
    keyring
}

fn names() -> Keyring {
    let keyring = Keyring::new();
    for (byte, name) in [(1, ""), (2, "a"), (3, "another name")] {
        keyring.rotate(&KeyId::Bytes(name.as_bytes().into()), &key(byte, 32)).unwrap();
    }
    keyring
}

/// Rows as one buffer with offsets.
struct Packed {
    bytes: Vec<u8>,
    offsets: Vec<u32>,
}

impl Packed {
    fn new(rows: &[Vec<u8>]) -> Self {
        let mut offsets = vec![0];
        offsets.extend(rows.iter().scan(0, |end, row| {
            *end += row.len() as u32;
            Some(*end)
        }));
        Self { bytes: rows.concat(), offsets }
    }

    fn values(&self) -> Values<'_> {
        let rows = Rows::Offsets32(&self.bytes, &self.offsets);
        Values { len: self.offsets.len() - 1, rows, validity: None }
    }
}

fn rows_of(output: &Output) -> Vec<Vec<u8>> {
    let Offsets::I32(offsets) = &output.offsets else { panic!("wide offsets of a small column") };
    offsets
        .windows(2)
        .map(|pair| output.bytes[pair[0] as usize..pair[1] as usize].to_vec())
        .collect()
}

fn seal_rows(keyring: &Keyring, rows: &[Vec<u8>], ids: Ids<'_>, aad: &[&Packed]) -> Vec<Vec<u8>> {
    let packed = Packed::new(rows);
    let aad = aad.iter().map(|part| part.values()).collect();
    let segment = Segment { values: packed.values(), ids: Some(ids), aad, apart: None };
    let options = ColumnOptions::default();
    let sealed = seal(&ENGINE, keyring, &[vec![segment]], &options, &mut || false).unwrap();
    rows_of(&sealed[0])
}

/// Each row opened, or none where it did not open.
fn open_rows(keyring: &Keyring, rows: &[Vec<u8>], aad: &[&Packed]) -> Vec<Option<Vec<u8>>> {
    let packed = Packed::new(rows);
    let aad = aad.iter().map(|part| part.values()).collect();
    let segment = Segment { values: packed.values(), ids: None, aad, apart: None };
    let options = ColumnOptions::default();
    let opened =
        open(&ENGINE, keyring, &[vec![segment]], OnError::List, &options, &mut || false).unwrap();
    let rows = rows_of(&opened.outputs[0]).into_iter().zip(0..);
    rows.map(|(row, at)| {
        let is_open = !opened.failed.contains(&at);
        assert!(is_open || row.iter().all(|byte| *byte == 0), "row {at} failed and is not zeros");
        is_open.then_some(row)
    })
    .collect()
}

fn ids_of(ids: &[u64]) -> Ids<'_> {
    Ids { kind: IdKind::Integers(Integers::U64(ids)), validity: None }
}

/// As many cases as `CASES` says.
fn cases() -> ProptestConfig {
    let cases = std::env::var("CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases.unwrap_or(24)) }
}

fn texts() -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(vec(any::<u8>(), 0..150), 1..40)
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn rows_open_to_what_was_sealed_under_ids_and_associated_data_of_any_kind(
        texts in texts(), pick in vec(0u64..5, 40), parts in vec(vec(vec(any::<u8>(), 0..40), 40), 0..3),
    ) {
        let ids = &pick[..texts.len()];
        let parts: Vec<_> = parts.iter().map(|part| Packed::new(&part[..texts.len()])).collect();
        let aad: Vec<_> = parts.iter().collect();
        let expected: Vec<_> = texts.iter().cloned().map(Some).collect();
        let keyring = integers();
        let sealed = seal_rows(&keyring, &texts, ids_of(ids), &aad);
        prop_assert_eq!(&open_rows(&keyring, &sealed, &aad), &expected);

        let keyring = names();
        let id_bytes: Vec<_> = ids.iter().map(|id| ["", "a", "another name"][*id as usize % 3].into()).collect();
        let packed = Packed::new(&id_bytes);
        let strings = Ids { kind: IdKind::Strings(packed.values()), validity: None };
        let sealed = seal_rows(&keyring, &texts, strings, &aad);
        prop_assert_eq!(&open_rows(&keyring, &sealed, &aad), &expected);
    }

    #[test]
    fn no_row_opens_that_was_changed_cut_or_lengthened(
        text in vec(any::<u8>(), 0..40), id in 0u64..5, by_name in any::<bool>(), more in vec(any::<u8>(), 1..20),
    ) {
        let (keyring, ids) = match by_name {
            true => (names(), Ids::same(KeyId::Bytes((&b"another name"[..]).into()))),
            false => (integers(), Ids::same(KeyId::Integer(id))),
        };
        let row = seal_rows(&keyring, &[text], ids, &[]).remove(0);
        let flipped = (0..8 * row.len()).map(|bit| {
            let mut row = row.clone();
            row[bit / 8] ^= 1 << (bit % 8);
            row
        });
        let cut = (0..row.len()).flat_map(|len| [row[..len].to_vec(), row[len + 1..].to_vec()]);
        let longer = [[&row[..], &more].concat(), [&more[..], &row].concat()];
        let forged: Vec<_> = flipped.chain(cut).chain(longer).collect();
        for (at, opened) in open_rows(&keyring, &forged, &[]).iter().enumerate() {
            prop_assert!(opened.is_none(), "forgery {at} of {row:?} opens");
        }
    }

    #[test]
    fn nothing_opens_that_is_made_of_parts_of_two_rows(
        texts in vec(vec(any::<u8>(), 20..21), 2..3), cut in 5usize..56,
    ) {
        // Ids 3 and 4 have the same key. Four bytes are the same in both headers.
        let keyring = integers();
        let rows = seal_rows(&keyring, &texts, ids_of(&[3, 4]), &[]);
        let forged = [[&rows[0][..cut], &rows[1][cut..]].concat(), [&rows[1][..cut], &rows[0][cut..]].concat()];
        // The last bytes of two tags may be the same.
        let forged: Vec<_> = forged.into_iter().filter(|row| !rows.contains(row)).collect();
        prop_assert!(open_rows(&keyring, &forged, &[]).iter().all(Option::is_none));
    }

    #[test]
    fn a_row_is_bound_to_its_associated_data_and_to_how_they_are_parted(
        text in vec(any::<u8>(), 0..40), parts in vec(vec(any::<u8>(), 1..9), 2..3),
    ) {
        let keyring = integers();
        let [first, second] = [0, 1].map(|at| Packed::new(&parts[at..=at]));
        let both = Packed::new(&[parts.concat()]);
        let sealed = seal_rows(&keyring, &[text], ids_of(&[1]), &[&first, &second]);
        for wrong in [vec![&second, &first], vec![&first], vec![&both], vec![]] {
            let is_same = wrong.len() == 2 && parts[0] == parts[1];
            prop_assert_eq!(open_rows(&keyring, &sealed, &wrong)[0].is_some(), is_same);
        }
    }

    #[test]
    fn arbitrary_bytes_open_to_nothing_and_never_panic(rows in vec(vec(any::<u8>(), 0..80), 1..40), fix in any::<bool>()) {
        let mut rows = rows;
        if fix {
            rows.iter_mut().filter(|row| row.len() > 8).for_each(|row| row[..4].copy_from_slice(&[0x11, 4, 0, 0]));
        }
        prop_assert!(open_rows(&integers(), &rows, &[]).iter().all(Option::is_none));
        prop_assert!(open_rows(&names(), &rows, &[]).iter().all(Option::is_none));
    }
}

#[test]
fn keys_of_every_algorithm_seal_in_one_column() {
    let keyring = Keyring::new();
    for (id, algorithm) in (0..).zip(Algorithm::ALL) {
        let key = Key::with_algorithm(algorithm, &[7; 32]).unwrap();
        keyring.rotate(&KeyId::Integer(id), &key).unwrap();
    }
    let texts: Vec<_> = (0..3_000).map(|row| vec![7; row % 200]).collect();
    let ids: Vec<_> = (0..3_000).map(|row| row % 3).collect();
    let sealed = seal_rows(&keyring, &texts, ids_of(&ids), &[]);
    let again = seal_rows(&keyring, &texts, ids_of(&ids), &[]);
    let formats = [0x11, 0x12, 0x13];
    for (row, text) in sealed.iter().enumerate() {
        assert_eq!(row_format(text), formats[row % 3]);
        // AES-GCM-SIV alone is deterministic.
        assert_eq!(text == &again[row], row % 3 == 2, "row {row}");
    }
    assert!(open_rows(&keyring, &sealed, &[]).into_iter().eq(texts.into_iter().map(Some)));
}

fn row_format(row: &[u8]) -> u8 {
    row[0]
}

#[test]
fn rows_of_every_form_are_sealed_where_they_lie() {
    let keyring = integers();
    let rows: Vec<_> = (0..100u8).map(|row| vec![row; 14]).collect();
    let packed = Packed::new(&rows);
    let wide: Vec<u64> = packed.offsets.iter().map(|offset| u64::from(*offset)).collect();
    let views: Vec<[u8; 16]> =
        packed.offsets[..100].iter().map(|offset| view(14, *offset)).collect();
    let buffers = [&packed.bytes[..]];
    let bits = [0b0101_0101; 13];
    let forms = [
        Rows::Offsets32(&packed.bytes, &packed.offsets),
        Rows::Offsets64(&packed.bytes, &wide),
        Rows::Fixed(&packed.bytes, 14),
        Rows::Views(&views, &buffers),
    ];
    for rows_in in forms {
        for validity in [None, Some(Validity { bytes: &bits, offset: 1 })] {
            let values = Values { len: 100, rows: rows_in, validity };
            let segment = Segment {
                values,
                ids: Some(Ids::same(KeyId::Integer(1))),
                aad: vec![],
                apart: None,
            };
            let options = ColumnOptions::default();
            let sealed =
                seal(&ENGINE, &keyring, &[vec![segment]], &options, &mut || false).unwrap();
            let offsets: Vec<u32> = match &sealed[0].offsets {
                Offsets::I32(offsets) => offsets.iter().map(|offset| *offset as u32).collect(),
                Offsets::I64(_) => panic!("wide offsets of a small column"),
            };
            let values = Values { rows: Rows::Offsets32(&sealed[0].bytes, &offsets), ..values };
            let segment = Segment { values, ids: None, aad: vec![], apart: None };
            let opened =
                open(&ENGINE, &keyring, &[vec![segment]], OnError::Raise, &options, &mut || false);
            let opened = rows_of(&opened.unwrap().outputs[0]);
            for (row, opened) in opened.iter().enumerate() {
                let expected = if values.is_valid(row) { &rows[row][..] } else { &[] };
                assert_eq!(opened, expected, "{rows_in:?} row {row}");
            }
        }
    }
}

fn view(len: u32, offset: u32) -> [u8; 16] {
    let fields = [len, 0, 0, offset].map(u32::to_le_bytes);
    let mut view = [0; 16];
    view.iter_mut().zip(fields.concat()).for_each(|(to, from)| *to = from);
    view
}

#[test]
fn an_error_names_row_id_and_version() {
    let (keyring, other) = (integers(), Keyring::new());
    let texts = vec![vec![1; 20]; 3_000];
    let mut ids = vec![1; 3_000];
    ids[2_345] = 77;
    let packed = Packed::new(&texts);
    let segment =
        Segment { values: packed.values(), ids: Some(ids_of(&ids)), aad: vec![], apart: None };
    let options = ColumnOptions::default();
    let error = seal(&ENGINE, &keyring, &[vec![segment]], &options, &mut || false).unwrap_err();
    assert_eq!(error, ColumnError::UnknownId { row: 2_345, id: KeyId::Integer(77) });

    other.rotate(&KeyId::Integer(1), &key(2, 32)).unwrap();
    let sealed = seal_rows(&keyring, &texts[..1], Ids::same(KeyId::Integer(1)), &[]);
    let packed = Packed::new(&sealed);
    let segment = Segment { values: packed.values(), ids: None, aad: vec![], apart: None };
    let error = open(&ENGINE, &other, &[vec![segment]], OnError::Raise, &options, &mut || false)
        .unwrap_err();
    assert_eq!(error, ColumnError::UnknownVersion { row: 0, id: KeyId::Integer(1), version: 1 });
}

#[test]
fn a_stop_leaves_nothing() {
    let (keyring, texts) = (integers(), vec![vec![1; 20]; 5_000]);
    let packed = Packed::new(&texts);
    let segment = Segment {
        values: packed.values(),
        ids: Some(Ids::same(KeyId::Integer(1))),
        aad: vec![],
        apart: None,
    };
    let options = ColumnOptions::default();
    let stopped = seal(&ENGINE, &keyring, &[vec![segment]], &options, &mut || true);
    assert_eq!(stopped.unwrap_err(), ColumnError::Stopped);
}

#[test]
fn the_layout_of_spark_is_nonce_ciphertext_and_tag() {
    let keyring = Keyring::new();
    keyring.rotate(&KeyId::Integer(1), &key(5, 16)).unwrap();
    let texts: Vec<_> = (0..50).map(|row| vec![row; row as usize]).collect();
    let (packed, aad) = (Packed::new(&texts), vec![Values::same(50, b"bound")]);
    let ids = Some(Ids::same(KeyId::Integer(1)));
    let segment =
        Segment { values: packed.values(), ids: ids.clone(), aad: aad.clone(), apart: None };
    let options = ColumnOptions { layout: Layout::Spark, ..ColumnOptions::default() };
    let sealed =
        rows_of(&seal(&ENGINE, &keyring, &[vec![segment]], &options, &mut || false).unwrap()[0]);
    assert!(sealed.iter().zip(&texts).all(|(row, text)| row.len() == text.len() + 28));
    let packed = Packed::new(&sealed);
    let segment = Segment { values: packed.values(), ids, aad, apart: None };
    let opened = open(&ENGINE, &keyring, &[vec![segment]], OnError::Raise, &options, &mut || false);
    assert_eq!(rows_of(&opened.unwrap().outputs[0]), texts);
}

#[test]
fn nonces_and_tags_lie_in_columns_of_their_own_where_that_is_asked() {
    let keyring = Keyring::new();
    keyring.rotate(&KeyId::Integer(1), &key(5, 32)).unwrap();
    let texts: Vec<_> = (0..1_500u32).map(|row| vec![7; row as usize % 90]).collect();
    let packed = Packed::new(&texts);
    let ids = Some(Ids::same(KeyId::Integer(1)));
    let bits = [0b1110_1111; 200];
    let validity = Some(Validity { bytes: &bits, offset: 0 });
    let values = Values { validity, ..packed.values() };
    let segment = Segment { values, ids: ids.clone(), aad: vec![], apart: None };
    let options = ColumnOptions { layout: Layout::Columns, ..ColumnOptions::default() };
    let sealed =
        seal(&ENGINE, &keyring, &[vec![segment]], &options, &mut || false).unwrap().remove(0);
    assert_eq!((sealed.nonces.len(), sealed.tags.len()), (1_500 * 12, 1_500 * 16));
    let ciphertexts = Packed::new(&rows_of(&sealed));
    let fixed = |bytes, len| Values { len: 1_500, rows: Rows::Fixed(bytes, len), validity: None };
    let apart = Some(Apart { nonces: fixed(&sealed.nonces, 12), tags: fixed(&sealed.tags, 16) });
    let values = Values { validity, ..ciphertexts.values() };
    let segment = Segment { values, ids, aad: vec![], apart };
    let opened = open(&ENGINE, &keyring, &[vec![segment]], OnError::Raise, &options, &mut || false);
    for (row, opened) in rows_of(&opened.unwrap().outputs[0]).iter().enumerate() {
        assert_eq!(opened, if values.is_valid(row) { &texts[row][..] } else { &[] }, "row {row}");
    }
}

#[test]
fn rows_are_sealed_again_under_the_newest_key_and_the_others_stay() {
    let (keyring, id) = (names(), KeyId::Bytes((&b"a"[..]).into()));
    let texts: Vec<_> = (0..1_000).map(|row| vec![3; row % 77]).collect();
    let ids: Vec<_> = (0..1_000)
        .map(|row| if row % 2 == 0 { b"a".to_vec() } else { b"another name".to_vec() })
        .collect();
    let ids = Packed::new(&ids);
    let strings = || Ids { kind: IdKind::Strings(ids.values()), validity: None };
    let old = seal_rows(&keyring, &texts, strings(), &[]);
    keyring.rotate(&id, &key(77, 32)).unwrap();
    let packed = Packed::new(&old);
    let again = |which| {
        let segment = Segment { values: packed.values(), ids: None, aad: vec![], apart: None };
        let options = ColumnOptions::default();
        rows_of(
            &reseal(&ENGINE, &keyring, &[vec![segment]], which, &options, &mut || false).unwrap()
                [0],
        )
    };
    let outdated = again(Reseal::Outdated);
    for (row, (old, new)) in old.iter().zip(&outdated).enumerate() {
        assert_eq!(old == new, row % 2 == 1, "row {row}");
    }
    assert!(again(Reseal::All).iter().zip(&old).all(|(new, old)| new != old));
    let fresh = Keyring::new();
    fresh.add(&id, &[(1, key(77, 32))]).unwrap();
    fresh.add(&KeyId::Bytes((&b"another name"[..]).into()), &[(0, key(3, 32))]).unwrap();
    assert!(open_rows(&fresh, &outdated, &[]).into_iter().eq(texts.into_iter().map(Some)));
}

#[test]
fn a_row_that_does_not_open_is_counted_among_all_when_it_should_be_sealed_again() {
    let keyring = integers();
    let texts = vec![vec![3; 5]; 70_000];
    let mut sealed = seal_rows(&keyring, &texts, Ids::same(KeyId::Integer(1)), &[]);
    *sealed[69_000].last_mut().unwrap() ^= 1;
    let packed = Packed::new(&sealed);
    let segment = Segment { values: packed.values(), ids: None, aad: vec![], apart: None };
    let options = ColumnOptions::default();
    let error = reseal(&ENGINE, &keyring, &[vec![segment]], Reseal::All, &options, &mut || false)
        .unwrap_err();
    assert_eq!(error, ColumnError::NotOpened { failed: 1, rows: 70_000, first: vec![69_000] });
}
