//! What Python says of copies, as the probes take it.

use pyo3::prelude::*;
use sealift_probes::ArmError;
use sealift_probes::copy::{
    Beside, Buffers, Content, CopySpec, Function, Kind, Operation, Region, State,
};
use std::path::PathBuf;

/// The arguments of `Arm.copy`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    operation: String,
    function: String,
    bytes: usize,
    threads: usize,
    source: String,
    target: String,
    state: String,
    buffers: String,
    offset: usize,
    beside: String,
    content: String,
    seed: u64,
    folder: PathBuf,
    region: Option<(PathBuf, u64, usize)>,
}

impl Asked {
    pub(crate) fn spec(&self) -> Result<CopySpec, ArmError> {
        Ok(CopySpec {
            operation: Operation::parse(&self.operation)?,
            function: Function::parse(&self.function)?,
            bytes: self.bytes,
            threads: self.threads,
            source: self.kind(&self.source)?,
            target: self.kind(&self.target)?,
            state: State::parse(&self.state)?,
            buffers: Buffers::parse(&self.buffers)?,
            offset: self.offset,
            beside: Beside::parse(&self.beside)?,
            content: self.content()?,
            folder: self.folder.clone(),
        })
    }

    fn kind(&self, name: &str) -> Result<Kind, ArmError> {
        match &self.region {
            Some((path, offset, bytes)) if name == "region" => {
                Ok(Kind::Region(Region::find(path, *offset, *bytes)?))
            }
            _ => Kind::parse(name),
        }
    }

    fn content(&self) -> Result<Content, ArmError> {
        let value = self.seed.to_le_bytes()[0];
        match self.content.as_str() {
            "seeded" => Ok(Content::Seeded(self.seed)),
            "counting" => Ok(Content::Counting(value)),
            "found" => Ok(Content::Found(value)),
            other => Err(ArmError::Spec {
                what: "content",
                value: format!("{other:?}"),
                right: "seeded, counting, found".to_owned(),
            }),
        }
    }
}
