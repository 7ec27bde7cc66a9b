//! One suite for every device: what it computes is right, byte for byte, or it says before that it
//! doesn't take it.
//!
//! It runs on every driver in the list and on every instruction-set path this processor has. What
//! the machine lacks is skipped with its reason; `SEALIFT_REQUIRE=vectors,vaes512` makes such a skip
//! fail. `SEALIFT_SEED` sets the random messages, `SEALIFT_SHARE=0.01` cuts the large numbers,
//! `SEALIFT_VECTORS` names the folder of the Python package `cryptography_vectors`. With
//! `--nocapture` each test prints what it did.

mod arranged;
mod bell;
mod broken;
mod columns;
mod compare;
mod devices;
mod differential;
mod edges;
mod ffi;
mod flips;
mod form;
mod guards;
mod list;
mod memory;
mod message;
mod meta;
mod nist;
mod published;
mod race;
mod random;
mod recipe;
mod sessions;
mod strip;
mod subject;
mod workers;
mod wrap;

use devices::each;

#[test]
fn every_nist_record_gives_the_published_result() {
    if nist::are_here() {
        each("NIST", nist::check);
    }
}

#[test]
fn every_wycheproof_case_gives_the_published_result() {
    each("Wycheproof", published::check);
}

#[test]
fn random_messages_agree_with_another_implementation() {
    each("random", differential::check);
}

#[test]
fn a_flipped_bit_opens_nothing_and_harms_no_neighbour() {
    each("flips", flips::check);
}

#[test]
fn nothing_outside_the_buffers_is_touched() {
    each("guard pages", guards::check);
}

#[test]
fn guard_pages_catch_a_single_byte() {
    guards::check_guards();
}

#[test]
fn a_buffer_that_is_rewritten_opens_right_or_not_at_all() {
    each("race", race::check);
}

#[test]
fn batches_of_every_size_are_right_at_their_edges() {
    each("batch sizes", edges::batch_sizes);
}

#[test]
fn texts_of_every_length_are_right_at_their_edges() {
    each("lengths", edges::lengths);
}

#[test]
fn an_input_shorter_than_its_tag_does_not_open() {
    each("short inputs", edges::shorter_than_its_tag);
}

#[test]
fn tags_are_compared_at_their_full_length_in_every_form_of_column() {
    each("tag columns", columns::tag_lengths);
}

#[test]
fn a_device_takes_what_its_capabilities_say_and_nothing_else() {
    each("limits", edges::limits);
}

#[test]
fn a_counter_that_wraps_carries_nothing() {
    each("counter wrap", wrap::check);
}

#[test]
fn nonces_are_solved_for_the_counter_they_start_at() {
    wrap::check_nonces();
}

#[test]
fn thousands_of_sessions_keep_their_keys_apart() {
    each("sessions", sessions::many);
}

#[test]
fn a_retired_session_is_refused_by_name() {
    each("retired", sessions::retired);
}

#[test]
fn a_slot_that_is_used_again_has_its_new_key() {
    each("reused slots", sessions::reused_slots);
}

#[test]
fn submitted_work_gives_what_running_it_gives() {
    each("submitted", workers::submitted);
}

#[test]
fn threads_share_a_device_without_harm() {
    each("threads", workers::threads);
}

#[test]
fn every_driver_is_in_the_suite_or_named_as_an_exception() {
    meta::check_coverage();
}

#[test]
fn every_check_notices_a_wrong_device() {
    meta::check_notices();
}
