//! Kernels against the `aes` crate, and their counts.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod gcm;
mod many;

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use dpu_sim::kernels::{
    Division, KeySize, Mode, Registers, RoundKeys, ctr, ctr_parameters, document_000, ecb, ecb_fed,
};
use dpu_sim::{Counters, Dpu, FaultKind, Outcome, Region, Timing, assemble};

const KEY: [u8; 16] = *b"a key of 16 byte";
/// More than any of these runs takes.
const INSTRUCTIONS_MAX: u64 = 20_000_000;

fn data(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 7 + at / 251).to_le_bytes()[0]).collect()
}

struct Done {
    out: Vec<u8>,
    counters: Counters,
    times: [u32; 4],
}

fn run(source: &str, timing: Timing, data: &[u8], writes: &[(&str, &[u8])]) -> Done {
    let program = assemble(source).unwrap_or_else(|error| panic!("{error}"));
    let mut dpu = Dpu::new(timing);
    dpu.load(&program);
    for (name, bytes) in writes {
        let place = u64::from(program.symbol(name).unwrap().offset);
        dpu.write(Region::Wram, place, bytes).unwrap();
    }
    dpu.write(Region::Mram, 0, data).unwrap();
    dpu.boot();
    assert_eq!(dpu.run(INSTRUCTIONS_MAX), Outcome::Done);
    let mut out = vec![0; data.len()];
    dpu.read(Region::Mram, 0, &mut out).unwrap();
    let mut times = [0; 4];
    if let Some(symbol) = program.symbol("times") {
        for (place, time) in (u64::from(symbol.offset)..).step_by(4).zip(&mut times) {
            let mut word = [0; 4];
            dpu.read(Region::Wram, place, &mut word).unwrap();
            *time = u32::from_le_bytes(word);
        }
    }
    Done { out, counters: dpu.counters(), times }
}

fn blocks(data: &[u8], mode: Mode) -> Vec<u8> {
    blocks_under(&KEY, data, mode)
}

fn blocks_under(key: &[u8], data: &[u8], mode: Mode) -> Vec<u8> {
    fn all<C: BlockCipherEncrypt + BlockCipherDecrypt + KeyInit>(
        key: &[u8],
        data: &mut [u8],
        mode: Mode,
    ) {
        let cipher = C::new_from_slice(key).unwrap();
        for block in data.chunks_exact_mut(16) {
            let block = block.try_into().unwrap();
            match mode {
                Mode::Encrypt => cipher.encrypt_block(block),
                Mode::Decrypt => cipher.decrypt_block(block),
            }
        }
    }
    let mut out = data.to_vec();
    match key.len() {
        16 => all::<Aes128>(key, &mut out, mode),
        24 => all::<Aes192>(key, &mut out, mode),
        _ => all::<Aes256>(key, &mut out, mode),
    }
    out
}

/// Cycles or instructions of document 000's program: with the transfers, and without.
fn published(mode: Mode, counts: u32) -> (f64, f64) {
    let keys = RoundKeys::new(&KEY).unwrap();
    let keys = if mode == Mode::Encrypt { keys } else { keys.inverse() };
    let writes: [(&str, &[u8]); 2] =
        [("round_keys", &keys.bytes_of_words()), ("counts", &counts.to_le_bytes())];
    let data = data(2048);
    let done = run(&document_000(mode), Timing::default(), &data, &writes);
    assert_eq!(done.out, blocks(&data, mode));
    let [a, b, c, d] = done.times.map(f64::from);
    (16.0 * (d - a), 16.0 * (c - b))
}

#[test]
fn the_literal_kernel_is_within_15_percent_of_every_published_cell() {
    for (mode, counts, with, without) in [
        (Mode::Encrypt, 1, 1.13e6, 1.12e6),
        (Mode::Decrypt, 1, 1.12e6, 1.10e6),
        (Mode::Encrypt, 2, 103e3, 102e3),
        (Mode::Decrypt, 2, 103e3, 99.3e3),
    ] {
        let (found_with, found_without) = published(mode, counts);
        println!("{mode:?} {counts}: {found_with} of {with}, {found_without} of {without}");
        for (found, printed) in [(found_with, with), (found_without, without)] {
            assert!((found / printed - 1.0).abs() < 0.15, "{mode:?} {found} {printed}");
        }
    }
}

fn run_ecb(tasklets: u32, chunk: u32, registers: Registers, hazard: bool, bytes: u32) -> Done {
    let division = Division::new(tasklets, chunk).unwrap();
    let keys = RoundKeys::new(&KEY).unwrap().bytes();
    let writes: [(&str, &[u8]); 2] = [("round_keys", &keys), ("length", &bytes.to_le_bytes())];
    let timing = Timing { hazard, ..Timing::default() };
    let data = data(bytes as usize);
    let done =
        run(&ecb(division, (Mode::Encrypt, KeySize::Aes128), registers), timing, &data, &writes);
    assert_eq!(done.out, blocks(&data, Mode::Encrypt));
    done
}

fn per(count: u64, of: u32) -> f64 {
    f64::from(u32::try_from(count).unwrap()) / f64::from(of)
}

#[test]
fn ecb_is_right_with_all_divisions() {
    for (tasklets, chunk, bytes) in
        [(1, 32, 96), (3, 64, 4096), (24, 2048, 49_152), (11, 1024, 8192)]
    {
        run_ecb(tasklets, chunk, Registers::Plain, false, bytes);
        run_ecb(tasklets, chunk, Registers::ByBank, true, bytes);
    }
    assert!(Division::new(0, 1024).is_err() && Division::new(25, 1024).is_err());
    assert!(Division::new(1, 48).is_err());
}

#[test]
fn ecb_takes_at_most_552_instructions_a_block() {
    // The difference of two lengths leaves out what is done once.
    let short = run_ecb(1, 2048, Registers::Plain, false, 2048).counters.instructions;
    let long = run_ecb(1, 2048, Registers::Plain, false, 6144).counters.instructions;
    let block = per(long - short, 256);
    println!("ECB: {block:.2} instructions a block");
    assert!(block <= 552.0, "{block}");
}

#[test]
fn ecb_with_16_tasklets_takes_34_5_cycles_a_byte_and_47_8_with_the_hazard() {
    let bytes = 16 * 2048 * 4;
    let cycles =
        |registers, hazard| per(run_ecb(16, 2048, registers, hazard, bytes).counters.cycles, bytes);
    let plain = cycles(Registers::Plain, false);
    let hazard = cycles(Registers::Plain, true);
    let by_bank = cycles(Registers::ByBank, true);
    println!("{plain:.2} cycles a byte, {hazard:.2} with the hazard, {by_bank:.2} by bank");
    assert!((plain / 34.5 - 1.0).abs() < 0.03, "{plain}");
    assert!((hazard / 47.8 - 1.0).abs() < 0.03, "{hazard}");
    assert!(by_bank < hazard);
}

fn run_ctr(tasklets: u32, chunk: u32, counter: u32, bytes: u32) -> Counters {
    let nonce = *b"twelve bytes";
    let keys = RoundKeys::new(&KEY).unwrap().bytes();
    let (length, parameters) = (bytes.to_le_bytes(), ctr_parameters(&nonce, counter));
    let writes: [(&str, &[u8]); 3] =
        [("round_keys", &keys), ("length", &length), ("nonce", &parameters)];
    let data = data(bytes as usize);
    let division = Division::new(tasklets, chunk).unwrap();
    let done = run(&ctr(division, KeySize::Aes128), Timing::default(), &data, &writes);
    let mut counters = Vec::new();
    for number in 0..bytes / 16 {
        counters.extend_from_slice(&nonce);
        counters.extend_from_slice(&counter.wrapping_add(number).to_be_bytes());
    }
    let stream = blocks(&counters, Mode::Encrypt);
    let expected: Vec<u8> = data.iter().zip(stream).map(|(data, stream)| data ^ stream).collect();
    assert!(done.out == expected, "{tasklets} {chunk} {counter}");
    done.counters
}

#[test]
fn ctr_is_right_across_every_carry() {
    for (tasklets, chunk, counter) in
        [(1, 32, 2), (16, 1024, 0), (5, 2048, 250), (24, 256, u32::MAX - 3), (11, 64, 0x00ff_fffe)]
    {
        run_ctr(tasklets, chunk, counter, 2 * tasklets * chunk);
    }
}

#[test]
fn ctr_takes_at_most_462_instructions_a_block() {
    let short = run_ctr(1, 2048, 0, 2048).instructions;
    let long = run_ctr(1, 2048, 0, 6144).instructions;
    let block = per(long - short, 256);
    println!("CTR: {block:.2} instructions a block");
    assert!(block <= 462.0, "{block}");
}

#[test]
fn ecb_has_all_key_sizes_and_both_directions() {
    let key = *b"thirty-two bytes are a long key.";
    let data = data(1024);
    for (bytes, size) in [(16, KeySize::Aes128), (24, KeySize::Aes192), (32, KeySize::Aes256)] {
        for mode in [Mode::Encrypt, Mode::Decrypt] {
            let keys = RoundKeys::new(&key[..bytes]).unwrap();
            assert_eq!(keys.size(), size);
            let keys = if mode == Mode::Encrypt { keys } else { keys.inverse() }.bytes();
            let writes: [(&str, &[u8]); 2] =
                [("round_keys", &keys), ("length", &1024_u32.to_le_bytes())];
            let source = ecb(Division::new(5, 128).unwrap(), (mode, size), Registers::Plain);
            let done = run(&source, Timing::default(), &data, &writes);
            assert_eq!(done.out, blocks_under(&key[..bytes], &data, mode), "{size:?} {mode:?}");
        }
    }
    assert!(RoundKeys::new(&key[..17]).is_err());
}

#[test]
fn one_tasklet_can_feed_the_others() {
    let keys = RoundKeys::new(&KEY).unwrap().bytes();
    for (workers, chunk, bytes) in [(1, 32, 32), (3, 64, 4096), (16, 1024, 131_072), (23, 512, 0)] {
        let division = Division::new(workers, chunk).unwrap();
        let what = (Mode::Encrypt, KeySize::Aes128);
        let source = ecb_fed(division, what, Registers::Plain).unwrap();
        let length = u32::try_from(bytes).unwrap().to_le_bytes();
        let writes: [(&str, &[u8]); 2] = [("round_keys", &keys), ("length", &length)];
        let data = data(bytes);
        let done = run(&source, Timing::default(), &data, &writes);
        assert!(done.out == blocks(&data, Mode::Encrypt), "{workers} {chunk} {bytes}");
        if workers == 16 {
            let rate = per(done.counters.cycles, 131_072);
            println!("{rate:.2} cycles a byte with one tasklet that feeds 16");
            assert!((34.4..36.5).contains(&rate), "{rate}");
        }
    }
    let source =
        ecb_fed(Division::new(2, 32).unwrap(), (Mode::Encrypt, KeySize::Aes128), Registers::Plain);
    let program = assemble(&source.unwrap()).unwrap();
    let mut dpu = Dpu::new(Timing::default());
    dpu.load(&program);
    for (symbol, bytes) in [("round_keys", keys.as_slice()), ("length", &256_u32.to_le_bytes())] {
        let place = u64::from(program.symbol(symbol).unwrap().offset);
        dpu.write(Region::Wram, place, bytes).unwrap();
    }
    let (data, mut out) = (data(256), vec![0; 256]);
    for launch in 0..2 {
        dpu.write(Region::Mram, 0, &data).unwrap();
        dpu.boot();
        assert_eq!(dpu.run(u64::MAX), Outcome::Done);
        dpu.read(Region::Mram, 0, &mut out).unwrap();
        assert!(out == blocks(&data, Mode::Encrypt), "launch {launch}");
    }
    let all = Division::new(24, 32).unwrap();
    assert!(ecb_fed(all, (Mode::Encrypt, KeySize::Aes128), Registers::Plain).is_err());
}

#[test]
fn one_tasklet_feeds_the_others_however_slow_memory_is() {
    let keys = RoundKeys::new(&KEY).unwrap().bytes();
    for (setup, workers, counts) in [(500, 20, [101, 103, 119]), (2000, 5, [15, 21, 28])] {
        let division = Division::new(workers, 32).unwrap();
        let what = (Mode::Encrypt, KeySize::Aes128);
        let source = ecb_fed(division, what, Registers::Plain).unwrap();
        for chunks in counts {
            let mut timing = Timing::default();
            timing.dma.read_setup = setup + chunks % 7;
            timing.dma.write_setup = setup + chunks % 5;
            let length = (32 * chunks).to_le_bytes();
            let writes: [(&str, &[u8]); 2] = [("round_keys", &keys), ("length", &length)];
            let data = data(32 * chunks as usize);
            let done = run(&source, timing, &data, &writes);
            assert!(done.out == blocks(&data, Mode::Encrypt), "{setup} {workers} {chunks}");
        }
    }
}

#[test]
fn a_length_that_is_no_multiple_of_the_chunk_is_a_fault() {
    let division = Division::new(3, 64).unwrap();
    let what = (Mode::Encrypt, KeySize::Aes128);
    for source in [
        ecb(division, what, Registers::Plain),
        ctr(division, KeySize::Aes128),
        ecb_fed(division, what, Registers::Plain).unwrap(),
    ] {
        let program = assemble(&source).unwrap();
        let mut dpu = Dpu::new(Timing::default());
        dpu.load(&program);
        let place = u64::from(program.symbol("length").unwrap().offset);
        dpu.write(Region::Wram, place, &100_u32.to_le_bytes()).unwrap();
        dpu.boot();
        let Outcome::Fault(fault) = dpu.run(10_000) else { panic!("no fault") };
        assert_eq!(fault.kind, FaultKind::Raised { number: 1 });
        assert_eq!(dpu.run(10_000), Outcome::Fault(fault));
    }
}
