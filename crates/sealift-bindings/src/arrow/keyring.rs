//! Keyrings, from Python.

use super::import::key_id;
use crate::bytes::Lent;
use crate::errors::{Failure, Outcome, type_name, wrong_type};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyMapping, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use sealift::{Algorithm, Key, wipe_after};
use sealift_columns::{ColumnError, KeyId, Segment};
use std::path::PathBuf;

/// Keys by id, each in one or more versions: the newest seals, all of them open.
///
/// Ids are integers from 0 to 2**64 - 1, or strings (bytes) of at most 255 bytes; all ids of a
/// keyring are of one kind. Keys are wiped when it goes, and it can't be pickled: give workers a
/// path or a function that makes it.
///
/// Args:
///     keys: A mapping from id to key, to a list of keys from the oldest version (0) to the newest,
///         or to a mapping from version to key. Or a function that gives such a value for an id, or
///         None where there is no key: it is called for each id that a column has and the keyring
///         doesn't, or not in the version that a sealed row names, before any row is worked.
///     algorithm: What the keys are for: "AES-GCM" (16, 24 or 32 bytes), "XAES-256-GCM" (32) or
///         "AES-GCM-SIV" (16 or 32).
///
/// Raises:
///     TypeError: If `keys` is neither, or an id or a key is of a wrong type.
///     InputError: If a key has a wrong length, ids are of two kinds or too long, or versions don't
///         ascend.
#[pyclass(frozen, module = "sealift.arrow")]
pub(crate) struct Keyring {
    keyring: sealift_columns::Keyring,
    find: Option<Py<PyAny>>,
    pub(super) algorithm: Algorithm,
}

#[pymethods]
impl Keyring {
    #[new]
    #[pyo3(signature = (keys, *, algorithm = "AES-GCM"))]
    fn new(keys: &Bound<'_, PyAny>, algorithm: &str) -> Outcome<Self> {
        let keyring = sealift_columns::Keyring::new();
        let algorithm = algorithm.parse()?;
        if keys.is_callable() {
            return Ok(Self { keyring, find: Some(keys.clone().unbind()), algorithm });
        }
        let made = Self { keyring, find: None, algorithm };
        let Ok(items) = keys.call_method0("items") else {
            let found = type_name(keys);
            let right = "give a mapping from id to key, or a function that finds the key of an id";
            return Err(wrong_type(format!("keys is {found}: {right}")).into());
        };
        wipe_after(|| {
            items.try_iter()?.try_for_each(|item| {
                let (id, keys): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
                let id = read_id(&id)?;
                if made.keyring.contains(&id) {
                    let reason = format!("key id {id} is there twice: give each once");
                    return Err(Failure::Input(reason));
                }
                made.add(&id, &keys)
            })
        })?;
        Ok(made)
    }

    /// Reads a keyring from a file of TOML that only its owner may read.
    ///
    /// It has `algorithm` (as above), `ids`, "integer" or "string", and a table `keys` from id to
    /// key in hexadecimal, to a list of keys from the oldest version to the newest, or to a table
    /// from version to key.
    ///
    /// Args:
    ///     path: Where it is.
    ///
    /// Raises:
    ///     InputError: If it can't be read, if others may read it, or what is wrong in it, with its
    ///         line.
    #[staticmethod]
    fn from_file(py: Python<'_>, path: PathBuf) -> Outcome<Self> {
        let read = || wipe_after(|| sealift_columns::Keyring::from_file(&path));
        let keyring = py.detach(read).map_err(wrong)?;
        let algorithm = keyring.algorithm().unwrap_or(Algorithm::AesGcm);
        Ok(Self { keyring, find: None, algorithm })
    }

    /// Adds the next version of an id's key, which seals from now on.
    ///
    /// Calls that are running don't see it.
    ///
    /// Args:
    ///     key_id: The id, known or new.
    ///     key: The key.
    ///
    /// Returns:
    ///     The number of the version: 0 for the first of an id.
    ///
    /// Raises:
    ///     TypeError: If `key_id` is neither int, str nor bytes, or `key` is not bytes-like.
    ///     InputError: If `key` has a wrong length, or the id doesn't fit the others.
    fn rotate(
        &self,
        py: Python<'_>,
        key_id: &Bound<'_, PyAny>,
        key: &Bound<'_, PyAny>,
    ) -> Outcome<u16> {
        let id = read_id(key_id)?;
        wipe_after(|| {
            let key = self.read_key(&id, key)?;
            py.detach(|| self.keyring.rotate(&id, &key)).map_err(wrong)
        })
    }

    fn __contains__(&self, py: Python<'_>, key_id: &Bound<'_, PyAny>) -> Outcome<bool> {
        let id = read_id(key_id)?;
        Ok(py.detach(|| self.keyring.contains(&id)))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.keyring.len())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("Keyring({} ids, {})", self.__len__(py), self.algorithm)
    }

    /// A function of an object that has this keyring makes a cycle.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.find)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(wrong_type(
            "a Keyring can't be pickled, because keys would be in the pickle: give workers a path for \
             Keyring.from_file or a function that makes it",
        ))
    }
}

impl Keyring {
    /// The keyring, with the keys of all ids in some segments where a function finds them.
    pub(super) fn of_all(
        &self,
        py: Python<'_>,
        segments: &[Vec<Segment<'_>>],
    ) -> Outcome<&sealift_columns::Keyring> {
        if let Some(find) = &self.find {
            let missing = py.detach(|| self.keyring.missing(segments));
            for id in missing {
                let keys = find.bind(py).call1((id_object(py, &id)?,))?;
                if !keys.is_none() {
                    wipe_after(|| self.add(&id, &keys))?;
                }
            }
        }
        Ok(&self.keyring)
    }

    /// Adds the key of an id, a list of keys, or a mapping from version to key.
    fn add(&self, id: &KeyId, keys: &Bound<'_, PyAny>) -> Outcome<()> {
        let py = keys.py();
        let numbered: Vec<(u16, Bound<'_, PyAny>)> = if let Ok(keys) = keys.cast::<PyMapping>() {
            let items = keys.items()?;
            let numbered = items.iter().map(|item| {
                let (version, key): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
                Ok((read_version(id, &version)?, key))
            });
            numbered.collect::<Outcome<_>>()?
        } else if keys.is_instance_of::<PyList>() || keys.is_instance_of::<PyTuple>() {
            let numbered = (0..).zip(keys.try_iter()?);
            numbered.map(|(version, key)| Ok((version, key?))).collect::<PyResult<_>>()?
        } else {
            vec![(0, keys.clone())]
        };
        // Room from the start: keys that are moved to more room would leave copies.
        let mut versions = Vec::with_capacity(numbered.len());
        for (version, key) in numbered {
            versions.push((version, self.read_key(id, &key)?));
        }
        py.detach(|| self.keyring.add(id, &versions)).map_err(wrong)
    }

    fn read_key(&self, id: &KeyId, key: &Bound<'_, PyAny>) -> Outcome<Key> {
        let bytes = Lent::read(key, &format!("key {}", shown(id)))?;
        let wrong = |error| Failure::Input(format!("key {}: {error}", shown(id)));
        Key::with_algorithm(self.algorithm, bytes.as_slice()).map_err(wrong)
    }
}

/// An id beside a wrong key, unless it could be a key that stands at the wrong place.
fn shown(id: &KeyId) -> String {
    match id {
        KeyId::Bytes(name) if matches!(name.len(), 16 | 24 | 32 | 48 | 64) => {
            format!("of an id of {} bytes", name.len())
        }
        _ => id.to_string(),
    }
}

fn read_version(id: &KeyId, version: &Bound<'_, PyAny>) -> Outcome<u16> {
    let found = match version.is_instance_of::<PyInt>() {
        true => version.to_string(),
        false => type_name(version),
    };
    let wrong =
        |_| Failure::Input(format!("key {}: version {found}: versions are 0 to 65,535", shown(id)));
    version.extract().map_err(wrong)
}

fn read_id(id: &Bound<'_, PyAny>) -> Outcome<KeyId> {
    key_id(id).unwrap_or_else(|| {
        let found = type_name(id);
        Err(wrong_type(format!("a key id is {found}: ids are int, str or bytes")).into())
    })
}

/// An id as a function is given it: a str where it is UTF-8.
fn id_object<'py>(py: Python<'py>, id: &KeyId) -> PyResult<Bound<'py, PyAny>> {
    match id {
        KeyId::Integer(id) => Ok(id.into_pyobject(py)?.into_any()),
        KeyId::Bytes(id) => match std::str::from_utf8(id) {
            Ok(text) => Ok(text.into_pyobject(py)?.into_any()),
            Err(_) => Ok(id.into_pyobject(py)?.into_any()),
        },
    }
}

fn wrong(error: ColumnError) -> Failure {
    Failure::Input(error.to_string())
}
