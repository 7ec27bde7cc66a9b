//! One end of any way, and how both ends come about.

use super::control::{Broken, Control};
use super::patience::Patience;
use super::region::Region;
use super::ring::{Apart, Ring, Slots, Waiting};
use super::rules::{Access, Name, Rules, Side};
use super::stream::Stream;
use super::{Form, Way};
use crate::ArmError;
use crate::memory::Memory;
use rustix::fd::OwnedFd;

/// One end: hands go out, and come in.
pub(super) enum End {
    Ring(Ring),
    Stream(Stream),
}

impl End {
    pub(super) fn send(
        &mut self,
        bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), ArmError>,
    ) -> Result<(), Broken> {
        match self {
            Self::Ring(ring) => ring.send(bytes, fill),
            Self::Stream(stream) => stream.send(bytes, fill),
        }
    }

    pub(super) fn receive(
        &mut self,
        bytes: usize,
        take: impl FnOnce(&[u8]) -> Result<(), ArmError>,
    ) -> Result<(), Broken> {
        match self {
            Self::Ring(ring) => ring.receive(bytes, take),
            Self::Stream(stream) => stream.receive(bytes, take),
        }
    }
}

/// What this process has made of a ring before it knows the other's part.
pub(super) struct Half {
    pub(super) region: Region,
    slots: Slots,
    frames: Option<Memory>,
}

impl Half {
    pub(super) fn make(form: Form, side: Side, rules: &Rules) -> Result<Self, ArmError> {
        let slots = Slots::of(form.hand_bytes());
        let bytes = slots.region_bytes(form.way);
        let region = Region::make(Name::outbox(side), side, bytes, rules)?;
        let apart = form.way == Way::ProcessVmReadv;
        if apart {
            // Its frames are no region, but what stands in them is what the outbox would hold.
            rules.check(Name::outbox(side), side.other(), Access::Read)?;
        }
        let frames = apart.then(|| Memory::zeroed(slots.all_bytes()));
        Ok(Self { region, slots, frames })
    }

    /// Where its frames lie when they are read out of this process; 0 for frames in the region.
    pub(super) fn address(&self) -> usize {
        self.frames.as_ref().map_or(0, |frames| frames.as_ptr().expose_provenance())
    }

    /// Puts the other half to it.
    pub(super) fn join(self, form: Form, other: Other<'_>) -> Result<End, ArmError> {
        let Other { side, region, pid, address, control, rules, spins } = other;
        let name = Name::outbox(side.other());
        let bytes = self.slots.region_bytes(form.way);
        let inbox = Region::borrow(name, side, Access::Read, region, bytes, rules)?;
        let apart = self.frames.map(|outbox| {
            let inbox = Memory::zeroed(self.slots.bytes);
            Apart { outbox, inbox, pid, address }
        });
        let watch =
            control.watch().map_err(super::failed(form.way, "its end could not be watched"))?;
        let waiting = Waiting { watch, patience: Patience::of(side), spins };
        Ok(End::Ring(Ring::new(self.region, inbox, apart, self.slots, waiting)))
    }
}

/// What the other process has told of its half, and what joining takes.
pub(super) struct Other<'o> {
    /// Which process this is.
    pub(super) side: Side,
    pub(super) region: OwnedFd,
    pub(super) pid: i32,
    pub(super) address: usize,
    pub(super) control: &'o Control,
    pub(super) rules: &'o Rules,
    /// Whether both have a core of their own.
    pub(super) spins: bool,
}
