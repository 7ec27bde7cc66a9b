//! AES-GCM with tables in memory: ordinary portable code, as it was written before processors had
//! instructions for it, and what document 003 calls ordinary calculations.
//!
//! **It leaks.** Which table entries it loads depends on keys and data, and whoever shares a cache with it
//! can see which lines those were. So it is here to be compared with, and no device for users.

mod aes;
mod gcm;
mod ghash;

use super::message;
use gcm::TableGcm;
use sealift::software::{self, Crew, Expander, KeyTable, Lent, Software};
use sealift::{
    Capabilities, Context, Device, DeviceError, Driver, Key, Keys, OpenError, Probe, Role,
    SessionId, Spec, Work,
};
use std::ops::Range;
use std::sync::Arc;

/// The driver `table`.
#[derive(Debug)]
pub struct Table;

impl Driver for Table {
    fn name(&self) -> &'static str {
        "table"
    }

    fn summary(&self) -> &'static str {
        "portable code with tables, which leaks: to compare with only (workers=, cores=)"
    }

    fn probe(&self) -> Probe {
        Probe::Present { role: Role::TestOnly, detail: DETAIL.to_owned() }
    }

    fn open(&self, spec: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
        software::only(spec, &["workers", "cores"])?;
        let all = software::capabilities(spec, self.name(), Role::TestOnly, DETAIL.to_owned());
        let capabilities = Capabilities { in_place: false, ..all };
        let tables = Tables { name: spec.to_string(), keys: KeyTable::new() };
        Ok(software::open(tables, capabilities, Crew::of(spec)?, context))
    }
}

#[derive(Debug)]
struct Tables {
    name: String,
    keys: KeyTable<Box<TableGcm>>,
}

impl Software for Tables {
    fn run(&self, work: &mut Work<'_>) -> Result<(), DeviceError> {
        let step =
            |work: &mut Work<'_>, range: Range<usize>, lent: Lent<'_, Box<TableGcm>>| match lent {
                Lent::One(key) => range.into_iter().try_for_each(|i| one(key, work, i)),
                Lent::Each(each) => range.zip(each).try_for_each(|(i, key)| one(key, work, i)),
            };
        match &work.batch().keys {
            Keys::Session(session) => self.keys.run_one(*session, work, self, step),
            Keys::Sessions(sessions) => self.keys.run_each(sessions, work, self, step),
            Keys::Raw(keys) => {
                (0..work.len()).try_for_each(|i| one(&TableGcm::new(keys.get(i)), work, i))
            }
        }
    }

    fn retire(&self, session: SessionId) {
        self.keys.retire(session);
    }
}

impl Expander for Tables {
    type Expanded = Box<TableGcm>;

    fn device(&self) -> &str {
        &self.name
    }

    fn expand(&self, key: &Key) -> Result<Box<TableGcm>, DeviceError> {
        Ok(Box::new(TableGcm::new(key.as_bytes())))
    }

    fn serves(&self, _: &Box<TableGcm>) -> bool {
        true
    }
}

fn one(mut key: &TableGcm, work: &mut Work<'_>, message: usize) -> Result<(), DeviceError> {
    let stability = work.batch().stability;
    let status = message::work(&mut key, work.slot(message), stability)?;
    work.set_status(message, status);
    Ok(())
}

const DETAIL: &str = "AES by four tables of 1 KiB, GHASH by 4-bit tables of 512 bytes a key";
