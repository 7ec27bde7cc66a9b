//! What the two processes say to each other beside the frames: messages over a socket of its own, which
//! also tells each when the other is gone.

use super::patience::Patience;
use crate::ArmError;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

/// One end.
pub(super) struct Control(OwnedFd);

/// A message: a text, and descriptors beside it.
pub(super) struct Message {
    pub(super) text: String,
    pub(super) descriptors: Vec<OwnedFd>,
}

/// Why no frame came or went.
#[derive(Debug)]
pub(super) enum Broken {
    /// The other process has closed its end.
    Gone,
    /// It did nothing for as long as this one has patience.
    Silent,
    /// A frame was wrong, or the system refused.
    Arm(ArmError),
}

impl From<ArmError> for Broken {
    fn from(error: ArmError) -> Self {
        Self::Arm(error)
    }
}

impl Control {
    /// Both ends; neither is inherited.
    pub(super) fn pair() -> Result<(Self, OwnedFd), Errno> {
        let flags = SocketFlags::CLOEXEC;
        let (near, far) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        Ok((Self(near), far))
    }

    pub(super) fn over(end: OwnedFd) -> Self {
        Self(end)
    }

    /// A second handle, to look whether the other process is still there.
    pub(super) fn watch(&self) -> Result<Watch, Errno> {
        rustix::io::fcntl_dupfd_cloexec(&self.0, 0).map(Watch)
    }

    pub(super) fn send(&self, text: &str, descriptors: &[BorrowedFd<'_>]) -> Result<(), Broken> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            beside.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        let sent =
            sendmsg(&self.0, &[IoSlice::new(text.as_bytes())], &mut beside, SendFlags::NOSIGNAL);
        sent.map(|_| ()).map_err(|_| Broken::Gone)
    }

    /// The next message; none when the other process is gone.
    pub(super) fn receive(&self, patience: Patience) -> Result<Option<Message>, Broken> {
        if !is_ready(self.0.as_fd(), PollFlags::IN, patience) {
            return Err(Broken::Silent);
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let mut text = vec![0; TEXT_MAX];
        let mut parts = [IoSliceMut::new(&mut text)];
        let received = recvmsg(&self.0, &mut parts, &mut beside, RecvFlags::CMSG_CLOEXEC);
        let bytes = match received {
            Ok(received) => received.bytes,
            Err(Errno::NOTSOCK) => return Err(no_socket().into()),
            Err(_) => return Ok(None),
        };
        text.truncate(bytes);
        let rights = beside.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        });
        let descriptors = rights.flatten().collect();
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok((bytes > 0).then_some(Message { text, descriptors }))
    }
}

fn no_socket() -> ArmError {
    ArmError::Spec {
        what: "a descriptor for frames",
        value: "another kind".to_owned(),
        right: "a socket from the process that measures".to_owned(),
    }
}

/// Looks whether the other process has something to say, or is gone.
pub(super) struct Watch(OwnedFd);

impl Watch {
    /// Either of them: while frames are under way nothing is said, unless they are all done or broken.
    pub(super) fn check(&self) -> Result<(), Broken> {
        if is_ready(self.0.as_fd(), PollFlags::IN, Patience::at_most(Duration::ZERO)) {
            return Err(Broken::Gone);
        }
        Ok(())
    }
}

/// Whether a descriptor has become ready, or was closed at its other end, before patience is at its end.
pub(super) fn is_ready(
    descriptor: BorrowedFd<'_>,
    wanted: PollFlags,
    mut patience: Patience,
) -> bool {
    loop {
        let begin = Instant::now();
        let mut polled = [PollFd::new(&descriptor, wanted)];
        match poll(&mut polled, patience.next().as_ref()) {
            Ok(0) | Err(Errno::INTR) if patience.lasts(begin.elapsed()) => {}
            Ok(0) | Err(Errno::INTR) => return false,
            Ok(_) | Err(_) => return true,
        }
    }
}

const DESCRIPTORS_MAX: usize = 2;
const TEXT_MAX: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::super::rules::Side;
    use super::*;

    #[test]
    fn a_message_brings_its_descriptors_and_the_end_is_told_from_silence() {
        let (near, far) = Control::pair().unwrap();
        let far = Control::over(far);
        let (watch, for_ever) = (near.watch().unwrap(), Patience::of(Side::Far));
        assert!(watch.check().is_ok());
        far.send("hello there", &[far.0.as_fd()]).unwrap();
        let message = near.receive(for_ever).unwrap().unwrap();
        assert_eq!((message.text.as_str(), message.descriptors.len()), ("hello there", 1));
        let silent = near.receive(Patience::at_most(Duration::ZERO));
        assert!(matches!(silent, Err(Broken::Silent)));
        drop((far, message));
        assert!(matches!(watch.check(), Err(Broken::Gone)));
        assert!(near.receive(for_ever).unwrap().is_none());
        assert!(matches!(near.send("anyone?", &[]), Err(Broken::Gone)));
    }
}
