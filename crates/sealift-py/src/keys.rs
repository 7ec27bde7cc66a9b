//! Under which keys a batch is worked, as Python says it.

use crate::bytes::held;
use crate::column::Given;
use crate::errors::{Outcome, type_name, wrong_type};
use crate::integers::{self, Integer};
use crate::session::Session;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};
use sealift::{BatchError, Keys, SessionId};

/// Sessions or raw keys, held for the length of a call.
pub(crate) enum GivenKeys<'py> {
    One(SessionId),
    Each(Vec<SessionId>),
    Raw(Given<'py>),
}

impl<'py> GivenKeys<'py> {
    /// Reads a session, a sequence of sessions, session ids as a list or a buffer, or a column of raw keys.
    pub(crate) fn read(object: &Bound<'py, PyAny>) -> Outcome<Self> {
        if let Ok(session) = object.cast::<Session>() {
            return session.get().open_id().map(Self::One);
        }
        if let Ok(list) = object.cast::<PyList>()
            && is_session(list.get_item(0))
        {
            return sessions(list.iter());
        }
        if let Ok(tuple) = object.cast::<PyTuple>()
            && is_session(tuple.get_item(0))
        {
            return sessions(tuple.iter());
        }
        if let Ok(list) = object.cast::<PyList>()
            && is_id(list.get_item(0))
        {
            return listed_ids(list.iter());
        }
        match ids(object)? {
            Some(ids) => Ok(Self::Each(ids)),
            None => Given::read(object, "keys").map(Self::Raw),
        }
    }

    /// Refuses keys for another number of messages.
    pub(crate) fn check_count(&self, expected: usize) -> Outcome<()> {
        match self {
            Self::One(_) => Ok(()),
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
            Self::One(_) | Self::Each(_) => true,
            Self::Raw(column) => column.is_frozen(),
        }
    }

    /// As the engine takes them.
    pub(crate) fn lend(&self, interleaved: bool) -> Keys<'_> {
        match self {
            Self::One(session) => Keys::Session(*session),
            Self::Each(ids) => Keys::Sessions(ids.as_slice().into()),
            Self::Raw(column) => Keys::Raw(column.lend(interleaved)),
        }
    }
}

impl GivenKeys<'_> {
    /// The same for a batch that outlives the call.
    pub(crate) fn outliving(self) -> Keys<'static> {
        match self {
            Self::One(session) => Keys::Session(session),
            Self::Each(ids) => Keys::Sessions(ids.into()),
            Self::Raw(column) => Keys::Raw(column.outliving()),
        }
    }
}

fn is_session(item: PyResult<Bound<'_, PyAny>>) -> bool {
    item.is_ok_and(|item| item.is_instance_of::<Session>())
}

fn is_id(item: PyResult<Bound<'_, PyAny>>) -> bool {
    item.is_ok_and(|item| item.is_instance_of::<PyInt>())
}

fn listed_ids<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>) -> Outcome<GivenKeys<'py>> {
    let id = |(message, item): (usize, Bound<'py, PyAny>)| {
        match item.extract() {
        Ok(id) => Ok(SessionId::from_u64(id)),
        Err(_) => Err(wrong_type(format!(
            "keys[{message}] is {} among session ids: give Session.id of a session for each message",
            type_name(&item)
        ))
        .into()),
    }
    };
    items.enumerate().map(id).collect::<Outcome<_>>().map(GivenKeys::Each)
}

fn sessions<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>) -> Outcome<GivenKeys<'py>> {
    let id = |(message, item): (usize, Bound<'py, PyAny>)| match item.cast::<Session>() {
        Ok(session) => session.get().open_id(),
        Err(_) => Err(wrong_type(format!(
            "keys[{message}] is {} among sessions: give a session for each message",
            type_name(&item)
        ))
        .into()),
    };
    items.enumerate().map(id).collect::<Outcome<_>>().map(GivenKeys::Each)
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
