//! A kernel on many DPUs at once: true bytes, checked, and what that takes.

mod check;
mod many;
mod texts;

use super::under::Under;
use dpu_sim::host::{DpuSet, Launch, Push};
use dpu_sim::kernels::{Division, Mode, Registers, RoundKeys, ctr, ctr_parameters, ecb, gcm};
use dpu_sim::{MRAM_BYTES, Preset, assemble};
use many::Laid;
use sealift_core::Key;
use std::time::Instant;
use texts::{nonce, plaintext};

/// What DPUs can be given to encrypt, each its own bytes in its own memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// Block by block.
    Ecb,
    /// In counter mode.
    Ctr,
    /// Sealed with AES-GCM, a message for each DPU.
    Gcm,
    /// Sealed with AES-GCM, many messages for each DPU, each under a key of its own.
    Many,
}

impl Cipher {
    /// All of them, by name.
    pub const ALL: [(&str, Self); 4] =
        [("ecb", Self::Ecb), ("ctr", Self::Ctr), ("gcm", Self::Gcm), ("many", Self::Many)];
}

/// What is to be timed.
#[derive(Clone, Debug)]
pub struct Timed {
    /// What is computed.
    pub cipher: Cipher,
    /// The system, and how its DPUs are timed.
    pub system: Preset,
    /// How many of its DPUs.
    pub dpus: usize,
    /// Bytes of each DPU, a multiple of 32.
    pub bytes: usize,
    /// Tasklets of each DPU, 1 to 24.
    pub tasklets: usize,
    /// Bytes of the key.
    pub key_bytes: usize,
    /// Bytes of each message of `Cipher::Many`, of which `bytes` is a multiple.
    pub message_bytes: usize,
}

/// What it took: simulated seconds of a system of DPUs, and measured ones of this machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Took {
    /// Bytes of all DPUs.
    pub bytes: u64,
    /// Cycles of the DPU that took longest.
    pub cycles: u64,
    /// Instructions of all DPUs.
    pub instructions: u64,
    /// Texts to the DPUs, on the system's bus: simulated.
    pub bus_in_seconds: f64,
    /// The DPU that took longest, at the system's clock: simulated.
    pub compute_seconds: f64,
    /// Texts back: simulated.
    pub bus_out_seconds: f64,
    /// Copying and interleaving texts here, both ways: measured.
    pub copy_seconds: f64,
    /// Executing the DPUs' instructions here: measured.
    pub simulating_seconds: f64,
}

/// DPUs that are going to work, or do.
pub struct Run {
    timed: Timed,
    division: Division,
    set: DpuSet,
    key: Key,
    /// Of `Cipher::Many`, which are alike on all DPUs.
    laid: Option<Laid>,
    bus_in_seconds: f64,
    copy_seconds: f64,
    launched: Option<Instant>,
}

impl Run {
    /// Loads the program and sends each DPU its text.
    ///
    /// # Errors
    /// A number that can't be, for people.
    pub fn new(timed: Timed) -> Result<Self, String> {
        let division = division(&timed)?;
        let key: Vec<u8> = (0_u8..).take(timed.key_bytes).collect();
        let key = Key::new(&key).map_err(text)?;
        let mut set = DpuSet::alloc(timed.dpus, &timed.system).map_err(text)?;
        let size = RoundKeys::new(key.as_bytes()).map_err(text)?.size();
        let program = match timed.cipher {
            Cipher::Ecb => ecb(division, (Mode::Encrypt, size), Registers::ByBank),
            Cipher::Ctr => ctr(division, size),
            Cipher::Gcm => gcm(division, (Mode::Encrypt, size)),
            Cipher::Many => many::program(division),
        };
        set.load(&assemble(&program).map_err(text)?).map_err(text)?;
        let mut run = Self {
            timed,
            division,
            set,
            key,
            laid: None,
            bus_in_seconds: 0.0,
            copy_seconds: 0.0,
            launched: None,
        };
        match run.timed.cipher {
            Cipher::Many => run.send_many()?,
            _ => run.send()?,
        }
        Ok(run)
    }

    /// Starts the DPUs, on this machine's threads.
    ///
    /// # Errors
    /// They run already.
    pub fn launch(&mut self) -> Result<(), String> {
        self.launched = Some(Instant::now());
        self.set.launch(Launch::Asynchronous).map_err(text)
    }

    /// How many DPUs have ended.
    #[must_use]
    pub fn ended(&self) -> usize {
        self.set.ended()
    }

    /// Waits for the DPUs, fetches what they made and compares it with what this processor's kernels make.
    ///
    /// # Errors
    /// A DPU that faulted, and a byte that is wrong.
    pub fn finish(&mut self) -> Result<Took, String> {
        self.set.sync().map_err(text)?;
        let simulating_seconds =
            self.launched.take().map_or(0.0, |launched| launched.elapsed().as_secs_f64());
        let Timed { dpus, bytes, ref system, .. } = self.timed;
        let (mut cycles, mut instructions) = (0, 0);
        for dpu in 0..dpus {
            let dpu = self.set.dpu(dpu).map_err(text)?;
            cycles = dpu.cycles().max(cycles);
            instructions += dpu.instructions();
        }
        let compute_seconds = system.seconds(cycles);
        let (at, length) = self.laid.as_ref().map_or((0, bytes), Laid::results);
        for dpu in 0..dpus {
            self.set.prepare_xfer(dpu, vec![0; length]).map_err(text)?;
        }
        let back = self.set.push_xfer(Push::FromDpus, MRAM, at, length).map_err(text)?;
        self.check()?;
        Ok(Took {
            bytes: dpus as u64 * bytes as u64,
            cycles,
            instructions,
            bus_in_seconds: self.bus_in_seconds,
            compute_seconds,
            bus_out_seconds: back.bus_seconds,
            copy_seconds: self.copy_seconds + back.copy_seconds,
            simulating_seconds,
        })
    }

    fn send(&mut self) -> Result<(), String> {
        let Timed { cipher, dpus, bytes, .. } = self.timed;
        let under = Under::new(&self.key, &nonce(0))?;
        self.broadcast("round_keys", &under.rounds.bytes())?;
        self.broadcast("length", &word(bytes)?)?;
        if cipher == Cipher::Gcm {
            self.broadcast("products", &under.hash.products())?;
            self.broadcast("span", &word(self.span())?)?;
        }
        for dpu in 0..dpus {
            let counters = match cipher {
                Cipher::Ecb | Cipher::Many => None,
                Cipher::Ctr => Some(ctr_parameters(&nonce(dpu), 1)),
                Cipher::Gcm => Some(Under::new(&self.key, &nonce(dpu))?.counters(0)?),
            };
            if let Some(counters) = counters {
                self.set.copy_to(dpu, "nonce", 0, &counters).map_err(text)?;
            }
            self.set.prepare_xfer(dpu, plaintext(dpu, bytes)).map_err(text)?;
        }
        self.push(bytes)
    }

    fn send_many(&mut self) -> Result<(), String> {
        let mut length = 0;
        for dpu in 0..self.timed.dpus {
            let (image, laid) = Laid::new(dpu, &self.timed)?;
            length = image.len();
            self.laid = Some(laid);
            self.set.prepare_xfer(dpu, image).map_err(text)?;
        }
        self.push(length)
    }

    fn push(&mut self, length: usize) -> Result<(), String> {
        let sent = self.set.push_xfer(Push::ToDpus, MRAM, 0, length).map_err(text)?;
        self.bus_in_seconds = sent.bus_seconds;
        self.copy_seconds = sent.copy_seconds;
        Ok(())
    }

    fn broadcast(&mut self, symbol: &str, bytes: &[u8]) -> Result<(), String> {
        self.set.broadcast_to(symbol, 0, bytes).map_err(text)
    }

    /// Bytes that a tasklet of the kernel for GCM works.
    fn span(&self) -> usize {
        let chunk = self.division.chunk_bytes() as usize;
        self.timed.bytes.div_ceil(self.timed.tasklets).next_multiple_of(chunk)
    }
}

/// Chunks that the bytes are a multiple of, small enough for every tasklet to have one.
fn division(timed: &Timed) -> Result<Division, String> {
    let Timed { cipher, bytes, tasklets, .. } = *timed;
    if !bytes.is_multiple_of(CHUNK_MIN) || bytes == 0 || bytes as u64 > MRAM_BYTES {
        return Err(format!(
            "{bytes} bytes for each DPU: give a multiple of {CHUNK_MIN} up to {MRAM_BYTES}"
        ));
    }
    let most = match cipher {
        Cipher::Ecb | Cipher::Ctr | Cipher::Many => CHUNK_MAX,
        Cipher::Gcm => GCM_CHUNKS_BYTES / tasklets.max(1),
    };
    let fits =
        |chunk: &usize| *chunk <= most && bytes.is_multiple_of(*chunk) && bytes / chunk >= tasklets;
    let halves = std::iter::successors(Some(CHUNK_MAX), |chunk| Some(chunk / 2));
    let chunk = halves.take_while(|chunk| *chunk > CHUNK_MIN).find(fits).unwrap_or(CHUNK_MIN);
    let narrow = |number: usize| u32::try_from(number).map_err(text);
    Division::new(narrow(tasklets)?, narrow(chunk)?).map_err(text)
}

fn word(bytes: usize) -> Result<[u8; 4], String> {
    Ok(u32::try_from(bytes).map_err(text)?.to_le_bytes())
}

fn text(error: impl ToString) -> String {
    error.to_string()
}

/// The first byte of MRAM that no program takes.
const MRAM: &str = "__sys_used_mram_end";
const CHUNK_MIN: usize = 32;
const CHUNK_MAX: usize = 1024;
/// What tables leave of WRAM to chunks of the kernel for GCM.
const GCM_CHUNKS_BYTES: usize = 21 * 1024;

#[cfg(test)]
mod tests;
