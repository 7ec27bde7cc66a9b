//! Edges of lengths and of batch sizes, and inputs that are shorter than their tag.

use crate::compare::{grouped, must_conform, seal_truths};
use crate::form::{Form, TagPlace, TextPlace};
use crate::message::{Group, Message, Ring, Truth};
use crate::random::Random;
use crate::recipe::{Longest, Recipe, key_of_size, mixed};
use crate::subject::Subject;
use sealift_core::{Op, TagLength};

const BATCHES: [usize; 11] = [0, 1, 3, 7, 8, 9, 17, 1_023, 1_024, 1_025, 3_000];
const TEXTS: [usize; 26] = [
    0,
    1,
    15,
    16,
    17,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    129,
    255,
    256,
    257,
    511,
    512,
    513,
    4_095,
    4_096,
    4_097,
    65_536,
    1 << 20 | 3,
    1 << 24,
];
/// Slow devices stop here.
const TEXT_SLOW: usize = 65_536;
/// Limits further away than these cost too much to reach.
const MESSAGES_WORTH_IT: usize = 1 << 20;
const TEXT_WORTH_IT: usize = 1 << 24;
const AAD_WORTH_IT: usize = 1 << 24;
const AADS: [usize; 5] = [0, 16, 17, 33, 1_000];
/// More than a device may hash in one go.
const LONG_AAD: usize = 40_003;
const TEXTS_OF_LONG_AADS: [usize; 3] = [0, 513, 4_097];

/// Batches of every size at the edges of windows and lanes.
pub(crate) fn batch_sizes(subject: &Subject) -> Result<String, String> {
    let mut random = Random::new(subject.seed, 1);
    let recipe = Recipe::new(subject, 40, &mut random);
    let text = if subject.is_slow() { 40 } else { 200 };
    let (mut messages, mut batches) = (0, 0);
    for size in BATCHES {
        let times = if size > 17 { 4 } else { 20 };
        for _ in 0..subject.count_at_least(2, times, times) {
            let sealed = recipe.sealed(subject, size, Longest { text, aad: 40 }, &mut random)?;
            let form = Form::nth(batches, subject.capabilities());
            must_conform(&*subject.device, &sealed, form)?;
            must_conform(&*subject.device, &mixed(&sealed, &mut random), form)?;
            (messages, batches) = (messages + size, batches + 1);
        }
    }
    recipe.ring.retire_all(&*subject.device);
    Ok(format!("{} messages in batches of 0 to 3,000", grouped(messages)))
}

/// Texts and aad at the edges of blocks and registers, up to 16 MiB.
pub(crate) fn lengths(subject: &Subject) -> Result<String, String> {
    let mut random = Random::new(subject.seed, 2);
    let ring = Ring::new([16, 24, 32].map(|len| key_of_size(len, &mut random)).into());
    let mut batches = 0;
    let longest = subject.text_bytes(if subject.is_slow() { TEXT_SLOW } else { usize::MAX });
    for text in TEXTS.into_iter().filter(|&text| text <= longest) {
        let (aads, forms) = match text {
            65_537.. => (2, 1),
            514.. => {
                let [aads, forms] = [AADS.len(), 8].map(|all| subject.count_at_least(2, all, all));
                (aads, forms)
            }
            _ => (AADS.len(), 8),
        };
        let long = TEXTS_OF_LONG_AADS.contains(&text).then_some(LONG_AAD);
        let aads = AADS.into_iter().take(aads).chain(long);
        for aad in aads.filter(|&aad| aad <= subject.capabilities().aad_bytes_max) {
            let message = |key| Message {
                op: Op::Seal,
                key,
                nonce: random.bytes(12),
                aad: random.bytes(aad),
                text: random.bytes(text),
                tag: vec![],
            };
            let messages = (0..ring.len()).map(message).collect();
            let (ring, tag_length) = (ring.clone(), TagLength::FULL);
            let mut sealed = Group { ring, tag_length, messages, truths: vec![] };
            seal_truths(&*subject.oracle, &mut sealed)?;
            for n in 0..forms {
                let form = Form::nth(batches + n, subject.capabilities());
                must_conform(&*subject.device, &sealed, form)?;
                must_conform(&*subject.device, &mixed(&sealed, &mut random), form)?;
                batches += 1;
            }
        }
    }
    ring.retire_all(&*subject.device);
    let longest = TEXTS.into_iter().filter(|&text| text <= longest).max().unwrap_or(0);
    Ok(format!("{} batches of three key sizes, texts up to {} B", batches, grouped(longest)))
}

/// An input that should end with its tag and is shorter: it fails and leaves zeros in its whole slot,
/// its neighbours don't.
pub(crate) fn shorter_than_its_tag(subject: &Subject) -> Result<String, String> {
    let mut random = Random::new(subject.seed, 3);
    let recipe = Recipe::new(subject, 3, &mut random);
    let mut batches = 0;
    for n in 0..Form::COUNT {
        let form = Form::nth(n, subject.capabilities());
        if form.tags == TagPlace::Apart {
            continue;
        }
        let longest = Longest { text: 40, aad: 8 };
        let mut group = recipe.sealed(subject, 9, longest, &mut random)?.opening();
        for i in [0, 4, 8] {
            let message = &mut group.messages[i];
            (message.op, message.text) = (random.pick(&[Op::Open, Op::Verify]), vec![]);
            message.tag.truncate(random.below(group.tag_length.bytes()));
            group.truths[i] = Truth::failed(message);
        }
        must_conform(&*subject.device, &group, form)?;
        batches += 1;
    }
    recipe.ring.retire_all(&*subject.device);
    Ok(format!("{batches} batches"))
}

/// Batches within and beyond each limit of a device.
pub(crate) fn limits(subject: &Subject) -> Result<String, String> {
    let capabilities = subject.capabilities();
    let mut random = Random::new(subject.seed, 4);
    let recipe = Recipe::new(subject, 3, &mut random);
    let sealed = recipe.sealed(subject, 5, Longest { text: 40, aad: 8 }, &mut random)?;
    let mut said = vec![];
    let mut probe = |what: String, taken: bool, group: &Group, form: Form| {
        let attempt = crate::compare::conform(&*subject.device, group, form)?;
        if taken != (attempt == crate::compare::Attempt::Passed) {
            return Err(format!("{what}: its capabilities say otherwise than {attempt:?}"));
        }
        said.extend((!taken).then_some(what));
        Ok(())
    };
    let in_place = Form { text: TextPlace::InPlace, ..Form::PLAIN };
    probe("in place".to_owned(), capabilities.in_place, &sealed, in_place)?;
    if capabilities.messages_max < MESSAGES_WORTH_IT {
        let group =
            recipe.seals(capabilities.messages_max + 1, Longest { text: 0, aad: 0 }, &mut random);
        probe("a message too many".to_owned(), false, &group, Form::PLAIN)?;
    }
    if capabilities.text_bytes_max < TEXT_WORTH_IT {
        let mut group = recipe.seals(1, Longest { text: 0, aad: 0 }, &mut random);
        group.messages[0].text = random.bytes(capabilities.text_bytes_max + 1);
        probe("a text that is too long".to_owned(), false, &group, Form::PLAIN)?;
    }
    if capabilities.aad_bytes_max < AAD_WORTH_IT {
        for (more, taken) in [(0, true), (1, false)] {
            let mut group = recipe.seals(1, Longest { text: 40, aad: 0 }, &mut random);
            group.messages[0].aad = random.bytes(capabilities.aad_bytes_max + more);
            seal_truths(&*subject.oracle, &mut group)?;
            probe(
                format!("aads of {} B", capabilities.aad_bytes_max + more),
                taken,
                &group,
                Form::PLAIN,
            )?;
        }
    }
    for bytes in 1..=128 {
        let mut group = sealed.opening();
        let oracle = &subject.oracle.capabilities().nonce_lengths;
        let taken = capabilities.nonce_lengths.iter().any(|known| known == bytes);
        if taken && !oracle.iter().any(|known| known == bytes) {
            continue;
        }
        for message in &mut group.messages {
            (message.op, message.nonce) = (Op::Seal, random.bytes(bytes));
            message.tag.clear();
        }
        if taken {
            seal_truths(&*subject.oracle, &mut group)?;
        }
        probe(format!("nonces of {bytes} B"), taken, &group, Form::PLAIN)?;
    }
    for tag_length in TagLength::ALL {
        let taken = capabilities.tag_lengths.contains(&tag_length);
        let mut group = recipe.seals(5, Longest { text: 40, aad: 8 }, &mut random);
        group.tag_length = tag_length;
        seal_truths(&*subject.oracle, &mut group)?;
        probe(format!("tags of {} B", tag_length.bytes()), taken, &group, Form::PLAIN)?;
    }
    recipe.ring.retire_all(&*subject.device);
    Ok(match &said[..] {
        [] => "takes everything".to_owned(),
        [one] => format!("takes everything but {one}"),
        [first, .., last] => format!("refuses {}: from {first} to {last}", said.len()),
    })
}
