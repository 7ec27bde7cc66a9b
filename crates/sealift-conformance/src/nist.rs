//! The NIST CAVP records of AES-GCM, from the PyPI package `cryptography-vectors`.

use crate::compare::{Tally, conform};
use crate::form::Form;
use crate::message::{Group, Message, Ring, Truth};
use crate::subject::Subject;
use sealift_core::{Key, Op, TagLength};
use sealift_testing::{ran, skip};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// All of them: 6 files of 7,875.
pub(crate) const RECORDS: usize = 47_250;

/// Gives every record to a device: sealed and opened again, or opened.
pub(crate) fn check(subject: &Subject) -> Result<String, String> {
    if !are_here()? {
        return Ok("no records to give it".to_owned());
    }
    ran("vectors");
    let mut tally = Tally::default();
    for (n, same) in records()?.chunk_by(|one, other| one.shape() == other.shape()).enumerate() {
        let form = Form::nth(n, subject.capabilities());
        for same in same.chunks(subject.capabilities().messages_max) {
            let group = group(same)?;
            let attempt = conform(&*subject.device, &group, form)?;
            if same[0].op == Op::Seal {
                conform(&*subject.device, &group.opening(), form)?;
            }
            group.ring.retire_all(&*subject.device);
            tally.add(attempt, same.len());
        }
    }
    if tally.total() != RECORDS {
        return Err(format!("{tally} of {RECORDS} records: the files are incomplete"));
    }
    Ok(format!("records {tally}"))
}

/// Whether the records are on this machine; says so when they aren't.
///
/// # Errors
/// They aren't although they are required, or not in the folder that is named.
pub(crate) fn are_here() -> Result<bool, String> {
    let found = find_folder()?.is_some();
    if !found {
        skip("vectors", MISSING)?;
    }
    Ok(found)
}

const MISSING: &str = "the NIST records are not here: `pip install cryptography-vectors` into .venv, or \
     name the folder of the package cryptography_vectors in SEALIFT_VECTORS";

fn records() -> Result<&'static [Record], String> {
    static READ: OnceLock<Vec<Record>> = OnceLock::new();
    let folder = find_folder()?.ok_or("the records are gone")?;
    Ok(READ.get_or_init(|| read(&folder.join("ciphers/AES/GCM"))))
}

fn find_folder() -> Result<Option<PathBuf>, String> {
    if let Some(folder) = std::env::var_os("SEALIFT_VECTORS") {
        let folder = PathBuf::from(folder);
        let wrong = || format!("SEALIFT_VECTORS={} is no folder", folder.display());
        return folder.is_dir().then(|| Some(folder.clone())).ok_or_else(wrong);
    }
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib");
    let Ok(versions) = std::fs::read_dir(lib) else { return Ok(None) };
    let folder =
        |version: std::fs::DirEntry| version.path().join("site-packages/cryptography_vectors");
    Ok(versions.flatten().map(folder).find(|folder| folder.is_dir()))
}

/// One record; whether it must open is in `text`.
struct Record {
    op: Op,
    key: Vec<u8>,
    iv: Vec<u8>,
    aad: Vec<u8>,
    /// Nothing when the record must fail.
    plain: Option<Vec<u8>>,
    cipher: Vec<u8>,
    tag: Vec<u8>,
}

impl Record {
    fn shape(&self) -> [usize; 6] {
        let Self { op, key, iv, aad, cipher, tag, .. } = self;
        [*op as usize, key.len(), iv.len(), aad.len(), cipher.len(), tag.len()]
    }
}

fn group(records: &[Record]) -> Result<Group, String> {
    let keys = records.iter().map(|record| Key::new(&record.key)).collect::<Result<_, _>>();
    let ring = Ring::new(keys.map_err(|error| error.to_string())?);
    let tag_length = TagLength::new(records[0].tag.len()).map_err(|error| error.to_string())?;
    let message = |(key, record): (usize, &Record)| {
        let Record { op, iv, aad, plain, cipher, tag, .. } = record;
        let seal = *op == Op::Seal;
        let text = if seal { plain.clone().unwrap_or_default() } else { cipher.clone() };
        let tag = if seal { vec![] } else { tag.clone() };
        Message { op: *op, key, nonce: iv.clone(), aad: aad.clone(), text, tag }
    };
    let messages: Vec<_> = records.iter().enumerate().map(message).collect();
    let truth = |(record, message): (&Record, &Message)| match (&record.plain, record.op) {
        (None, _) => Truth::failed(message),
        (Some(_), Op::Seal) => Truth::sealed(&record.cipher, &record.tag),
        (Some(plain), _) => Truth::opened(plain),
    };
    let truths = records.iter().zip(&messages).map(truth).collect();
    Ok(Group { ring, tag_length, messages, truths })
}

fn read(folder: &Path) -> Vec<Record> {
    let mut records = vec![];
    for (kind, op) in [("gcmEncryptExtIV", Op::Seal), ("gcmDecrypt", Op::Open)] {
        for bits in [128, 192, 256] {
            let file = folder.join(format!("{kind}{bits}.rsp"));
            let text = std::fs::read_to_string(&file)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            records.extend(text.split("\nCount = ").skip(1).map(|text| parse(op, text)));
        }
    }
    records
}

fn parse(op: Op, text: &str) -> Record {
    let field = |name| {
        let value =
            |line: &str| line.split_once(" =").filter(|(n, _)| *n == name).map(|(_, v)| hex(v));
        text.lines().find_map(value)
    };
    let need = |name| field(name).unwrap_or_else(|| panic!("no {name} in the record {text:?}"));
    let fails = text.lines().any(|line| line.trim() == "FAIL");
    assert_ne!(fails, field("PT").is_some(), "a record has a plaintext or fails: {text:?}");
    let [key, iv, aad, cipher, tag] = ["Key", "IV", "AAD", "CT", "Tag"].map(need);
    Record { op, key, iv, aad, plain: field("PT"), cipher, tag }
}

fn hex(digits: &str) -> Vec<u8> {
    let digits = digits.trim();
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16);
    let bytes: Result<_, _> = (0..digits.len()).step_by(2).map(byte).collect();
    bytes.unwrap_or_else(|error| panic!("{digits:?}: {error}"))
}

/// The records as cases, to look the small set up in.
///
/// # Errors
/// They are not here.
#[cfg(test)]
pub(crate) fn cases() -> Result<Vec<crate::vectors::Case>, String> {
    let case = |record: &Record| crate::vectors::Case {
        algorithm: sealift_core::Algorithm::AesGcm,
        name: String::new(),
        key: record.key.clone(),
        nonce: record.iv.clone(),
        aad: record.aad.clone(),
        plain: record.plain.clone(),
        cipher: record.cipher.clone(),
        tag: record.tag.clone(),
    };
    Ok(records()?.iter().map(case).collect())
}
