//! Batches of one message of bytes, as most small ones are: without what columns need.

use crate::batch::{Manner, OnError, works_at_once};
use crate::errors::{Failure, Outcome};
use crate::gil;
use crate::session::Session;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sealift::{
    Algorithm, Batch, Column, Engine, NonceRule, Op, Ops, Output, Place, SessionId, Status, Tags,
};

/// One message of a session.
pub(crate) struct One<'a, 'py> {
    session: SessionId,
    algorithm: Algorithm,
    nonce: Bound<'py, PyBytes>,
    text: Bound<'py, PyBytes>,
    aad: &'a [u8],
    manner: &'a Manner,
}

impl<'a, 'py> One<'a, 'py> {
    /// The message of a batch of lists of one `bytes` each under a session, where it is so short that it is worked holding
    /// the GIL. None for any other: the general way takes it, or says what is wrong.
    pub(crate) fn read(
        engine: &Engine,
        (keys, nonces, texts): (&Bound<'py, PyAny>, &Bound<'py, PyAny>, &Bound<'py, PyAny>),
        aad: Option<&'a Bound<'py, PyAny>>,
        manner: &'a Manner,
    ) -> Outcome<Option<Self>> {
        let Ok(session) = keys.cast_exact::<Session>() else { return Ok(None) };
        let (Some(nonce), Some(text)) = (only(nonces), only(texts)) else { return Ok(None) };
        let aad = match aad.map(|aad| aad.cast_exact::<PyBytes>()) {
            None => &[][..],
            Some(Ok(aad)) => aad.as_bytes(),
            Some(Err(_)) => return Ok(None),
        };
        let algorithm = session.get().algorithm_of_key();
        let is_usual = manner.nonce_rule == NonceRule::Standard
            && nonce.as_bytes().len() == algorithm.nonce_bytes()
            && !gil::is_worth_leaving(text.as_bytes().len() + aad.len())
            && works_at_once(engine, manner);
        if !is_usual {
            return Ok(None);
        }
        let session = session.get().open_id()?;
        Ok(Some(Self { session, algorithm, nonce, text, aad, manner }))
    }

    /// The ciphertext with its tag, in a list.
    pub(crate) fn seal(&self, py: Python<'py>, engine: &Engine) -> Outcome<Py<PyAny>> {
        let bytes = self.text.as_bytes().len() + self.manner.tag_length.bytes();
        let sealed =
            PyBytes::new_with(py, bytes, |out| match self.work(engine, Op::Seal, out)? {
                Status::Ok => Ok(()),
                _ => Err(Failure::Input("the message was not sealed".to_owned()).into()),
            })?;
        Ok(PyList::new(py, [sealed])?.into_any().unbind())
    }

    /// The plaintext in a list.
    pub(crate) fn open(
        &self,
        py: Python<'py>,
        engine: &Engine,
        on_error: OnError,
    ) -> Outcome<Py<PyAny>> {
        let sealed = self.text.as_bytes().len();
        let bytes = sealed.saturating_sub(self.manner.tag_length.bytes());
        let mut status = Status::NotProcessed;
        let opened = PyBytes::new_with(py, bytes, |out| {
            status = self.work(engine, Op::Open, out)?;
            Ok(())
        })?;
        let opened = match status {
            Status::Ok => Some(opened),
            _ if on_error == OnError::Mask => None,
            _ => {
                return Err(Failure::InvalidTag { indices: vec![0], messages: 1, hint: "" });
            }
        };
        Ok(PyList::new(py, [opened])?.into_any().unbind())
    }

    fn work(&self, engine: &Engine, op: Op, out: &mut [u8]) -> Outcome<Status> {
        let one = |bytes| Column::Same(sealift::Buffer::Borrowed(bytes));
        let (nonce, text) = (one(self.nonce.as_bytes()), one(self.text.as_bytes()));
        let batch = Batch {
            algorithm: self.algorithm,
            ops: Ops::All(op),
            aad: one(self.aad),
            tags: Tags::Appended,
            tag_length: self.manner.tag_length,
            ..Batch::seal(1, self.session, nonce, text)
        };
        let mut status = [Status::NotProcessed];
        let bytes = out.len();
        let output =
            Output { text: Place::fixed(out, bytes), tags: Place::Empty, status: &mut status };
        engine.run(&batch, output, &self.manner.options).map_err(Failure::from)?;
        Ok(status[0])
    }
}

fn only<'py>(list: &Bound<'py, PyAny>) -> Option<Bound<'py, PyBytes>> {
    let list = list.cast_exact::<PyList>().ok().filter(|list| list.len() == 1)?;
    list.get_item(0).ok()?.cast_into_exact().ok()
}
