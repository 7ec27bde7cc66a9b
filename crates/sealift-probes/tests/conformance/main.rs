//! The peers under the suite of the drivers: what they compute is right, byte for byte.
//!
//! What the suite does and which variables it reads is told in the drivers' `main.rs`.

#[path = "../../../sealift-drivers/tests/conformance/arranged.rs"]
mod arranged;
#[path = "../../../sealift-drivers/tests/conformance/bell.rs"]
mod bell;
#[path = "../../../sealift-drivers/tests/conformance/columns.rs"]
mod columns;
#[path = "../../../sealift-drivers/tests/conformance/compare.rs"]
mod compare;
#[path = "../../../sealift-drivers/tests/conformance/devices.rs"]
mod devices;
#[path = "../../../sealift-drivers/tests/conformance/differential.rs"]
mod differential;
#[path = "../../../sealift-drivers/tests/conformance/edges.rs"]
mod edges;
#[path = "../../../sealift-drivers/tests/conformance/ffi.rs"]
mod ffi;
#[path = "../../../sealift-drivers/tests/conformance/flips.rs"]
mod flips;
#[path = "../../../sealift-drivers/tests/conformance/form.rs"]
mod form;
#[path = "../../../sealift-drivers/tests/conformance/guards.rs"]
#[expect(dead_code, reason = "what tests the suite itself is called by the drivers' main.rs")]
mod guards;
mod list;
#[path = "../../../sealift-drivers/tests/conformance/memory.rs"]
mod memory;
#[path = "../../../sealift-drivers/tests/conformance/message.rs"]
mod message;
#[path = "../../../sealift-drivers/tests/conformance/nist.rs"]
mod nist;
#[path = "../../../sealift-drivers/tests/conformance/published.rs"]
mod published;
#[path = "../../../sealift-drivers/tests/conformance/race.rs"]
mod race;
#[path = "../../../sealift-drivers/tests/conformance/random.rs"]
mod random;
#[path = "../../../sealift-drivers/tests/conformance/recipe.rs"]
mod recipe;
#[path = "../../../sealift-drivers/tests/conformance/sessions.rs"]
mod sessions;
#[path = "../../../sealift-drivers/tests/conformance/strip.rs"]
mod strip;
#[path = "../../../sealift-drivers/tests/conformance/subject.rs"]
mod subject;
#[path = "../../../sealift-drivers/tests/conformance/workers.rs"]
mod workers;
#[path = "../../../sealift-drivers/tests/conformance/wrap.rs"]
#[expect(dead_code, reason = "what tests the suite itself is called by the drivers' main.rs")]
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
fn a_buffer_that_is_rewritten_opens_right_or_not_at_all() {
    each("race", race::check);
}

#[test]
fn batches_and_texts_are_right_at_their_edges() {
    each("batch sizes", edges::batch_sizes);
    each("lengths", edges::lengths);
    each("short inputs", edges::shorter_than_its_tag);
    each("tag columns", columns::tag_lengths);
    each("limits", edges::limits);
    each("counter wrap", wrap::check);
}

#[test]
fn sessions_keep_their_keys_apart_and_are_forgotten() {
    each("sessions", sessions::many);
    each("retired", sessions::retired);
    each("reused slots", sessions::reused_slots);
}

#[test]
fn threads_share_a_peer_without_harm() {
    each("submitted", workers::submitted);
    each("threads", workers::threads);
}
