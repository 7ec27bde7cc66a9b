use super::*;
use sealift_core::Column;

#[test]
fn a_session_that_seals_with_nonces_of_one_source_takes_none_of_the_other() {
    fn counted(sessions: &[SessionId]) -> Batch<'_> {
        Batch { nonce_rule: NonceRule::Counted, ..seal(sessions) }
    }
    let store = Arc::new(KeyStore::default());
    let (one, other) = (store.install(key(), 10), store.install(key(), 10));
    let admit = |batch: &Batch<'_>| KeyStore::admit(Arc::clone(&store), batch).map(drop);
    let both = [one, other];
    assert!(admit(&seal(&[one])).is_ok() && admit(&counted(&[other])).is_ok());
    assert_eq!(admit(&counted(&both)), Err(EngineError::NoncesOfCaller { session: one }));
    assert_eq!(admit(&seal(&both)), Err(EngineError::NoncesCounted { session: other }));
    let fresh = store.install(key(), 10);
    assert!(admit(&counted(&[fresh, one])).is_err() && admit(&seal(&[fresh])).is_ok());
    for batch in [seal(&both), counted(&both)] {
        let open = Batch { ops: Ops::All(Op::Open), ..batch };
        assert!(admit(&open).is_ok(), "opening takes any nonces");
    }
    // Another group of threads knows of it, too.
    let elsewhere = Arc::clone(&store);
    let refused =
        std::thread::spawn(move || KeyStore::admit(elsewhere, &counted(&[one])).map(drop));
    assert_eq!(refused.join().unwrap(), Err(EngineError::NoncesOfCaller { session: one }));
    assert_eq!((store.sealed(one), store.sealed(other)), (1, 1), "refused batches count nothing");
}

#[test]
fn a_batch_for_another_algorithm_than_its_sessions_key_is_refused_with_both_names() {
    let store = Arc::new(KeyStore::default());
    let keys = Algorithm::ALL.map(|algorithm| Key::with_algorithm(algorithm, &[7; 32]).unwrap());
    let sessions = keys.map(|key| store.install(key, 10));
    for (key, session) in Algorithm::ALL.into_iter().zip(sessions) {
        for batch in Algorithm::ALL {
            for op in [Op::Open, Op::Seal] {
                let ops = Ops::All(op);
                let batch = Batch { algorithm: batch, ops, ..seal(std::slice::from_ref(&session)) };
                let admitted = KeyStore::admit(Arc::clone(&store), &batch).map(drop);
                let batch = batch.algorithm;
                let refused = EngineError::Algorithm { message: 0, session, key, batch };
                assert_eq!(admitted, if key == batch { Ok(()) } else { Err(refused) });
            }
        }
        assert_eq!(store.sealed(session), 1, "refused batches count nothing");
    }
}

#[test]
fn only_nonces_of_aes_gcm_are_counted() {
    let store = KeyStore::default();
    for algorithm in [Algorithm::Xaes256Gcm, Algorithm::AesGcmSiv] {
        let session = store.install(Key::with_algorithm(algorithm, &[7; 32]).unwrap(), 10);
        let rule = NonceRule::Counted;
        let refused = EngineError::Batch(BatchError::NonceRule { algorithm, rule });
        assert_eq!(store.next_nonces(&session.into(), 1), Err(refused.clone()));
        assert_eq!(store.next_nonces(&vec![session].into(), 1), Err(refused));
    }
}

fn key() -> Key {
    Key::Aes128([7; 16])
}

fn seal(sessions: &[SessionId]) -> Batch<'_> {
    Batch::seal(sessions.len(), sessions, Column::Same([0; 12].to_vec().into()), Column::Empty)
}

#[test]
fn a_retired_key_lives_until_the_last_lease_of_its_time_ends() {
    let store = Arc::new(KeyStore::default());
    let (old, other) = (store.install(key(), 10), store.install(key(), 10));
    let lease = KeyStore::admit(Arc::clone(&store), &seal(&[old])).unwrap();
    store.retire(old);
    let later = KeyStore::admit(Arc::clone(&store), &seal(&[other])).unwrap();
    assert!(store.wipe_retired().is_empty());
    assert!(lease.key(old).is_some());
    assert!(KeyStore::admit(Arc::clone(&store), &seal(&[old])).is_err());
    drop(lease);
    assert_eq!(store.wipe_retired(), [old], "the later lease can't need it");
    assert!(later.key(old).is_none() && later.key(other).is_some());
}

#[test]
fn a_free_slot_belongs_to_no_session() {
    let store = Arc::new(KeyStore::default());
    let old = store.install(key(), 10);
    drop(KeyStore::admit(Arc::clone(&store), &seal(&[old])).unwrap());
    store.retire(old);
    let wiped = store.wipe_retired();
    store.reuse(&wiped);
    assert_eq!(store.sealed(old), 0);
    let forged = SessionId { generation: 0, ..old };
    assert!(KeyStore::admit(Arc::clone(&store), &seal(&[forged])).is_err());
    store.retire(forged);
    assert!(store.wipe_retired().is_empty());
    let (one, other) = (store.install(key(), 10), store.install(key(), 10));
    assert_ne!(one.slot, other.slot);
}

#[test]
fn a_session_that_is_retired_twice_frees_its_slot_once() {
    let store = Arc::new(KeyStore::default());
    let old = store.install(key(), 10);
    store.retire(old);
    let wiped = store.wipe_retired();
    store.reuse(&wiped);
    store.retire(old);
    assert!(store.wipe_retired().is_empty());
}

#[test]
fn a_slot_that_is_used_again_is_another_session() {
    let store = Arc::new(KeyStore::default());
    let old = store.install(key(), 10);
    store.retire(old);
    let wiped = store.wipe_retired();
    store.reuse(&wiped);
    let new = store.install(key(), 10);
    assert_eq!(old.slot, new.slot);
    assert_ne!(old, new);
    let error = KeyStore::admit(Arc::clone(&store), &seal(&[new, old])).err();
    assert_eq!(error, Some(EngineError::UnknownSession { message: 1, session: old }));
    assert_eq!(store.sealed(new), 0, "a refused batch counts nothing");
}

#[test]
fn a_session_stops_at_its_limit_and_refused_batches_count_nothing() {
    let store = Arc::new(KeyStore::default());
    let session = store.install(key(), 3);
    let twice = [session, session];
    let batch = Batch { keys: session.into(), ..seal(&twice) };
    drop(KeyStore::admit(Arc::clone(&store), &batch).unwrap());
    let error = KeyStore::admit(Arc::clone(&store), &batch).err();
    assert_eq!(error, Some(EngineError::SealLimit { session, sealed: 2, limit: 3 }));
    assert!(KeyStore::admit(Arc::clone(&store), &seal(&[session, session])).is_err());
    assert_eq!(store.sealed(session), 2);
    store.uncount(&batch);
    assert_eq!(store.sealed(session), 0);
    let open = Batch { ops: Ops::All(Op::Open), ..batch };
    (0..9).for_each(|_| drop(KeyStore::admit(Arc::clone(&store), &open).unwrap()));
    assert_eq!(store.sealed(session), 0, "opening is not limited");
}

#[test]
fn leases_end_in_any_order() {
    let store = Arc::new(KeyStore::default());
    let sessions: Vec<_> = (0..4).map(|_| store.install(key(), 10)).collect();
    let mut leases = vec![];
    for session in &sessions {
        leases.push(KeyStore::admit(Arc::clone(&store), &seal(&[*session])).unwrap());
        store.retire(*session);
    }
    drop(leases.remove(2));
    assert!(store.wipe_retired().is_empty());
    drop(leases.remove(0));
    assert_eq!(store.wipe_retired(), sessions[..1]);
    leases.clear();
    assert_eq!(store.wipe_retired(), sessions[1..]);
}

#[test]
fn threads_together_seal_exactly_as_many_messages_as_a_key_may() {
    let store = Arc::new(KeyStore::default());
    let session = store.install(key(), 1_000);
    let sealed = move |store: Arc<KeyStore>| {
        let one = || KeyStore::admit(Arc::clone(&store), &seal(&[session])).is_ok();
        std::iter::repeat_with(one).take_while(|is_sealed| *is_sealed).count()
    };
    let threads = (0..8).map(|_| {
        let store = Arc::clone(&store);
        std::thread::spawn(move || sealed(store))
    });
    let sum: usize =
        threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!((sum, store.sealed(session)), (1_000, 1_000));
    store.uncount(&seal(&[session; 3]));
    assert_eq!(store.sealed(session), 997);
    assert!(KeyStore::admit(Arc::clone(&store), &seal(&[session; 4])).is_err());
    assert!(KeyStore::admit(Arc::clone(&store), &seal(&[session; 3])).is_ok());
}

#[test]
fn a_key_that_is_retired_while_threads_use_it_is_wiped_when_all_have_ended() {
    let store = Arc::new(KeyStore::default());
    for _ in 0..200 {
        let (session, other) = (store.install(key(), 1 << 20), store.install(key(), 1 << 20));
        let threads = (0..4).map(|_| {
            let store = Arc::clone(&store);
            std::thread::spawn(move || {
                while let Ok(lease) = KeyStore::admit(Arc::clone(&store), &seal(&[other, session]))
                {
                    assert!(lease.key(session).is_some(), "it is leased");
                    drop(lease);
                }
            })
        });
        let threads: Vec<_> = threads.collect();
        std::thread::yield_now();
        store.retire(session);
        assert!(!store.wipe_retired().contains(&other));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        store.wipe_retired();
        assert!(store.key(session).is_none());
        assert!(store.key(other).is_some());
    }
}

#[test]
fn a_thread_takes_over_the_seals_that_others_were_granted() {
    let store = Arc::new(KeyStore::default());
    let session = store.install(key(), 20);
    for _ in 0..20 {
        let own = Arc::clone(&store);
        let sealed = std::thread::spawn(move || KeyStore::admit(own, &seal(&[session])).is_ok());
        assert!(sealed.join().unwrap());
    }
    assert!(KeyStore::admit(Arc::clone(&store), &seal(&[session])).is_err());
}
