//! The process that measures: starts the other one, exchanges frames with it, and says how it went.

use super::control::{Broken, Control};
use super::end::{End, Half, Other};
use super::ffi::Reader;
use super::patience::{Patience, SILENCE_MAX};
use super::process::Process;
use super::rules::Side;
use super::setup::{Begun, Finished, Go, Setup, parse_last_words};
use super::stream::{self, Stream};
use super::texts::Texts;
use super::trips::Trips;
use super::{Form, FrameSpec, Pattern, RECEIPT_BYTES, Way, told};
use crate::ArmError;
use crate::crew::{Done, Part};
use rustix::fd::AsFd;
use std::time::{Duration, Instant};

/// This end of the way.
pub(super) struct Near {
    /// Before the process, whose number is free again once it has ended.
    reader: Option<Reader>,
    pub(super) process: Process,
    control: Control,
    end: End,
    outgoing: Texts,
    incoming: Texts,
    pub(super) form: Form,
    pub(super) pattern: Pattern,
    pub(super) spins: bool,
    /// The number of the next frame.
    next: u64,
    /// What became of asking the far process to begin.
    begun: Result<(), ArmError>,
    pub(super) finished: Finished,
    /// How many frames of each direction were right up to now, wherever they arrived.
    pub(super) confirmed: u64,
    pub(super) trips: Trips,
}

impl Near {
    pub(super) fn start(
        spec: &FrameSpec,
        cores: &[usize],
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Self, ArmError> {
        let FrameSpec { way, pattern, frame_bytes, batch, seed, ref rules, ref far } = *spec;
        let form = Form { way, frame_bytes, batch };
        let texts = |sender| Texts::of(sender, Side::Near, form, seed, rules);
        let (outgoing, incoming) = (texts(Side::Near)?, texts(Side::Far)?);
        let (control, far_end) = Control::pair().map_err(super::failed(way, "no socket"))?;
        let spins = way.is_ring() && cores.len() > 1;
        let half = way.is_ring().then(|| Half::make(form, Side::Near, rules)).transpose()?;
        let setup = Setup {
            form,
            seed,
            core: cores.get(1).copied(),
            spins,
            pid: rustix::process::getpid().as_raw_nonzero().get(),
            address: half.as_ref().map_or(0, Half::address),
            rules: rules.to_string(),
        };
        let mut process = Process::start(way, far, far_end)?;
        let end = match half {
            Some(half) => ring(half, &setup, spec, &mut process, &control, wanted),
            None => stream(&setup, &mut process, &control, wanted),
        }?;
        let (begun, finished) = (Ok(()), Finished { switches: 0, cpu_share: 1.0 });
        let (next, confirmed, trips) = (0, 0, Trips::default());
        let reader = (way == Way::ProcessVmReadv).then(|| Reader::of(process.raw_pid()));
        Ok(Self {
            reader,
            process,
            control,
            end,
            outgoing,
            incoming,
            form,
            pattern,
            spins,
            next,
            begun,
            finished,
            confirmed,
            trips,
        })
    }

    fn begin(&mut self, hands: usize) -> Result<(), ArmError> {
        if let Some(reader) = &self.reader {
            // One process at a time may, where the system asks for it, so each arm says it anew.
            reader.admit();
        }
        let go = Go { pattern: self.pattern, hands: hands as u64, first: self.next };
        let answer = ask(&self.control, &go.to_string());
        answer
            .map_err(|broken| self.why(broken))
            .and_then(|text| self.heard(&text, Begun::parse))
            .map(|_| ())
    }

    /// Reads a message, which may be the far process's last.
    fn heard<T>(
        &self,
        text: &str,
        parse: impl Fn(&str) -> Result<T, ArmError>,
    ) -> Result<T, ArmError> {
        match parse_last_words(self.form.way, text) {
            Some(error) => Err(error),
            None => parse(text),
        }
    }

    fn exchange(&mut self, hands: usize) -> Result<(), Broken> {
        match self.pattern {
            Pattern::PingPong => self.ping_pong(hands),
            Pattern::Stream => self.stream(hands),
        }
    }

    fn ping_pong(&mut self, hands: usize) -> Result<(), Broken> {
        let every = if self.form.hand_bytes() < TIMED_BYTES_MIN { TIMED_EVERY } else { 1 };
        for hand in 0..hands {
            if hand % every == 0 {
                let begin = Instant::now();
                self.round_trip()?;
                self.trips.add(begin.elapsed());
            } else {
                self.round_trip()?;
            }
        }
        Ok(())
    }

    fn round_trip(&mut self) -> Result<(), Broken> {
        let Self { end, outgoing, incoming, form, next, .. } = self;
        end.send(form.hand_bytes(), |hand| outgoing.fill(hand, *next))?;
        end.receive(form.hand_bytes(), |hand| incoming.check(hand, *next))?;
        *next += form.batch as u64;
        Ok(())
    }

    /// The last frame is not the end: that is when the far process has found all of them right.
    fn stream(&mut self, hands: usize) -> Result<(), Broken> {
        let Self { end, outgoing, incoming, form, next, .. } = self;
        for _ in 0..hands {
            end.send(form.hand_bytes(), |hand| outgoing.fill(hand, *next))?;
            *next += form.batch as u64;
        }
        end.receive(RECEIPT_BYTES, |receipt| incoming.check_receipt(receipt, *next))
    }

    /// Why no frame came or went, by the other process's last words or by how it ended.
    fn why(&mut self, broken: Broken) -> ArmError {
        let way = self.form.way;
        match broken {
            Broken::Arm(error) => error,
            Broken::Silent => {
                self.process.kill();
                told(
                    way,
                    format!(
                        "the process at the other end did nothing for {SILENCE_MAX:?}{}",
                        self.at()
                    ),
                )
            }
            Broken::Gone => {
                let message =
                    self.control.receive(Patience::at_most(Duration::ZERO)).ok().flatten();
                let said = message.and_then(|message| parse_last_words(way, &message.text));
                said.unwrap_or_else(|| {
                    let ended = self.process.ended();
                    told(way, format!("the process at the other end {ended}{}", self.at()))
                })
            }
        }
    }

    /// Takes down that no more frames can be exchanged, and why.
    fn ended_by(&mut self, error: ArmError) -> ArmError {
        self.begun = Err(error.clone());
        error
    }

    fn at(&self) -> String {
        format!(", with frame {} under way", self.next)
    }

    pub(super) fn detail(&self, cores: &[usize]) -> String {
        let place = match cores {
            [near, far, ..] => format!("cores {near} and {far}"),
            _ => "no core for each process, so nobody spins".to_owned(),
        };
        let by = self.outgoing.sealed_by();
        let sealed = if by.is_empty() { by } else { format!(", sealed by {by}") };
        format!("{}{sealed}; {place}", self.form.way.words())
    }
}

impl Part for Near {
    fn ready(&mut self, times: usize) {
        self.begun = match self.begun.clone() {
            Ok(()) => self.begin(times),
            broken => broken,
        };
    }

    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        self.begun.clone()?;
        if let Err(broken) = self.exchange(times) {
            let error = self.why(broken);
            return Err(self.ended_by(error));
        }
        let frames = (times * self.form.batch) as u64 * self.pattern.directions();
        Ok(Done { operations: frames, bytes: frames * self.form.frame_bytes as u64 })
    }

    fn check(&mut self) -> Result<(), ArmError> {
        let message = self.control.receive(Patience::of(Side::Near));
        let message = message.and_then(|message| message.ok_or(Broken::Gone));
        let finished = message
            .map_err(|broken| self.why(broken))
            .and_then(|message| self.heard(&message.text, Finished::parse));
        self.finished = finished.map_err(|error| self.ended_by(error))?;
        self.confirmed = self.next;
        Ok(())
    }
}

fn ask(control: &Control, text: &str) -> Result<String, Broken> {
    control.send(text, &[])?;
    let message = control.receive(Patience::of(Side::Near))?;
    message.map(|message| message.text).ok_or(Broken::Gone)
}

fn ring(
    half: Half,
    setup: &Setup,
    spec: &FrameSpec,
    process: &mut Process,
    control: &Control,
    wanted: &mut dyn FnMut() -> bool,
) -> Result<End, ArmError> {
    let lent = half.region.lend(Side::Far, &spec.rules)?;
    let (ready, region) = process.meet(setup, &[lent], control, wanted)?;
    let Some(region) = region else {
        return Err(told(spec.way, "the process at the other end sent no region".into()));
    };
    let (pid, address, spins) = (process.raw_pid(), ready.address, setup.spins);
    let other =
        Other { side: Side::Near, region, pid, address, control, rules: &spec.rules, spins };
    half.join(setup.form, other)
}

fn stream(
    setup: &Setup,
    process: &mut Process,
    control: &Control,
    wanted: &mut dyn FnMut() -> bool,
) -> Result<End, ArmError> {
    let way = setup.form.way;
    let [near, (out, inn)] = stream::pairs(way)?;
    let lent: Vec<_> =
        std::iter::once(out.as_fd()).chain(inn.as_ref().map(|inn| inn.as_fd())).collect();
    process.meet(setup, &lent, control, wanted)?;
    let patience = Patience::of(Side::Near);
    Ok(End::Stream(Stream::new(way, near, setup.form.hand_bytes(), patience)?))
}

/// Two looks at the clock are a hundredth of such a round trip at most; of shorter ones, each so many.
const TIMED_BYTES_MIN: usize = 64 << 10;
const TIMED_EVERY: usize = 64;
