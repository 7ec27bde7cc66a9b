//! Who takes part: our own arms, and the libraries that are compared with.

use crate::cipher::{self, Assignment, Cipher};
use crate::engine;
use crate::kernels::{self, Bench};
use crate::memcpy;
use crate::peers::evp_aead::{AwsLc, BoringSsl};
use crate::peers::graviola::Graviola;
use crate::peers::ipp::Intel;
use crate::peers::ipsec_mb::IpsecMb;
use crate::peers::isal_crypto::IsalCrypto;
use crate::peers::openssl::OpenSsl;
use crate::peers::ring::Ring;
use crate::peers::rustcrypto::RustCrypto;
use crate::ports;
use crate::single::Single;
use sealift::Spec;
use sealift_kernels::Path;
use sealift_probes::{Arm, ArmError, ArmSpec};

/// An arm, or why there is none.
pub type Prepared<'l> = Result<Box<dyn Arm + 'l>, Unfit>;

/// A library that is compared with.
pub struct Peer {
    /// What arms call it.
    pub name: &'static str,
    /// Whether it only works in place: then it copies first, and the copy is in its time.
    pub in_place: bool,
    /// Whether it is part of this program.
    pub is_linked: bool,
    probe: fn() -> Result<String, String>,
    arm: for<'l> fn(Option<&str>, &ArmSpec, &Assignment<'l>) -> Prepared<'l>,
}

/// Every library.
#[rustfmt::skip] // One line each, so that a new peer is one new line.
pub static PEERS: &[Peer] = &[
    Peer::of::<AwsLc>(),
    Peer::of::<BoringSsl>(),
    Peer::of::<Ring>(),
    Peer::of::<RustCrypto>(),
    Peer::of::<Graviola>(),
    Peer::of::<OpenSsl>(),
    Peer::of::<IpsecMb>(),
    Peer::of::<IsalCrypto>(),
    Peer::of::<Intel>(),
];

impl Peer {
    const fn of<C: Cipher>() -> Self {
        let (in_place, is_linked) = (C::IN_PLACE, C::IS_LINKED);
        Self { name: C::NAME, in_place, is_linked, probe: probe::<C>, arm: arm::<C> }
    }

    /// Which library and version it is.
    ///
    /// # Errors
    /// Why it isn't here.
    pub fn probe(&self) -> Result<String, String> {
        (self.probe)()
    }
}

/// Someone who takes part.
pub struct ArmConfig {
    /// As it was asked for.
    pub name: String,
    who: Who,
    threads: usize,
}

/// Why someone doesn't take part.
#[derive(Debug)]
pub enum Unfit {
    /// It isn't here, or can't work such messages.
    Absent(String),
    /// It failed or gave something wrong: then nothing is measured.
    Failed(ArmError),
}

enum Who {
    Kernels {
        path: Option<Path>,
        batch: usize,
    },
    Engine {
        batch: usize,
        device: Option<String>,
    },
    Single,
    Ports,
    Memcpy,
    /// With the file it is opened from.
    Peer(&'static Peer, Option<String>),
}

impl ArmConfig {
    /// Parses `kernels`, `kernels:isa=aesni,batch=17,threads=2`, `engine`, `engine:device=library`, `cipher`
    /// (one message at a time), `ports` (the instructions alone), `memcpy` (texts copied), or the name of a library, with a
    /// file where it isn't linked: `ipp:lib=FILE`; `batch` is the default.
    ///
    /// # Errors
    /// A name or a setting that there isn't.
    pub fn parse(text: &str, batch: usize) -> Result<Self, String> {
        let spec: Spec = text.parse().map_err(|error| format!("{error}"))?;
        let peer = PEERS.iter().find(|peer| peer.name == spec.driver());
        let known: &[&str] = match (spec.driver(), peer) {
            ("kernels", _) => &["isa", "batch", "threads"],
            ("engine", _) => &["batch", "threads", "device"],
            ("cipher", _) => &["threads"],
            ("ports" | "memcpy", _) => &[],
            (_, Some(peer)) if peer.is_linked => &["threads"],
            (_, Some(_)) => &["threads", "lib"],
            (other, None) => return Err(format!("there is no arm {other:?}; {}", arms())),
        };
        spec.only(known).map_err(|error| error.to_string())?;
        let batch = number(&spec, "batch", batch)?;
        let who = match (spec.driver(), peer) {
            (_, Some(peer)) => Who::Peer(peer, spec.setting("lib").map(str::to_owned)),
            ("engine", None) => {
                Who::Engine { batch, device: spec.setting("device").map(str::to_owned) }
            }
            ("cipher", None) => Who::Single,
            ("ports", None) => Who::Ports,
            ("memcpy", None) => Who::Memcpy,
            (_, None) => Who::Kernels { path: path(&spec)?, batch },
        };
        let threads = number(&spec, "threads", 1)?;
        Ok(Self { name: text.to_owned(), who, threads })
    }

    /// Whether it only works in place and copies first.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        matches!(&self.who, Who::Peer(peer, _) if peer.in_place)
    }

    /// What the arm will borrow: schedules and room for each thread of the kernels.
    ///
    /// # Errors
    /// A key that is none.
    pub fn benches<'l>(&self, work: &Assignment<'l>) -> Result<Vec<Bench<'l>>, ArmError> {
        match self.who {
            Who::Kernels { path: Some(path), .. } => {
                (0..self.threads).map(|_| Bench::new(path, work)).collect()
            }
            _ => Ok(vec![]),
        }
    }

    /// Prepares the arm and checks it on every message.
    ///
    /// # Errors
    /// Why it can't be measured.
    pub fn arm<'b, 'l: 'b>(
        &self,
        spec: &ArmSpec,
        work: &Assignment<'l>,
        benches: &'b mut [Bench<'l>],
    ) -> Prepared<'b> {
        let threads = self.threads;
        match &self.who {
            Who::Peer(peer, file) => {
                (peer.arm)(file.as_deref(), spec, &Assignment { threads, ..*work })
            }
            Who::Kernels { path: None, .. } => {
                Err(Unfit::Absent("this processor has no path but the model".to_owned()))
            }
            Who::Kernels { path: Some(path), batch } => {
                kernels::arm(*path, *batch, work.messages, benches).map_err(Unfit::Failed)
            }
            Who::Single => arm::<Single>(None, spec, &Assignment { threads, ..*work }),
            Who::Ports => match ports::arm(work.messages, work.keys) {
                Some(arm) => arm.map_err(Unfit::Failed),
                None => Err(Unfit::Absent("this processor has no units for AES".to_owned())),
            },
            Who::Memcpy => memcpy::arm(work.messages).map_err(Unfit::Failed),
            Who::Engine { batch, device } => {
                engine::arm(*batch, device.as_deref(), &Assignment { threads, ..*work })
            }
        }
    }
}

fn probe<C: Cipher>() -> Result<String, String> {
    C::open(None).map(|(_, detail)| detail)
}

fn arm<'l, C: Cipher>(file: Option<&str>, spec: &ArmSpec, work: &Assignment<'l>) -> Prepared<'l> {
    let (cipher, detail) = C::open(file).map_err(Unfit::Absent)?;
    match cipher.lacks(spec) {
        Some(reason) => Err(Unfit::Absent(reason)),
        None => cipher::arm(cipher, detail, work).map_err(Unfit::Failed),
    }
}

fn path(spec: &Spec) -> Result<Option<Path>, String> {
    match spec.setting("isa") {
        Some(name) => Path::parse(name).map(Some).map_err(|error| error.to_string()),
        None => Path::best().map_err(|error| error.to_string()),
    }
}

fn number(spec: &Spec, setting: &str, otherwise: usize) -> Result<usize, String> {
    let Some(text) = spec.setting(setting) else { return Ok(otherwise) };
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("{spec}: {setting}={text}; right would be a whole number above 0")),
    }
}

fn arms() -> String {
    let peers: Vec<_> = PEERS.iter().map(|peer| peer.name).collect();
    format!("there are kernels, engine, cipher, ports, memcpy, {}", peers.join(", "))
}
