//! A thread that rewrites what is being opened: each message fails, with zeros, or is exactly right.
//!
//! In place is left out: there the bytes that are rewritten are the output itself, and no device can
//! promise what another writer leaves in them.

use crate::compare::grouped;
use crate::ffi::Contested;
use crate::message_bytes::MessageBytes;
use crate::random::Random;
use crate::recipe::{Longest, Recipe};
use crate::subject::Subject;
use bytes::Bytes;
use sealift_core::{Batch, Output, Place, Status, Work};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SIZES: [usize; 6] = [11, 64, 1_021, 1_036, 16_384, 1 << 20];
/// For each size, part and way to give keys.
const TIME: Duration = Duration::from_millis(100);
/// How many batches a write has to meet.
const OVERLAPS: u64 = 10;
/// How long it may take until both outcomes and the overlaps were seen, whatever share of the time is
/// spent: a loaded machine may let the writer run only now and then.
const PATIENCE: Duration = Duration::from_secs(60);

/// Opens while a byte of text, tag, nonce, aad or raw key is flipped to and fro.
pub(crate) fn check(subject: &Subject) -> Result<String, String> {
    let mut seen = Seen::default();
    let longest = subject.text_bytes(if subject.is_slow() { 1_036 } else { usize::MAX });
    for &size in SIZES.iter().filter(|&&size| size <= longest) {
        let mut random = Random::new(subject.seed, size as u64);
        let recipe = Recipe::new(subject, 1, &mut random);
        let mut seals = recipe.seals(1, Longest { text: 0, aad: 0 }, &mut random);
        let message = &mut seals.messages[0];
        (message.text, message.aad) = (random.bytes(size), random.bytes(40));
        (message.nonce, seals.tag_length) = (random.bytes(12), sealift_core::TagLength::FULL);
        crate::compare::seal_truths(&*subject.oracle, &mut seals)?;
        let scene = Scene::new(MessageBytes::new(&seals.opening()));
        for part in scene.message.parts.clone() {
            let one = race(subject, &scene, &part).map_err(|fault| format!("{size} B: {fault}"))?;
            seen.add(&one);
        }
        recipe.ring.retire_all(&*subject.device);
    }
    Ok(seen.to_string())
}

/// A message in memory that another thread rewrites.
struct Scene {
    memory: Arc<Contested>,
    /// The same memory, as what is submitted holds it.
    input: Bytes,
    message: MessageBytes,
}

impl Scene {
    fn new(message: MessageBytes) -> Self {
        let memory = Arc::new(Contested::holding(&message.bytes));
        let input = Bytes::from_owner(Shared(memory.clone()));
        Self { memory, input, message }
    }

    /// As many copies of the message as make the race worth its price.
    fn batch(&self, raw_keys: bool, messages: usize) -> Batch<'_> {
        let len = (65_536 / self.message.text_bytes()).clamp(1, messages);
        self.message.batch(&self.input, raw_keys, len)
    }
}

/// Keeps the memory for as long as a batch has it.
struct Shared(Arc<Contested>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.as_input()
    }
}

fn race(subject: &Subject, scene: &Scene, part: &Range<usize>) -> Result<Seen, String> {
    let (stop, writes) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| rewrite(scene, part, &stop, &writes));
        let verdict = open_until_seen(subject, scene, part.start == 0, &writes);
        stop.store(true, Ordering::Relaxed);
        verdict
    })
}

/// Flips a bit of the part and flips it back, at another byte each time.
fn rewrite(scene: &Scene, part: &Range<usize>, stop: &AtomicBool, writes: &AtomicU64) {
    let mut random = Random::new(part.start as u64, part.end as u64);
    while !stop.load(Ordering::Relaxed) {
        let at = part.start + random.below(part.len());
        scene.memory.write(at, scene.message.bytes[at] ^ 1 << random.below(8));
        writes.fetch_add(1, Ordering::SeqCst);
        pause(&mut random);
        scene.memory.write(at, scene.message.bytes[at]);
        writes.fetch_add(1, Ordering::SeqCst);
        pause(&mut random);
    }
}

/// From nothing to some microseconds, so that small and large messages are hit in the middle.
fn pause(random: &mut Random) {
    let spins = 1 << random.below(13);
    (0..spins).for_each(|_| std::hint::spin_loop());
}

fn open_until_seen(
    subject: &Subject,
    scene: &Scene,
    raw_keys: bool,
    writes: &AtomicU64,
) -> Result<Seen, String> {
    let batch = scene.batch(raw_keys, subject.messages(subject.count(64, 64)));
    let (size, time) = (scene.message.text_bytes(), subject.time(TIME));
    let mut out = vec![0; size * batch.len];
    let mut status = vec![Status::NotProcessed; batch.len];
    let mut seen = Seen::default();
    // Counted from the first batch's end: a device may compile before it begins.
    let mut first_end = None::<Instant>;
    loop {
        let spent = first_end.map_or(Duration::ZERO, |end| end.elapsed());
        if spent >= time && seen.is_enough() {
            return Ok(seen);
        }
        if spent > PATIENCE {
            return Err(format!("in {spent:?} too little was seen: {seen}"));
        }
        out.fill(0xa5);
        let output =
            Output { text: Place::fixed(&mut out, size), tags: Place::Empty, status: &mut status };
        let mut work =
            Work::new(&batch, output, &*scene.message.ring).map_err(|error| error.to_string())?;
        let before = writes.load(Ordering::SeqCst);
        subject.device.run(&mut work).map_err(|error| error.to_string())?;
        first_end.get_or_insert_with(Instant::now);
        let overlapped = writes.load(Ordering::SeqCst) != before;
        seen.overlapped += u64::from(overlapped);
        for (status, text) in status.iter().zip(out.chunks(size)) {
            let opened = scene.message.opened(*status, text)?;
            let count = if opened { &mut seen.opened } else { &mut seen.failed };
            *count += 1;
        }
    }
}

/// What became of the messages.
#[derive(Default)]
struct Seen {
    opened: u64,
    failed: u64,
    overlapped: u64,
}

impl Seen {
    fn is_enough(&self) -> bool {
        self.opened > 0 && self.failed > 0 && self.overlapped >= OVERLAPS
    }

    fn add(&mut self, other: &Self) {
        self.opened += other.opened;
        self.failed += other.failed;
        self.overlapped += other.overlapped;
    }
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = |n| grouped(usize::try_from(n).unwrap_or(usize::MAX));
        let [opened, failed, overlapped] = [self.opened, self.failed, self.overlapped].map(count);
        write!(f, "{opened} right, {failed} failed, a write met {overlapped} batches")
    }
}
