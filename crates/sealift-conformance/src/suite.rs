//! The list of checks, and how one of them is run.

use crate::candidate::Candidate;
use crate::subject::{Check, Subject};
use crate::{
    columns, differential, edges, flips, guards, race, rereads, sessions, vectors, workers, wrap,
};
#[cfg(feature = "complete")]
use crate::{nist, published};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// Makes a test of every check.
///
/// The expression gives the [`Candidate`](crate::Candidate)s, an array, a `Vec` or a function's call;
/// each test evaluates it and runs its check on all of them.
#[macro_export]
macro_rules! suite {
    ($candidates:expr) => {
        $crate::every_check! { as_tests [$candidates] }
    };
}

/// Hands the list of checks to another macro: the name of its test, what it prints, what it calls.
#[doc(hidden)]
#[macro_export]
macro_rules! every_check {
    ($then:ident [$($with:tt)*]) => {
        $crate::checks_without_files! { $then [$($with)*]
            every_nist_record_gives_the_published_result: "NIST", nist::check;
            every_wycheproof_case_gives_the_published_result: "Wycheproof", published::check;
        }
    };
}

/// The same, with those given, of the checks that need no sets of vectors beside this crate.
#[doc(hidden)]
#[macro_export]
macro_rules! checks_without_files {
    ($then:ident [$($with:tt)*] $($more:tt)*) => {
        $crate::$then! { [$($with)*]
            $($more)*
            every_vector_of_the_small_set_gives_the_published_result: "vectors", vectors::check;
            random_messages_agree_with_another_implementation: "random", differential::check;
            a_flipped_bit_opens_nothing_and_harms_no_neighbour: "flips", flips::check;
            nothing_outside_the_buffers_is_touched: "guard pages", guards::check;
            a_buffer_that_is_rewritten_opens_right_or_not_at_all: "race", race::check;
            a_byte_that_changes_after_it_was_read_changes_nothing: "rereads", rereads::check;
            batches_of_every_size_are_right_at_their_edges: "batch sizes", edges::batch_sizes;
            texts_of_every_length_are_right_at_their_edges: "lengths", edges::lengths;
            an_input_shorter_than_its_tag_does_not_open: "short inputs", edges::shorter_than_its_tag;
            tags_are_compared_at_their_full_length_in_every_form_of_column: "tag columns", columns::tag_lengths;
            a_device_takes_what_its_capabilities_say_and_nothing_else: "limits", edges::limits;
            a_counter_that_wraps_carries_nothing: "counter wrap", wrap::check;
            thousands_of_sessions_keep_their_keys_apart: "sessions", sessions::many;
            a_retired_session_is_refused_by_name: "retired", sessions::retired;
            a_slot_that_is_used_again_has_its_new_key: "reused slots", sessions::reused_slots;
            submitted_work_gives_what_running_it_gives: "submitted", workers::submitted;
            threads_share_a_device_without_harm: "threads", workers::threads;
        }
    };
}

/// The checks as tests of the crate that calls.
#[doc(hidden)]
#[macro_export]
macro_rules! as_tests {
    ([$candidates:expr] $($test:ident: $what:literal, $module:ident::$check:ident;)*) => {
        $(
            #[test]
            fn $test() {
                $crate::run(::core::stringify!($test), $candidates);
            }
        )*
    };
}

/// The checks as data, for this crate.
#[doc(hidden)]
#[macro_export]
macro_rules! as_list {
    ([] $($test:ident: $what:literal, $module:ident::$check:ident;)*) => {
        &[$(Entry { test: stringify!($test), what: $what, check: $module::$check }),*]
    };
}

/// A check with its names.
pub(crate) struct Entry {
    pub(crate) test: &'static str,
    /// What its lines begin with.
    pub(crate) what: &'static str,
    pub(crate) check: Check,
}

/// Every check.
#[cfg(feature = "complete")]
pub(crate) const CHECKS: &[Entry] = crate::every_check! { as_list [] };
#[cfg(not(feature = "complete"))]
pub(crate) const CHECKS: &[Entry] = crate::checks_without_files! { as_list [] };

/// Runs the check of a test on every candidate that is here; prints what each did.
///
/// # Panics
/// One of them fails, or is not here although it is required; or there is none.
pub fn run(test: &str, candidates: impl IntoIterator<Item = Candidate>) {
    let entry = Entry::of(test).expect("`suite!` makes the tests of this list");
    let candidates: Vec<_> = candidates.into_iter().collect();
    assert!(!candidates.is_empty(), "`suite!` was given no candidate: name the devices to test");
    let known = candidates.iter().flat_map(Candidate::names);
    sealift_testing::check_required(known).unwrap_or_else(|error| panic!("{error}"));
    let verdicts = candidates.iter().map(|candidate| {
        let fault = |fault| format!("{}: {}: {fault}", entry.what, candidate.spec());
        entry.run(candidate).map_err(fault)
    });
    let faults: Vec<_> = verdicts.filter_map(Result::err).collect();
    assert!(faults.is_empty(), "{} devices failed\n{}", faults.len(), faults.join("\n"));
}

impl Entry {
    pub(crate) fn of(test: &str) -> Option<&'static Self> {
        CHECKS.iter().find(|entry| entry.test == test)
    }

    fn run(&self, candidate: &Candidate) -> Result<(), String> {
        let begin = Instant::now();
        let Some(subject) = candidate.subject()? else { return Ok(()) };
        let summary = self.verdict(&subject)?;
        let spent = begin.elapsed().as_secs_f64();
        eprintln!("{}: {}: {summary} [{spent:.1} s]", self.what, candidate.spec());
        Ok(())
    }

    /// What a check did on a device, or the first fault.
    pub(crate) fn verdict(&self, subject: &Subject) -> Result<String, String> {
        let verdict = catch_unwind(AssertUnwindSafe(|| (self.check)(subject)))
            .unwrap_or_else(|_| Err("it panicked, see above".to_owned()));
        verdict.map_err(|fault| format!("{fault} [seed {}]", subject.seed))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::broken::{Broken, Fault};
    use sealift_core::{Context, Device, Driver, OpenError, Probe, Spec};
    use sealift_drivers::reference::Reference;
    use std::sync::Arc;

    /// Opens a device whose tags are wrong.
    pub(crate) struct Wrong;

    impl Driver for Wrong {
        fn name(&self) -> &'static str {
            "wrong"
        }

        fn summary(&self) -> &'static str {
            "makes wrong tags"
        }

        fn probe(&self) -> Probe {
            Reference.probe()
        }

        fn open(&self, _: &Spec, context: &Context) -> Result<Arc<dyn Device>, OpenError> {
            let right = Reference.open(&"reference".parse().unwrap(), context)?;
            Ok(Broken::new(right, Fault::WrongTagByte))
        }
    }

    #[test]
    fn a_failure_names_the_check_the_device_and_the_seed() {
        let candidates = [Candidate::new(&Reference, "reference"), Candidate::new(&Wrong, "wrong")];
        let limits = "a_device_takes_what_its_capabilities_say_and_nothing_else";
        let panic = catch_unwind(AssertUnwindSafe(|| run(limits, candidates))).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.starts_with("1 devices failed\nlimits: wrong: "), "{text}");
        assert!(text.contains("found Ok") && text.contains("[seed "), "{text}");
    }

    #[test]
    #[should_panic(expected = "no candidate")]
    fn a_suite_without_candidates_fails() {
        run(CHECKS[0].test, []);
    }
}
