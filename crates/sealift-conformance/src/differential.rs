//! Random messages: a device and its oracle agree in every byte, both directions.

use crate::compare::{grouped, must_conform};
use crate::form::Form;
use crate::random::Random;
use crate::recipe::{Longest, Recipe, mixed};
use crate::subject::Subject;
use std::sync::atomic::{AtomicUsize, Ordering};

const MESSAGES: usize = 1_000_000;
const MESSAGES_SLOW: usize = 2_000;
const THREADS: usize = 2;
const LONGEST: Longest = Longest { text: 4_096, aad: 300 };

/// Seals them all, then opens them all again, mixed with seals, verifies and wrong tags.
pub(crate) fn check(subject: &Subject) -> Result<String, String> {
    let sizes = batch_sizes(subject);
    let recipe = Recipe::new(subject, 500, &mut Random::new(subject.seed, u64::MAX));
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
    Ok(format!("{messages} messages in {} batches agree with {oracle}", grouped(sizes.len())))
}

fn batch(subject: &Subject, recipe: &Recipe, n: usize, size: usize) -> Result<(), String> {
    let mut random = Random::new(subject.seed, n as u64);
    let sealed = recipe.sealed(subject, size, LONGEST, &mut random)?;
    let mut form = || Form::nth(random.below(Form::COUNT), subject.capabilities());
    must_conform(&*subject.device, &sealed, form())?;
    let form = form();
    must_conform(&*subject.device, &mixed(&sealed, &mut random), form)
}

/// Batches of all sizes that together have all messages.
fn batch_sizes(subject: &Subject) -> Vec<usize> {
    let mut random = Random::new(subject.seed, u64::MAX - 1);
    let mut left = subject.count(MESSAGES, MESSAGES_SLOW);
    let most = subject.messages(1_500);
    let mut sizes = vec![];
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
