//! Buffers that end at an inaccessible page or start behind one: a kernel that reads or writes a
//! byte outside ends the process. Inputs can't be written either.

use crate::compare::{grouped, must_conform, seal_truths};
use crate::ffi::Named;
use crate::form::{Form, KeyForm, TagPlace, TextPlace};
use crate::memory::Where;
use crate::message::{Group, Message, Ring, Truth};
use crate::random::Random;
use crate::recipe::keys_of_all_sizes;
use crate::strip::Arrangement;
use crate::subject::Subject;
use sealift_core::{Op, TagLength};
use std::sync::Arc;

/// Seals, opens and verifies at every length and edge.
pub(crate) fn check(subject: &Subject) -> Result<String, String> {
    if !subject.capabilities().runs_on_calling_thread {
        return Ok("it takes submitted jobs only, whose bytes are in no such place".to_owned());
    }
    let mut random = Random::new(subject.seed, 0x9a4d);
    let ring = Ring::new(keys_of_all_sizes(20, &mut random));
    let mut batches = 0;
    for len in lengths(subject) {
        for messages in [1, 17] {
            if subject.is_slow() && messages > 1 {
                continue;
            }
            let mut sealed = group(subject, &ring, (messages, len), &mut random);
            seal_truths(&*subject.oracle, &mut sealed)?;
            for group in directions(&sealed) {
                for form in forms(subject) {
                    let (name, op) = (&subject.capabilities().name, group.messages[0].op);
                    let what = format!("{name}: {op:?} of {messages} times {len} B, in {form:?}");
                    let _named = Named::new(what);
                    must_conform(&*subject.device, &group, form)?;
                    batches += 1;
                }
            }
        }
    }
    ring.retire_all(&*subject.device);
    Ok(format!("{} batches between guard pages", grouped(batches)))
}

fn lengths(subject: &Subject) -> Vec<usize> {
    let every = (1.0 / subject.scale).sqrt();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let step = every as usize;
    let is_kept = |&(n, len): &(usize, usize)| n.is_multiple_of(step.max(1)) || is_edge(len);
    let around = |middle: usize| middle - 17..=middle + 17;
    let longer = [512, 1_024, 4_096].into_iter().flat_map(around);
    let lengths = (0..=300).chain(longer).enumerate().filter(is_kept).map(|(_, len)| len);
    lengths.filter(|&len| len == subject.text_bytes(len)).collect()
}

/// Lengths that no scale leaves out: powers of two, where blocks, registers and loops end, and those beside them.
fn is_edge(len: usize) -> bool {
    [len.saturating_sub(1), len, len + 1].iter().any(|len| len.is_power_of_two())
}

/// All of one length, so that a fixed stride starts and ends at the guards.
fn group(
    subject: &Subject,
    ring: &Arc<Ring>,
    (count, len): (usize, usize),
    random: &mut Random,
) -> Group {
    // 37 and 301 have no common factor: every aad length is met.
    let aad = ((len * 37 + 11) % 301).min(subject.capabilities().aad_bytes_max);
    let nonces = subject.nonce_lengths();
    let nonce = if len % 3 == 0 { nonces[len / 3 % nonces.len()] } else { 12 };
    let key_size = ring.key_bytes(len % ring.len()).len();
    let same_size: Vec<_> =
        (0..ring.len()).filter(|&key| ring.key_bytes(key).len() == key_size).collect();
    let message = |n: usize| Message {
        op: Op::Seal,
        key: same_size[n % same_size.len()],
        nonce: random.bytes(nonce),
        aad: random.bytes(aad),
        text: random.bytes(len),
        tag: vec![],
    };
    let messages = (0..count).map(message).collect();
    let tag_lengths: Vec<TagLength> = subject.tag_lengths();
    let tag_length = tag_lengths[len % tag_lengths.len()];
    Group { ring: ring.clone(), tag_length, messages, truths: vec![] }
}

/// Seal, open, verify, and an open that fails.
fn directions(sealed: &Group) -> [Group; 4] {
    let copy = |group: &Group| Group {
        ring: group.ring.clone(),
        tag_length: group.tag_length,
        messages: group.messages.clone(),
        truths: group.truths.clone(),
    };
    let (mut verify, mut wrong) = (sealed.opening(), sealed.opening());
    for (message, truth) in verify.messages.iter_mut().zip(&mut verify.truths) {
        (message.op, *truth) = (Op::Verify, Truth::verified());
    }
    for (message, truth) in wrong.messages.iter_mut().zip(&mut wrong.truths) {
        message.tag[0] ^= 1;
        *truth = Truth::failed(message);
    }
    [copy(sealed), sealed.opening(), verify, wrong]
}

fn forms(subject: &Subject) -> Vec<Form> {
    let places: &[_] = if subject.capabilities().in_place {
        &[TextPlace::Apart, TextPlace::InPlace]
    } else {
        &[TextPlace::Apart]
    };
    let mut forms = vec![];
    for memory in [Where::BeforeGuard, Where::BehindGuard] {
        for (tags, keys) in
            [(TagPlace::Apart, KeyForm::Sessions), (TagPlace::Appended, KeyForm::Raw)]
        {
            for &text in places {
                let fixed = Arrangement::Fixed;
                forms.push(Form {
                    inputs: fixed,
                    outputs: fixed,
                    tags,
                    text,
                    keys,
                    memory,
                    ..Form::PLAIN
                });
            }
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use crate::ffi::{Guarded, reading_kills};

    #[test]
    fn guard_pages_catch_a_single_byte() {
        for len in [0, 1, 4_095, 4_096, 4_097] {
            let ending = Guarded::ending_at_guard(len);
            assert!(reading_kills(ending.as_ref().as_ptr_range().end), "behind {len} bytes");
            let starting = Guarded::starting_behind_guard(len);
            assert!(
                reading_kills(starting.as_ref().as_ptr().wrapping_sub(1)),
                "before {len} bytes"
            );
            for inside in ending.as_ref().iter().chain(starting.as_ref()).step_by(4_095) {
                assert!(!reading_kills(inside), "inside {len} bytes");
            }
        }
    }
}
