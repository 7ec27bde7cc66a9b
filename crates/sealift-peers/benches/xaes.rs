//! XAES-256-GCM under one key beside AES-256-GCM with a fresh key each, AWS-LC's AES and RustCrypto's crate, in turn on one
//! thread: texts of 128 bytes, nanoseconds a message.
#![allow(clippy::unwrap_used, reason = "a benchmark may panic")]

use sealift::{
    Algorithm, Batch, Column, Engine, Key, Keys, Options, Output, Place, Session, Settings, Status,
};
use std::time::{Duration, Instant};
use xaes_256_gcm::aead::{AeadInOut, KeyInit};
use xaes_256_gcm::{Nonce, Xaes256Gcm};

const TEXT: usize = 128;
const MESSAGES: usize = 8_192;
const BLOCKS: usize = 60;

fn main() {
    let load = Load::new();
    let engine = Engine::open(&["cpu", "library"], &[], Settings::on_one_thread()).unwrap();
    let key = Key::with_algorithm(Algorithm::Xaes256Gcm, &load.keys[..32]).unwrap();
    let session = engine.session(key).unwrap();
    let rustcrypto = Xaes256Gcm::new_from_slice(&load.keys[..32]).unwrap();
    let mut out = Sealed { texts: vec![0; MESSAGES * TEXT], tags: vec![0; MESSAGES * 16] };
    let xaes = load.xaes(&session);
    type Arm<'a> = (&'a str, Box<dyn Fn(&mut Sealed) + 'a>);
    let arms: [Arm<'_>; 4] = [
        ("sealift, XAES-256-GCM", Box::new(|out| out.fill(&engine, "cpu", &xaes))),
        ("sealift, AES-256-GCM, fresh keys", {
            let fresh = load.fresh_keys();
            let engine = &engine;
            Box::new(move |out| out.fill(engine, "cpu", &fresh))
        }),
        ("AWS-LC, XAES-256-GCM", Box::new(|out| out.fill(&engine, "library", &xaes))),
        ("RustCrypto, XAES-256-GCM", Box::new(|out| load.seal_by(&rustcrypto, out))),
    ];
    arms[3].1(&mut out);
    let expected = out.clone();
    for at in [0, 2] {
        arms[at].1(&mut out);
        assert!(out == expected, "{} gives other bytes than {}", arms[at].0, arms[3].0);
    }
    let mut samples = [const { vec![] }; 4];
    for block in 0..BLOCKS {
        for at in (0..arms.len()).map(|at| (at + block) % arms.len()) {
            samples[at].push(sample(|| arms[at].1(&mut out)));
        }
    }
    let medians = samples.map(median);
    for ((name, _), ns) in arms.iter().zip(medians) {
        println!("{name:<34} {ns:7.1} ns, {:5.2} times XAES-256-GCM by sealift", ns / medians[0]);
    }
}

/// Nanoseconds a message, after a pass that is not timed.
#[expect(clippy::cast_precision_loss, reason = "some thousand messages")]
fn sample(mut seal: impl FnMut()) -> f64 {
    seal();
    let (begun, mut passes) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_millis(10) {
        seal();
        passes += 1;
    }
    begun.elapsed().as_nanos() as f64 / (passes * MESSAGES) as f64
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

#[derive(Clone, PartialEq)]
struct Sealed {
    texts: Vec<u8>,
    tags: Vec<u8>,
}

impl Sealed {
    fn fill(&mut self, engine: &Engine, device: &str, batch: &Batch<'_>) {
        let mut status = vec![Status::NotProcessed; MESSAGES];
        let (text, tags) = (Place::fixed(&mut self.texts, TEXT), Place::fixed(&mut self.tags, 16));
        let on = Some(engine.device(device).unwrap());
        let output = Output { text, tags, status: &mut status };
        engine.run(batch, output, &Options { on, ..Options::default() }).unwrap();
    }
}

struct Load {
    keys: Vec<u8>,
    nonces: Vec<u8>,
    texts: Vec<u8>,
}

impl Load {
    fn new() -> Self {
        let bytes =
            |count: usize| (0..=u8::MAX).map(|n| n.wrapping_mul(181)).cycle().take(count).collect();
        Self {
            keys: bytes(32 * MESSAGES),
            nonces: bytes(24 * MESSAGES),
            texts: bytes(TEXT * MESSAGES),
        }
    }

    fn xaes(&self, session: &Session) -> Batch<'_> {
        let (nonces, texts) = (Column::fixed(&self.nonces, 24), Column::fixed(&self.texts, TEXT));
        let algorithm = Algorithm::Xaes256Gcm;
        Batch { algorithm, ..Batch::seal(MESSAGES, session.id(), nonces, texts) }
    }

    fn fresh_keys(&self) -> Batch<'_> {
        let keys = Keys::Raw(Column::fixed(&self.keys, 32));
        let nonces = Column::strided(&self.nonces, 24, 12);
        Batch::seal(MESSAGES, keys, nonces, Column::fixed(&self.texts, TEXT))
    }

    fn seal_by(&self, cipher: &Xaes256Gcm, out: &mut Sealed) {
        let texts = self.texts.chunks(TEXT).zip(out.texts.chunks_mut(TEXT));
        let messages = self.nonces.chunks(24).zip(texts).zip(out.tags.chunks_mut(16));
        for ((nonce, (text, output)), tag) in messages {
            let nonce = <&Nonce>::try_from(nonce).unwrap();
            output.copy_from_slice(text);
            let made = cipher.encrypt_inout_detached(nonce, &[], output.into()).unwrap();
            tag.copy_from_slice(&made);
        }
    }
}
