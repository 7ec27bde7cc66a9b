//! Every library that is here gives what two others agree on, and one that doesn't is found out.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

use sealift_peers::case::Case;
use sealift_peers::cipher::{self, Assignment, Cipher, Opening, Refused, Sealing};
use sealift_peers::messages::{PreparedMessages, Truth};
use sealift_peers::report::Report;
use sealift_peers::roster::{ArmConfig, PEERS, Peer, Unfit};
use sealift_peers::{options, releases};
use sealift_probes::{ArmError, ArmSpec, Columns, Planned, Random, Regime};
use std::path::Path;

/// Seals, opens and opens with wrong tags, of many lengths among which is none at all.
fn messages(key_bytes: &[u8], nonce_bytes: &[u8], tag_bytes: &[u8], count: usize) -> Columns {
    let mut random = Random::new(7, 7);
    let mut columns = Columns::default();
    let mut below = |most: u64| random.next_u64() % most;
    for at in 0..count {
        let planned = [Planned::Seal, Planned::Open, Planned::Bad][at % 3];
        let any = |of: &[u8], number: u64| of[usize::try_from(number).unwrap() % of.len()];
        columns.planned.push(planned);
        columns.key_bytes.push(any(key_bytes, below(9)));
        columns.nonce_bytes.push(any(nonce_bytes, below(9)));
        columns.tag_bytes.push(any(tag_bytes, below(9)));
        columns.aad_bytes.push([0, 17, 33, u32::try_from(below(300)).unwrap()][at / 3 % 4]);
        let most = [1, 40, 300, 5_000][usize::try_from(below(4)).unwrap()];
        columns.text_bytes.push(below(most));
    }
    columns
}

/// Checks an arm on all messages; why it is absent otherwise.
fn checked(name: &str, spec: &ArmSpec) -> Result<Option<String>, String> {
    let messages = PreparedMessages::all(spec, &Truth::open().unwrap()).unwrap();
    let (keys, _) = spec.installed();
    let work = Assignment { messages: &messages, keys: &keys, threads: 1 };
    let config = ArmConfig::parse(name, spec.batch).unwrap();
    let mut benches = config.benches(&work).unwrap();
    match config.arm(spec, &work, &mut benches) {
        Ok(mut arm) => arm.sample(0.001).map(|_| None).map_err(|error| error.to_string()),
        Err(Unfit::Absent(reason)) => Ok(Some(reason)),
        Err(Unfit::Failed(error)) => Err(error.to_string()),
    }
}

fn spec(columns: Columns, regime: Regime, batch: usize) -> ArmSpec {
    ArmSpec { columns, regime, batch, threads: 1, seed: 3 }
}

/// Every library and every path of our own.
fn everyone() -> Vec<String> {
    let paths = sealift_kernels::Path::available();
    let own = paths.iter().map(|path| format!("kernels:isa={},batch=17", path.name()));
    let engines = ["engine", "engine:batch=7", "engine:device=library", "cipher"];
    let own = own.chain(engines.map(str::to_owned));
    own.chain(PEERS.iter().map(|peer| peer.name.to_owned())).collect()
}

/// Says so, or fails where `SEALIFT_REQUIRE` names it.
fn skip(name: &str, reason: &str) {
    sealift_testing::skip(name, reason).unwrap();
}

#[test]
fn every_library_seals_and_opens_the_usual_lengths_right_and_refuses_wrong_tags() {
    for regime in [Regime::One, Regime::Sessions(8), Regime::Fresh] {
        let spec = spec(messages(&[16, 32], &[12], &[16], 90), regime, 90);
        for name in everyone() {
            match checked(&name, &spec).unwrap() {
                Some(reason) => skip(&name, &reason),
                None if PEERS.iter().any(|peer| peer.name == name) => sealift_testing::ran(&name),
                None => {}
            }
        }
    }
}

#[test]
fn every_library_can_be_required() {
    for peer in PEERS {
        let known = sealift_testing::names().any(|(_, name)| name == peer.name);
        assert!(known, "{} is missing in sealift-testing's names.txt", peer.name);
    }
}

#[test]
fn the_release_date_of_each_library_that_a_lock_file_names_is_known() {
    for peer in PEERS.iter().filter(|peer| is_locked(peer)) {
        match peer.probe() {
            Ok(detail) => {
                let version = releases::version(&detail).unwrap();
                let is_known = releases::released(peer.name, version).is_some();
                assert!(is_known, "add {} {version} to src/releases.txt", peer.name);
            }
            Err(reason) => skip(peer.name, &reason),
        }
    }
}

/// Whether a lock file names the version that is opened: not of a library of the system.
fn is_locked(peer: &Peer) -> bool {
    let openssl = concat!("peers/libcrypto-openssl-src-", env!("VERSION_OF_OPENSSL_SRC"), ".so");
    let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv");
    match peer.name {
        "boringssl" => true,
        "openssl" => venv.join(openssl).is_file(),
        "ipp" => venv.join("lib/libippcp.so.13").is_file(),
        _ => peer.is_linked,
    }
}

#[test]
fn every_library_works_unusual_lengths_right_or_says_that_it_does_not() {
    let columns = messages(&[16, 24, 32], &[1, 12, 128], &[4, 8, 12, 13, 14, 15, 16], 300);
    let spec = spec(columns, Regime::Fresh, 300);
    let usual_only = ["ring", "graviola", "isal-crypto", "cipher"];
    for name in everyone() {
        match checked(&name, &spec).unwrap() {
            Some(reason) if reason.starts_with("it takes no") => {
                assert!(usual_only.contains(&&*name), "{name}: {reason}");
            }
            Some(reason) => skip(&name, &reason),
            None => assert!(!usual_only.contains(&&*name), "{name}"),
        }
    }
}

#[test]
fn one_message_at_a_time_may_have_any_nonce() {
    let columns = messages(&[16, 24, 32], &[1, 12, 128], &[16], 300);
    for regime in [Regime::Sessions(8), Regime::Fresh] {
        assert_eq!(checked("cipher", &spec(columns.clone(), regime, 300)), Ok(None));
    }
}

/// Does what its methods say, and nothing of AES.
struct Broken;

impl Cipher for Broken {
    type Key = ();
    const NAME: &'static str = "broken";

    fn open(_: Option<&str>) -> Result<(Self, String), String> {
        Ok((Self, "copies".to_owned()))
    }

    fn lacks(&self, _: &ArmSpec) -> Option<String> {
        None
    }

    fn expand(&self, raw: &[u8], _: usize) -> Result<(), Refused> {
        if raw.len() == 24 { Err(Refused("24 bytes of key".to_owned())) } else { Ok(()) }
    }

    fn seal(&self, (): &mut (), of: Sealing<'_>) -> Result<(), Refused> {
        of.output.copy_from_slice(of.input);
        Ok(())
    }

    fn unseal(&self, (): &mut (), _: Opening<'_>) -> Result<bool, Refused> {
        Ok(true)
    }
}

fn broken(planned: Planned, key_bytes: u8) -> ArmError {
    let mut columns = messages(&[key_bytes], &[12], &[16], 30);
    columns.planned.fill(planned);
    columns.text_bytes.fill(20);
    let spec = spec(columns, Regime::One, 30);
    let messages = PreparedMessages::all(&spec, &Truth::open().unwrap()).unwrap();
    let (keys, _) = spec.installed();
    let work = Assignment { messages: &messages, keys: &keys, threads: 1 };
    match cipher::arm(Broken, String::new(), &work) {
        Err(error) => error,
        Ok(_) => panic!("a broken library was taken for a right one"),
    }
}

#[test]
fn a_library_that_gives_something_wrong_is_not_measured() {
    let said = |planned, key_bytes| broken(planned, key_bytes).to_string();
    let wrong = "broken gave a wrong result: message 0, ";
    assert_eq!(
        said(Planned::Seal, 16),
        format!("{wrong}Seal of 20 bytes with tags of 16: another text")
    );
    assert_eq!(
        said(Planned::Open, 16),
        format!("{wrong}Open of 20 bytes with tags of 16: another text")
    );
    assert_eq!(
        said(Planned::Bad, 16),
        format!("{wrong}Bad of 20 bytes with tags of 16: Ok instead of AuthFailed")
    );
    assert_eq!(said(Planned::Seal, 24), "broken gave a wrong result: refused: 24 bytes of key");
}

#[test]
fn a_case_tells_its_arms_the_absent_ones_and_whole_blocks() {
    let words =
        "--arm kernels:isa=model --arm engine --arm aws-lc --arm ring --seconds 0.01 --sample-ms 1";
    let command = options::read(words.split(' ').map(str::to_owned)).unwrap();
    let options::Command::Measure(options) = command else { panic!("no measurement") };
    let columns = options::messages("seal 24 12 0 16 16 3").unwrap();
    let mut lines = vec![];
    Case::new(&options, columns).unwrap().measure(&mut Report::to(&mut lines)).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let count = |what: &str| lines.lines().filter(|line| line.starts_with(what)).count();
    assert_eq!(count("{\"arm\":"), 3, "{lines}");
    assert_eq!(count("{\"absent\":\"ring\",\"reason\":\"it takes no key of 24 bytes\"}"), 1);
    assert_eq!(count("{\"block\":7,"), 4, "{lines}");
}
