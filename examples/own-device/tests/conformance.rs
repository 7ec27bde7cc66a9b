//! The device passes Sealift's suite, and an engine takes it.

use own_device::Own;
use sealift::{Engine, Key, Status};
use sealift_conformance::{Candidate, suite};

suite!([Candidate::new(&Own, "own")]);

#[test]
fn an_engine_seals_with_it_what_another_opens() -> Result<(), Box<dyn std::error::Error>> {
    let mine = Engine::with_drivers(&["own"], &[&Own])?;
    let session = mine.session(Key::new(&[7; 24])?)?;
    let nonce = session.next_nonce()?;
    let mut sealed = [0; 5 + 16];
    session.seal(nonce.as_bytes(), b"header", b"hello", &mut sealed)?;

    let other = Engine::with(&["library"])?.session(Key::new(&[7; 24])?)?;
    let mut text = [0; 5];
    let status = other.open(nonce.as_bytes(), b"header", &sealed, &mut text)?;
    assert_eq!((status, &text), (Status::Ok, b"hello"));
    Ok(())
}
