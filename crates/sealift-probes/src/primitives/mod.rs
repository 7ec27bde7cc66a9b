//! What a message costs under other primitives than AES-GCM: hashes and signatures, by AWS-LC.

mod ffi;

pub(crate) use ffi::version as aws_lc_version;

use crate::crew::{Crew, Done, Part};
use crate::random::Random;
use crate::{Arm, ArmError, Sample, Verified};
use ffi::{Curve, Digest, Signature, SigningKey};

/// A primitive, computed over whole messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// SHA-256.
    Sha256,
    /// ECDSA over P-256, of SHA-256.
    EcdsaP256(Half),
    /// ECDSA over P-384, of SHA-384.
    EcdsaP384(Half),
}

/// Which half of a signature scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Hashes a message and signs it.
    Sign,
    /// Hashes a message and verifies its signature.
    Verify,
}

impl Primitive {
    /// All of them with their names.
    pub const ALL: [(&'static str, Self); 5] = [
        ("sha-256", Self::Sha256),
        ("ecdsa-p256-sign", Self::EcdsaP256(Half::Sign)),
        ("ecdsa-p256-verify", Self::EcdsaP256(Half::Verify)),
        ("ecdsa-p384-sign", Self::EcdsaP384(Half::Sign)),
        ("ecdsa-p384-verify", Self::EcdsaP384(Half::Verify)),
    ];

    /// The primitive of a name.
    ///
    /// # Errors
    /// There is none; the error lists those there are.
    pub fn parse(name: &str) -> Result<Self, ArmError> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, primitive)| *primitive).ok_or_else(|| ArmError::Spec {
            what: "a primitive",
            value: format!("{name:?}"),
            right: Self::ALL.map(|(known, _)| known).join(", "),
        })
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    fn curve(self) -> Option<(Curve, Half)> {
        match self {
            Self::Sha256 => None,
            Self::EcdsaP256(half) => Some((Curve::P256, half)),
            Self::EcdsaP384(half) => Some((Curve::P384, half)),
        }
    }
}

/// A primitive on messages of one length, ready to be timed.
pub struct PrimitiveArm {
    workers: Vec<Worker>,
    crew: Crew,
    detail: String,
    verified: Verified,
}

impl PrimitiveArm {
    /// Makes messages and keys and checks the primitive on them, asking between messages whether that is
    /// still wanted.
    ///
    /// Each thread has messages of its own, and a key of its own for signatures.
    ///
    /// # Errors
    /// A length or a number of threads that can't be; the primitive fails or computes something wrong;
    /// [`ArmError::Stopped`].
    pub fn prepare_while(
        primitive: Primitive,
        message_bytes: usize,
        threads: usize,
        seed: u64,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Self, ArmError> {
        ArmError::check("threads", threads, 1, crate::THREADS_MAX)?;
        ArmError::check("bytes of a message", message_bytes, 0, MESSAGE_BYTES_MAX)?;
        check_hashes()?;
        let workers = (0..threads)
            .map(|thread| {
                let mut random = Random::new(seed, thread as u64);
                Worker::make(primitive, message_bytes, &mut random, wanted)
            })
            .collect::<Result<_, _>>()?;
        let against = match primitive.curve() {
            None => "the standard's examples",
            Some((_, Half::Sign)) => "its own verification",
            Some((_, Half::Verify)) => "signatures of its own and flipped bits",
        };
        let mut arm = Self {
            workers,
            crew: Crew::of(threads),
            detail: format!("AWS-LC {} {}", ffi::version(), primitive.name()),
            verified: Verified::Against(vec![against.to_owned()]),
        };
        // For a first estimate of the pace.
        arm.crew.run(&mut arm.workers, 1)?;
        arm.sample(0.001)?;
        Ok(arm)
    }
}

impl Arm for PrimitiveArm {
    fn sample(&mut self, seconds: f64) -> Result<Sample, ArmError> {
        let times = self.crew.times_for(seconds);
        self.crew.run(&mut self.workers, times)
    }

    fn verified(&self) -> &Verified {
        &self.verified
    }

    fn detail(&self) -> &str {
        &self.detail
    }

    fn cores(&self) -> &[usize] {
        self.crew.cores()
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        let sum = |count: fn(&Worker) -> u64| self.workers.iter().map(count).sum();
        vec![
            ("results_checked", sum(|worker| worker.checked)),
            ("messages_worked", sum(|worker| worker.worked)),
        ]
    }
}

/// The messages of one thread with what is right for each.
struct Worker {
    primitive: Primitive,
    messages: Vec<Vec<u8>>,
    answers: Answers,
    next: usize,
    checked: u64,
    worked: u64,
}

enum Answers {
    /// The digest of each message.
    Digests(Vec<Digest>),
    /// The key, and a signature of each message: those to verify, or the last that were made.
    Signatures { curve: Curve, half: Half, key: SigningKey, signatures: Vec<Signature> },
}

impl Worker {
    fn make(
        primitive: Primitive,
        message_bytes: usize,
        random: &mut Random,
        wanted: &mut dyn FnMut() -> bool,
    ) -> Result<Self, ArmError> {
        let count = (ALL_MESSAGES_BYTES / message_bytes.max(1)).clamp(1, MESSAGES_MAX);
        let messages: Vec<_> = (0..count).map(|_| random.bytes(message_bytes)).collect();
        let answers = match primitive.curve() {
            None => {
                Answers::Digests(messages.iter().map(|message| Digest::sha256(message)).collect())
            }
            Some((curve, half)) => {
                let key = SigningKey::generate(curve).ok_or(refused(primitive, NO_KEY))?;
                let mut signatures = vec![];
                for message in &messages {
                    if !wanted() {
                        let device = primitive.name().to_owned();
                        return Err(ArmError::Stopped { device });
                    }
                    signatures.push(checked_signature(primitive, curve, &key, message)?);
                }
                Answers::Signatures { curve, half, key, signatures }
            }
        };
        let checked = messages.len() as u64;
        Ok(Self { primitive, messages, answers, next: 0, checked, worked: 0 })
    }

    /// Does the primitive on the next message.
    fn once(&mut self) -> Result<(), ArmError> {
        let at = self.next;
        let message = &self.messages[at];
        match &mut self.answers {
            Answers::Digests(digests) => {
                if Digest::sha256(message) != digests[at] {
                    return Err(wrong(self.primitive, "a message has another digest than before"));
                }
                self.checked += 1;
            }
            Answers::Signatures { curve, half: Half::Sign, key, signatures } => {
                let signature = key.sign(&curve.digest(message));
                signatures[at] = signature.ok_or(refused(self.primitive, NO_SIGNATURE))?;
            }
            Answers::Signatures { curve, half: Half::Verify, key, signatures } => {
                if !key.verify(&curve.digest(message), &signatures[at]) {
                    return Err(wrong(self.primitive, "a right signature does not verify"));
                }
                self.checked += 1;
            }
        }
        self.next = if at + 1 == self.messages.len() { 0 } else { at + 1 };
        Ok(())
    }
}

impl Part for Worker {
    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        let mut bytes = 0;
        for _ in 0..times {
            bytes += self.messages[self.next].len() as u64;
            self.once()?;
        }
        self.worked += times as u64;
        Ok(Done { operations: times as u64, bytes })
    }

    /// Of signatures, the one that was made or verified last: it verifies, and with a wrong bit it
    /// doesn't.
    fn check(&mut self) -> Result<(), ArmError> {
        let last = self.next.checked_sub(1).unwrap_or(self.messages.len() - 1);
        if let Answers::Signatures { curve, key, signatures, .. } = &self.answers {
            let digest = curve.digest(&self.messages[last]);
            check_signature(self.primitive, digest, |of| key.verify(of, &signatures[last]))?;
            self.checked += 1;
        }
        Ok(())
    }
}

/// A signature that verifies, and whose message with a wrong bit doesn't.
fn checked_signature(
    primitive: Primitive,
    curve: Curve,
    key: &SigningKey,
    message: &[u8],
) -> Result<Signature, ArmError> {
    let digest = curve.digest(message);
    let signature = key.sign(&digest).ok_or(refused(primitive, NO_SIGNATURE))?;
    check_signature(primitive, digest, |of| key.verify(of, &signature))?;
    Ok(signature)
}

/// Whether what verifies a digest doesn't verify any other.
fn check_signature(
    primitive: Primitive,
    digest: Digest,
    verifies: impl Fn(&Digest) -> bool,
) -> Result<(), ArmError> {
    if !verifies(&digest) {
        return Err(wrong(primitive, "a signature of its own does not verify"));
    }
    if verifies(&digest.with_a_flipped_bit()) {
        return Err(wrong(primitive, "a signature verifies for a message with a wrong bit"));
    }
    Ok(())
}

/// The examples of FIPS 180: "abc", and nothing.
fn check_hashes() -> Result<(), ArmError> {
    for (message, sha256, sha384) in EXAMPLES {
        if Digest::sha256(message).as_bytes() != sha256 {
            return Err(wrong(Primitive::Sha256, "an example of the standard has another digest"));
        }
        if Digest::sha384(message).as_bytes() != sha384 {
            let what = "an example of the standard has another SHA-384";
            return Err(wrong(Primitive::EcdsaP384(Half::Sign), what));
        }
    }
    Ok(())
}

fn wrong(primitive: Primitive, what: &str) -> ArmError {
    ArmError::Wrong { device: primitive.name().to_owned(), what: what.to_owned() }
}

fn refused(primitive: Primitive, reason: &'static str) -> ArmError {
    ArmError::Primitive { primitive: primitive.name(), reason }
}

const NO_KEY: &str = "AWS-LC made no key";
const NO_SIGNATURE: &str = "AWS-LC did not sign";
/// Messages of a thread: enough that no branch predictor learns them, and they stay in a cache.
const MESSAGES_MAX: usize = 64;
const ALL_MESSAGES_BYTES: usize = 1 << 20;
/// A sample is at least one message, and is to end within a tenth of a second.
const MESSAGE_BYTES_MAX: usize = 1 << 24;

/// A message, its SHA-256 and its SHA-384.
type Example = (&'static [u8], [u8; 32], [u8; 48]);
const EXAMPLES: [Example; 2] = [
    (
        b"abc",
        [
            0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae,
            0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61,
            0xf2, 0x00, 0x15, 0xad,
        ],
        [
            0xcb, 0x00, 0x75, 0x3f, 0x45, 0xa3, 0x5e, 0x8b, 0xb5, 0xa0, 0x3d, 0x69, 0x9a, 0xc6,
            0x50, 0x07, 0x27, 0x2c, 0x32, 0xab, 0x0e, 0xde, 0xd1, 0x63, 0x1a, 0x8b, 0x60, 0x5a,
            0x43, 0xff, 0x5b, 0xed, 0x80, 0x86, 0x07, 0x2b, 0xa1, 0xe7, 0xcc, 0x23, 0x58, 0xba,
            0xec, 0xa1, 0x34, 0xc8, 0x25, 0xa7,
        ],
    ),
    (
        b"",
        [
            0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f,
            0xb9, 0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b,
            0x78, 0x52, 0xb8, 0x55,
        ],
        [
            0x38, 0xb0, 0x60, 0xa7, 0x51, 0xac, 0x96, 0x38, 0x4c, 0xd9, 0x32, 0x7e, 0xb1, 0xb1,
            0xe3, 0x6a, 0x21, 0xfd, 0xb7, 0x11, 0x14, 0xbe, 0x07, 0x43, 0x4c, 0x0c, 0xc7, 0xbf,
            0x63, 0xf6, 0xe1, 0xda, 0x27, 0x4e, 0xde, 0xbf, 0xe7, 0x6f, 0x65, 0xfb, 0xd5, 0x1a,
            0xd2, 0xf1, 0x48, 0x98, 0xb9, 0x5b,
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(name: &str, message_bytes: usize, threads: usize) -> Result<PrimitiveArm, ArmError> {
        let primitive = Primitive::parse(name)?;
        PrimitiveArm::prepare_while(primitive, message_bytes, threads, 1, &mut || true)
    }

    fn count(arm: &PrimitiveArm, name: &str) -> u64 {
        arm.counts().into_iter().find(|(known, _)| *known == name).unwrap().1
    }

    #[test]
    fn every_primitive_is_worked_by_one_thread_and_by_several() {
        for (name, primitive) in Primitive::ALL {
            assert_eq!(Primitive::parse(name), Ok(primitive));
            for (bytes, threads) in [(0, 1), (128, 1), (1_000, 3)] {
                let mut arm = prepare(name, bytes, threads).unwrap();
                let before = count(&arm, "messages_worked");
                let sample = arm.sample(0.002).unwrap();
                assert_eq!(sample.bytes, sample.operations * bytes as u64);
                assert_eq!(sample.operations % threads as u64, 0);
                assert_eq!(count(&arm, "messages_worked") - before, sample.operations);
                assert!(arm.detail().starts_with("AWS-LC "), "{}", arm.detail());
            }
        }
    }

    #[test]
    fn every_verification_and_every_digest_is_looked_at() {
        for name in ["sha-256", "ecdsa-p256-verify", "ecdsa-p384-verify"] {
            let mut arm = prepare(name, 128, 1).unwrap();
            let before = count(&arm, "results_checked");
            let sample = arm.sample(0.01).unwrap();
            assert!(count(&arm, "results_checked") - before >= sample.operations, "{name}");
            let worker = &mut arm.workers[0];
            (worker.next, worker.messages[5][7]) = (5, !worker.messages[5][7]);
            assert!(matches!(worker.work(1), Err(ArmError::Wrong { .. })), "{name}");
        }
    }

    #[test]
    fn what_verifies_nothing_or_everything_is_no_signature() {
        let check = |answer| {
            check_signature(Primitive::EcdsaP256(Half::Sign), Digest::sha256(b""), |_| answer)
        };
        assert!(check(false).unwrap_err().to_string().contains("does not verify"));
        assert!(check(true).unwrap_err().to_string().contains("with a wrong bit"));
    }

    #[test]
    fn a_signature_that_was_made_wrong_is_noticed_after_the_sample() {
        let mut arm = prepare("ecdsa-p256-sign", 128, 1).unwrap();
        arm.sample(0.001).unwrap();
        let worker = &mut arm.workers[0];
        let last = worker.next.checked_sub(1).unwrap_or(worker.messages.len() - 1);
        worker.messages[last][0] ^= 1;
        assert!(matches!(worker.check(), Err(ArmError::Wrong { .. })));
    }

    #[test]
    fn what_can_not_be_is_refused_with_what_would_be_right() {
        let error = prepare("sha-512", 128, 1).err().unwrap().to_string();
        assert!(error.contains("\"sha-512\"") && error.contains("ecdsa-p256-sign"), "{error}");
        assert!(prepare("sha-256", usize::MAX, 1).is_err());
        assert!(prepare("sha-256", 1, 0).is_err());
        let stopped =
            PrimitiveArm::prepare_while(Primitive::EcdsaP256(Half::Sign), 1, 1, 1, &mut || false);
        assert!(matches!(stopped.err(), Some(ArmError::Stopped { .. })));
    }
}
