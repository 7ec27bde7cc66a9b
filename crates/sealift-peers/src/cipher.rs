//! What a library has to do, and the loop over messages that is compiled into each.

use crate::lot::{Lot, LotKeys};
use crate::place::{Checks, Place};
use crate::timed::Timed;
use sealift::Status;
use sealift_probes::{Arm, ArmError, ArmSpec, Done, Part, Planned};
use std::fmt;
use std::sync::Arc;

/// AES-GCM of a library.
pub trait Cipher: Send + Sync + Sized + 'static {
    /// An expanded key, and what else a message needs.
    type Key: Send;

    /// What arms call it.
    const NAME: &'static str;

    /// Whether it only works in place: then it copies first, and the copy is in its time.
    const IN_PLACE: bool = false;

    /// Whether it is part of this program; otherwise it is opened at run time.
    const IS_LINKED: bool = true;

    /// Opens it, from a file if one is named and it isn't linked; the text says which library and version
    /// it is.
    ///
    /// # Errors
    /// Why it isn't here, for people.
    fn open(file: Option<&str>) -> Result<(Self, String), String>;

    /// Why it can't work such messages; nothing when it can.
    fn lacks(&self, spec: &ArmSpec) -> Option<String>;

    /// Expands a key of 16, 24 or 32 bytes for tags of one length.
    ///
    /// # Errors
    /// The library refused.
    fn expand(&self, raw: &[u8], tag_bytes: usize) -> Result<Self::Key, Refused>;

    /// Expands another key over one that isn't needed any more.
    ///
    /// # Errors
    /// The library refused.
    #[inline(always)]
    fn renew(&self, key: &mut Self::Key, raw: &[u8], tag_bytes: usize) -> Result<(), Refused> {
        *key = self.expand(raw, tag_bytes)?;
        Ok(())
    }

    /// Encrypts `input` to `output`, which is as long, and writes the tag.
    ///
    /// # Errors
    /// The library refused.
    fn seal(&self, key: &mut Self::Key, of: Sealing<'_>) -> Result<(), Refused>;

    /// Decrypts `input` to `output`, which is as long, and says whether the tag was right. If not, what
    /// the output holds does not matter.
    ///
    /// # Errors
    /// The library refused.
    fn unseal(&self, key: &mut Self::Key, of: Opening<'_>) -> Result<bool, Refused>;
}

/// A message to be sealed.
pub struct Sealing<'m> {
    /// 1 to 128 bytes.
    pub nonce: &'m [u8],
    /// Authenticated and not encrypted.
    pub aad: &'m [u8],
    /// Plaintext.
    pub input: &'m [u8],
    /// As long, for the ciphertext.
    pub output: &'m mut [u8],
    /// For the tag, as long as the key was expanded for.
    pub tag: &'m mut [u8],
}

/// A message to be opened.
pub struct Opening<'m> {
    /// 1 to 128 bytes.
    pub nonce: &'m [u8],
    /// Authenticated and not encrypted.
    pub aad: &'m [u8],
    /// Ciphertext.
    pub input: &'m [u8],
    /// As long, for the plaintext.
    pub output: &'m mut [u8],
    /// As long as the key was expanded for.
    pub tag: &'m [u8],
}

/// A library refused what it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused: {}", self.0)
    }
}

/// Makes a library into something that is timed, and checks it on every message.
///
/// # Errors
/// It refused a message or gave something wrong; a thread couldn't be started.
pub fn arm<'l, C: Cipher>(
    cipher: C,
    detail: String,
    work: &Assignment<'l>,
) -> Result<Box<dyn Arm + 'l>, ArmError> {
    let cipher = Arc::new(cipher);
    let part = |_| Turn::new(&cipher, work);
    let parts = (0..work.threads).map(part).collect::<Result<Vec<_>, _>>()?;
    Ok(Box::new(Timed::prepare(detail, parts)?))
}

/// What an arm is to work.
pub struct Assignment<'l> {
    /// The messages.
    pub lots: &'l [Lot],
    /// The installed keys.
    pub keys: &'l [Vec<u8>],
    /// Threads that each work all of them, from the same inputs to outputs of their own.
    pub threads: usize,
}

/// One thread's turn with a library.
struct Turn<'l, C: Cipher> {
    cipher: Arc<C>,
    lots: &'l [Lot],
    stations: Vec<Station<C::Key>>,
    checks: Checks,
}

/// What a thread needs for one lot.
struct Station<K> {
    /// The installed keys, or one that is renewed for each message.
    keys: Vec<K>,
    place: Place,
}

impl<'l, C: Cipher> Turn<'l, C> {
    fn new(cipher: &Arc<C>, work: &Assignment<'l>) -> Result<Self, ArmError> {
        let station = |lot| Station::new(&**cipher, lot, work.keys);
        let stations = work.lots.iter().map(station).collect::<Result<_, _>>();
        Ok(Self {
            stations: stations.map_err(wrong::<C>)?,
            cipher: Arc::clone(cipher),
            lots: work.lots,
            checks: Checks::default(),
        })
    }
}

impl<C: Cipher> Part for Turn<'_, C> {
    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        for _ in 0..times {
            for (lot, station) in self.lots.iter().zip(&mut self.stations) {
                station.pass(&*self.cipher, lot).map_err(wrong::<C>)?;
            }
        }
        Ok(crate::timed::done(self.lots, times))
    }

    fn check(&mut self) -> Result<(), ArmError> {
        let Self { lots, stations, checks, .. } = self;
        checks.next(C::NAME, lots, |lot, at| {
            let (text, tag, status) = stations[lot].place.message(at);
            lots[lot].wrong(at, text, tag, status)
        })
    }
}

impl<K> Station<K> {
    fn new<C: Cipher<Key = K>>(cipher: &C, lot: &Lot, keys: &[Vec<u8>]) -> Result<Self, Refused> {
        let tag_bytes = lot.tag_length.bytes();
        let keys = match &lot.keys {
            LotKeys::Installed(_) => {
                keys.iter().map(|raw| cipher.expand(raw, tag_bytes)).collect::<Result<_, _>>()?
            }
            LotKeys::Fresh(raw) => vec![cipher.expand(raw.get(0), tag_bytes)?],
        };
        Ok(Self { keys, place: Place::of(lot) })
    }

    /// Works every message of the lot once.
    fn pass<C: Cipher<Key = K>>(&mut self, cipher: &C, lot: &Lot) -> Result<(), Refused> {
        match &lot.keys {
            LotKeys::Installed(of) => {
                for (at, key) in of.iter().enumerate() {
                    let key = &mut self.keys[*key as usize];
                    self.place.status[at] = message(cipher, key, lot, at, &mut self.place)?;
                }
            }
            LotKeys::Fresh(raw) => {
                let (key, tag_bytes) = (&mut self.keys[0], lot.tag_length.bytes());
                for at in 0..lot.len() {
                    cipher.renew(key, raw.get(at), tag_bytes)?;
                    self.place.status[at] = message(cipher, key, lot, at, &mut self.place)?;
                }
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn message<C: Cipher>(
    cipher: &C,
    key: &mut C::Key,
    lot: &Lot,
    at: usize,
    place: &mut Place,
) -> Result<Status, Refused> {
    let (nonce, aad, input) = (lot.nonces.get(at), lot.aads.get(at), lot.texts.get(at));
    let output = &mut place.text[lot.texts.layout().range(at)];
    let bytes = lot.tag_length.bytes();
    let tag = at * bytes..(at + 1) * bytes;
    if lot.planned[at] == Planned::Seal {
        let tag = &mut place.tags[tag];
        cipher.seal(key, Sealing { nonce, aad, input, output, tag })?;
        return Ok(Status::Ok);
    }
    let (tag, into) = (&lot.tags[tag], &mut *output);
    if cipher.unseal(key, Opening { nonce, aad, input, output: into, tag })? {
        return Ok(Status::Ok);
    }
    output.fill(0);
    Ok(Status::AuthFailed)
}

fn wrong<C: Cipher>(refused: Refused) -> ArmError {
    ArmError::Wrong { device: C::NAME.to_owned(), what: refused.to_string() }
}
