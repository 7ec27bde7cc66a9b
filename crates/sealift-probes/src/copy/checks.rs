//! Refuses copies that can't be, before anything is touched.

use super::kind::Kind;
use super::spec::{Beside, Buffers, CopySpec, Function, Operation, PAGE_BYTES, State};
use crate::ArmError;
use rustix::param::page_size;

impl CopySpec {
    /// Refuses what can't be done, before anything is touched.
    ///
    /// # Errors
    /// A number is out of range, or parts don't fit each other.
    pub(super) fn check(&self) -> Result<(), ArmError> {
        ArmError::check("threads", self.threads, 1, crate::THREADS_MAX)?;
        ArmError::check("bytes of a copy", self.bytes, 1, BYTES_MAX)?;
        ArmError::check("offset", self.offset, 0, PAGE_BYTES - 1)?;
        let wrong = |what, value: String, right: &str| {
            Err(ArmError::Spec { what, value, right: right.to_owned() })
        };
        if self.operation != Operation::Copy {
            if !self.bytes.is_multiple_of(8) {
                return wrong(
                    "bytes",
                    self.bytes.to_string(),
                    "whole words of 8 bytes, to read or write",
                );
            }
            if self.offset != 0 {
                return wrong("offset", self.offset.to_string(), "0 where nothing is copied");
            }
        }
        if self.buffers == Buffers::Shared && self.function == Function::Ours {
            return wrong(
                "buffers",
                "shared".to_owned(),
                "private for ours, which takes a destination of its own",
            );
        }
        if self.beside == Beside::Evictor && !(self.source.is_file() || self.target.is_file()) {
            let right = "nothing, spinner or protector where neither side is a file, memfd or shm";
            return wrong("beside", self.beside.to_string(), right);
        }
        let is_of_a_file = (self.source == Kind::File) != (self.target == Kind::File);
        let fits = self.operation == Operation::Copy && self.threads == 1 && is_of_a_file;
        if self.state == State::Beyond && !fits {
            let right = "hot or cold, but for one thread that copies from or to a file";
            return wrong("state", self.state.to_string(), right);
        }
        self.check_places()
    }

    /// Whether no other function may have its memory: what one has read of a file is there for the next one, and
    /// what is mapped anew is no longer what was asked for.
    pub(super) fn needs_own_memory(&self) -> bool {
        let maps_anew = matches!(self.function, Function::FirstTouch | Function::Populated);
        self.state == State::Beyond || maps_anew
    }

    /// Refuses memory that a function can't be used on.
    fn check_places(&self) -> Result<(), ArmError> {
        let (side, kind, right, fits) = match self.function {
            Function::Pread => ("source", &self.source, FILES, self.source.is_file()),
            Function::Pwrite => ("target", &self.target, FILES, self.target.is_file()),
            Function::MapRead => ("source", &self.source, FILES, self.source.is_file()),
            Function::MapWrite => ("target", &self.target, FILES, self.target.is_file()),
            Function::FirstTouch | Function::Populated => {
                ("target", &self.target, "pages", self.target == Kind::Small)
            }
            _ => return Ok(()),
        };
        if !fits {
            let right = format!("{right} for {}", self.function);
            return Err(ArmError::Spec { what: side, value: kind.to_string(), right });
        }
        match self.function {
            Function::Pread | Function::Pwrite => Ok(()),
            _ => self.check_pages(page_size()),
        }
    }

    /// Refuses parts of pages where a function maps.
    pub(super) fn check_pages(&self, page_bytes: usize) -> Result<(), ArmError> {
        let Self { function, bytes, offset, .. } = self;
        if *offset != 0 || !bytes.is_multiple_of(PAGE_BYTES) {
            let value = format!("{bytes} at offset {offset}");
            let right = format!("whole pages at offset 0 for {function}");
            return Err(ArmError::Spec { what: "bytes", value, right });
        }
        if !bytes.is_multiple_of(page_bytes) {
            let what = format!("{function} of {bytes} bytes");
            let reason = format!("this system has pages of {page_bytes} bytes; take whole ones");
            return Err(ArmError::Absent { what, reason });
        }
        Ok(())
    }
}

const FILES: &str = "file, memfd or shm";
/// The published tool's tenth length.
const BYTES_MAX: usize = 256 << 20;
