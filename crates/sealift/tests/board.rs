//! Boards that are played: against theory, against each other, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic")]

use sealift::cards::{self, Board, Law, Memory, Order, SeatModel};
use sealift::{ClosedLoad, PlayedLoad, play};
use sealift_engine::simulate::mva::{Network, Station, solve};

fn quad() -> Board {
    Board::of(&cards::bundled()[0]).unwrap()
}

/// The board of four chips, without anything that no theory knows.
fn plain(law: Law) -> Board {
    Board {
        user_ns: 0.0,
        block_ns: 0.0,
        look_ns: 0.0,
        bus_byte_ns: 0.0,
        memory: Memory::Unlimited,
        law,
        order: Order::InTurn,
        ..quad()
    }
}

fn load(clients: u32, message_bytes: u64, batches: u64) -> ClosedLoad {
    ClosedLoad { clients, messages: 1, message_bytes, batches, policy: None, seed: 5 }
}

fn found(board: &Board, load: &ClosedLoad) -> PlayedLoad {
    let found = play(board.clone(), load, &mut || true).unwrap();
    assert_eq!((found.batches, found.lost), (load.batches, 0));
    assert_eq!(found.tally.payload_bytes, load.batches * load.messages as u64 * load.message_bytes);
    found
}

fn per_s(found: &PlayedLoad) -> f64 {
    found.batches as f64 * 1e9 / found.span_ns as f64
}

/// Of the host and of a card, in nanoseconds.
fn demands_ns(board: &Board, message_bytes: u64) -> (f64, f64) {
    let bytes = message_bytes as f64;
    let host_ns = board.request_ns + 2.0 * bytes * board.write_byte_ns;
    (host_ns, board.seats[0].setup_ns + bytes * board.seats[0].byte_ns)
}

#[test]
fn exponential_times_without_a_bus_agree_with_mean_value_analysis() {
    for (clients, bytes) in [(1, 16), (3, 256), (8, 1_024), (20, 16)] {
        let mut board = plain(Law::All);
        board.seats.truncate(1);
        let (host_ns, card_ns) = demands_ns(&board, bytes);
        let queue = |demand_ns| Station::Queue { demand_ns, servers: 1 };
        let network = Network { stations: vec![queue(host_ns), queue(card_ns)], think_ns: 0.0 };
        let expected = solve(&network, clients).unwrap().throughput_per_s;
        let found = per_s(&found(&board, &load(clients, bytes, 30_000)));
        assert!((found / expected - 1.0).abs() < 0.02, "{clients}: {found} but {expected}");
    }
}

#[test]
fn one_client_alone_waits_for_nobody() {
    for bytes in [16, 1_024, 16_384] {
        let board = plain(Law::Fixed);
        let (host_ns, card_ns) = demands_ns(&board, bytes);
        let each_ns = found(&board, &load(1, bytes, 200)).response_ns_mean;
        assert!((each_ns - host_ns - card_ns).abs() < 5.0, "{bytes}: {each_ns}");
    }
}

#[test]
fn no_switch_ever_exceeds_the_bounds() {
    let quad = quad();
    let boards = [
        plain(Law::Fixed),
        Board { law: Law::Fixed, ..quad.clone() },
        Board { law: Law::Fixed, line_cards: 4, merged_max: 5, ..quad },
    ];
    for board in boards {
        for clients in [1, 2, 4, 9, 32] {
            for bytes in [16, 1_024, 16_384] {
                let (host_ns, card_ns) = demands_ns(&board, bytes);
                let found = found(&board, &load(clients, bytes, 300));
                let alone = f64::from(clients) / (host_ns + card_ns);
                let most = alone.min(1.0 / host_ns).min(4.0 / card_ns) * 1e9;
                assert!(per_s(&found) <= most * (1.0 + 1e-4), "{clients}: {found:?}");
            }
        }
    }
}

#[test]
fn chained_requests_share_interrupts_and_others_have_one_each() {
    let quad = quad();
    let alone = found(&quad, &load(32, 16_384, 400));
    assert_eq!(alone.tally.interrupts, 400);
    let chained = found(&Board { merged_max: 5, ..quad.clone() }, &load(32, 16_384, 400));
    assert!(chained.tally.interrupts < 200, "{:?}", chained.tally);
    let shared = found(&Board { line_cards: 4, ..quad.clone() }, &load(32, 16, 2_000));
    let apart = found(&Board { line_cards: 1, ..quad }, &load(32, 16, 2_000));
    assert!(apart.tally.host_ns < shared.tally.host_ns && apart.span_ns < shared.span_ns);
}

#[test]
fn every_byte_is_written_three_times_and_crosses_the_bus_twice() {
    let quad = quad();
    let tally = found(&quad, &load(8, 1_024, 500)).tally;
    assert_eq!(tally.written_bytes, 3 * 500 * 1_024);
    let bus_ns = 500.0 * 1_024.0 * quad.bus_byte_ns;
    assert!((tally.bus_ns as f64 / bus_ns - 1.0).abs() < 1e-3, "{tally:?}");
    assert!(tally.copy_ns < tally.host_ns && tally.card_ns.iter().all(|ns| *ns > 0));
}

#[test]
fn a_card_that_dies_loses_nothing() {
    let mut board = quad();
    board.seats[0].dies_at_ns = Some(20_000_000);
    for policy in ["earliest-finish", "least-sessions", "round-robin"] {
        let policy = Some(policy.to_owned());
        let found = found(&board, &ClosedLoad { policy, ..load(8, 1_024, 2_000) });
        assert!(found.moved > 0, "{found:?}");
        assert!(found.by_card[0] < found.by_card[1], "{found:?}");
    }
}

#[test]
fn software_beside_the_cards_takes_time_of_the_host_alone() {
    let mut board = quad();
    let software = SeatModel { in_software: true, setup_ns: 0.0, ..board.seats[0] };
    board.seats = vec![software];
    let policy = Some("earliest-finish".to_owned());
    let found = found(&board, &ClosedLoad { policy, ..load(2, 1_024, 200) });
    assert_eq!((found.tally.interrupts, found.tally.bus_ns, found.tally.copy_ns), (0, 0, 0));
    assert_eq!(found.tally.software_ns, found.tally.host_ns);
}

#[test]
fn a_description_is_played_as_it_is_reckoned_or_refused_by_name() {
    for card in cards::bundled() {
        let board = match Board::of(&card) {
            Ok(board) => Board { law: Law::Fixed, ..board },
            Err(error) => {
                assert!(error.to_string().contains("host.copies = 0"), "{error}");
                continue;
            }
        };
        for bytes in [16, 1_024, 16_384] {
            let played_ns = found(&board, &load(1, bytes, 50)).response_ns_mean;
            let reckoned_ns = card.predict(1, bytes).batch_ns;
            let times = played_ns / reckoned_ns;
            assert!((times - 1.0).abs() < 0.01, "{}, {bytes}: {times}", card.name());
        }
    }
}

#[test]
fn nobody_is_taken_for_dead_where_nobody_dies() {
    let mut board = quad();
    board.seats.push(SeatModel {
        in_software: true,
        setup_ns: 0.0,
        byte_ns: 200.0,
        ..board.seats[0]
    });
    let policy = Some("earliest-finish".to_owned());
    let found = found(&board, &ClosedLoad { policy, ..load(32, 16_384, 640) });
    assert_eq!(found.moved, 0, "{found:?}");
}

#[test]
fn a_seed_plays_the_same_again() {
    let quad = Board::of(&cards::bundled()[1]).unwrap();
    let of = |seed| found(&quad, &ClosedLoad { seed, ..load(8, 256, 300) });
    assert_eq!(of(1), of(1));
    assert_ne!(of(1).span_ns, of(2).span_ns);
}

#[test]
fn what_can_not_be_played_is_refused_by_name() {
    let quad = quad();
    let refused =
        |board: Board, load: ClosedLoad| play(board, &load, &mut || true).unwrap_err().to_string();
    let usual = || load(1, 16, 10);
    let seat = quad.seats[0];
    for (board, what) in [
        (Board { request_ns: -1.0, ..quad.clone() }, "request_ns = -1"),
        (Board { write_byte_ns: f64::NAN, ..quad.clone() }, "write_byte_ns = NaN"),
        (Board { merged_max: 0, ..quad.clone() }, "merged_max = 0"),
        (Board { seats: vec![], ..quad.clone() }, "cards = 0"),
        (Board { seats: vec![SeatModel { slots: 0, ..seat }], ..quad.clone() }, "slots = 0"),
    ] {
        let said = refused(board, usual());
        assert!(said.contains(what) && said.contains("give "), "{said}");
    }
    for (load, what) in [
        (ClosedLoad { clients: 0, ..usual() }, "clients is 0"),
        (ClosedLoad { messages: 0, ..usual() }, "messages is 0"),
        (ClosedLoad { batches: 0, ..usual() }, "batches is 0"),
        (ClosedLoad { policy: Some("none".to_owned()), ..usual() }, "none"),
    ] {
        let said = refused(quad.clone(), load);
        assert!(said.contains(what), "{said}");
    }
    let stopped = play(quad, &usual(), &mut || false).unwrap_err();
    assert!(stopped.to_string().contains("stopped"));
}
