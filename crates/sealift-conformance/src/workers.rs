//! Submitted work, and work from many threads.

use crate::arranged::Arranged;
use crate::compare::{check_owned, grouped, must_conform};
use crate::form::{Form, TextPlace};
use crate::message::Group;
use crate::random::Random;
use crate::recipe::{Longest, Recipe, mixed};
use crate::sessions::{NoKeys, source};
use crate::strip::CANARY;
use crate::subject::Subject;
use sealift_core::{
    Completion, DeviceError, Job, KeySource, OwnedOutput, Refusal, Refused, Ticket,
};
use std::sync::Arc;
use std::time::Duration;

const JOBS: usize = 300;
const JOBS_SLOW: usize = 30;
const THREADS: usize = 4;
const BATCHES_A_THREAD: usize = 60;
const LONGEST: Longest = Longest { text: 1_500, aad: 40 };
/// Far longer than any of these jobs takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Submitted batches give what running them gives, each exactly once, and the bell is rung.
pub(crate) fn submitted(subject: &Subject) -> Result<String, String> {
    let mut random = Random::new(subject.seed, 8);
    let recipe = Recipe::new(subject, 50, &mut random);
    let count = if subject.is_slow() { JOBS_SLOW } else { JOBS };
    let mut groups = Vec::with_capacity(count);
    for n in 0..count {
        let size = subject.messages(random.pick(&[0, 1, 2, 17, 100]));
        let sealed = recipe.sealed(subject, size, LONGEST, &mut random)?;
        let group = if n % 2 == 0 { mixed(&sealed, &mut random) } else { sealed };
        let form = Form { text: TextPlace::Apart, ..Form::nth(n, subject.capabilities()) };
        must_conform(&*subject.device, &group, form)?;
        groups.push((group, form));
    }
    let mut pending = Pending::new(subject, groups.len());
    for (n, (group, form)) in groups.iter().enumerate() {
        let keys = source(&group.ring);
        let mut job = job(group, *form, n, keys)?;
        while let Err(refused) = subject.device.submit(job) {
            job = pending.after_refusal(refused, &groups)?;
        }
    }
    pending.wait_for_all(&groups)?;
    gone_when_submitted(subject, &groups)?;
    recipe.ring.retire_all(&*subject.device);
    Ok(format!("{} jobs, {} times full", grouped(count), grouped(pending.full)))
}

/// Threads that run different batches on one device, under the same sessions.
pub(crate) fn threads(subject: &Subject) -> Result<String, String> {
    let mut random = Random::new(subject.seed, 9);
    let recipe = Recipe::new(subject, 200, &mut random);
    let batches = subject.count(BATCHES_A_THREAD, 4).max(4);
    let longest = if subject.is_slow() { Longest { text: 60, aad: 20 } } else { LONGEST };
    let work = |thread: usize| -> Result<(), String> {
        let mut random = Random::new(subject.seed, 100 + thread as u64);
        // Its own sessions come and go while others work.
        let own = Recipe::new(subject, 20, &mut random);
        for n in 0..batches {
            let recipe = if n % 2 == 0 { &recipe } else { &own };
            let size = 1 + random.below(300);
            let sealed = recipe.sealed(subject, size, longest, &mut random)?;
            let form = Form::nth(n * THREADS + thread, subject.capabilities());
            must_conform(&*subject.device, &sealed, form)?;
            must_conform(&*subject.device, &mixed(&sealed, &mut random), form)?;
        }
        own.ring.retire_all(&*subject.device);
        Ok(())
    };
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|n| scope.spawn(move || work(n))).collect();
        let verdict = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().expect("a thread panicked")
        };
        threads.into_iter().try_for_each(verdict)
    })?;
    recipe.ring.retire_all(&*subject.device);
    Ok(format!("{THREADS} threads of {} batches", grouped(batches)))
}

/// Jobs that were submitted and not yet answered.
struct Pending<'s> {
    subject: &'s Subject,
    answered: Vec<bool>,
    full: usize,
}

impl<'s> Pending<'s> {
    fn new(subject: &'s Subject, jobs: usize) -> Self {
        Self { subject, answered: vec![false; jobs], full: 0 }
    }

    fn after_refusal(
        &mut self,
        refused: Refused,
        groups: &[(Group, Form)],
    ) -> Result<Box<Job>, String> {
        match refused.refusal {
            Refusal::Full { in_flight, slots } if in_flight >= slots && slots > 0 => {
                self.full += 1;
                self.wait(groups)?;
                Ok(refused.job)
            }
            other => Err(format!("job {} was refused: {other:?}", refused.job.ticket.0)),
        }
    }

    fn wait_for_all(&mut self, groups: &[(Group, Form)]) -> Result<(), String> {
        while self.answered.contains(&false) {
            self.wait(groups)?;
        }
        Ok(())
    }

    fn wait(&mut self, groups: &[(Group, Form)]) -> Result<(), String> {
        for done in wait(self.subject)? {
            let n = usize::try_from(done.ticket.0).map_err(|error| error.to_string())?;
            let answered = self.answered.get_mut(n).ok_or(format!("nobody submitted job {n}"))?;
            if std::mem::replace(answered, true) || done.attempt != attempt(n) {
                return Err(format!("job {n} completed twice or as attempt {}", done.attempt));
            }
            let (output, _) = done.outcome.map_err(|error| format!("job {n}: {error}"))?;
            check_owned(&groups[n].0, &output).map_err(|fault| format!("job {n}: {fault}"))?;
        }
        Ok(())
    }
}

/// A job whose keys are gone fails as a whole and says so.
fn gone_when_submitted(subject: &Subject, groups: &[(Group, Form)]) -> Result<(), String> {
    let sealed = groups.iter().find(|(group, _)| group.messages.len() > 1);
    let (group, _) = sealed.ok_or("no group of two")?;
    group.ring.retire_all(&*subject.device);
    let job = job(group, Form::PLAIN, 0, Arc::new(NoKeys))?;
    subject.device.submit(job).map_err(|refused| format!("{:?}", refused.refusal))?;
    let done = loop {
        if let Some(done) = wait(subject)?.pop() {
            break done;
        }
    };
    match done.outcome {
        Err(DeviceError::KeyGone { .. }) => Ok(()),
        other => Err(format!("a job without keys gave {:?}", other.map(|(_, timing)| timing))),
    }
}

fn job(group: &Group, form: Form, n: usize, keys: Arc<dyn KeySource>) -> Result<Box<Job>, String> {
    let batch = Arranged::new(group, form).owned_batch();
    let mut output = OwnedOutput::for_batch(&batch).map_err(|error| error.to_string())?;
    output.fill_text(CANARY);
    Ok(Box::new(Job {
        ticket: Ticket(n as u64),
        attempt: attempt(n),
        batch: Arc::new(batch),
        output,
        keys,
    }))
}

fn attempt(n: usize) -> u32 {
    u32::from(n.is_multiple_of(3))
}

/// Waits for the bell and takes what is done; after a ring there may be nothing new.
fn wait(subject: &Subject) -> Result<Vec<Completion>, String> {
    subject.bell.wait(PATIENCE)?;
    let mut done = vec![];
    subject.device.poll(&mut done);
    Ok(done)
}
