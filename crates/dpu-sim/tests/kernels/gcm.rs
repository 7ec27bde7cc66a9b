//! GHASH and GCM.

use super::{KEY, blocks_under, data, per};
use dpu_sim::kernels::{Division, HashKey, Mode, RoundKeys, ctr_parameters, gcm, ghash};
use dpu_sim::{Counters, Dpu, Outcome, Region, Timing, assemble};

fn run_ghash(tasklets: u32, chunk: u32, span: u32) -> Counters {
    let key = HashKey::new(b"sixteen bytes: H");
    let program = assemble(&ghash(Division::new(tasklets, chunk).unwrap())).unwrap();
    let mut dpu = Dpu::new(Timing::default());
    dpu.load(&program);
    let place = |name: &str| u64::from(program.symbol(name).unwrap().offset);
    dpu.write(Region::Wram, place("products"), &key.products()).unwrap();
    dpu.write(Region::Wram, place("span"), &span.to_le_bytes()).unwrap();
    let data = data((tasklets * span) as usize);
    dpu.write(Region::Mram, 0, &data).unwrap();
    dpu.boot();
    assert_eq!(dpu.run(u64::MAX), Outcome::Done);
    let mut parts = vec![[0; 16]; tasklets as usize];
    for (at, part) in (place("hashes")..).step_by(16).zip(&mut parts) {
        dpu.read(Region::Wram, at, part).unwrap();
    }
    let parts: Vec<_> = parts.into_iter().map(|part| (part, u64::from(span / 16))).collect();
    assert_eq!(key.join(&parts), key.hash(data.as_chunks().0), "{tasklets} {chunk} {span}");
    dpu.counters()
}

#[test]
fn ghash_is_right_and_takes_at_most_159_instructions_a_block() {
    run_ghash(3, 32, 96);
    run_ghash(24, 512, 1024);
    run_ghash(16, 1024, 2048);
    let (short, long) = (run_ghash(1, 2048, 2048), run_ghash(1, 2048, 6144));
    let block = per(long.instructions - short.instructions, 256);
    println!("GHASH: {block:.2} instructions a block");
    assert!(block <= 159.0, "{block}");
}

/// Seals or opens on one DPU: the text, the hash of the ciphertext, and the counters.
fn run_gcm(
    mode: Mode,
    key: &[u8],
    division: (u32, u32),
    data: &[u8],
) -> (Vec<u8>, [u8; 16], Counters) {
    let (tasklets, chunk) = division;
    let keys = RoundKeys::new(key).unwrap();
    let hash_key = HashKey::new(&blocks_under(key, &[0; 16], Mode::Encrypt).try_into().unwrap());
    let program = gcm(Division::new(tasklets, chunk).unwrap(), (mode, keys.size()));
    let program = assemble(&program).unwrap_or_else(|error| panic!("{error}"));
    let length = u32::try_from(data.len()).unwrap();
    let span = length.div_ceil(tasklets).next_multiple_of(chunk);
    let mut dpu = Dpu::new(Timing::default());
    dpu.load(&program);
    let place = |name: &str| u64::from(program.symbol(name).unwrap().offset);
    for (name, bytes) in [
        ("round_keys", keys.bytes()),
        ("products", hash_key.products()),
        ("length", length.to_le_bytes().to_vec()),
        ("span", span.to_le_bytes().to_vec()),
        ("nonce", ctr_parameters(b"twelve bytes", 2).to_vec()),
    ] {
        dpu.write(Region::Wram, place(name), &bytes).unwrap();
    }
    dpu.write(Region::Mram, 0, data).unwrap();
    dpu.boot();
    assert_eq!(dpu.run(u64::MAX), Outcome::Done);
    let mut out = vec![0; data.len()];
    dpu.read(Region::Mram, 0, &mut out).unwrap();
    let mut parts = Vec::new();
    for tasklet in 0..tasklets {
        let mut part = [0; 16];
        dpu.read(Region::Wram, place("hashes") + 16 * u64::from(tasklet), &mut part).unwrap();
        let bytes = length.saturating_sub(tasklet * span).min(span);
        parts.push((part, u64::from(bytes / 16)));
    }
    (out, hash_key.join(&parts), dpu.counters())
}

#[test]
fn gcm_seals_and_opens_as_by_the_book() {
    let key = *b"thirty-two bytes are a long key.";
    for (bytes, division, length) in
        [(16, (1, 32), 16), (16, (16, 1024), 20_000), (24, (24, 512), 4096), (32, (7, 64), 1008)]
    {
        let key = &key[..bytes];
        let plain = data(length);
        let mut counters = Vec::new();
        for number in 0..u32::try_from(length / 16).unwrap() {
            counters.extend_from_slice(b"twelve bytes");
            counters.extend_from_slice(&(2 + number).to_be_bytes());
        }
        let stream = blocks_under(key, &counters, Mode::Encrypt);
        let sealed: Vec<u8> =
            plain.iter().zip(stream).map(|(data, stream)| data ^ stream).collect();
        let hash_key = blocks_under(key, &[0; 16], Mode::Encrypt).try_into().unwrap();
        let hash = HashKey::new(&hash_key).hash(sealed.as_chunks().0);
        let (out, found, _) = run_gcm(Mode::Encrypt, key, division, &plain);
        assert!(out == sealed && found == hash, "sealing {division:?} {length}");
        let (out, found, _) = run_gcm(Mode::Decrypt, key, division, &sealed);
        assert!(out == plain && found == hash, "opening {division:?} {length}");
    }
}

#[test]
fn gcm_takes_less_than_617_instructions_a_block() {
    let instructions = |bytes| run_gcm(Mode::Encrypt, &KEY, (1, 1024), &data(bytes)).2.instructions;
    let block = per(instructions(6144) - instructions(2048), 256);
    println!("GCM: {block:.2} instructions a block");
    assert!(block < 617.0, "{block}");
}
