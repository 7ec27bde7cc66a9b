//! A GPU of the tests: it reads messages as kernels do, computes something simple, and fails on order.

use crate::GpuError;
use crate::gpu::{About, Gpu, Host, KEY_BYTES, KEY_SLOTS, KeysAt, Lane, Launch, Room, Slab, Took};
use crate::message::{MESSAGE_BYTES, UNIT_BYTES};
use crate::program::Program;
use crate::variant::Kernel;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A GPU and what is seen of it.
#[derive(Clone, Debug)]
pub(crate) struct Fake {
    about: About,
    pub(crate) seen: Arc<Mutex<Seen>>,
}

#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The keys that stay.
    pub(crate) keys: Vec<u8>,
    /// Calls so far, by name.
    pub(crate) calls: HashMap<&'static str, usize>,
    /// The calls that fail from now on, by name.
    pub(crate) fails: HashMap<&'static str, GpuError>,
    /// Its kernels do nothing.
    pub(crate) silent: bool,
    /// Bytes that lanes held when they were dropped and that were not zero.
    pub(crate) left_behind: usize,
}

impl Fake {
    pub(crate) fn new() -> Self {
        let about = About {
            name: "fake".to_owned(),
            detail: String::new(),
            capability: None,
            units: 4,
            local_bytes: 0,
            group_items_max: 256,
            buffer_bytes_max: 1 << 30,
            local_is_cached: false,
            is_simulated: true,
        };
        let seen = Seen { keys: vec![0; KEY_BYTES * KEY_SLOTS], ..Seen::default() };
        Self { about, seen: Arc::new(Mutex::new(seen)) }
    }

    /// The same with smaller buffers.
    pub(crate) fn with_buffers_of(bytes: usize) -> Self {
        let mut fake = Self::new();
        fake.about.buffer_bytes_max = bytes;
        fake
    }

    pub(crate) fn calls(&self, name: &str) -> usize {
        self.seen.lock().unwrap().calls.get(name).copied().unwrap_or(0)
    }

    pub(crate) fn fail(&self, name: &'static str, error: GpuError) {
        self.seen.lock().unwrap().fails.insert(name, error);
    }

    pub(crate) fn repair(&self) {
        self.seen.lock().unwrap().fails.clear();
    }

    fn call(&self, name: &'static str) -> Result<(), GpuError> {
        let mut seen = self.seen.lock().unwrap();
        *seen.calls.entry(name).or_default() += 1;
        seen.fails.get(name).cloned().map_or(Ok(()), Err)
    }
}

impl Gpu for Fake {
    fn about(&self) -> &About {
        &self.about
    }

    fn prepare(&self, _: &[Program]) -> Result<(), GpuError> {
        self.call("prepare")
    }

    fn lane(&self) -> Result<Box<dyn Lane>, GpuError> {
        self.call("lane")?;
        Ok(Box::new(FakeLane {
            gpu: self.clone(),
            host: [const { vec![] }; 7],
            device: [const { vec![] }; 7],
        }))
    }

    fn write_keys(&self, first_slot: usize, records: &[u8]) -> Result<(), GpuError> {
        self.call("write_keys")?;
        let keys = &mut self.seen.lock().unwrap().keys;
        keys[KEY_BYTES * first_slot..][..records.len()].copy_from_slice(records);
        Ok(())
    }
}

#[derive(Debug)]
struct FakeLane {
    gpu: Fake,
    host: [Vec<u8>; 7],
    device: [Vec<u8>; 7],
}

impl Lane for FakeLane {
    fn reserve(&mut self, room: &Room) -> Result<(), GpuError> {
        self.gpu.call("reserve")?;
        assert!(room.largest() <= self.gpu.about.buffer_bytes_max, "{room:?}");
        for slab in Slab::ALL {
            for side in [&mut self.host, &mut self.device] {
                let memory = &mut side[slab as usize];
                memory.resize(room.of(slab).max(memory.len()), 0);
            }
        }
        Ok(())
    }

    fn host(&mut self) -> Host<'_> {
        let [keys, input, messages, pieces, output, ..] = &mut self.host;
        Host { keys, input, messages, pieces, output }
    }

    fn address(&self, _: Slab) -> Option<u64> {
        None
    }

    fn write_part(&mut self, slab: Slab, part: Range<usize>) -> Result<(), GpuError> {
        self.gpu.call("write")?;
        let slab = slab as usize;
        self.device[slab][part.clone()].copy_from_slice(&self.host[slab][part]);
        Ok(())
    }

    fn clear(&mut self, slab: Slab, bytes: usize) -> Result<(), GpuError> {
        self.gpu.call("clear")?;
        self.device[slab as usize][..bytes].fill(0);
        Ok(())
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), GpuError> {
        self.gpu.call("launch")?;
        self.gpu.call(launch.kernel.name())?;
        assert!(launch.groups > 0 && launch.group_items.is_multiple_of(32), "{launch:?}");
        if matches!(launch.kernel, Kernel::Many | Kernel::LongFinish) {
            let seen = self.gpu.seen.lock().unwrap();
            if seen.silent {
                return Ok(());
            }
            let [keys, input, messages, _, output, ..] = &mut self.device;
            let keys = if launch.keys == KeysAt::Lane { &keys[..] } else { &seen.keys[..] };
            let Program::Driver(variant) = launch.program else { unreachable!("no driver's") };
            let key_bytes = variant.key.bytes();
            for message in &messages.as_chunks::<MESSAGE_BYTES>().0[..launch.messages as usize] {
                work(message, (keys, key_bytes), input, output);
            }
        }
        Ok(())
    }

    fn read_part(&mut self, slab: Slab, part: Range<usize>) -> Result<(), GpuError> {
        self.gpu.call("read")?;
        let slab = slab as usize;
        self.host[slab][part.clone()].copy_from_slice(&self.device[slab][part]);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), GpuError> {
        self.gpu.call("flush")
    }

    fn wait(&mut self, _: Duration) -> Result<Took, GpuError> {
        self.gpu.call("wait")?;
        Ok(Took { copy_in_ns: 1, compute_ns: 10, copy_out_ns: 100 })
    }

    fn wipe(&mut self) -> Result<(), GpuError> {
        self.gpu.call("wipe")?;
        self.host.iter_mut().chain(&mut self.device).for_each(|side| side.fill(0));
        Ok(())
    }
}

impl Drop for FakeLane {
    fn drop(&mut self) {
        let held = self.host.iter().chain(&self.device).flatten();
        self.gpu.seen.lock().unwrap().left_behind += held.filter(|byte| **byte != 0).count();
    }
}

/// Works a message as its descriptor says.
fn work(
    message: &[u8; MESSAGE_BYTES],
    (keys, key_bytes): (&[u8], usize),
    input: &[u8],
    output: &mut [u8],
) {
    let word = |at: usize| u32::from_le_bytes(message[4 * at..][..4].try_into().unwrap()) as usize;
    let part = |from: &[u8], at: usize, bytes: usize| {
        let begin = UNIT_BYTES * word(at);
        let padding = &from[begin + bytes..][..bytes.next_multiple_of(UNIT_BYTES) - bytes];
        assert!(padding.iter().all(|byte| *byte == 0), "part {at} is not padded with zeros");
        from[begin..][..bytes].to_vec()
    };
    let key = keys[UNIT_BYTES * word(0)..][..key_bytes].to_vec();
    let (text_bytes, operation) = (word(8), word(7));
    let (nonce, aad) = (part(input, 1, word(10)), part(input, 2, word(9)));
    let text = part(input, 3, text_bytes);
    let (made, tag) = toy(&key, &nonce, &aad, &text, operation == 0);
    let ok = operation == 0 || part(input, 4, word(11)) == tag[..word(11)];
    if operation != 2 {
        let out = &mut output[UNIT_BYTES * word(5)..][..text_bytes.next_multiple_of(UNIT_BYTES)];
        out.fill(0);
        if ok {
            out[..text_bytes].copy_from_slice(&made);
        }
    }
    let result = &mut output[UNIT_BYTES * word(6)..][..2 * UNIT_BYTES];
    result.fill(0);
    result[..16].copy_from_slice(if operation == 0 { &tag } else { &[0; 16] });
    result[16] = if ok { 1 } else { 2 };
}

/// Encrypts nothing: a byte added to each, and sums for a tag that tells all parts apart.
pub(crate) fn toy(
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    text: &[u8],
    seals: bool,
) -> (Vec<u8>, [u8; 16]) {
    let sum = |part: &[u8]| {
        part.iter().enumerate().fold(part.len() as u64, |sum, (at, byte)| {
            sum.wrapping_mul(31).wrapping_add(u64::from(*byte) + at as u64)
        })
    };
    let mask = sum(key).wrapping_mul(7).wrapping_add(sum(nonce));
    let made: Vec<u8> = text.iter().map(|byte| byte ^ mask.to_le_bytes()[0]).collect();
    let ciphertext = if seals { &made } else { text };
    let mut tag = [0; 16];
    tag[..8].copy_from_slice(&(sum(ciphertext) ^ mask).to_le_bytes());
    tag[8..].copy_from_slice(&(sum(aad) ^ mask.rotate_left(17)).to_le_bytes());
    (made, tag)
}
