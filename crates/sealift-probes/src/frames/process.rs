//! The far process, seen from the one that has started it.

use super::control::{Broken, Control, Message};
use super::patience::{LOOK_AGAIN, Patience};
use super::setup::{Ready, Setup, parse_last_words};
use super::{Way, failed, told};
use crate::ArmError;
use rustix::fd::{BorrowedFd, OwnedFd};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Ends with this value: by itself, because its socket is closed then, or by force.
pub(super) struct Process(Child);

impl Process {
    /// Starts it with the other end of the socket as its standard input.
    pub(super) fn start(way: Way, command: &[OsString], end: OwnedFd) -> Result<Self, ArmError> {
        let Some((program, arguments)) = command.split_first() else {
            let right = "a program that calls answer_frames".to_owned();
            return Err(ArmError::Spec { what: "a command", value: "nothing".to_owned(), right });
        };
        let child = Command::new(program)
            .args(arguments)
            .stdin(end)
            .stdout(Stdio::null())
            // Ctrl-C is for the process that measures, which ends this one.
            .process_group(0)
            .spawn()
            .map_err(failed(way, &format!("{} could not be started", program.display())))?;
        Ok(Self(child))
    }

    /// Tells it what is exchanged, and hears what it has made for that.
    pub(super) fn meet(
        &mut self,
        setup: &Setup,
        lent: &[BorrowedFd<'_>],
        control: &Control,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<(Ready, Option<OwnedFd>), ArmError> {
        let way = setup.form.way;
        let answer = control.send(&setup.to_string(), lent);
        let answer = answer.and_then(|()| first_answer(control, wanted));
        match answer {
            Ok(Some(mut message)) => match parse_last_words(way, &message.text) {
                Some(error) => Err(error),
                None => Ok((Ready::parse(&message.text)?, message.descriptors.pop())),
            },
            Ok(None) | Err(Broken::Gone) => {
                let ended = self.ended();
                Err(told(
                    way,
                    format!("the process at the other end {ended} before the first frame"),
                ))
            }
            Err(Broken::Silent) => {
                self.kill();
                let what =
                    format!("the process at the other end did not begin within {START_MAX:?}");
                Err(told(way, what))
            }
            Err(Broken::Arm(error)) => Err(error),
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(super) fn raw_pid(&self) -> i32 {
        self.0.id().cast_signed()
    }

    /// How it ended: it has closed its socket, so it is about to, or is made to.
    pub(super) fn ended(&mut self) -> String {
        let begin = Instant::now();
        while begin.elapsed() < LEAVING_MAX {
            if let Ok(Some(status)) = self.0.try_wait() {
                return format!("has ended ({status})");
            }
            sleep(LOOK);
        }
        self.kill();
        "has closed its socket".to_owned()
    }

    pub(super) fn kill(&mut self) {
        // One that has ended can't be killed, and is waited for all the same.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Hears it, asking now and then whether that is still wanted.
fn first_answer(
    control: &Control,
    wanted: &mut dyn FnMut() -> bool,
) -> Result<Option<Message>, Broken> {
    let mut patience = Patience::at_most(START_MAX);
    while wanted() {
        let begin = Instant::now();
        match control.receive(Patience::at_most(LOOK_AGAIN)) {
            Err(Broken::Silent) if patience.lasts(begin.elapsed()) => {}
            answer => return answer,
        }
    }
    Err(ArmError::Stopped { device: "the process at the other end".to_owned() }.into())
}

/// An interpreter on a busy machine takes seconds.
const START_MAX: Duration = Duration::from_secs(30);
const LEAVING_MAX: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(1);
