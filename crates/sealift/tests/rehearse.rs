//! Pools that are rehearsed: against theory, against cards, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

use sealift::cards::{self, Card};
use sealift::{Cost, EngineError, OpenLoad, Player, Rehearsal, RehearsalError, rehearse};

/// 10 µs a batch, whatever is in it.
fn core(name: &str, workers: usize) -> Player {
    let cost = Cost::new(10_000.0, 0.0, 0.0).unwrap();
    Player::Machine { name: name.to_owned(), cost, workers }
}

fn quad() -> Card {
    cards::bundled().remove(0)
}

fn card(card: Card) -> Player {
    Player::Card(Box::new(card))
}

fn load(batches_per_s: f64, batches: u64) -> OpenLoad {
    let policy = "earliest-finish".to_owned();
    OpenLoad { batches_per_s, messages: 1, message_bytes: 64, batches, policy, seed: 3 }
}

fn found(players: &[Player], load: &OpenLoad) -> Rehearsal {
    let found = rehearse(players, load, &mut || true).unwrap();
    assert_eq!((found.batches, found.lost), (load.batches, 0));
    assert_eq!(found.devices.iter().map(|device| device.batches).sum::<u64>(), load.batches);
    found
}

fn refused(players: &[Player], load: &OpenLoad) -> String {
    rehearse(players, load, &mut || true).unwrap_err().to_string()
}

fn agrees(found: f64, expected: f64, share: f64) -> bool {
    (found - expected).abs() <= share * expected
}

/// The mean wait for one server of fixed service: utilisation / (2 (1 - utilisation)) services.
#[test]
fn one_core_waits_as_long_as_queueing_theory_says() {
    for busy in [0.3, 0.6, 0.8] {
        let found = found(&[core("core", 1)], &load(busy * 1e5, 40_000));
        let expected_ns = 10_000.0 * (1.0 + busy / (2.0 * (1.0 - busy)));
        assert!(agrees(found.response_ns_mean, expected_ns, 0.04), "{busy}: {found:?}");
        assert!(agrees(found.devices[0].utilisation, busy, 0.03), "{busy}: {found:?}");
        assert!(found.response_ns_p99 > found.response_ns_mean);
    }
}

#[test]
fn several_workers_wait_less_than_one_as_busy() {
    let [one, four] = [1, 4].map(|workers| {
        let load = load(0.8e5 * workers as f64, 20_000);
        found(&[core("core", workers)], &load).response_ns_mean
    });
    assert!(four < 0.8 * one, "{four} and {one}");
}

#[test]
fn an_overloaded_card_works_as_fast_as_was_predicted_and_no_faster() {
    let quad = quad();
    for (messages, message_bytes) in [(1, 64), (16, 2_048)] {
        let prediction = quad.predict(messages as u64, message_bytes);
        let arrivals =
            OpenLoad { messages, message_bytes, ..load(3e9 / prediction.interval_ns, 2_000) };
        let found = found(&[card(quad.clone())], &arrivals);
        let interval_ns = found.span_ns as f64 / 2_000.0;
        assert!(agrees(interval_ns, prediction.interval_ns, 0.02), "{interval_ns} {prediction:?}");
        assert!(found.refused > 0 && found.devices[0].utilisation > 0.98, "{found:?}");
        // Two of three come before their turn; the last one waits for two thirds of the span.
        assert!(agrees(found.response_ns_mean, found.span_ns as f64 / 3.0, 0.1), "{found:?}");
    }
}

#[test]
fn a_card_with_little_to_do_answers_as_predicted() {
    let quad = quad();
    let arrivals = OpenLoad { messages: 16, message_bytes: 1_024, ..load(10.0, 300) };
    let found = found(&[card(quad.clone())], &arrivals);
    let predicted_ns = quad.predict(16, 1_024).batch_ns;
    assert!(agrees(found.response_ns_mean, predicted_ns, 0.01), "{predicted_ns} {found:?}");
}

#[test]
fn a_core_and_a_card_share_what_one_of_them_cannot_do_alone() {
    let slow = Cost::new(0.0, 20_000.0, 30.0).unwrap();
    let core = Player::Machine { name: "core".to_owned(), cost: slow, workers: 1 };
    let arrivals = OpenLoad { messages: 16, message_bytes: 1_024, ..load(2_000.0, 3_000) };
    let alone = found(std::slice::from_ref(&core), &arrivals);
    let both = found(&[core, card(quad())], &arrivals);
    assert!(alone.devices[0].utilisation > 0.98);
    assert!(both.span_ns as f64 <= 0.8 * alone.span_ns as f64, "{both:?} {alone:?}");
    assert!(both.devices.iter().all(|device| device.batches > 500), "{both:?}");
}

#[test]
fn a_seed_replays_a_rehearsal_and_cards_of_one_kind_are_numbered() {
    let players = [card(quad()), card(quad()), core("core", 2)];
    let arrivals = OpenLoad { policy: "round-robin".to_owned(), ..load(5_000.0, 300) };
    let first = found(&players, &arrivals);
    assert_eq!(first, found(&players, &arrivals));
    assert_ne!(first, found(&players, &OpenLoad { seed: 4, ..arrivals }));
    let names: Vec<_> = first.devices.iter().map(|device| device.name.as_str()).collect();
    assert_eq!(names, ["quad-hifn-7751", "quad-hifn-7751,number=2", "core"]);
    assert!(first.devices.iter().all(|device| device.batches == 100));
}

#[test]
fn what_cannot_be_rehearsed_is_refused_by_name_and_value() {
    let usual = load(1_000.0, 10);
    let one = [core("core", 1)];
    for (wrong, error) in [
        (load(0.0, 10), "batches_per_s is 0: give a number from 0.00001"),
        (load(-1.0, 10), "batches_per_s is -1"),
        (load(f64::NAN, 10), "batches_per_s is NaN"),
        (load(f64::INFINITY, 10), "batches_per_s is inf"),
        (load(1.0, 0), "batches is 0: give a whole number from 1"),
        (load(2e9, 10), "batches_per_s is 2000000000: give a number from 0.00001 to 1000000000"),
        (load(1e-3, 2_000), "batches / batches_per_s is 2000000 s: give fewer batches"),
        (OpenLoad { messages: 0, ..usual.clone() }, "messages is 0: give a whole number from 1"),
        (OpenLoad { message_bytes: 1 << 36, ..usual.clone() }, "message_bytes is 68719476736"),
        (OpenLoad { message_bytes: 1 << 30, ..usual.clone() }, "10 batches of 1 messages of 10737"),
        (OpenLoad { messages: 1 << 24, ..usual.clone() }, "of 16777216 messages of 64 bytes"),
        (OpenLoad { policy: "fastest".to_owned(), ..usual.clone() }, "fastest"),
    ] {
        let found = refused(&one, &wrong);
        assert!(found.contains(error), "{found}");
    }
    assert_eq!(refused(&[], &usual), "there is no device: give at least one");
    assert!(refused(&[core("core", 0)], &usual).contains("workers is 0"));
    assert!(refused(&[core(" ", 1)], &usual).contains("a device's name is \" \""));
    let twice = rehearse(&[core("a", 1), core("a", 2)], &usual, &mut || true).unwrap_err();
    assert!(matches!(twice, RehearsalError::Engine(EngineError::SameName { .. })), "{twice}");
    let as_card = [core("quad-hifn-7751", 1), card(quad())];
    assert!(refused(&as_card, &usual).contains("quad-hifn-7751"));
}

#[test]
fn as_many_batches_are_in_flight_as_devices_hold() {
    let late = Cost::new(1e9, 0.0, 0.0).unwrap();
    let pool = Player::Machine { name: "pool".to_owned(), cost: late, workers: 2_000 };
    // All come within two of the pool's milliseconds, and each has a worker.
    let found = found(&[pool], &load(1e6, 2_000));
    assert_eq!(found.refused, 0);
    assert!(found.span_ns < 1_100_000_000, "{found:?}");
}

#[test]
fn a_batch_that_is_handed_back_is_refused_once() {
    let found = found(&[card(quad())], &load(1e8, 500));
    // The card holds 64, and whoever is first in line is handed back.
    assert!((1..=500 - 64).contains(&found.refused), "{found:?}");
}

#[test]
fn the_hosts_time_is_said_of_each_device_and_of_all() {
    let players = [card(quad()), core("cores", 2)];
    let arrivals = OpenLoad { policy: "round-robin".to_owned(), ..load(10_000.0, 2_000) };
    let found = found(&players, &arrivals);
    let [quad_host, cores_host] = [0, 1].map(|at| found.devices[at].host_utilisation);
    // 5,000 a second each: of 19 µs of the host's at the card, and of 10 µs on the cores.
    assert!(agrees(quad_host, 5_000.0 * quad().predict(1, 64).host_ns / 1e9, 0.05), "{found:?}");
    assert!(agrees(cores_host, 0.05, 0.05), "{found:?}");
    assert_eq!(found.devices[1].utilisation, cores_host / 2.0);
    assert_eq!(found.host_utilisation, quad_host + cores_host);
}

#[test]
fn two_cards_of_one_name_are_alike() {
    let file = std::env::temp_dir().join(format!("sealift-alike-{}.toml", std::process::id()));
    let text = include_str!("../../sealift-drivers/src/cards/quad-hifn-7751.toml");
    let read = |text: String| {
        std::fs::write(&file, text).unwrap();
        let read = Card::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        card(read)
    };
    let (same, other) = (read(text.to_owned()), read(text.replace("20.99", "21.01")));
    let names = found(&[card(quad()), same], &load(100.0, 10)).devices;
    assert_eq!(names[1].name, "quad-hifn-7751,number=2");
    let differ = refused(&[card(quad()), other], &load(100.0, 10));
    assert!(differ.contains("two cards that differ are called quad-hifn-7751"), "{differ}");
}

#[test]
fn a_rehearsal_that_nobody_wants_any_longer_stops() {
    let mut left = 50;
    let stopped = rehearse(&[core("core", 1)], &load(1e5, 1_000_000), &mut || {
        left -= 1;
        left > 0
    });
    assert_eq!(stopped.unwrap_err().to_string(), "the simulation was stopped");
}
