use super::super::control::Control;
use super::super::rules::{Access, Name, RULES, Rules, Side};
use super::*;

/// Two ends, and what each has to hold so that the other finds it there.
fn ends(slots: Slots, spins: bool) -> ([Ring; 2], [Control; 2]) {
    let rules = Rules::parse(RULES).unwrap();
    let bytes = slots.region_bytes(Way::Ring);
    let make = |side| Region::make(Name::outbox(side), side, bytes, &rules).unwrap();
    let (near, far) = (make(Side::Near), make(Side::Far));
    let borrow = |region: &Region, side: Side| {
        let lent = region.lend(side, &rules).unwrap().try_clone_to_owned().unwrap();
        Region::borrow(Name::outbox(side.other()), side, Access::Read, lent, bytes, &rules)
    };
    let inboxes = [borrow(&far, Side::Near).unwrap(), borrow(&near, Side::Far).unwrap()];
    let (one, other) = Control::pair().unwrap();
    let controls = [one, Control::over(other)];
    let [from_far, from_near] = inboxes;
    let patience = Patience::of(Side::Far);
    let waiting = |at: usize| Waiting { watch: controls[at].watch().unwrap(), patience, spins };
    let near = Ring::new(near, from_far, None, slots, waiting(0));
    let far = Ring::new(far, from_near, None, slots, waiting(1));
    ([near, far], controls)
}

#[test]
fn hands_arrive_in_order_whether_ends_spin_or_sleep() {
    for spins in [true, false] {
        let ([mut near, mut far], _controls) = ends(Slots { count: 4, bytes: 64 }, spins);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for hand in 0..1_000_u64 {
                    let fill = |slot: &mut [u8]| {
                        slot.copy_from_slice(&hand.to_le_bytes());
                        Ok(())
                    };
                    near.send(8, fill).unwrap();
                }
            });
            for hand in 0..1_000_u64 {
                let take = |slot: &[u8]| {
                    assert_eq!(slot, hand.to_le_bytes());
                    Ok(())
                };
                far.receive(8, take).unwrap();
            }
        });
    }
}

#[test]
fn who_waits_for_a_process_that_is_gone_is_told() {
    let ([_near, mut far], [near_control, _far_control]) =
        ends(Slots { count: 4, bytes: 64 }, true);
    drop((_near, near_control));
    assert!(matches!(far.receive(8, |_| Ok(())), Err(Broken::Gone)));
    for _ in 0..4 {
        far.send(8, |_| Ok(())).unwrap();
    }
    assert!(matches!(far.send(8, |_| Ok(())), Err(Broken::Gone)));
}

#[test]
fn small_hands_get_many_slots_and_large_ones_a_few() {
    assert_eq!(Slots::of(16), Slots { count: 64, bytes: 64 });
    assert_eq!(Slots::of(65_536), Slots { count: 8, bytes: 65_536 });
    assert_eq!(Slots::of(65_552), Slots { count: 7, bytes: 65_600 });
    assert_eq!(Slots::of(16 << 20), Slots { count: 4, bytes: 16 << 20 });
}

#[test]
fn a_stuck_process_is_noticed_by_who_measures_and_waited_for_by_the_other() {
    let ([mut near, mut far], _controls) = ends(Slots { count: 4, bytes: 64 }, false);
    near.waiting.patience = Patience::at_most(2 * LOOK_AGAIN);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| far.receive(8, |_| Ok(())).is_ok());
        assert!(matches!(near.receive(8, |_| Ok(())), Err(Broken::Silent)));
        near.send(8, |_| Ok(())).unwrap();
        assert!(waits.join().unwrap());
    });
}

#[test]
fn who_is_woken_all_the_time_looks_at_the_other_process_all_the_same() {
    let ([near, mut far], [near_control, _far_control]) =
        ends(Slots { count: 4, bytes: 64 }, false);
    let rules = Rules::parse(RULES).unwrap();
    let lent = near.outbox.lend(Side::Far, &rules).unwrap().try_clone_to_owned().unwrap();
    let bytes = near.slots.region_bytes(Way::Ring);
    let name = Name::outbox(Side::Near);
    let same = Region::borrow(name, Side::Far, Access::Read, lent, bytes, &rules).unwrap();
    drop((near, near_control));
    let is_over = AtomicU32::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while is_over.load(Relaxed) == 0 {
                let _ = futex::wake(same.word(PUBLISHED), futex::Flags::empty(), 1);
                std::thread::yield_now();
            }
        });
        let broken = far.receive(8, |_| Ok(()));
        is_over.store(1, Relaxed);
        assert!(matches!(broken, Err(Broken::Gone)));
    });
}

#[test]
fn slots_go_on_where_their_count_begins_anew() {
    // Three slots do not divide 2^32.
    let ([mut near, mut far], _controls) = ends(Slots { count: 3, bytes: 64 }, false);
    let before = Hands { count: u32::MAX - 2, slot: 0 };
    (near.sent, far.received) = (before, before);
    near.outbox.word(PUBLISHED).store(before.count, Relaxed);
    far.outbox.word(TAKEN).store(before.count, Relaxed);
    let mut send = |hand: u8| {
        let fill = |slot: &mut [u8]| {
            slot.fill(hand);
            Ok(())
        };
        near.send(8, fill).unwrap();
    };
    (0..3).for_each(&mut send);
    for hand in 0..9 {
        let take = |slot: &[u8]| {
            assert_eq!(slot, [hand; 8]);
            Ok(())
        };
        far.receive(8, take).unwrap();
        send(hand + 3);
    }
}
