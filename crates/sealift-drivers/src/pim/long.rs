//! One long message, cut into a part for each DPU.

use super::bank::{Bank, Kernel};
use super::messages::{Item, Round};
use super::under::Under;
use dpu_sim::kernels::many::Operation;
use dpu_sim::kernels::{HashKey, Mode};
use sealift_core::Work;
use sealift_kernels::copy::copy;
use std::ops::Range;
use zeroize::Zeroizing;

/// Works a message and gives out its result.
pub(super) fn work(
    bank: &mut Bank,
    round: &Round,
    item: &Item,
    work: &mut Work<'_>,
) -> Result<(), String> {
    let under = Under::new(&round.keys[item.key], round.bytes(&item.nonce))?;
    let text = round.bytes(&item.text);
    let parts = parts(text.len(), bank.dpus());
    let worked = compute(bank, &under, item.operation, (text, &parts));
    bank.wipe(0..bank.dpus())?;
    let (made, hashes) = worked?;
    let tag = under.tag(round.bytes(&item.aad), hashes, text.len());
    item.give(work, &made[..text.len()], &tag);
    Ok(())
}

type Hashes = Vec<([u8; 16], u64)>;

/// The text that DPUs make, whole blocks of it, and the hashes of their tasklets' ciphertext.
fn compute(
    bank: &mut Bank,
    under: &Under,
    operation: Operation,
    (text, parts): (&[u8], &[Range<usize>]),
) -> Result<(Zeroizing<Vec<u8>>, Hashes), String> {
    let mode = if matches!(operation, Operation::Seal) { Mode::Encrypt } else { Mode::Decrypt };
    let size = under.rounds.size();
    bank.load(Kernel::Long(mode, size))?;
    let division = bank.settings().long()?;
    let (tasklets, chunk) = (division.tasklets() as usize, division.chunk_bytes() as usize);
    let span = |part: &Range<usize>| part.len().div_ceil(tasklets).next_multiple_of(chunk);
    let tables = [
        ("round_keys", Zeroizing::new(under.rounds.bytes())),
        ("products", Zeroizing::new(under.hash.products())),
    ];
    for (symbol, bytes) in &tables {
        bank.put(symbol, &vec![bytes.as_slice(); parts.len()])?;
    }
    let counters = parts.iter().map(|part| under.counters(part.start / 16));
    bank.put("nonce", &counters.collect::<Result<Vec<_>, _>>()?)?;
    let lengths = parts.iter().map(|part| word(part.len()));
    bank.put("length", &lengths.collect::<Result<Vec<_>, _>>()?)?;
    let spans = parts.iter().map(|part| word(span(part)));
    bank.put("span", &spans.collect::<Result<Vec<_>, _>>()?)?;
    let buffers = parts.iter().map(|part| {
        let mut buffer = Zeroizing::new(vec![0; part.len()]);
        let there = part.start..part.end.min(text.len());
        copy(&mut buffer[..there.len()], &text[there]);
        buffer
    });
    bank.push(buffers.enumerate().collect())?;
    bank.launch()?;
    let wanted: Vec<_> = parts.iter().map(Range::len).enumerate().collect();
    let mut made = Zeroizing::new(vec![0; parts.last().map_or(0, |part| part.end)]);
    for ((_, came), part) in bank.pull(0, &wanted)?.iter().zip(parts) {
        copy(&mut made[part.clone()], &came[..part.len()]);
    }
    let mut hashes = vec![];
    for (bytes, part) in bank.get("hashes", parts.len(), 16 * tasklets)?.iter().zip(parts) {
        let span = span(part);
        for (tasklet, hash) in bytes.as_chunks::<16>().0.iter().enumerate() {
            let own = part.len().saturating_sub(tasklet * span).min(span);
            hashes.push((*hash, (own / 16) as u64));
        }
    }
    if mode == Mode::Encrypt {
        without_padding(&under.hash, &made, text.len(), &mut hashes);
    }
    Ok((made, hashes))
}

/// DPUs encrypt whole blocks. What was hashed of a last one behind the text is taken out of its part's hash.
fn without_padding(key: &HashKey, made: &[u8], text_bytes: usize, hashes: &mut Hashes) {
    let Some(behind) = made.get(text_bytes..).filter(|behind| !behind.is_empty()) else { return };
    let mut block = [0; 16];
    copy(&mut block[16 - behind.len()..], behind);
    let wrong = u128::from_ne_bytes(key.hash(&[block]));
    if let Some((hash, _)) = hashes.iter_mut().rev().find(|(_, blocks)| *blocks > 0) {
        *hash = (u128::from_ne_bytes(*hash) ^ wrong).to_ne_bytes();
    }
}

/// Whole blocks for each DPU, as many for all but the last.
fn parts(text_bytes: usize, dpus: usize) -> Vec<Range<usize>> {
    let whole = text_bytes.next_multiple_of(16);
    let each = (whole / 16).div_ceil(dpus).max(1) * 16;
    (0..whole).step_by(each).map(|start| start..whole.min(start + each)).collect()
}

fn word(bytes: usize) -> Result<[u8; 4], String> {
    let bytes = u32::try_from(bytes).map_err(|error| error.to_string())?;
    Ok(bytes.to_le_bytes())
}
