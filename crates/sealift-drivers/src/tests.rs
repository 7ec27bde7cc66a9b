use super::*;
use crate::testing::{KeyRing, context, job, session};
use sealift_core::{
    Batch, Column, NonceRule, Op, Ops, Output, Place, Probe, Role, Stability, Status, TagLength,
    Tags, Text, Work,
};

fn device(spec: &str) -> Arc<dyn Device> {
    open(&spec.parse().unwrap(), &context().0).unwrap()
}

fn error(spec: &str) -> String {
    open(&spec.parse().unwrap(), &context().0).unwrap_err().to_string()
}

#[test]
fn every_driver_is_found_by_its_name_and_an_unknown_one_lists_them() {
    for known in DRIVERS {
        assert_eq!(driver(known.name()).unwrap().name(), known.name());
    }
    let error = driver("abacus").err().unwrap().to_string();
    assert!(error.contains("\"abacus\"") && error.contains("cpu, library, reference, null"));
}

#[test]
fn what_is_probed_present_opens_and_what_is_absent_says_the_same_reason() {
    for known in DRIVERS {
        match known.probe() {
            Probe::Absent { reason } => {
                let expected = format!("{} is absent: {reason}", known.name());
                assert_eq!(error(known.name()), expected);
                eprintln!("{expected}");
            }
            Probe::Present { role, detail } => {
                let device = device(known.name());
                let capabilities = device.capabilities();
                assert_eq!((capabilities.role, &capabilities.detail), (role, &detail));
                assert_eq!(
                    (&*capabilities.name, capabilities.driver),
                    (known.name(), known.name())
                );
                assert!(capabilities.workers > 0 && capabilities.slots >= capabilities.workers);
            }
        }
    }
}

#[test]
fn a_setting_that_a_driver_lacks_is_refused_with_those_it_has() {
    assert!(error("null:cores=0").contains("takes workers"));
    assert!(error("library:isa=aesni").contains("takes workers, cores"));
    assert!(error("reference:fast").contains("takes workers, cores"));
    assert!(error("cpu:ist=aesni").contains("takes isa, workers, cores"));
    assert!(error("cpu:isa=avx9,workers=1").contains("vaes256"));
    for known in DRIVERS.iter().map(|known| known.name()) {
        let spec = format!("{known}:workers=0");
        assert!(error(&spec).starts_with(&spec), "{}", error(&spec));
    }
}

/// Starts itself again, because a test must not change the environment that others read.
#[test]
fn a_typo_in_sealift_isa_is_an_error_and_not_a_slower_device() {
    let typo = "vaes521";
    if std::env::var("SEALIFT_ISA").as_deref() != Ok(typo) {
        let name = "tests::a_typo_in_sealift_isa_is_an_error_and_not_a_slower_device";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let child = child.args(["--exact", name, "--nocapture"]).env("SEALIFT_ISA", typo);
        let ended = child.output().unwrap();
        let printed = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && printed.contains("1 passed"), "{ended:?}");
        return;
    }
    let Probe::Present { role: Role::Real, detail } = driver("cpu").unwrap().probe() else {
        panic!("an engine that detects devices would pass over it");
    };
    let opened = open(&"cpu".parse().unwrap(), &context().0).unwrap_err();
    assert!(matches!(&opened, OpenError::Setting { .. }), "{opened}");
    for said in [opened.to_string(), detail] {
        let named = ["SEALIFT_ISA", typo, "model", "aesni", "vaes256", "vaes512"];
        assert!(named.iter().all(|name| said.contains(name)), "{said}");
    }
    assert_eq!(device("cpu:isa=model").capabilities().role, Role::Oracle);
}

#[test]
fn the_model_opens_everywhere_and_is_an_oracle() {
    assert_eq!(device("cpu:isa=model").capabilities().role, Role::Oracle);
}

#[test]
fn a_path_this_processor_lacks_is_absent_with_what_is_missing() {
    let available: Vec<_> = sealift_kernels::Path::available();
    for name in sealift_kernels::Path::NAMES {
        let opened = open(&format!("cpu:isa={name}").parse().unwrap(), &context().0);
        if available.iter().any(|path| path.name() == name) {
            assert!(opened.unwrap().capabilities().detail.starts_with(name));
        } else {
            assert!(matches!(opened, Err(OpenError::Absent { .. })), "{name}");
        }
    }
}

#[test]
fn a_nonce_length_the_reference_lacks_is_refused_before_any_work() {
    let (nonce, keys) = ([1; 11], KeyRing::of(1));
    let batch = Batch {
        nonce_rule: NonceRule::HazmatAnyLength,
        ..Batch::seal(1, session(0), Column::fixed(&nonce, 11), Column::fixed(b"text", 4))
    };
    let (mut text, mut tag, mut status) = ([7; 4], [7; 16], [Status::Ok]);
    let (text_place, tags) = (Place::fixed(&mut text, 4), Place::fixed(&mut tag, 16));
    let output = Output { text: text_place, tags, status: &mut status };
    let mut work = Work::new(&batch, output, &keys).unwrap();
    let error = device("reference").run(&mut work).unwrap_err().to_string();
    assert_eq!(error, "reference does not take nonces of 11 bytes");
    assert_eq!((text, tag, status), ([7; 4], [7; 16], [Status::NotProcessed]));
}

/// Random messages under many sessions, all of one nonce length and one tag length.
struct Corpus {
    slots: Vec<u32>,
    nonces: Vec<u8>,
    nonce_bytes: usize,
    aads: Vec<Vec<u8>>,
    texts: Vec<Vec<u8>>,
    tag_length: TagLength,
}

/// What a device makes of a corpus.
#[derive(Debug, PartialEq, Eq)]
struct Made {
    texts: Vec<Vec<u8>>,
    tags: Vec<u8>,
    status: Vec<Status>,
}

impl Corpus {
    fn random(random: &mut Random, nonce_bytes: usize, tag_length: TagLength) -> Self {
        let messages = 1 + random.below(40);
        Self {
            slots: (0..messages).map(|_| u32::try_from(random.below(9)).unwrap()).collect(),
            nonces: random.bytes(messages * nonce_bytes),
            nonce_bytes,
            aads: (0..messages).map(|_| random.some_bytes(70)).collect(),
            texts: (0..messages).map(|_| random.some_bytes(700)).collect(),
            tag_length,
        }
    }

    /// Works the corpus on a device: seals its texts, or opens or verifies what was made of them.
    fn run(
        &self,
        device: &dyn Device,
        op: Op,
        stability: Stability,
        sealed: Option<&Made>,
    ) -> Made {
        let sessions: Vec<_> = self.slots.iter().map(|&slot| session(slot)).collect();
        let input = sealed.map_or(&self.texts, |sealed| &sealed.texts);
        let column =
            |bytes: &[Vec<u8>]| Column::Scattered(bytes.iter().map(|b| b.clone().into()).collect());
        let tag_bytes = self.tag_length.bytes();
        let tags = sealed.map_or(Column::Empty, |made| Column::fixed(&made.tags, tag_bytes));
        let batch = Batch {
            ops: Ops::All(op),
            aad: column(&self.aads),
            tags: Tags::Apart(tags),
            tag_length: self.tag_length,
            nonce_rule: NonceRule::HazmatAnyLength,
            stability,
            ..Batch::seal(
                self.slots.len(),
                sessions,
                Column::fixed(&self.nonces, self.nonce_bytes),
                Text::Apart(column(input)),
            )
        };
        let mut made = Made {
            texts: input.iter().map(|text| vec![0xee; text.len()]).collect(),
            tags: vec![0xee; tag_bytes * self.slots.len()],
            status: vec![Status::NotProcessed; self.slots.len()],
        };
        let output = Output {
            text: Place::Scattered(made.texts.iter_mut().map(|text| &mut text[..]).collect()),
            tags: Place::fixed(&mut made.tags, tag_bytes),
            status: &mut made.status,
        };
        let keys = KeyRing::of(9);
        device.run(&mut Work::new(&batch, output, &keys).unwrap()).unwrap();
        made
    }
}

#[test]
fn every_device_makes_what_the_reference_makes_whatever_the_tag_and_nonce_lengths() {
    let reference = device("reference");
    let others = ["library", "cpu:isa=model"].map(device).into_iter();
    let best = driver("cpu").unwrap().probe();
    let others: Vec<_> = match best {
        Probe::Present { .. } => others.chain([device("cpu")]).collect(),
        Probe::Absent { reason } => {
            eprintln!("cpu is not compared: {reason}");
            others.collect()
        }
    };
    let mut random = Random(7);
    let nonce_lengths: Vec<_> = reference.capabilities().nonce_lengths.iter().collect();
    for round in 0..28 {
        let nonce_bytes = nonce_lengths[round % nonce_lengths.len()];
        let tag_length = TagLength::ALL[round % TagLength::ALL.len()];
        let corpus = Corpus::random(&mut random, nonce_bytes, tag_length);
        let sealed = corpus.run(&*reference, Op::Seal, Stability::Frozen, None);
        let damaged = damage(&sealed, &mut random);
        for device in &others {
            let made = corpus.run(&**device, Op::Seal, Stability::Frozen, None);
            assert_eq!(made, sealed, "{}", device.capabilities().name);
        }
        for stability in [Stability::Frozen, Stability::Shared] {
            for op in [Op::Open, Op::Verify] {
                let expected = corpus.run(&*reference, op, stability, Some(&damaged));
                check_opened(&corpus, op, &damaged, &sealed, &expected);
                for device in &others {
                    let made = corpus.run(&**device, op, stability, Some(&damaged));
                    assert_eq!(made, expected, "{}", device.capabilities().name);
                }
            }
        }
    }
}

#[test]
fn opening_in_place_gives_the_text_or_zeros() {
    let keys = KeyRing::of(2);
    let nonces = [5; 24];
    for name in ["library", "reference", "cpu:isa=model"] {
        let device = device(name);
        for stability in [Stability::Frozen, Stability::Shared] {
            let mut place = *b"first text______________other text______________";
            for op in [Op::Seal, Op::Open] {
                let sessions = vec![session(0), session(1)];
                let batch = Batch {
                    ops: Ops::All(op),
                    tags: Tags::Appended,
                    tag_length: TagLength::new(14).unwrap(),
                    stability,
                    ..Batch::seal(2, sessions, Column::fixed(&nonces, 12), Text::InPlace)
                };
                let mut status = [Status::NotProcessed; 2];
                let text = Place::fixed(&mut place, 24);
                let output = Output { text, tags: Place::Empty, status: &mut status };
                device.run(&mut Work::new(&batch, output, &keys).unwrap()).unwrap();
                if op == Op::Seal {
                    assert_eq!(status, [Status::Ok; 2], "{name}");
                    assert_ne!(&place[..10], b"first text");
                    place[47] ^= 0x80;
                } else {
                    assert_eq!(status, [Status::Ok, Status::AuthFailed], "{name}");
                    assert_eq!((&place[..10], &place[24..34]), (&b"first text"[..], &[0; 10][..]));
                }
            }
        }
    }
}

#[test]
fn a_submitted_job_gives_what_a_run_gives() {
    for name in ["library", "reference", "cpu:isa=model", "pim:dpus=2"] {
        let (context, bell) = context();
        let device = open(&name.parse().unwrap(), &context).unwrap();
        let mut here = job(3);
        let keys = Arc::clone(&here.keys);
        let mut work = Work::new(&here.batch, here.output.as_output(), &*keys).unwrap();
        device.run(&mut work).unwrap();
        device.submit(job(3)).unwrap();
        bell.wait(1);
        let mut done = vec![];
        device.poll(&mut done);
        let (output, _) = done.pop().unwrap().outcome.unwrap();
        assert_eq!(output.status(), [Status::Ok; 2], "{name}");
        assert_ne!(output.text().0, b"firstother");
        assert_eq!((output.text().0, output.tags()), (here.output.text().0, here.output.tags()));
    }
}

#[test]
fn the_null_device_says_ok_and_writes_nothing() {
    let mut job = job(0);
    let keys = Arc::clone(&job.keys);
    let mut work = Work::new(&job.batch, job.output.as_output(), &*keys).unwrap();
    device("null").run(&mut work).unwrap();
    assert_eq!(job.output.status(), [Status::Ok; 2]);
    assert_eq!((job.output.text().0, job.output.tags()), (&[0; 10][..], &[0; 32][..]));
}

/// Flips a bit of the tag of every fourth message, and one of the text of every fourth but one.
fn damage(sealed: &Made, random: &mut Random) -> Made {
    let (mut texts, mut tags) = (sealed.texts.clone(), sealed.tags.clone());
    let tag_bytes = tags.len() / texts.len();
    for message in 0..texts.len() {
        let damaged = match message % 4 {
            1 => &mut tags[message * tag_bytes..][..tag_bytes],
            2 => &mut texts[message][..],
            _ => continue,
        };
        if !damaged.is_empty() {
            let at = random.below(damaged.len());
            damaged[at] ^= 1 << random.below(8);
        }
    }
    Made { texts, tags, status: vec![] }
}

/// Compares with the texts themselves what the reference made of damaged messages.
fn check_opened(corpus: &Corpus, op: Op, damaged: &Made, sealed: &Made, opened: &Made) {
    let tag_bytes = corpus.tag_length.bytes();
    let tag = |made: &Made, message: usize| made.tags[message * tag_bytes..][..tag_bytes].to_vec();
    for (message, text) in corpus.texts.iter().enumerate() {
        let is_whole = damaged.texts[message] == sealed.texts[message]
            && tag(damaged, message) == tag(sealed, message);
        let status = if is_whole { Status::Ok } else { Status::AuthFailed };
        assert_eq!(opened.status[message], status, "message {message}");
        let expected = match (op, is_whole) {
            (Op::Verify, _) => vec![0xee; text.len()],
            (_, true) => text.clone(),
            (_, false) => vec![0; text.len()],
        };
        assert_eq!(opened.texts[message], expected, "message {message}");
    }
}

/// SplitMix64: the same messages in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    fn some_bytes(&mut self, bound: usize) -> Vec<u8> {
        let count = self.below(bound);
        self.bytes(count)
    }
}
