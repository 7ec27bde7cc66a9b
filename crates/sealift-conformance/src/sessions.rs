//! Sessions: thousands of them, retired ones, and slots that are used again.

use crate::arranged::Arranged;
use crate::compare::{grouped, must_conform, seal_truths};
use crate::form::{Form, KeyForm};
use crate::message::{Group, Ring};
use crate::random::Random;
use crate::recipe::{Longest, Recipe, mixed, random_key};
use crate::subject::Subject;
use sealift_core::{DeviceError, Key, KeySource, SessionId};

const SESSIONS: usize = 5_000;
const MESSAGES: usize = 7_000;
/// At any scale: from the first session to the last.
const MESSAGES_MIN: usize = 64;
/// From a session's slot to the next one's.
const STRIDES: [u32; 3] = [1, 1_021, 65_536];
const LONGEST: Longest = Longest { text: 60, aad: 20 };

/// Many sessions, met in no order, in dense slots and in slots that share places in a small table.
pub(crate) fn many(subject: &Subject) -> Result<String, String> {
    let (mut messages, mut batches) = (0, 0);
    for stride in STRIDES {
        let mut random = Random::new(subject.seed, u64::from(stride));
        let keys = (0..SESSIONS).map(|_| random_key(&mut random)).collect();
        let recipe = Recipe::with_ring(subject, Ring::spread(keys, stride));
        for _ in 0..if subject.is_slow() { 1 } else { 3 } {
            let count = subject.count_at_least(MESSAGES_MIN, MESSAGES, MESSAGES);
            let mut seals = recipe.seals(count, LONGEST, &mut random);
            for (n, message) in seals.messages.iter_mut().enumerate() {
                let spread = (n < MESSAGES_MIN).then(|| n * (SESSIONS - 1) / (MESSAGES_MIN - 1));
                message.key = spread.unwrap_or_else(|| random.below(SESSIONS));
            }
            seal_truths(&*subject.oracle, &mut seals)?;
            let form =
                Form { keys: KeyForm::Sessions, ..Form::nth(batches, subject.capabilities()) };
            must_conform(&*subject.device, &seals, form)?;
            must_conform(&*subject.device, &mixed(&seals, &mut random), form)?;
            (messages, batches) = (messages + count, batches + 1);
        }
        recipe.ring.retire_all(&*subject.device);
        recipe.ring.retire_all(&*subject.oracle);
    }
    Ok(format!("{} messages under {} sessions", grouped(messages), grouped(SESSIONS)))
}

/// Work for a session whose key is gone is refused with its name, alone and among others.
pub(crate) fn retired(subject: &Subject) -> Result<String, String> {
    let mut random = Random::new(subject.seed, 6);
    let mut refusals = 0;
    for count in [1, 2, 40] {
        let recipe = Recipe::new(subject, count, &mut random);
        let mut sealed = recipe.seals(subject.messages(4 * count), LONGEST, &mut random);
        sealed.messages.iter_mut().enumerate().for_each(|(n, message)| message.key = n % count);
        seal_truths(&*subject.oracle, &mut sealed)?;
        must_conform(&*subject.device, &sealed, Form::PLAIN)?;
        let gone = random.below(count.min(sealed.messages.len()));
        recipe.ring.retire(gone, &*subject.device);
        for group in [mixed(&sealed, &mut random), sealed] {
            refused(subject, &group, recipe.ring.session(gone))?;
            refusals += 1;
        }
        recipe.ring.retire_all(&*subject.device);
    }
    // A session that never was.
    subject.device.retire(SessionId { slot: u32::MAX, generation: u32::MAX });
    Ok(format!("{refusals} batches refused"))
}

/// Two sessions whose ids differ in one number only have their own keys.
pub(crate) fn reused_slots(subject: &Subject) -> Result<String, String> {
    let mut random = Random::new(subject.seed, 7);
    let mut before: Option<(Recipe, Group)> = None;
    for _ in 0..40 {
        let recipe = Recipe::new(subject, 3, &mut random);
        let sealed = recipe.sealed(subject, 20, LONGEST, &mut random)?;
        must_conform(&*subject.device, &sealed, Form::PLAIN)?;
        if let Some((old, group)) = before.take() {
            // Not retired yet: it still works beside the new one, and retiring it harms nobody.
            must_conform(&*subject.device, &group, Form::PLAIN)?;
            old.ring.retire_all(&*subject.device);
        }
        must_conform(&*subject.device, &sealed.opening(), Form::PLAIN)?;
        before = Some((recipe, sealed));
    }
    before.iter().for_each(|(recipe, _)| recipe.ring.retire_all(&*subject.device));
    Ok("40 generations of 3 slots".to_owned())
}

fn refused(subject: &Subject, group: &Group, session: SessionId) -> Result<(), String> {
    let mut arranged = Arranged::new(group, Form::PLAIN);
    let ran = arranged.with_work(|work| subject.device.run(work)).map_err(|e| e.to_string())?;
    match ran {
        Err(DeviceError::KeyGone { session: named, .. }) if named == session.to_string() => Ok(()),
        Err(error) => Err(format!("the key of {session} is gone, and it says: {error}")),
        Ok(_) => Err(format!("worked although the key of {session} is gone")),
    }
}

/// A ring that has nothing, for jobs whose keys went.
#[derive(Debug)]
pub(crate) struct NoKeys;

impl KeySource for NoKeys {
    fn key(&self, _: SessionId) -> Option<std::sync::Arc<Key>> {
        None
    }
}

/// Keeps a ring alive as a source of keys.
pub(crate) fn source(ring: &std::sync::Arc<Ring>) -> std::sync::Arc<dyn KeySource> {
    ring.clone()
}
