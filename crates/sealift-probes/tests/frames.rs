//! Two processes exchange frames, and one of them goes away or says something wrong.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use sealift_probes::frames::{FrameSpec, FramesArm, Pattern, RULES, Rules, Way, answer_frames};
use sealift_probes::{Arm, ArmError};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, stdin};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

/// This program again, as the process at the other end.
fn far(test: &str) -> Vec<OsString> {
    let program = std::env::current_exe().expect("a program that runs has a file").into_os_string();
    let words = [test, "--exact", "--ignored", "--nocapture", "--quiet"];
    std::iter::once(program).chain(words.map(OsString::from)).collect()
}

fn spec(way: Way, pattern: Pattern) -> FrameSpec {
    let rules = Rules::parse(RULES).expect("they are tested beside them");
    FrameSpec { way, pattern, frame_bytes: 65_536, batch: 1, seed: 7, rules, far: far("answers") }
}

#[test]
#[ignore = "the process at the other end of other tests"]
fn answers() {
    let end = stdin().as_fd().try_clone_to_owned().unwrap();
    // Whoever runs it by hand has no such socket as standard input.
    let _ = answer_frames(end, &AtomicU64::new(0));
}

#[test]
#[ignore = "the process at the other end of other tests"]
fn answers_until_it_dies() {
    let end = stdin().as_fd().try_clone_to_owned().unwrap();
    let verified = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while verified.load(Ordering::Relaxed) < 500 {
                std::thread::yield_now();
            }
            std::process::abort();
        });
        let _ = answer_frames(end, &verified);
        // Not asked for so many frames.
        std::process::exit(0);
    });
}

/// Or why this machine refuses one.
fn prepared(spec: &FrameSpec) -> Option<FramesArm> {
    match FramesArm::prepare(spec) {
        Ok(arm) => Some(arm),
        Err(ArmError::Frames { way: "process-vm-readv", what }) if what.contains("refused") => {
            eprintln!("skipped: {what}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn every_way_brings_every_frame_in_both_patterns() {
    for (name, way) in Way::ALL {
        for (_, pattern) in Pattern::ALL {
            for (frame_bytes, batch) in [(16, 1), (65_536, 1), (1_000, 7)] {
                let spec = FrameSpec { frame_bytes, batch, ..spec(way, pattern) };
                let Some(mut arm) = prepared(&spec) else { continue };
                let before = arm.counts()[0].1;
                let sample = arm.sample(0.005).unwrap();
                assert_eq!(sample.bytes, sample.operations * frame_bytes as u64, "{name}");
                assert_eq!(sample.operations % batch as u64, 0);
                assert_eq!(arm.counts()[0].1, before + sample.operations, "{name}");
                assert_eq!(arm.round_trips().is_empty(), pattern == Pattern::Stream);
                assert_eq!(arm.detail().contains("sealed by"), way == Way::SealedRing);
            }
        }
    }
}

#[test]
fn a_process_that_dies_among_frames_is_an_error_and_no_hang() {
    for (name, way) in Way::ALL {
        for (_, pattern) in Pattern::ALL {
            let spec = FrameSpec { far: far("answers_until_it_dies"), ..spec(way, pattern) };
            let Some(mut arm) = prepared(&spec) else { continue };
            let error = std::iter::repeat_with(|| arm.sample(0.02)).find_map(Result::err).unwrap();
            let told = error.to_string();
            assert!(
                told.starts_with(&format!("frames by {name}: the process at the other")),
                "{told}"
            );
            assert!(told.contains("SIGABRT"), "{told}");
            assert_eq!(arm.sample(0.02), Err(error), "it stays broken");
        }
    }
}

#[test]
fn frames_of_another_seed_are_wrong_and_named() {
    // The far process reads its setup from the near one; this one hears of another seed.
    let wrong = FrameSpec { far: far("answers_wrongly"), ..spec(Way::Ring, Pattern::PingPong) };
    let error = FramesArm::prepare(&wrong).err().unwrap();
    assert!(matches!(&error, ArmError::Wrong { .. }), "{error}");
    assert!(error.to_string().contains("frame 0 of the near process has 0x"), "{error}");
}

/// Stands between the two and changes the seed on its way.
#[test]
#[ignore = "the process at the other end of other tests"]
fn answers_wrongly() {
    use rustix::net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
    };
    use std::io::{IoSlice, IoSliceMut};
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;

    fn pass(from: &OwnedFd, to: &OwnedFd) -> bool {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let mut text = [0; 4_096];
        let mut parts = [IoSliceMut::new(&mut text)];
        let received = recvmsg(from, &mut parts, &mut beside, RecvFlags::empty());
        let Ok(bytes @ 1..) = received.map(|received| received.bytes) else { return false };
        let lent: Vec<OwnedFd> = beside
            .drain()
            .flat_map(|message| match message {
                RecvAncillaryMessage::ScmRights(lent) => lent.collect(),
                _ => vec![],
            })
            .collect();
        let text = String::from_utf8_lossy(&text[..bytes]).replace(" 65536 1 7 ", " 65536 1 8 ");
        let lent: Vec<_> = lent.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if !lent.is_empty() {
            beside.push(SendAncillaryMessage::ScmRights(&lent));
        }
        sendmsg(to, &[IoSlice::new(text.as_bytes())], &mut beside, SendFlags::NOSIGNAL).is_ok()
    }

    let outside = stdin().as_fd().try_clone_to_owned().unwrap();
    let flags = SocketFlags::CLOEXEC;
    let (inside, end) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| while pass(&inside, &outside) {});
        scope.spawn(|| answer_frames(end, &AtomicU64::new(0)));
        while pass(&outside, &inside) {}
        std::process::exit(0);
    });
}

#[test]
fn rules_that_forbid_the_other_process_to_read_leave_nothing_to_exchange() {
    let rules = Rules::parse(&RULES.replace("near=write far=read", "near=write far=none")).unwrap();
    for way in [Way::Ring, Way::SealedRing, Way::ProcessVmReadv] {
        let forbidden = FrameSpec { rules: rules.clone(), ..spec(way, Pattern::Stream) };
        let error = FramesArm::prepare(&forbidden).err().unwrap().to_string();
        assert_eq!(
            error,
            "the far process may not read the region near-outbox: the rules grant it none"
        );
    }
}

#[test]
fn a_command_that_is_no_other_end_is_refused_with_its_end() {
    let start = |words: &[&str]| {
        let far = words.iter().map(OsString::from).collect();
        let spec = FrameSpec { far, ..spec(Way::Ring, Pattern::Stream) };
        FramesArm::prepare(&spec).err().unwrap().to_string()
    };
    assert!(start(&[]).starts_with("a command of nothing"));
    assert!(start(&["/nowhere/at-all"]).contains("/nowhere/at-all could not be started"));
    assert!(start(&["false"]).contains("has ended (exit status: 1) before the first frame"));
}

#[test]
fn numbers_out_of_range_are_refused_before_anything_starts() {
    let refused = |frame_bytes, batch| {
        let far = vec!["/nowhere".into()];
        let spec = FrameSpec { frame_bytes, batch, far, ..spec(Way::Ring, Pattern::Stream) };
        FramesArm::prepare(&spec).err().unwrap().to_string()
    };
    assert!(refused(15, 1).starts_with("bytes of a frame of 15: right would be 16 to"));
    assert!(refused(16, 0).starts_with("frames at once of 0: right would be 1 to 1024"));
    assert!(refused(64 << 20, 2).starts_with("bytes at once of 134217728"));
}

#[test]
#[ignore = "the process that measures, in other tests"]
fn measures_until_it_is_killed() {
    let mut arm = FramesArm::prepare(&spec(Way::Ring, Pattern::PingPong)).unwrap();
    println!("far {}", arm.far_pid());
    while arm.sample(0.05).is_ok() {}
}

#[test]
fn the_other_process_ends_with_the_one_that_measures() {
    let command = far("measures_until_it_is_killed");
    let mut near =
        Command::new(&command[0]).args(&command[1..]).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(near.stdout.take().unwrap()).lines();
    let pid = lines.map_while(Result::ok).find_map(|line| line.split("far ").nth(1)?.parse().ok());
    let pid = Pid::from_raw(pid.unwrap()).unwrap();
    let gone = pidfd_open(pid, PidfdFlags::empty()).unwrap();
    kill_process(Pid::from_raw(near.id().cast_signed()).unwrap(), Signal::KILL).unwrap();
    near.wait().unwrap();
    let patience = Timespec { tv_sec: 30, tv_nsec: 0 };
    let mut polled = [PollFd::new(&gone, PollFlags::IN)];
    assert_eq!(poll(&mut polled, Some(&patience)), Ok(1), "it goes on without the one it is for");
}

#[test]
fn who_waits_for_the_other_process_to_start_can_change_their_mind() {
    // It never answers.
    let far = ["sleep", "600"].map(OsString::from).to_vec();
    let spec = FrameSpec { far, ..spec(Way::Ring, Pattern::Stream) };
    let mut asked = 0;
    let mut wanted = || {
        asked += 1;
        asked < 3
    };
    let stopped = FramesArm::prepare_while(&spec, &mut wanted).err();
    assert!(matches!(&stopped, Some(ArmError::Stopped { .. })), "{stopped:?}");
    assert_eq!(asked, 3);
}
