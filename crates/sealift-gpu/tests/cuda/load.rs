//! Work that uses everything: keys of all lengths, short and long messages, wrong tags.

use fake_cuda::Fake;
use sealift_core::{
    Batch, Column, DeviceError, Key, KeySource, Keys, Op, OwnedOutput, SessionId, Slot, SlotTag,
    SlotText, Status, Tags, Work,
};
use sealift_gpu::cuda::CudaLibrary;
use sealift_gpu::gpu::Gpu;
use sealift_gpu::variant::Tables;
use sealift_gpu::{GpuError, Settings, Worker};
use sealift_kernels::{Path, Schedule, process};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// Opens the first device of a fake.
pub(crate) fn gpu(fake: &Fake) -> Result<Arc<dyn Gpu>, GpuError> {
    CudaLibrary::at(fake.path()).open(0)
}

/// A worker that waits for a minute, which nothing takes.
pub(crate) fn worker(gpu: Arc<dyn Gpu>) -> Worker {
    impatient(gpu, Duration::from_secs(60))
}

pub(crate) fn impatient(gpu: Arc<dyn Gpu>, patience: Duration) -> Worker {
    let tables = Tables::best(gpu.about());
    Worker::new("cuda".to_owned(), gpu, Settings { lanes: 3, patience, ..Settings::new(tables) })
}

/// A key for each session, of the length that its slot says.
pub(crate) struct KeyRing;

impl KeySource for KeyRing {
    fn key(&self, session: SessionId) -> Option<Arc<Key>> {
        Key::new(&raw_key(session.slot as usize)).ok().map(Arc::new)
    }
}

pub(crate) fn session(slot: u32) -> SessionId {
    SessionId { slot, generation: 1 }
}

/// One session a message.
pub(crate) fn sessions() -> Keys<'static> {
    let all: Vec<_> = (0..).zip(LENGTHS).map(|(slot, _)| session(slot)).collect();
    Keys::Sessions(all.into())
}

/// The same keys, brought along.
pub(crate) fn raw_keys() -> Keys<'static> {
    let all = (0..LENGTHS.len()).map(|message| raw_key(message).into()).collect();
    Keys::Raw(Column::Scattered(all))
}

fn raw_key(number: usize) -> Vec<u8> {
    let bytes = [16, 24, 32][number % 3];
    (0..bytes).map(|at| number.wrapping_mul(31).wrapping_add(at).to_le_bytes()[0] | 1).collect()
}

/// Seals messages and opens them again, with two tags wrong, and holds all of it against this processor's kernels.
pub(crate) fn seal_and_open(worker: &Worker, keys: &Keys<'static>) -> Result<(), DeviceError> {
    let texts: Vec<_> = (0..LENGTHS.len()).map(text).collect();
    let sealed = sealed();
    let batch = Batch {
        aad: aads(),
        ..Batch::seal(
            LENGTHS.len(),
            keys.clone(),
            nonces(),
            Column::Scattered(texts.iter().map(|text| text.clone().into()).collect()),
        )
    };
    let output = run(worker, &batch)?;
    for (message, (text, tag)) in sealed.iter().enumerate() {
        assert_eq!(output.status()[message], Status::Ok, "message {message}");
        assert!(output.text_of(message) == text, "the ciphertext of message {message}");
        assert!(output.tag_of(message) == tag, "the tag of message {message}");
    }
    let mut tags: Vec<u8> = sealed.iter().flat_map(|(_, tag)| *tag).collect();
    WRONG.iter().for_each(|message| tags[16 * message] ^= 1);
    let ciphertexts = sealed.iter().map(|(text, _)| text.clone().into()).collect();
    let batch = Batch {
        aad: aads(),
        ..Batch::open(
            LENGTHS.len(),
            keys.clone(),
            nonces(),
            Column::Scattered(ciphertexts),
            Tags::Apart(Column::fixed(tags, 16)),
        )
    };
    let output = run(worker, &batch)?;
    for (message, text) in texts.iter().enumerate() {
        let is_wrong = WRONG.contains(&message);
        let (status, expected) = if is_wrong {
            (Status::AuthFailed, vec![0; text.len()])
        } else {
            (Status::Ok, text.clone())
        };
        assert_eq!(output.status()[message], status, "message {message}");
        assert!(output.text_of(message) == expected, "the plaintext of message {message}");
    }
    Ok(())
}

fn run(worker: &Worker, batch: &Batch<'_>) -> Result<OwnedOutput, DeviceError> {
    let mut output = OwnedOutput::for_batch(batch).unwrap();
    worker.run(&mut Work::new(batch, output.as_output(), &KeyRing).unwrap())?;
    Ok(output)
}

/// What sealing gives.
fn sealed() -> &'static [(Vec<u8>, [u8; 16])] {
    static SEALED: LazyLock<Vec<(Vec<u8>, [u8; 16])>> = LazyLock::new(seal_here);
    &SEALED
}

fn seal_here() -> Vec<(Vec<u8>, [u8; 16])> {
    let path = Path::best().unwrap().unwrap_or(Path::Model);
    let seal = |message: usize| {
        let text = text(message);
        let schedule = Schedule::from_raw(path, &raw_key(message)).unwrap();
        let (mut made, mut tag) = (vec![0; text.len()], [0; 16]);
        let slot = Slot {
            op: Op::Seal,
            nonce: &nonce(message),
            aad: &aad(message),
            text: SlotText::Apart { input: &text, output: &mut made },
            tag: SlotTag::Write(&mut tag),
        };
        assert_eq!(process(path, &schedule, slot), Status::Ok);
        (made, tag)
    };
    (0..LENGTHS.len()).map(seal).collect()
}

fn text(message: usize) -> Vec<u8> {
    (0..LENGTHS[message]).map(|at| (at.wrapping_mul(7) + message).to_le_bytes()[0]).collect()
}

fn nonces() -> Column<'static> {
    Column::fixed((0..LENGTHS.len()).flat_map(nonce).collect::<Vec<_>>(), 12)
}

fn nonce(message: usize) -> [u8; 12] {
    [message.to_le_bytes()[0]; 12]
}

fn aads() -> Column<'static> {
    Column::Scattered((0..LENGTHS.len()).map(|message| aad(message).into()).collect())
}

/// Two are hashed in pieces: that of a text that is worked in pieces, and that of one which would not be.
fn aad(message: usize) -> Vec<u8> {
    if LONG_AADS.contains(&message) { AAD.repeat(1_201) } else { AAD.to_vec() }
}

/// Some of each kernel and each key length.
const LENGTHS: [usize; 9] = [0, 1, 100, 2_048, 2_049, 2_500, 17_000, 1_000, 2_200];
/// A short and a long one.
const WRONG: [usize; 2] = [2, 6];
const LONG_AADS: [usize; 2] = [1, 6];
const AAD: &[u8] = b"seventeen bytes!!";
