//! Under which keys a batch is worked, as Python says it.

use crate::bytes::held;
use crate::column::{Given, is_flat};
use crate::errors::{Outcome, type_name, wrong_type};
use crate::integers::{self, Integer};
use crate::session::Session;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};
use sealift::{Algorithm, BatchError, Engine, Keys, SessionId};

/// Sessions or raw keys, held for the length of a call.
pub(crate) enum GivenKeys<'py> {
    One(SessionId, Algorithm),
    Each(Vec<SessionId>),
    Raw(Given<'py>),
}

impl<'py> GivenKeys<'py> {
    /// Reads a session, a sequence of sessions, session ids as a list or a buffer, or a column of raw keys.
    pub(crate) fn read(object: &Bound<'py, PyAny>) -> Outcome<Self> {
        if let Ok(session) = object.cast::<Session>() {
            let session = session.get();
            return Ok(Self::One(session.open_id()?, session.algorithm_of_key()));
        }
        match first_of(object) {
            Some(first) if first.is_instance_of::<Session>() => return each(object, session_id),
            Some(first) if first.is_instance_of::<PyInt>() => return each(object, listed_id),
            _ => {}
        }
        match ids(object)? {
            Some(ids) => Ok(Self::Each(ids)),
            None if is_flat(object) => {
                let right = "engine.session(key) for one key, a list of keys for a key each";
                Err(wrong_type(format!("keys is one byte string: give {right}")).into())
            }
            None => Given::read(object, "keys").map(Self::Raw),
        }
    }

    /// What the first key is for; raw keys are for AES-GCM.
    pub(crate) fn algorithm(&self, engine: &Engine) -> Outcome<Algorithm> {
        let of_first = match self {
            Self::One(_, algorithm) => Some(*algorithm),
            Self::Each(ids) => match ids.first() {
                Some(first) => engine.algorithm(*first)?,
                None => None,
            },
            Self::Raw(_) => None,
        };
        // A session that the engine does not have is refused with the batch.
        Ok(of_first.unwrap_or(Algorithm::AesGcm))
    }

    /// Refuses keys for another number of messages.
    pub(crate) fn check_count(&self, expected: usize) -> Outcome<()> {
        match self {
            Self::One(..) => Ok(()),
            Self::Each(ids) if ids.len() == expected => Ok(()),
            Self::Each(ids) => {
                Err(BatchError::Count { column: "keys", found: ids.len(), expected }.into())
            }
            Self::Raw(column) => column.check_count("keys", expected),
        }
    }

    /// Whether nobody can write to them meanwhile.
    pub(crate) fn is_frozen(&self) -> bool {
        match self {
            Self::One(..) | Self::Each(_) => true,
            Self::Raw(column) => column.is_frozen(),
        }
    }

    /// As the engine takes them.
    pub(crate) fn lend(&self, interleaved: bool) -> Keys<'_> {
        match self {
            Self::One(session, _) => Keys::Session(*session),
            Self::Each(ids) => Keys::Sessions(ids.as_slice().into()),
            Self::Raw(column) => Keys::Raw(column.lend(interleaved)),
        }
    }
}

impl GivenKeys<'_> {
    /// The same for a batch that outlives the call.
    pub(crate) fn outliving(self) -> Keys<'static> {
        match self {
            Self::One(session, _) => Keys::Session(session),
            Self::Each(ids) => Keys::Sessions(ids.into()),
            Self::Raw(column) => Keys::Raw(column.outliving()),
        }
    }
}

/// The first item of a list or a tuple.
fn first_of<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let list = object.cast::<PyList>().ok().map(|list| list.get_item(0));
    let tuple = || object.cast::<PyTuple>().ok().map(|tuple| tuple.get_item(0));
    list.or_else(tuple)?.ok()
}

/// The sessions of a list or a tuple.
fn each<'py>(
    object: &Bound<'py, PyAny>,
    id: impl Fn(usize, &Bound<'py, PyAny>) -> Outcome<SessionId>,
) -> Outcome<GivenKeys<'py>> {
    let ids: Outcome<_> = match (object.cast::<PyList>(), object.cast::<PyTuple>()) {
        (Ok(list), _) => list.iter().enumerate().map(|(at, item)| id(at, &item)).collect(),
        (_, Ok(tuple)) => tuple.iter().enumerate().map(|(at, item)| id(at, &item)).collect(),
        _ => Ok(vec![]),
    };
    ids.map(GivenKeys::Each)
}

fn session_id(message: usize, item: &Bound<'_, PyAny>) -> Outcome<SessionId> {
    match item.cast::<Session>() {
        Ok(session) => session.get().open_id(),
        Err(_) => Err(wrong_type(format!(
            "keys[{message}] is {} among sessions: give a session for each message",
            type_name(item)
        ))
        .into()),
    }
}

fn listed_id(message: usize, item: &Bound<'_, PyAny>) -> Outcome<SessionId> {
    item.extract().map(SessionId::from_u64).map_err(|_| {
        wrong_type(format!(
            "keys[{message}] is {} among session ids: give `Session.id` for each message",
            type_name(item)
        ))
        .into()
    })
}

/// Session ids, if the object is a buffer of 8-byte integers. Copied: others may change it.
fn ids(object: &Bound<'_, PyAny>) -> Outcome<Option<Vec<SessionId>>> {
    let Some(buffer) = held(object, "keys")? else { return Ok(None) };
    if buffer.item_size() != 8 {
        return Ok(None);
    }
    if buffer.dimensions() != 1 {
        let dimensions = buffer.dimensions();
        return Err(wrong_type(format!(
            "keys are session ids in {dimensions} dimensions: give one, an id for each message"
        ))
        .into());
    }
    let id = |id| match id {
        Integer::Signed(id) => Ok(SessionId::from_u64(id.cast_unsigned())),
        Integer::Unsigned(id) => Ok(SessionId::from_u64(id)),
    };
    if let Some(ids) = integers::read(object, &buffer, "keys", id)? {
        return Ok(Some(ids));
    }
    let format = buffer.format().to_string_lossy().into_owned();
    Err(wrong_type(format!(
        "keys have items of format {format:?}: session ids are uint64, as Session.id gives them"
    ))
    .into())
}
