//! The process at the other end: answers or takes frames until the one that started it is gone.

use super::control::{Broken, Control, Message};
use super::end::{End, Half, Other};
use super::ffi::Reader;
use super::patience::Patience;
use super::rules::{Rules, Side};
use super::setup::{Begun, Finished, Go, Ready, Setup};
use super::stream::Stream;
use super::texts::Texts;
use super::{Pattern, RECEIPT_BYTES, Way};
use crate::ArmError;
use crate::cores::Cores;
use crate::system::Usage;
use rustix::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// Answers frames as [`FramesArm`](super::FramesArm) asks for them over a socket, until its other end is
/// closed. `verified` counts the frames that were right, while they come.
///
/// # Errors
/// A frame was wrong, the descriptor is no such socket, or the system refused; the other end is told, too.
pub fn answer_frames(control: OwnedFd, verified: &AtomicU64) -> Result<(), ArmError> {
    let control = Control::over(control);
    let Err(broken) = answer(&control, verified) else { return Ok(()) };
    // When nobody is left to be told, nothing is missing.
    let _ = control.send(&super::setup::last_words(&broken), &[]);
    match broken {
        Broken::Gone | Broken::Silent => Ok(()),
        Broken::Arm(error) => Err(error),
    }
}

fn answer(control: &Control, verified: &AtomicU64) -> Result<(), Broken> {
    let patience = Patience::of(Side::Far);
    let Some(first) = control.receive(patience)? else { return Ok(()) };
    let (setup, descriptors) = Setup::parse(first)?;
    let mut far = Far::new(&setup, descriptors, control)?;
    while let Some(Message { text, .. }) = control.receive(patience)? {
        let go = Go::parse(&text)?;
        control.send(&Begun.to_string(), &[])?;
        let before = Usage::now();
        far.exchange(go, verified)?;
        let (switches, cpu_share) = before.since();
        control.send(&Finished { switches, cpu_share }.to_string(), &[])?;
    }
    Ok(())
}

struct Far {
    _reader: Option<Reader>,
    end: End,
    incoming: Texts,
    outgoing: Texts,
    setup: Setup,
}

impl Far {
    fn new(setup: &Setup, descriptors: Vec<OwnedFd>, control: &Control) -> Result<Self, Broken> {
        // For as long as the process lives.
        std::mem::forget(Cores::one(setup.core).keep(0)?);
        let rules = Rules::parse(&setup.rules)?;
        let texts = |sender| Texts::of(sender, Side::Far, setup.form, setup.seed, &rules);
        let (incoming, outgoing) = (texts(Side::Near)?, texts(Side::Far)?);
        let reader = (setup.form.way == Way::ProcessVmReadv).then(|| Reader::of(setup.pid));
        let end = open(setup, descriptors, control, &rules, reader.as_ref())?;
        Ok(Self { _reader: reader, end, incoming, outgoing, setup: setup.clone() })
    }

    fn exchange(&mut self, go: Go, verified: &AtomicU64) -> Result<(), Broken> {
        let Self { end, incoming, outgoing, setup, .. } = self;
        let (bytes, batch) = (setup.form.hand_bytes(), setup.form.batch as u64);
        for hand in 0..go.hands {
            let number = go.first + hand * batch;
            end.receive(bytes, |hand| incoming.check(hand, number))?;
            verified.fetch_add(batch, Ordering::Relaxed);
            if go.pattern == Pattern::PingPong {
                end.send(bytes, |hand| outgoing.fill(hand, number))?;
            }
        }
        if go.pattern == Pattern::Stream {
            end.send(RECEIPT_BYTES, |receipt| {
                outgoing.fill_receipt(receipt, go.first + go.hands * batch);
                Ok(())
            })?;
        }
        Ok(())
    }
}

fn open(
    setup: &Setup,
    mut descriptors: Vec<OwnedFd>,
    control: &Control,
    rules: &Rules,
    reader: Option<&Reader>,
) -> Result<End, Broken> {
    let form = setup.form;
    let Some(first) = (!descriptors.is_empty()).then(|| descriptors.remove(0)) else {
        return Err(
            super::told(form.way, "no descriptor came with the first message".into()).into()
        );
    };
    if !form.way.is_ring() {
        control.send(&Ready { address: 0 }.to_string(), &[])?;
        let pair = (first, descriptors.pop());
        let patience = Patience::of(Side::Far);
        return Ok(End::Stream(Stream::new(form.way, pair, form.hand_bytes(), patience)?));
    }
    let half = Half::make(form, Side::Far, rules)?;
    if let Some(reader) = reader {
        reader.admit();
    }
    let ready = Ready { address: half.address() }.to_string();
    control.send(&ready, &[half.region.lend(Side::Near, rules)?])?;
    let (pid, address, spins) = (setup.pid, setup.address, setup.spins);
    let other = Other { side: Side::Far, region: first, pid, address, control, rules, spins };
    Ok(half.join(form, other)?)
}
