//! Frames through a pipe or a socket: copied in by one process and out by the other.

use super::control::{Broken, is_ready};
use super::patience::Patience;
use super::{Way, failed};
use crate::ArmError;
use crate::memory::Memory;
use rustix::event::PollFlags;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, read, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// One end; it doesn't block, and sleeps in `poll` where nothing goes.
pub(super) struct Stream {
    way: Way,
    out: OwnedFd,
    inn: OwnedFd,
    outbox: Memory,
    inbox: Memory,
    patience: Patience,
}

/// The descriptors of one end: that to write to, and that to read from where it is another one.
pub(super) type Pair = (OwnedFd, Option<OwnedFd>);

/// Both ends of a way that is no ring.
pub(super) fn pairs(way: Way) -> Result<[Pair; 2], ArmError> {
    let refused = |error| failed(way, "it could not be opened")(error);
    match way {
        Way::Pipe => {
            let (far_in, near_out) = pipe().map_err(refused)?;
            let (near_in, far_out) = pipe().map_err(refused)?;
            Ok([(near_out, Some(near_in)), (far_out, Some(far_in))])
        }
        Way::Tcp => {
            let (near, far) =
                tcp().map_err(|error| failed(way, "127.0.0.1 could not be reached")(error))?;
            Ok([(near.into(), None), (far.into(), None)])
        }
        Way::UnixSocket | Way::Ring | Way::SealedRing | Way::ProcessVmReadv => {
            let flags = SocketFlags::CLOEXEC;
            let (near, far) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)
                .map_err(refused)?;
            Ok([(near, None), (far, None)])
        }
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    // More than this user may have is refused; then it stays as it was.
    let _ = fcntl_setpipe_size(&write, PIPE_BYTES);
    Ok((read, write))
}

fn tcp() -> std::io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let (far, from) = listener.accept()?;
    if from != near.local_addr()? {
        return Err(std::io::Error::other("another program came to the port first; measure again"));
    }
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    Ok((near, far))
}

impl Stream {
    pub(super) fn new(
        way: Way,
        pair: Pair,
        hand_bytes: usize,
        patience: Patience,
    ) -> Result<Self, ArmError> {
        let refused = |error| failed(way, "it could not be set up")(error);
        let (out, inn) = pair;
        let inn = match inn {
            Some(inn) => inn,
            None => rustix::io::fcntl_dupfd_cloexec(&out, 0).map_err(refused)?,
        };
        for end in [&out, &inn] {
            let flags = fcntl_getfl(end).map_err(refused)?;
            fcntl_setfl(end, flags | OFlags::NONBLOCK).map_err(refused)?;
        }
        let [outbox, inbox] = [(); 2].map(|()| Memory::zeroed(hand_bytes));
        Ok(Self { way, out, inn, outbox, inbox, patience })
    }

    /// Sends what `fill` writes.
    pub(super) fn send(
        &mut self,
        bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<(), ArmError>,
    ) -> Result<(), Broken> {
        fill(&mut self.outbox[..bytes])?;
        let mut gone = 0;
        while gone < bytes {
            match write(&self.out, &self.outbox[gone..bytes]) {
                Ok(written) => gone += written,
                Err(error) => self.after(error, self.out.as_fd(), PollFlags::OUT)?,
            }
        }
        Ok(())
    }

    /// Takes as many bytes as the other process sends.
    pub(super) fn receive(
        &mut self,
        bytes: usize,
        take: impl FnOnce(&[u8]) -> Result<(), ArmError>,
    ) -> Result<(), Broken> {
        let mut come = 0;
        while come < bytes {
            match read(&self.inn, &mut self.inbox[come..bytes]) {
                Ok(0) => return Err(Broken::Gone),
                Ok(read) => come += read,
                Err(error) => self.after(error, self.inn.as_fd(), PollFlags::IN)?,
            }
        }
        Ok(take(&self.inbox[..bytes])?)
    }

    fn after(&self, error: Errno, end: BorrowedFd<'_>, wanted: PollFlags) -> Result<(), Broken> {
        match error {
            Errno::INTR => Ok(()),
            Errno::AGAIN if is_ready(end, wanted, self.patience) => Ok(()),
            Errno::AGAIN => Err(Broken::Silent),
            Errno::PIPE | Errno::CONNRESET => Err(Broken::Gone),
            error => Err(failed(self.way, "a frame could not be moved")(error).into()),
        }
    }
}

/// As much as users may usually have; the usual 64 KiB hold one frame only.
const PIPE_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::super::rules::Side;
    use super::*;

    #[test]
    fn bytes_go_both_ways_and_the_end_is_noticed_in_the_middle_of_a_frame() {
        let patience = Patience::of(Side::Far);
        for way in [Way::Pipe, Way::UnixSocket, Way::Tcp] {
            let [near, far] =
                pairs(way).unwrap().map(|pair| Stream::new(way, pair, 1_000, patience).unwrap());
            let mut ends = [near, far];
            for (from, to) in [(0, 1), (1, 0)] {
                let fill = |bytes: &mut [u8]| {
                    bytes.fill(7);
                    Ok(())
                };
                ends[from].send(1_000, fill).unwrap();
                let take = |bytes: &[u8]| {
                    assert_eq!(bytes, [7; 1_000]);
                    Ok(())
                };
                ends[to].receive(1_000, take).unwrap();
            }
            let [mut near, mut far] = ends;
            near.send(400, |_| Ok(())).unwrap();
            drop(near);
            let broken = far.receive(1_000, |_| Ok(())).unwrap_err();
            assert!(matches!(broken, Broken::Gone), "{way:?}: {broken:?}");
            let broken = (0..100_000).find_map(|_| far.send(1_000, |_| Ok(())).err()).unwrap();
            assert!(matches!(broken, Broken::Gone), "{way:?}: {broken:?}");
        }
    }
}
