//! The ways of computing AES-GCM, and which of them this processor has.

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
use crate::x86_64::cpu::{HaveAesNi, HaveVaes256, HaveVaes512};

/// The environment variable that names the best path [`Path::best`] may choose.
const CAP_VARIABLE: &str = "SEALIFT_ISA";

/// A way of computing AES-GCM.
///
/// The fast ones hold proof that this processor has their instructions; only a check of the
/// processor makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Path {
    /// By the book, on any processor, about a thousand times slower than the others.
    Model,
    /// AES-NI and PCLMULQDQ on 128-bit registers.
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    AesNi(HaveAesNi),
    /// VAES and VPCLMULQDQ on 256-bit registers, without AVX-512.
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    Vaes256(HaveVaes256),
    /// VAES and VPCLMULQDQ on 512-bit registers.
    #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
    Vaes512(HaveVaes512),
}

impl Path {
    /// The names of all paths, the slowest first.
    pub const NAMES: [&'static str; 4] = ["model", "aesni", "vaes256", "vaes512"];

    /// The fastest path this processor has, or `None` when there is only the model.
    ///
    /// The environment variable `SEALIFT_ISA` may name the best one allowed.
    ///
    /// # Errors
    /// When `SEALIFT_ISA` is no path's name.
    pub fn best() -> Result<Option<Path>, PathError> {
        let cap = std::env::var_os(CAP_VARIABLE);
        best_under(cap.as_deref().map(|name| name.to_string_lossy()).as_deref())
    }

    /// All paths this processor and this build have, the slowest first.
    #[must_use]
    pub fn available() -> Vec<Path> {
        Path::NAMES.iter().filter_map(|name| find(name).ok()).collect()
    }

    /// Its name in device strings and tables, one of [`NAMES`](Path::NAMES).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Path::Model => "model",
            #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
            Path::AesNi(_) => "aesni",
            #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
            Path::Vaes256(_) => "vaes256",
            #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
            Path::Vaes512(_) => "vaes512",
        }
    }

    /// The path of that name.
    ///
    /// # Errors
    /// When there is no such path, or when this processor or this build lacks it.
    pub fn parse(name: &str) -> Result<Path, PathError> {
        match Path::NAMES.iter().find(|known| **known == name) {
            Some(known) => find(known),
            None => Err(PathError::Unknown { name: name.to_owned() }),
        }
    }
}

/// Why there is no path of some name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// Nothing has this name.
    #[error("{name:?} is no instruction-set path; there are {}", Path::NAMES.join(", "))]
    Unknown {
        /// The name that was asked for.
        name: String,
    },
    /// The environment variable that limits the choice names nothing.
    #[error("SEALIFT_ISA={name:?} is no instruction-set path; there are {}", Path::NAMES.join(", "))]
    UnknownCap {
        /// The variable's value.
        name: String,
    },
    /// The processor lacks instructions.
    #[error("path {name} needs what this processor lacks: {}", missing.join(", "))]
    Missing {
        /// The path.
        name: &'static str,
        /// The processor flags that are missing.
        missing: Vec<&'static str>,
    },
    /// The path was not compiled.
    #[error(
        "path {name} is not in this build: it is for x86-64 and built without --cfg sealift_portable"
    )]
    NotBuilt {
        /// The path.
        name: &'static str,
    },
}

fn best_under(cap: Option<&str>) -> Result<Option<Path>, PathError> {
    let allowed = match cap {
        None => Path::NAMES.len(),
        Some(cap) => match Path::NAMES.iter().position(|name| *name == cap) {
            Some(position) => position + 1,
            None => return Err(PathError::UnknownCap { name: cap.to_owned() }),
        },
    };
    Ok(Path::NAMES[1..allowed].iter().rev().find_map(|name| find(name).ok()))
}

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
fn find(name: &'static str) -> Result<Path, PathError> {
    let missing = match name {
        "aesni" => HaveAesNi::check().map(Path::AesNi),
        "vaes256" => HaveVaes256::check().map(Path::Vaes256),
        "vaes512" => HaveVaes512::check().map(Path::Vaes512),
        _ => Ok(Path::Model),
    };
    missing.map_err(|missing| PathError::Missing { name, missing })
}

#[cfg(not(all(target_arch = "x86_64", not(sealift_portable))))]
fn find(name: &'static str) -> Result<Path, PathError> {
    if name == Path::Model.name() { Ok(Path::Model) } else { Err(PathError::NotBuilt { name }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_available_path_is_found_by_its_name() {
        let available = Path::available();
        assert_eq!(available[0], Path::Model);
        for path in available {
            assert_eq!(Path::parse(path.name()), Ok(path));
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let message = Path::parse("avx9").unwrap_err().to_string();
        assert!(message.contains("\"avx9\"") && message.contains("vaes256"), "{message}");
        let message = best_under(Some("avx9")).unwrap_err().to_string();
        assert!(message.contains("SEALIFT_ISA=\"avx9\"") && message.contains("aesni"), "{message}");
    }

    #[test]
    fn a_path_that_is_not_here_says_why() {
        for name in Path::NAMES {
            match Path::parse(name) {
                Ok(path) => assert_eq!(path.name(), name),
                Err(PathError::Missing { missing, .. }) => assert!(!missing.is_empty()),
                Err(error) => assert_eq!(error, PathError::NotBuilt { name }),
            }
        }
    }

    #[test]
    fn the_best_path_is_never_above_the_cap_and_never_the_model() {
        let available = Path::available();
        for (position, cap) in Path::NAMES.iter().enumerate() {
            let allowed = |path: &&Path| Path::NAMES[1..=position].contains(&path.name());
            let expected = available.iter().rev().find(allowed).copied();
            assert_eq!(best_under(Some(cap)), Ok(expected), "{cap}");
        }
        let fastest = available.last().copied().filter(|path| *path != Path::Model);
        assert_eq!(best_under(None), Ok(fastest));
    }
}
