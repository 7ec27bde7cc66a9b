//! Random messages: a device and its oracle agree in every byte, both directions.

use crate::compare::{grouped, must_conform, seal_truths};
use crate::form::Form;
use crate::random::Random;
use crate::recipe::{GroupClass, Longest, Recipe, mixed};
use crate::subject::Subject;
use sealift_core::Algorithm;
use std::sync::atomic::{AtomicUsize, Ordering};

const MESSAGES: usize = 1_000_000;
const MESSAGES_SLOW: usize = 2_000;
const THREADS: usize = 2;
const LONGEST: Longest = Longest { text: 4_096, aad: 300 };
/// Enough for each kind of message that [`mixed`] makes, around the widths of kernels.
const SMALL: [usize; 7] = [5, 7, 8, 9, 15, 16, 17];

/// For each algorithm seals them all, then opens them all again, mixed with seals, verifies and wrong tags.
pub(crate) fn check(subject: &Subject) -> Result<String, String> {
    let lines = subject.algorithms().into_iter().map(|algorithm| agree(subject, algorithm));
    Ok(lines.collect::<Result<Vec<_>, _>>()?.join("; "))
}

fn agree(subject: &Subject, algorithm: Algorithm) -> Result<String, String> {
    let sizes = batch_sizes(subject);
    let mut random = Random::new(subject.seed, u64::MAX);
    let recipe = Recipe::for_algorithm(subject, algorithm, 500, &mut random);
    let next = AtomicUsize::new(0);
    let worker = || -> Result<(), String> {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(&size) = sizes.get(n) else { return Ok(()) };
            if let Err(fault) = batch(subject, &recipe, n, size) {
                next.store(sizes.len(), Ordering::Relaxed);
                return Err(format!("batch {n}: {fault}"));
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(worker)).collect();
        let verdict = |worker: std::thread::ScopedJoinHandle<'_, _>| {
            worker.join().expect("a worker panicked")
        };
        workers.into_iter().try_for_each(verdict)
    })?;
    recipe.ring.retire_all(&*subject.device);
    let messages = grouped(sizes.iter().sum());
    let oracle = &subject.oracle.capabilities().name;
    let batches = grouped(sizes.len());
    Ok(format!("{messages} messages of {algorithm} in {batches} batches agree with {oracle}"))
}

fn batch(subject: &Subject, recipe: &Recipe, n: usize, size: usize) -> Result<(), String> {
    let mut random = Random::new(subject.seed, n as u64);
    let Draw { class, forms } = draw(n, &mut random);
    let [sealed_form, mixed_form] = forms.map(|n| Form::nth(n, subject.capabilities()));
    let mut sealed = recipe.seals_of(class, size, LONGEST, &mut random);
    seal_truths(&*subject.oracle, &mut sealed)?;
    must_conform(&*subject.device, &sealed, sealed_form)?;
    must_conform(&*subject.device, &mixed(&sealed, &mut random), mixed_form)
}

/// What a batch is like, and the numbers of its forms: for sealing, and for opening.
struct Draw {
    class: GroupClass,
    forms: [usize; 2],
}

/// The first batches have every kind, the others are random.
fn draw(n: usize, random: &mut Random) -> Draw {
    if n < GroupClass::COVERING {
        return Draw { class: GroupClass::nth(n), forms: [n; 2] };
    }
    let forms = [random.below(Form::COUNT), random.below(Form::COUNT)];
    Draw { class: GroupClass::random(random), forms }
}

/// Batches of all sizes that together have all messages; the first ones are small and not left out at any
/// scale.
fn batch_sizes(subject: &Subject) -> Vec<usize> {
    let mut random = Random::new(subject.seed, u64::MAX - 1);
    let most = subject.messages(1_500);
    let small = |n: usize| SMALL[n % SMALL.len()].min(most);
    let mut sizes: Vec<_> = (0..GroupClass::COVERING).map(small).collect();
    let all = subject.count(MESSAGES, MESSAGES_SLOW);
    let mut left = all.saturating_sub(sizes.iter().sum());
    while left > 0 {
        let size = match random.below(3) {
            0 => random.pick(&[1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65]),
            1 => random.pick(&[255, 256, 257, 1_023, 1_024, 1_025]),
            _ => 1 + random.up_to(1_499),
        };
        sizes.push(size.min(left).min(most));
        left -= size.min(left).min(most);
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Candidate;
    use sealift_core::Op;
    use sealift_drivers::reference::Reference;
    use std::collections::HashSet;

    #[test]
    fn at_the_smallest_scale_every_kind_of_group_meets_every_kind_of_form() {
        let tiny = Candidate::new(&Reference, "reference").slow().scale(f64::MIN_POSITIVE);
        let subject = tiny.subject().unwrap().unwrap();
        let sizes = batch_sizes(&subject);
        assert_eq!(sizes.len(), GroupClass::COVERING, "no more than has to be: {sizes:?}");
        let mut met = HashSet::new();
        for (n, size) in sizes.into_iter().enumerate() {
            assert!(size >= 5, "{size} messages are too few for every op and every failure");
            let Draw { class, forms } = draw(n, &mut Random::new(1, n as u64));
            for (step, n) in forms.into_iter().enumerate() {
                let form = Form::nth(n, subject.capabilities());
                let forms = [form.text as u8, form.keys as u8, form.stability as u8];
                let classes = [
                    class.bound,
                    class.aads as usize,
                    class.same_text.into(),
                    class.all_nonces.into(),
                    class.one_key.into(),
                ];
                for (at, form) in forms.into_iter().enumerate() {
                    for (to, class) in classes.into_iter().enumerate() {
                        met.insert((step, at, form, to, class));
                    }
                }
            }
        }
        // Sealing and opening, three kinds of form with two values each, and the values of each kind of class.
        assert_eq!(met.len(), 2 * 3 * 2 * (3 + 3 + 2 + 2 + 2));
    }

    #[test]
    fn five_messages_are_enough_for_each_op_and_each_failure() {
        let subject = Candidate::new(&Reference, "reference").subject().unwrap().unwrap();
        for seed in 0..20 {
            let mut random = Random::new(seed, 0);
            let recipe = Recipe::new(&subject, 3, &mut random);
            let sealed = recipe.sealed(&subject, 5, LONGEST, &mut random).unwrap();
            let mixed = mixed(&sealed, &mut random);
            let outcomes = mixed.messages.iter().zip(&mixed.truths);
            let kinds: HashSet<_> =
                outcomes.map(|(message, truth)| (message.op as u8, truth.status as u8)).collect();
            assert_eq!(kinds.len(), 5, "{kinds:?}");
            assert!(mixed.messages.iter().any(|message| message.op == Op::Verify));
        }
    }
}
