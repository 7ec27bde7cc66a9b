//! XAES-256-GCM (C2SP): AES-256-GCM under a key that is derived for each message.
//!
//! The first 12 bytes of a nonce of 24 make two blocks, which AES-256 under the session's key encrypts to the message's
//! key; its nonce is the other 12 bytes. Keys of many messages are derived together, with many blocks in flight, and
//! worked as any raw keys are.
#![allow(unsafe_code)]

use core::{ops::Range, slice};

use sealift_core::{KeyError, NONCE_BYTES, Slot, Status, Work, XAES_NONCE_BYTES};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
use crate::x86_64::{aesni, vaes256, vaes512};
use crate::{
    Path, Schedule, Schedules,
    model::aes,
    run::{self, process},
    schedule::{Expanded, RoundKeys},
    stack,
};

/// Works on the messages `range` of a batch for XAES-256-GCM and sets the status of each.
// Not a part of what calls it: its room on the stack would lie above that of every other message.
#[inline(never)]
pub(crate) fn run(path: Path, work: &mut Work<'_>, range: Range<usize>, schedules: Schedules<'_>) {
    let mut keys = DerivedKeys(vec![[0; 2]; range.len().min(WINDOW)]);
    for start in range.clone().step_by(WINDOW) {
        let window = start..range.end.min(start + WINDOW);
        let keys = &mut keys.0[..window.len()];
        let schedules = match schedules {
            Schedules::Each(each) => Schedules::Each(&each[start - range.start..]),
            same => same,
        };
        derive(path, work, window.clone(), schedules, keys);
        stack::wipe_kernel();
        work.run_derived(window, bytes_of(keys), NONCE_HEAD, |derived| {
            let all = 0..derived.len();
            run::run(path, derived, all, Schedules::Raw);
        });
    }
}

/// Seals, opens or verifies one message of XAES-256-GCM under the schedule of its key of 32 bytes.
///
/// A slot whose parts don't fit its operation, or whose nonce has not 24 bytes, is left [`Status::NotProcessed`].
#[must_use]
pub fn process_xaes(path: Path, schedule: &Schedule, slot: Slot<'_>) -> Status {
    let Some((head, nonce)) = split(slot.nonce) else { return Status::NotProcessed };
    match derive_schedule(path, schedule, head) {
        Ok(derived) => process(path, &derived, Slot { nonce, ..slot }),
        Err(_) => Status::NotProcessed,
    }
}

/// The schedule of a message's key, from that of its session's and the first bytes of its nonce.
pub(crate) fn derive_schedule(
    path: Path,
    schedule: &Schedule,
    head: &[u8; NONCE_HEAD],
) -> Result<Schedule, KeyError> {
    let mut keys = DerivedKeys(vec![[0; 2]]);
    derive_one(path, schedule.expanded(), head, &mut keys.0[0]);
    stack::wipe_kernel();
    Schedule::from_raw(path, bytes_of(&keys.0))
}

/// The first bytes of a nonce, from which the key is derived, and the nonce under that key; none if it has another length.
pub(crate) fn split(nonce: &[u8]) -> Option<(&[u8; NONCE_HEAD], &[u8])> {
    nonce.split_first_chunk().filter(|(_, rest)| rest.len() == NONCE_BYTES)
}

/// The keys of some messages.
// Not a part of what calls it, so that its stack can be wiped.
#[inline(never)]
fn derive(
    path: Path,
    work: &Work<'_>,
    window: Range<usize>,
    schedules: Schedules<'_>,
    keys: &mut [[u128; 2]],
) {
    let nonces = &work.batch().nonce;
    let heads =
        window.clone().map(|message| split(nonces.get(message)).map_or(&NO_HEAD, |(head, _)| head));
    match schedules {
        Schedules::One(schedule) => {
            let schedule = schedule.expanded();
            let mask = mask(schedule.hash_key());
            let mut heads = heads;
            for keys in keys.chunks_mut(TOGETHER) {
                for (key, head) in keys.iter_mut().zip(&mut heads) {
                    *key = blocks(head, mask);
                }
                encrypt(path, schedule.is_fast(), schedule.round_keys(), keys.as_flattened_mut());
            }
        }
        Schedules::Each(each) => {
            for ((key, head), schedule) in keys.iter_mut().zip(heads).zip(each) {
                derive_one(path, schedule.expanded(), head, key);
            }
        }
        Schedules::Raw => {
            let mut round_keys = Zeroizing::new(RoundKeys::default());
            for ((key, head), message) in keys.iter_mut().zip(heads).zip(window) {
                let Some(raw) = work.batch().raw_key(message) else { continue };
                let round_keys = round_keys.expand(path, raw);
                let mut zero = [0];
                encrypt(path, true, round_keys, &mut zero);
                *key = blocks(head, mask(zero[0].swap_bytes()));
                encrypt(path, true, round_keys, key);
                zero.zeroize();
            }
        }
    }
}

// Not a part of what calls it, so that its stack can be wiped.
#[inline(never)]
fn derive_one(path: Path, schedule: &Expanded, head: &[u8; NONCE_HEAD], key: &mut [u128; 2]) {
    *key = blocks(head, mask(schedule.hash_key()));
    encrypt(path, schedule.is_fast(), schedule.round_keys(), key);
}

/// What is added to a block before it is encrypted: the encrypted zero block, a number whose highest bit is its first,
/// times x, as CMAC has it (NIST SP 800-38B, section 6.1). In the order of bytes in memory.
fn mask(encrypted_zero: u128) -> u128 {
    let carry = (encrypted_zero.cast_signed() >> 127).cast_unsigned();
    ((encrypted_zero << 1) ^ (carry & 0x87)).swap_bytes()
}

/// The blocks that become a message's key when they are encrypted: a counter of 16 bits, `X`, a zero, and the first bytes
/// of the nonce.
fn blocks(head: &[u8; NONCE_HEAD], mask: u128) -> [u128; 2] {
    let mut last = [0; 16];
    last[4..].copy_from_slice(head);
    let head = u128::from_le_bytes(last) ^ mask;
    [head ^ u128::from_le_bytes(FIRST), head ^ u128::from_le_bytes(SECOND)]
}

/// Encrypts blocks where they are. `is_fast` says whether the round keys are such as the fast paths take.
fn encrypt(path: Path, is_fast: bool, round_keys: &[u128], blocks: &mut [u128]) {
    match path {
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::AesNi(token) if is_fast => aesni::encrypt_blocks(token, round_keys, blocks),
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::Vaes256(token) if is_fast => vaes256::encrypt_blocks(token, round_keys, blocks),
        #[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
        Path::Vaes512(token) if is_fast => vaes512::encrypt_blocks(token, round_keys, blocks),
        _ => {
            let _ = is_fast;
            blocks.iter_mut().for_each(|block| *block = aes::encrypt(round_keys, *block));
        }
    }
}

/// The keys of a window of messages, on the heap.
#[derive(ZeroizeOnDrop)]
struct DerivedKeys(Vec<[u128; 2]>);

fn bytes_of(keys: &[[u128; 2]]) -> &[u8] {
    let (start, bytes) = (keys.as_ptr().cast(), size_of_val(keys));
    // SAFETY: integers are initialized bytes without padding, and the borrow stays.
    unsafe { slice::from_raw_parts(start, bytes) }
}

/// Bytes of a nonce from which a key is derived.
const NONCE_HEAD: usize = XAES_NONCE_BYTES - NONCE_BYTES;

const NO_HEAD: [u8; NONCE_HEAD] = [0; NONCE_HEAD];

/// Bytes before the nonce in the two blocks.
const FIRST: [u8; 16] = prefix(1);
const SECOND: [u8; 16] = prefix(2);

const fn prefix(counter: u8) -> [u8; 16] {
    let mut block = [0; 16];
    (block[1], block[2]) = (counter, b'X');
    block
}

/// Messages whose keys are derived together: their blocks leave the store queue before they are loaded again.
const TOGETHER: usize = 64;

/// Messages whose keys are there at the same time.
// IMPLEMENTATION NOTE: 512 to 3,584 take the same time within 1 % (128 bytes, vaes256, AMD EPYC: `cargo bench -p sealift-peers
// --bench xaes`). Of shorter windows the kernels would ask the cache for nothing ahead.
const WINDOW: usize = 2_048;
