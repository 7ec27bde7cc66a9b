//! When the libraries that are compared with were released.

/// The version that a library's description names: its first word that begins with a digit.
#[must_use]
pub fn version(detail: &str) -> Option<&str> {
    let is_version = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    detail.split([' ', ',']).find(is_version)
}

/// The day on which a library's version was published, as in `2026-10-28`.
#[must_use]
pub fn released(peer: &str, version: &str) -> Option<&'static str> {
    let of = |(name, number, _): &&(&str, &str, &str)| *name == peer && *number == version;
    RELEASES.iter().find(of).map(|(_, _, day)| *day)
}

/// Days on which crates.io and PyPI received a version. For OpenSSL, the day in its version text; for
/// ipsec-mb, the day Debian packaged it. A test demands an entry for each library that a lock file names.
const RELEASES: &[(&str, &str, &str)] = &[
    ("aws-lc", "5.12.0", "2026-10-28"),
    ("boringssl", "5.4.0", "2026-10-30"),
    ("graviola", "0.4.4", "2026-11-05"),
    ("ipp", "2.3.0", "2026-10-08"),
    ("ipsec-mb", "2.0.0", "2024-09-18"),
    ("ipsec-mb", "2.0.2", "2026-04-25"),
    ("openssl", "4.0.3", "2026-09-29"),
    ("ring", "0.17.14", "2025-03-11"),
    ("rustcrypto", "0.11.1", "2026-08-21"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_names_its_version_first() {
        assert_eq!(version("BoringSSL, boring-sys 5.4.0, EVP_AEAD"), Some("5.4.0"));
        assert_eq!(version("Intel IPP cryptography 2.3.0 (13.3)"), Some("2.3.0"));
        assert_eq!(version("unknown"), None);
    }
}
