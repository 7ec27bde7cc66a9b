use super::*;
use crate::cards::{Board, Law, bundled};

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
    for completions_first in [true, false] {
        let mut play = Play::new(Board { completions_first, ..quad() }, Box::new(Even));
        (0..8).for_each(|id| play.submit(request(id, 0, 16)));
        while play.tally().interrupts == 0 {
            let next_ns = play.next_ns().unwrap();
            play.advance(next_ns);
        }
        assert!(play.waiting.iter().any(|task| matches!(task, Task::HandOver(_))));
        assert_eq!(matches!(play.at_work, Some(Task::TakeBack(_))), completions_first);
    }
}

#[test]
fn a_dead_card_keeps_what_it_has_and_gets_without_a_word() {
    let mut board = quad();
    board.seats[0].dies_at_ns = Some(1);
    let (play, told) = played(board, &[request(0, 0, 16), request(1, 1, 16)]);
    assert_eq!(told.iter().map(|told| told.id).collect::<Vec<_>>(), [1]);
    assert_eq!(play.tally().interrupts, 1);
}
