//! Flipped bits: nothing opens, its output is zeros, and its neighbours are unharmed.

use crate::compare::{grouped, must_conform, seal_truths};
use crate::form::Form;
use crate::message::{Group, Message, Truth};
use crate::random::Random;
use crate::recipe::{Longest, Recipe};
use crate::subject::Subject;
use sealift_core::{Algorithm, Op};

const SHORT: usize = 200;
const SHORT_LONGEST: Longest = Longest { text: 64, aad: 32 };
const LONG: usize = 1_000;
const LONG_LONGEST: Longest = Longest { text: 4_096, aad: 300 };
/// Bits of a long message that are flipped.
const SAMPLES: usize = 64;
/// How often the right message stands among its flipped copies.
const SPACING: usize = 7;

/// For each algorithm every bit of the short messages, some bits of the long ones.
pub(crate) fn check(subject: &Subject) -> Result<String, String> {
    let lines = subject.algorithms().into_iter().map(|algorithm| flip_all(subject, algorithm));
    Ok(lines.collect::<Result<Vec<_>, _>>()?.join("; "))
}

fn flip_all(subject: &Subject, algorithm: Algorithm) -> Result<String, String> {
    let count = |all| subject.count_at_least(Form::COVERING, all, all);
    let long = if subject.is_slow() { 0 } else { count(LONG) };
    let mut random = Random::new(subject.seed, 0xf11b);
    let recipe = Recipe::for_algorithm(subject, algorithm, 20, &mut random);
    let short = count(SHORT);
    let (mut flips, mut sampled) = (0, 0);
    for n in 0..short {
        let seals = recipe.seals(1, SHORT_LONGEST, &mut random);
        flips += flip(subject, n, seals, &mut random, every_bit)?;
    }
    for n in 0..long {
        let mut seals = recipe.seals(1, LONG_LONGEST, &mut random);
        let text = SHORT_LONGEST.text + 1 + random.below(LONG_LONGEST.text - SHORT_LONGEST.text);
        seals.messages[0].text = random.bytes(subject.text_bytes(text));
        sampled += flip(subject, n, seals, &mut random, some_bits)?;
    }
    recipe.ring.retire_all(&*subject.device);
    let [flips, sampled, long] = [flips, sampled, long].map(grouped);
    Ok(format!(
        "{algorithm}: {flips} bits of {short} short messages, {sampled} of {long} long ones"
    ))
}

/// The parts of a message of which a bit can flip.
type Part = fn(&mut Message) -> &mut Vec<u8>;
const PARTS: [Part; 4] = [
    |message| &mut message.tag,
    |message| &mut message.text,
    |message| &mut message.aad,
    |message| &mut message.nonce,
];

/// Which part, and which bit of it.
type Bit = (usize, usize);

fn every_bit(_: &mut Random, bits: [usize; 4]) -> Vec<Bit> {
    (0..4).flat_map(|part| (0..bits[part]).map(move |bit| (part, bit))).collect()
}

/// As many of each part as of the others, or a long text would leave nothing for tag and nonce.
fn some_bits(random: &mut Random, bits: [usize; 4]) -> Vec<Bit> {
    let parts: Vec<_> = (0..4).filter(|&part| bits[part] > 0).collect();
    let sample = |n: usize| {
        let part = parts[n % parts.len()];
        (part, random.below(bits[part]))
    };
    (0..SAMPLES).map(sample).collect()
}

fn flip(
    subject: &Subject,
    n: usize,
    mut seals: Group,
    random: &mut Random,
    choose: fn(&mut Random, [usize; 4]) -> Vec<Bit>,
) -> Result<usize, String> {
    seal_truths(&*subject.oracle, &mut seals)?;
    let good = seals.opening();
    let bits = PARTS.map(|part| 8 * part(&mut good.messages[0].clone()).len());
    let bits = choose(random, bits);
    let group = flipped(&good, &bits, random);
    // Each message in another form, so that all forms are met.
    let form = Form::nth(n, subject.capabilities());
    must_conform(&*subject.device, &group, form)
        .map_err(|fault| format!("message {n} with flipped bits: {fault}"))?;
    Ok(bits.len())
}

/// A copy for each bit, and the right message before, behind and among them.
fn flipped(good: &Group, bits: &[Bit], random: &mut Random) -> Group {
    let (message, truth) = (&good.messages[0], &good.truths[0]);
    let (mut messages, mut truths) = (vec![message.clone()], vec![truth.clone()]);
    for (n, &(part, bit)) in bits.iter().enumerate() {
        let mut wrong = message.clone();
        PARTS[part](&mut wrong)[bit / 8] ^= 1 << (bit % 8);
        wrong.op = if random.one_in(4) { Op::Verify } else { Op::Open };
        truths.push(Truth::failed(&wrong));
        messages.push(wrong);
        if n.is_multiple_of(SPACING) || n + 1 == bits.len() {
            messages.push(message.clone());
            truths.push(truth.clone());
        }
    }
    Group { ring: good.ring.clone(), tag_length: good.tag_length, messages, truths }
}
