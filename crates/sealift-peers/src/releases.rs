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
    releases().find(|[name, number, _]| *name == peer && *number == version).map(|[.., day]| day)
}

/// Library, version and day of each known release, a library's oldest first.
pub fn releases() -> impl Iterator<Item = [&'static str; 3]> {
    let lines = include_str!("releases.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split(' ').collect::<Vec<_>>().try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster::PEERS;

    #[test]
    fn a_description_names_its_version_first() {
        assert_eq!(version("BoringSSL, boring-sys 5.4.0, EVP_AEAD"), Some("5.4.0"));
        assert_eq!(version("Intel IPP cryptography 2.3.0 (13.3)"), Some("2.3.0"));
        assert_eq!(version("intel-ipsec-mb 3.0.0-dev, direct calls"), Some("3.0.0-dev"));
        assert_eq!(version("unknown"), None);
    }

    #[test]
    fn the_last_line_of_every_library_is_its_newest_release() {
        for peer in PEERS {
            let days: Vec<_> = releases().filter(|[name, ..]| *name == peer.name).collect();
            assert!(!days.is_empty(), "{} has no line in releases.txt", peer.name);
            assert!(days.is_sorted_by(|[.., one], [.., next]| one < next), "{days:?}");
        }
        let is_known = |name: &str| PEERS.iter().any(|peer| peer.name == name);
        assert!(releases().all(|[name, ..]| is_known(name)), "a library that is no peer");
        let lines = include_str!("releases.txt").lines();
        let releases_written = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        assert_eq!(releases().count(), releases_written.count(), "a line isn't of three words");
    }
}
