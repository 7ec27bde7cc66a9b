//! Keyrings from files.

use crate::{ColumnError, KeyId, Keyring};
use sealift_core::{Algorithm, Key};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use zeroize::Zeroizing;

impl Keyring {
    /// Reads a keyring from a file of TOML that only its owner may read:
    ///
    /// ```toml
    /// algorithm = "AES-GCM"  # what it is if not given; "XAES-256-GCM", "AES-GCM-SIV"
    /// ids = "integer"        # what they are if not given; "string"
    ///
    /// [keys]                 # in hexadecimal
    /// 1 = "000102030405060708090a0b0c0d0e0f"
    /// 2 = ["version 0, the oldest", "version 1, the newest"]
    /// 3 = { 4 = "version 4", 7 = "version 7" }
    /// ```
    ///
    /// # Errors
    /// A file that can't be read, or that others may read; what is wrong in it, with its line.
    pub fn from_file(path: &Path) -> Result<Self, ColumnError> {
        let wrong = |reason: String| ColumnError::File { path: path.display().to_string(), reason };
        let mut text = Zeroizing::new(String::new());
        let mut file = File::open(path).map_err(|error| wrong(format!(": {error}")))?;
        let metadata = file.metadata().map_err(|error| wrong(format!(": {error}")))?;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let reason =
                format!(": its mode is {mode:o}, so others may use its keys: chmod 600 it");
            return Err(wrong(reason));
        }
        // Room from the start: text that is moved to more room would leave a copy.
        text.reserve_exact(usize::try_from(metadata.len()).unwrap_or(0) + 1);
        file.read_to_string(&mut text).map_err(|error| wrong(format!(": {error}")))?;
        Self::parse(&text).map_err(|(at, reason)| {
            let line =
                text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
                    + 1;
            wrong(format!(":{line}: {reason}"))
        })
    }

    fn parse(text: &str) -> Result<Self, Wrong> {
        let root = DeTable::parse(text).map_err(|error| {
            (error.span().map_or(0, |span| span.start), error.message().to_owned())
        })?;
        let root = root.get_ref();
        let known = ["algorithm", "ids", "keys"];
        if let Some(other) = root.keys().find(|name| !known.contains(&&**name.get_ref())) {
            return Err((
                other.span().start,
                format!("there is no {}: give algorithm, ids, keys", other.get_ref()),
            ));
        }
        let algorithm: Algorithm = match root.get("algorithm") {
            None => Algorithm::AesGcm,
            Some(name) => {
                let found = name.get_ref().as_str().unwrap_or_default().parse();
                found.map_err(|error: sealift_core::KeyError| {
                    (name.span().start, error.to_string())
                })?
            }
        };
        let are_integers = match root.get("ids").map(|ids| (ids, ids.get_ref().as_str())) {
            None | Some((_, Some("integer"))) => true,
            Some((_, Some("string"))) => false,
            Some((ids, _)) => {
                return Err((ids.span().start, "ids is \"integer\" or \"string\"".to_owned()));
            }
        };
        let keyring = Self::new();
        let no_keys = || (0, "it has no keys: give a table [keys]".to_owned());
        let keys = root.get("keys").ok_or_else(no_keys)?;
        let DeValue::Table(keys) = keys.get_ref() else {
            return Err((keys.span().start, "keys is a table from id to key".to_owned()));
        };
        for (name, versions) in keys {
            let at = name.span().start;
            let id = match (are_integers, name.get_ref().parse()) {
                (true, Ok(id)) => KeyId::Integer(id),
                (true, Err(_)) => {
                    let right = "is no id: give integers from 0 on, or ids = \"string\"";
                    return Err((at, format!("{} {right}", name.get_ref())));
                }
                (false, _) => KeyId::Bytes(name.get_ref().as_bytes().into()),
            };
            let version = |(version, key)| Ok((version, read_key(algorithm, key)?));
            let versions = versions_of(versions)?
                .into_iter()
                .map(version)
                .collect::<Result<Vec<_>, Wrong>>()?;
            keyring.add(&id, &versions).map_err(|error| (at, error.to_string()))?;
        }
        if keyring.is_empty() { Err(no_keys()) } else { Ok(keyring) }
    }
}

/// Where in a text something is wrong, and what.
type Wrong = (usize, String);

/// The versions of a key, ascending.
fn versions_of<'t>(
    value: &'t Spanned<DeValue<'t>>,
) -> Result<Vec<(u16, &'t Spanned<DeValue<'t>>)>, Wrong> {
    let number = |version: &str, at| {
        version
            .parse()
            .map_err(|_| (at, format!("{version} is no version: versions are 0 to 65,535")))
    };
    let mut versions = match value.get_ref() {
        DeValue::Array(keys) => (0..).zip(keys.iter()).collect(),
        DeValue::Table(keys) => keys
            .iter()
            .map(|(version, key)| Ok((number(version.get_ref(), version.span().start)?, key)))
            .collect::<Result<Vec<_>, Wrong>>()?,
        _ => vec![(0, value)],
    };
    versions.sort_by_key(|(version, _)| *version);
    Ok(versions)
}

fn read_key(algorithm: Algorithm, value: &Spanned<DeValue<'_>>) -> Result<Key, Wrong> {
    let at = value.span().start;
    let wrong = || (at, "a key is a text of hexadecimal digits, two a byte".to_owned());
    let digits = value.get_ref().as_str().ok_or_else(wrong)?.as_bytes();
    if digits.len() % 2 == 1 {
        return Err(wrong());
    }
    let byte = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(pair[1])?);
    let mut key = Zeroizing::new(Vec::with_capacity(digits.len() / 2));
    for pair in digits.chunks_exact(2) {
        key.push(byte(pair).ok_or_else(wrong)?);
    }
    Key::with_algorithm(algorithm, &key).map_err(|error| (at, error.to_string()))
}

/// The value of a hexadecimal digit, without a branch or an address that depends on it; none of another byte.
fn digit(byte: u8) -> Option<u8> {
    let lower = byte | 0x20;
    let (decimal, letter) = (byte.wrapping_sub(b'0'), lower.wrapping_sub(b'a'));
    let is_decimal = 0u8.wrapping_sub(u8::from(decimal < 10));
    let is_letter = 0u8.wrapping_sub(u8::from(letter < 6));
    let value = decimal & is_decimal | letter.wrapping_add(10) & is_letter;
    (is_decimal | is_letter != 0).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_versions_and_algorithms_are_read() {
        let (old, new) = ("00".repeat(32), "aF".repeat(16));
        let text = format!(
            "ids = \"string\"\n[keys]\n\"1\" = \"{old}\"\ntwo = [\"{old}\", \"{new}\"]\nthree = {{ 4 = \"{new}\" }}"
        );
        let keyring = Keyring::parse(&text).unwrap();
        let newest = |name: &str| {
            let table = keyring.read();
            let version = table.newest(table.find_name(name.as_bytes()).unwrap());
            (version.version, table.key(version.key)[..16].to_vec())
        };
        assert_eq!(newest("1"), (0, vec![0; 16]));
        assert_eq!(newest("two"), (1, vec![0xaf; 16]));
        assert_eq!(newest("three"), (4, vec![0xaf; 16]));
        let xaes =
            Keyring::parse(&format!("algorithm = \"XAES-256-GCM\"\nkeys.7 = \"{old}\"")).unwrap();
        assert_eq!(xaes.read().all_classes()[0].algorithm, Algorithm::Xaes256Gcm);
    }

    #[test]
    fn what_is_wrong_is_told_without_the_key() {
        let of = |text: &str| Keyring::parse(text).unwrap_err().1;
        assert!(of("[keys]\n1 = \"0g\"").contains("hexadecimal"));
        assert!(of("[keys]\n1 = \"beef\"").contains("2 bytes"));
        assert!(of("[keys]\na = \"00\"").contains("string"));
        assert!(of("kyes = 1").contains("there is no kyes"));
        assert!(of("").contains("[keys]"));
        assert!(of("[keys]").contains("no keys"));
        assert!(of("[keys]\n1 = []").contains("at least one"));
        assert!(of("algorithm = \"AES\"").contains("AES-GCM-SIV"));
        assert!(!of("[keys]\n1 = \"beefbeefbeef\"").contains("beef"));
    }

    #[test]
    fn a_file_that_others_may_read_is_refused_and_lines_are_named() {
        let path =
            std::env::temp_dir().join(format!("sealift-keyring-{}.toml", std::process::id()));
        std::fs::write(&path, "[keys]\n1 = \"zz\"\n").unwrap();
        let mode =
            |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o640);
        let error = Keyring::from_file(&path).unwrap_err().to_string();
        assert!(error.contains("640") && error.contains("chmod 600"), "{error}");
        mode(0o600);
        let error = Keyring::from_file(&path).unwrap_err().to_string();
        assert!(error.contains(".toml:2: "), "{error}");
        std::fs::remove_file(&path).unwrap();
    }
}
