//! What a library has to do, and the loop over messages that is compiled into each.

use crate::messages::{MessageKeys, PreparedMessages};
use crate::outputs::{Checks, Outputs};
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
    let part = |_| PeerThread::new(&cipher, work);
    let parts = (0..work.threads).map(part).collect::<Result<Vec<_>, _>>()?;
    Ok(Box::new(Timed::prepare(detail, parts)?))
}

/// What an arm is to work.
pub struct Assignment<'l> {
    /// The messages.
    pub messages: &'l [PreparedMessages],
    /// The installed keys.
    pub keys: &'l [Vec<u8>],
    /// Threads that each work all of them, from the same inputs to outputs of their own.
    pub threads: usize,
}

/// One thread's turn with a library.
struct PeerThread<'l, C: Cipher> {
    cipher: Arc<C>,
    messages: &'l [PreparedMessages],
    stations: Vec<ThreadState<C::Key>>,
    checks: Checks,
}

/// What a thread needs for one set.
struct ThreadState<K> {
    /// The installed keys, or one that is renewed for each message.
    keys: Vec<K>,
    place: Outputs,
}

impl<'l, C: Cipher> PeerThread<'l, C> {
    fn new(cipher: &Arc<C>, work: &Assignment<'l>) -> Result<Self, ArmError> {
        let station = |set| ThreadState::new(&**cipher, set, work.keys);
        let stations = work.messages.iter().map(station).collect::<Result<_, _>>();
        Ok(Self {
            stations: stations.map_err(wrong::<C>)?,
            cipher: Arc::clone(cipher),
            messages: work.messages,
            checks: Checks::default(),
        })
    }
}

impl<C: Cipher> Part for PeerThread<'_, C> {
    fn work(&mut self, times: usize) -> Result<Done, ArmError> {
        for _ in 0..times {
            for (set, station) in self.messages.iter().zip(&mut self.stations) {
                station.pass(&*self.cipher, set).map_err(wrong::<C>)?;
            }
        }
        Ok(crate::timed::done(self.messages, times))
    }

    fn check(&mut self) -> Result<(), ArmError> {
        let Self { messages, stations, checks, .. } = self;
        checks.next(C::NAME, messages, |set, at| {
            let (text, tag, status) = stations[set].place.message(at);
            messages[set].wrong(at, text, tag, status)
        })
    }
}

impl<K> ThreadState<K> {
    fn new<C: Cipher<Key = K>>(
        cipher: &C,
        set: &PreparedMessages,
        keys: &[Vec<u8>],
    ) -> Result<Self, Refused> {
        let tag_bytes = set.tag_length.bytes();
        let keys = match &set.keys {
            MessageKeys::Installed(_) => {
                keys.iter().map(|raw| cipher.expand(raw, tag_bytes)).collect::<Result<_, _>>()?
            }
            MessageKeys::Fresh(raw) => vec![cipher.expand(raw.get(0), tag_bytes)?],
        };
        Ok(Self { keys, place: Outputs::of(set) })
    }

    /// Works every message of the set once.
    fn pass<C: Cipher<Key = K>>(
        &mut self,
        cipher: &C,
        set: &PreparedMessages,
    ) -> Result<(), Refused> {
        match &set.keys {
            MessageKeys::Installed(of) => {
                for (at, key) in of.iter().enumerate() {
                    let key = &mut self.keys[*key as usize];
                    self.place.status[at] = message(cipher, key, set, at, &mut self.place)?;
                }
            }
            MessageKeys::Fresh(raw) => {
                let (key, tag_bytes) = (&mut self.keys[0], set.tag_length.bytes());
                for at in 0..set.len() {
                    cipher.renew(key, raw.get(at), tag_bytes)?;
                    self.place.status[at] = message(cipher, key, set, at, &mut self.place)?;
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
    set: &PreparedMessages,
    at: usize,
    place: &mut Outputs,
) -> Result<Status, Refused> {
    let (nonce, aad, input) = (set.nonces.get(at), set.aads.get(at), set.texts.get(at));
    let output = &mut place.text[set.texts.layout().range(at)];
    let bytes = set.tag_length.bytes();
    let tag = at * bytes..(at + 1) * bytes;
    if set.planned[at] == Planned::Seal {
        let tag = &mut place.tags[tag];
        cipher.seal(key, Sealing { nonce, aad, input, output, tag })?;
        return Ok(Status::Ok);
    }
    let (tag, into) = (&set.tags[tag], &mut *output);
    if cipher.unseal(key, Opening { nonce, aad, input, output: into, tag })? {
        return Ok(Status::Ok);
    }
    output.fill(0);
    Ok(Status::AuthFailed)
}

fn wrong<C: Cipher>(refused: Refused) -> ArmError {
    ArmError::Wrong { device: C::NAME.to_owned(), what: refused.to_string() }
}
