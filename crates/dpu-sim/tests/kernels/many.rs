//! Many messages under many keys, against the `aes-gcm` crate.

use super::{blocks_under, data};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::aead::array::{Array, ArraySize};
use aes_gcm::aead::consts::{U1, U8, U12, U16, U60, U128};
use aes_gcm::aes::cipher::{BlockCipherEncrypt, BlockSizeUser, KeyInit};
use aes_gcm::{AeadInOut, AesGcm};
use dpu_sim::kernels::many::{self, Layout, LayoutError, Message, Operation, Places};
use dpu_sim::kernels::{Division, Mode};
use dpu_sim::{Counters, Dpu, MRAM_BYTES, Outcome, Region, Timing, assemble};

/// Ciphertext and tag.
fn sealed(key: &[u8], message: &Message<'_>) -> (Vec<u8>, [u8; 16]) {
    fn with<A, N>(key: &[u8], message: &Message<'_>) -> (Vec<u8>, [u8; 16])
    where
        A: BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt + KeyInit,
        N: ArraySize,
    {
        let gcm = AesGcm::<A, N>::new_from_slice(key).unwrap();
        let nonce = Array::<u8, N>::try_from(message.nonce).unwrap();
        let mut text = message.text.to_vec();
        let tag = gcm.encrypt_inout_detached(&nonce, message.aad, text.as_mut_slice().into());
        (text, tag.unwrap().into())
    }
    fn of<A>(key: &[u8], message: &Message<'_>) -> (Vec<u8>, [u8; 16])
    where
        A: BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt + KeyInit,
    {
        match message.nonce.len() {
            1 => with::<A, U1>(key, message),
            8 => with::<A, U8>(key, message),
            12 => with::<A, U12>(key, message),
            16 => with::<A, U16>(key, message),
            60 => with::<A, U60>(key, message),
            _ => with::<A, U128>(key, message),
        }
    }
    match key.len() {
        16 => of::<Aes128>(key, message),
        24 => of::<Aes192>(key, message),
        _ => of::<Aes256>(key, message),
    }
}

fn dpu(tasklets: u32, chunk: u32) -> Dpu {
    let source = many::program(Division::new(tasklets, chunk).unwrap());
    let program = assemble(&source).unwrap_or_else(|error| panic!("{error}"));
    let mut dpu = Dpu::new(Timing::default());
    dpu.load(&program);
    dpu
}

/// Works an image; what stands where results do.
fn run(dpu: &mut Dpu, image: &[u8], places: &Places) -> Vec<u8> {
    dpu.write(Region::Mram, 0, image).unwrap();
    dpu.boot();
    assert_eq!(dpu.run(u64::MAX), Outcome::Done);
    let mut results = vec![0; places.results_bytes()];
    dpu.read(Region::Mram, u64::from(many::RESULTS_AT), &mut results).unwrap();
    results
}

/// Seals plaintexts with the oracle, works all of it on the DPU, and compares.
fn check(dpu: &mut Dpu, keys: &[&[u8]], plain: &[Message<'_>], what: &str) {
    let sealed: Vec<_> = plain.iter().map(|message| sealed(keys[message.key], message)).collect();
    let given = plain.iter().zip(&sealed).map(|(plain, (text, _))| {
        if plain.operation == Operation::Seal { *plain } else { Message { text, ..*plain } }
    });
    let given: Vec<_> = given.collect();
    let layout = Layout::new(keys, &given).unwrap();
    assert!(layout.image().len() <= layout.places().used_bytes());
    let (image, places) = layout.into_image();
    let results = run(dpu, &image, &places);
    for (number, (plain, (text, tag))) in plain.iter().zip(&sealed).enumerate() {
        let expected = if plain.operation == Operation::Open { plain.text } else { text };
        let at = places.text(number);
        let (aad, nonce) = (plain.aad.len(), plain.nonce.len());
        let name = format!("{what}: {number}, {} {aad} {nonce}", expected.len());
        assert!(results[at.clone()] == *expected, "text of {name}");
        assert!(places.tag(number, &results) == *tag, "tag of {name}");
        let padding = at.end..at.end.next_multiple_of(16);
        assert!(results[padding].iter().all(|byte| *byte == 0), "padding of {name}");
    }
}

const OPERATIONS: [Operation; 3] = [Operation::Seal, Operation::Open, Operation::Verify];

#[test]
fn messages_of_all_lengths_are_right_with_any_number_of_tasklets() {
    let bytes = data(8192);
    let keys = [&bytes[..16], &bytes[100..132], &bytes[200..224], &bytes[300..316]];
    let nonces = [12, 1, 12, 8, 16, 12, 60, 128];
    for tasklets in 1..=24 {
        let chunk = [32, 1024, 128, 64, 512, 256, 1024][tasklets as usize % 7];
        let mut dpu = dpu(tasklets, chunk);
        let chunk = chunk as usize;
        let lengths = [0, 1, 15, 16, 17, 127, 128, chunk - 1, chunk, chunk + 1, 2 * chunk, 333];
        let aads = [0, 20, 1, 15, 16, 17, chunk, 0, 2 * chunk + 3, 64];
        let messages: Vec<_> = (0..26)
            .map(|number| Message {
                operation: OPERATIONS[(number + tasklets as usize) % 3],
                key: number % 5 % 4,
                nonce: &bytes[500 + number..][..nonces[number % 8]],
                aad: &bytes[1000 + number..][..aads[number % 10]],
                text: &bytes[4000 + 7 * number..][..lengths[number % 12]],
            })
            .collect();
        let what = format!("{tasklets} tasklets, chunks of {chunk}");
        check(&mut dpu, &keys, &messages, &what);
        // Another image for the same program, which has only this message.
        check(&mut dpu, &keys[1..], &[Message { key: 2, ..messages[5] }], &what);
    }
}

#[test]
fn counters_carry_and_wrap_within_a_message() {
    let bytes = data(8192);
    let mut dpu = dpu(2, 1024);
    for nonce in [12, 8, 128] {
        let message = Message {
            operation: Operation::Seal,
            key: 0,
            nonce: &bytes[nonce..2 * nonce],
            aad: &[],
            text: &bytes[..5000],
        };
        check(&mut dpu, &[&bytes[..24]], &[message], "carry");
    }
    // The first counter block lies in the message's description, which the header points to.
    let text = [0; 128];
    let message = Message {
        operation: Operation::Open,
        key: 0,
        nonce: b"twelve bytes",
        aad: &[],
        text: &text,
    };
    let (mut image, places) = Layout::new(&[&bytes[..16]], &[message]).unwrap().into_image();
    let description = u32::from_le_bytes(image[4..8].try_into().unwrap()) - Region::Mram.base();
    let counter = description as usize + 52;
    image[counter..counter + 4].copy_from_slice(&(u32::MAX - 3).to_be_bytes());
    let results = run(&mut dpu, &image, &places);
    let blocks: Vec<u8> = (0..8_u32)
        .flat_map(|block| {
            let counter = (u32::MAX - 2).wrapping_add(block).to_be_bytes();
            b"twelve bytes".iter().copied().chain(counter)
        })
        .collect();
    assert!(results[places.text(0)] == blocks_under(&bytes[..16], &blocks, Mode::Encrypt));
}

/// Instructions of so many messages of 128 bytes under so many keys.
fn counted(messages: usize, keys: usize) -> Counters {
    let bytes = data(4096);
    let keys: Vec<_> = (0..keys).map(|key| &bytes[key..key + 16]).collect();
    let message = |number: usize| Message {
        operation: Operation::Seal,
        key: number % keys.len(),
        nonce: &bytes[..12],
        aad: &[],
        text: &bytes[..128],
    };
    let messages: Vec<_> = (0..messages).map(message).collect();
    let mut dpu = dpu(1, 1024);
    check(&mut dpu, &keys, &messages, "counted");
    dpu.counters()
}

#[test]
fn a_message_of_128_bytes_takes_at_most_8457_instructions_and_7189_with_its_key_expanded() {
    let instructions = |messages, keys| counted(messages, keys).instructions;
    let fresh = instructions(3, 3) - instructions(2, 2);
    let again = instructions(4, 1) - instructions(3, 1);
    println!("128 bytes: {fresh} instructions under a key of its own, {again} under a known one");
    assert!(fresh <= 8457, "{fresh}");
    assert!(again <= 7189, "{again}");
}

#[test]
fn nothing_to_do_is_soon_done() {
    let mut dpu = dpu(24, 1024);
    let (image, places) = Layout::new(&[], &[]).unwrap().into_image();
    assert!(run(&mut dpu, &image, &places).is_empty());
    assert!(dpu.counters().instructions < 2000);
}

#[test]
fn what_cannot_be_laid_out_is_told() {
    let message = Message { operation: Operation::Seal, key: 0, nonce: &[1], aad: &[], text: &[] };
    let error = |keys: &[&[u8]], message| Layout::new(keys, &[message]).err().unwrap();
    assert_eq!(error(&[&[0; 17]], message), LayoutError::KeyLength { key: 0, bytes: 17 });
    let key: &[u8] = &[0; 16];
    let unknown = LayoutError::Key { message: 0, key: 1, keys: 1 };
    assert_eq!(error(&[key], Message { key: 1, ..message }), unknown);
    let empty = LayoutError::Nonce { message: 0 };
    assert_eq!(error(&[key], Message { nonce: &[], ..message }), empty);
    let long = vec![0; usize::try_from(MRAM_BYTES).unwrap()];
    let full = error(&[key], Message { text: &long, ..message });
    assert!(matches!(full, LayoutError::Full { bytes } if bytes > MRAM_BYTES));
}
