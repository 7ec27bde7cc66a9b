use super::*;
use crate::cards::{Board, Law, Memory, Order, bundled};

/// Nothing is uneven.
#[derive(Debug)]
struct Even;

impl Chance for Even {
    fn factor(&mut self) -> f64 {
        1.0
    }
}

fn quad() -> Board {
    Board { law: Law::Fixed, ..Board::of(&bundled()[0]).unwrap() }
}

fn played(board: Board, requests: &[Request]) -> (Play, Vec<Told>) {
    let mut play = Play::new(board, Box::new(Even));
    requests.iter().for_each(|request| play.submit(*request));
    let mut told = vec![];
    while let Some(next_ns) = play.next_ns() {
        play.advance(next_ns);
        told.extend(play.take_told());
    }
    (play, told)
}

fn request(id: u64, seat: usize, bytes: u64) -> Request {
    Request { id, seat, messages: 1, bytes }
}

#[test]
fn times_beyond_counting_end_at_the_last_one() {
    let board = Board { write_byte_ns: 1e10, bus_byte_ns: 1e10, ..quad() };
    let requests: Vec<_> = (0..8).map(|id| request(id, 0, 1 << 40)).collect();
    let (play, told) = played(board, &requests);
    assert_eq!(told.len(), 8);
    assert_eq!((play.now_ns, play.tally().host_ns), (u64::MAX, u64::MAX));
}

#[test]
fn an_interrupt_goes_before_what_is_handed_over_whatever_comes_first() {
    // The host is still handing over when the first of them is worked.
    for order in [Order::CompletionsFirst, Order::InTurn, Order::Rounds] {
        let mut play = Play::new(Board { order, ..quad() }, Box::new(Even));
        (0..8).for_each(|id| play.submit(request(id, 0, 16)));
        while play.tally().interrupts == 0 {
            let next_ns = play.next_ns().unwrap();
            play.advance(next_ns);
        }
        assert!(play.waiting.iter().any(|task| matches!(task, Task::HandOver(_))));
        let is_first = order == Order::CompletionsFirst;
        assert_eq!(matches!(play.at_work, Some(Task::TakeBack(_))), is_first);
    }
}

#[test]
fn in_rounds_one_kind_is_done_until_there_is_none_of_it() {
    let board = Board { order: Order::Rounds, ..quad() };
    let mut play = Play::new(board, Box::new(Even));
    let (kept, given) = (Task::TakeBack(request(9, 0, 16)), Task::HandOver(request(1, 0, 16)));
    play.waiting.extend([given.clone(), given]);
    play.completed.extend([kept.clone(), kept]);
    let kinds: Vec<_> = std::iter::from_fn(|| play.of_the_round())
        .map(|task| matches!(task, Task::HandOver(_)))
        .collect();
    assert_eq!(kinds, [true, true, false, false]);
}

#[test]
fn copies_that_go_first_wait_for_no_card_and_take_their_time_from_them() {
    let busy = |memory| {
        let mut play = Play::new(Board { memory, ..quad() }, Box::new(Even));
        play.written_ns(5_000);
        (play.copied_ns(1_000), play.written_ns(1_000))
    };
    assert_eq!(busy(Memory::InOrder), (6_000, 7_000));
    assert_eq!(busy(Memory::CopiesFirst), (1_000, 7_000));
    assert_eq!(busy(Memory::Unlimited), (1_000, 1_000));
}

#[test]
fn the_host_s_time_is_told_apart() {
    let board = Board { user_ns: 3_000.0, block_ns: 2_000.0, look_ns: 500.0, ..quad() };
    let (request_ns, copied_ns) = (board.request_ns, 2.0 * 16.0 * board.write_byte_ns);
    let (play, _) = played(Board { line_cards: 2, ..board }, &[request(0, 0, 16)]);
    let tally = play.tally();
    assert_eq!((tally.user_ns, tally.interrupt_ns), (3_000, 3_000));
    let host_ns = request_ns + copied_ns + 6_000.0;
    assert!((tally.host_ns as f64 - host_ns).abs() < 3.0, "{tally:?}");
}

#[test]
fn a_dead_card_keeps_what_it_has_and_gets_without_a_word() {
    let mut board = quad();
    board.seats[0].dies_at_ns = Some(1);
    let (play, told) = played(board, &[request(0, 0, 16), request(1, 1, 16)]);
    assert_eq!(told.iter().map(|told| told.id).collect::<Vec<_>>(), [1]);
    assert_eq!(play.tally().interrupts, 1);
}
