//! Cycles a message through `run`, for work on the kernels.
//!
//! `cargo bench -p sealift-kernels --bench cycles -- [FILTER ...] [--path NAME] [--rounds N]` prints a line for
//! each case whose name holds a filter; with `--texts N,N,... [--messages N]` cases of these lengths instead.
//! Cases take turns; figures are medians, and the clock is measured beside each sample by a chain of
//! additions.

use sealift_core::{
    Batch, Column, Key, KeySource, Keys, Op, Ops, Output, Place, SessionId, Status, Tags, Work,
};
use sealift_kernels::{Path, Schedule, Schedules, run};
use std::hint::black_box;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Instant;

#[derive(Clone, Copy, PartialEq)]
enum KeysAre {
    One,
    Each,
    Fresh,
}

#[derive(Clone, Copy)]
struct Case {
    op: Op,
    keys: KeysAre,
    key_bytes: usize,
    text: usize,
    aad: usize,
    messages: usize,
    /// Keys of all three lengths, half of the messages sealed, a quarter opened, a quarter with a wrong tag.
    is_mix: bool,
}

impl Case {
    fn name(&self) -> String {
        let keys = match self.keys {
            KeysAre::One => "one",
            KeysAre::Each => "each",
            KeysAre::Fresh => "fresh",
        };
        if self.is_mix {
            return format!("mix {keys} {}B x{}", self.text, self.messages);
        }
        let op = if self.op == Op::Seal { "seal" } else { "open" };
        format!(
            "{op} {keys} {} {}B aad{} x{}",
            self.key_bytes * 8,
            self.text,
            self.aad,
            self.messages
        )
    }
}

const PLAIN: Case = Case {
    op: Op::Seal,
    keys: KeysAre::One,
    key_bytes: 16,
    text: 128,
    aad: 0,
    messages: 1,
    is_mix: false,
};

fn cases() -> Vec<Case> {
    let mut cases = vec![];
    for keys in [KeysAre::One, KeysAre::Each, KeysAre::Fresh] {
        for key_bytes in [16, 24, 32] {
            for text in
                [16, 64, 100, 128, 256, 512, 1_024, 1_420, 2_048, 4_096, 8_192, 16_384, 1 << 20]
            {
                for op in [Op::Seal, Op::Open] {
                    for aad in [0, 17, 33] {
                        let messages = ((1 << 18) / text).clamp(1, 1_024);
                        let is_mix = false;
                        cases.push(Case { op, keys, key_bytes, text, aad, messages, is_mix });
                    }
                }
            }
            for messages in [1, 3, 17, 64, 256, 8_192, 65_536] {
                cases.push(Case { keys, key_bytes, messages, ..PLAIN });
            }
            for text in [16, 512, 1_420, 8_192] {
                cases.push(Case { keys, key_bytes, text, ..PLAIN });
            }
            for text in [4_096, 8_192, 16_384, 16_000] {
                for op in [Op::Seal, Op::Open] {
                    cases.push(Case { op, keys, key_bytes, text, messages: 1_024, ..PLAIN });
                }
            }
        }
        for messages in [256, 3_072, 131_072] {
            cases.push(Case { keys, messages, is_mix: true, ..PLAIN });
        }
    }
    cases
}

struct Bench {
    case: Case,
    path: Path,
    ops: Vec<Op>,
    expected: Vec<Status>,
    schedules: Vec<Schedule>,
    /// Where raw keys end.
    ends: Vec<u32>,
    raw: Vec<u8>,
    nonces: Vec<u8>,
    aads: Vec<u8>,
    input: Aligned,
    tags: Vec<u8>,
    samples: Vec<(f64, f64)>,
}

/// Bytes that begin with a page, as what the lab times does.
struct Aligned {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl Aligned {
    fn holding(from: &[u8]) -> Aligned {
        let mut bytes = vec![1; from.len() + 4_096];
        let start = bytes.as_ptr().align_offset(4_096);
        bytes[start..start + from.len()].copy_from_slice(from);
        Aligned { bytes, start, len: from.len() }
    }
}

impl Deref for Aligned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.len]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}

struct NoKeys;
impl KeySource for NoKeys {
    fn key(&self, _: SessionId) -> Option<Arc<Key>> {
        None
    }
}

impl Bench {
    fn new(case: Case, path: Path) -> Bench {
        let n = case.messages;
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut bytes = |len: usize| -> Vec<u8> {
            (0..len)
                .map(|_| {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    random.to_le_bytes()[3]
                })
                .collect()
        };
        let choices = bytes(2 * n);
        let key_bytes = |i: usize| {
            if case.is_mix { KEY_BYTES[usize::from(choices[i] % 3)] } else { case.key_bytes }
        };
        let planned =
            |i: usize| if case.is_mix { choices[n + i] % 4 } else { u8::from(case.op == Op::Open) };
        let ops: Vec<_> = (0..n)
            .map(|i| if MIX[usize::from(planned(i))] { Op::Open } else { Op::Seal })
            .collect();
        let mut ends = vec![0];
        for i in 0..n {
            ends.push(ends[i] + u32::try_from(key_bytes(i)).expect("a small number"));
        }
        let raw = bytes(ends[n] as usize);
        let keys = if case.keys == KeysAre::One { 1 } else { n.min(1_024) };
        let key = |i: usize| &raw[ends[i] as usize..ends[i + 1] as usize];
        let schedules = (0..keys)
            .map(|i| Schedule::from_raw(path, key(i)).expect("a length that is right"))
            .collect();
        let (nonces, aads, input) = (bytes(12 * n), bytes(case.aad * n), bytes(case.text * n));
        let (tags, expected) = (vec![0; 16 * n], vec![Status::Ok; n]);
        let seals = vec![Op::Seal; n];
        let input = Aligned::holding(&input);
        let mut bench = Bench {
            case,
            path,
            ops: seals,
            expected,
            schedules,
            ends,
            raw,
            nonces,
            aads,
            input,
            tags,
            samples: vec![],
        };
        let (mut out, mut made) = (vec![0; case.text * n], vec![0; 16 * n]);
        bench.repeat(1, &mut out, &mut made);
        for i in (0..n).filter(|i| ops[*i] == Op::Open) {
            let text = i * case.text..(i + 1) * case.text;
            bench.input[text.clone()].copy_from_slice(&out[text]);
            bench.tags[16 * i..16 * (i + 1)].copy_from_slice(&made[16 * i..16 * (i + 1)]);
            if planned(i) == WRONG {
                bench.tags[16 * i + 5] ^= 4;
                bench.expected[i] = Status::AuthFailed;
            }
        }
        bench.ops = ops;
        bench
    }

    /// Nanoseconds for `times` batches.
    fn repeat(&self, times: usize, out: &mut [u8], made: &mut [u8]) -> f64 {
        let case = self.case;
        let session = SessionId { slot: 0, generation: 0 };
        let keys = match case.keys {
            KeysAre::Fresh if case.is_mix => Keys::Raw(Column::offsets(&self.raw, &self.ends)),
            KeysAre::Fresh => Keys::Raw(Column::fixed(&self.raw, case.key_bytes)),
            _ => Keys::Session(session),
        };
        let is_one = self.ops.iter().all(|op| *op == self.ops[0]);
        let ops = if is_one { Ops::All(self.ops[0]) } else { Ops::Each((&self.ops).into()) };
        let batch = Batch {
            ops,
            aad: Column::fixed(&self.aads, case.aad),
            tags: Tags::Apart(Column::fixed(&self.tags, 16)),
            ..Batch::seal(
                case.messages,
                keys,
                Column::fixed(&self.nonces, 12),
                Column::fixed(&*self.input, case.text),
            )
        };
        let mut status = vec![Status::NotProcessed; case.messages];
        let output = Output {
            text: Place::fixed(out, case.text),
            tags: Place::fixed(made, 16),
            status: &mut status,
        };
        let each: Vec<&Schedule> = self.schedules.iter().cycle().take(case.messages).collect();
        let schedules = match case.keys {
            KeysAre::One => Schedules::One(&self.schedules[0]),
            KeysAre::Each => Schedules::Each(&each),
            KeysAre::Fresh => Schedules::Raw,
        };
        let mut work = Work::new(&batch, output, &NoKeys).expect("a batch that fits");
        let start = Instant::now();
        for _ in 0..times {
            run(self.path, black_box(&mut work), 0..case.messages, schedules);
        }
        let ns = start.elapsed().as_secs_f64() * 1e9;
        assert!(work.statuses() == self.expected, "{}", case.name());
        ns
    }

    fn sample(&mut self) {
        let bytes = self.case.text * self.case.messages;
        let mut out = Aligned::holding(&vec![1; bytes]);
        let mut made = vec![1; 16 * self.case.messages];
        let once = self.repeat(1, &mut out, &mut made);
        let once = self.repeat(1, &mut out, &mut made).min(once);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small number"
        )]
        let times = (2e6 / once).ceil() as usize;
        let ghz = clock_ghz();
        let ns = self.repeat(times, &mut out, &mut made);
        let cycles_per_ns = ghz.max(clock_ghz());
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        self.samples.push((ns / (times * self.case.messages) as f64, cycles_per_ns));
    }

    fn print(&mut self) {
        let middle = self.samples.len() / 2;
        let mut cycles: Vec<_> = self.samples.iter().map(|(ns, ghz)| ns * ghz).collect();
        self.samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        cycles.sort_by(f64::total_cmp);
        let ns = self.samples[middle].0;
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let rate = self.case.text as f64 / ns;
        println!(
            "{:34} {:9.1} cycles ({:9.1} best) {:9.1} ns {rate:6.2} GB/s",
            self.case.name(),
            cycles[middle],
            cycles[0],
            ns
        );
    }
}

/// Whether messages of a mix are opened; the last of the four with a wrong tag.
const MIX: [bool; 4] = [false, true, false, true];
const WRONG: u8 = 3;
const KEY_BYTES: [usize; 3] = [16, 24, 32];

/// Cycles a nanosecond, by additions that wait for each other: of registers, since some processors add
/// constants in no time.
fn clock_ghz() -> f64 {
    const STEPS: u32 = 200_000;
    let start = Instant::now();
    let mut x = black_box(1_u64);
    for _ in 0..STEPS {
        x = black_box_add(x);
    }
    black_box(x);
    f64::from(STEPS) * 8.0 / (start.elapsed().as_secs_f64() * 1e9)
}

#[inline(always)]
fn black_box_add(mut x: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: eight additions in a register.
    #[expect(unsafe_code, reason = "the compiler would add them up")]
    unsafe {
        core::arch::asm!(
            "add {0}, {0}", "add {0}, {0}", "add {0}, {0}", "add {0}, {0}",
            "add {0}, {0}", "add {0}, {0}", "add {0}, {0}", "add {0}, {0}",
            inout(reg) x, options(nomem, nostack)
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    for _ in 0..8 {
        x = black_box(x + 1);
    }
    x
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut filters, mut rounds) = (vec![], 15);
    let (mut texts, mut number) = (vec![], 184);
    let mut path = Path::best().expect("SEALIFT_ISA names a path").unwrap_or(Path::Model);
    let value = |argument: Option<String>| argument.expect("--path and --rounds take a value");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--path" => {
                let name = value(arguments.next());
                path = Path::parse(&name).unwrap_or_else(|error| panic!("{error}"));
            }
            "--rounds" => {
                rounds = value(arguments.next()).parse().expect("--rounds takes a number");
            }
            "--texts" => {
                let list = value(arguments.next());
                texts = list.split(',').map(|text| text.parse().expect("a length")).collect();
            }
            "--messages" => {
                number = value(arguments.next()).parse().expect("--messages takes a number");
            }
            _ => filters.push(argument),
        }
    }
    let wanted = |case: &Case| {
        filters.is_empty() || filters.iter().any(|f| case.name().contains(f.as_str()))
    };
    let mut cases = cases();
    if !texts.is_empty() {
        cases.clear();
        for keys in [KeysAre::One, KeysAre::Each, KeysAre::Fresh] {
            for key_bytes in [16, 32] {
                for text in &texts {
                    for op in [Op::Seal, Op::Open] {
                        let messages = number;
                        cases.push(Case { op, keys, key_bytes, text: *text, messages, ..PLAIN });
                    }
                }
            }
        }
    }
    let mut benches: Vec<_> =
        cases.into_iter().filter(wanted).map(|case| Bench::new(case, path)).collect();
    println!("path {}, {} cases, {rounds} samples of 2 ms each", path.name(), benches.len());
    for _ in 0..rounds {
        benches.iter_mut().for_each(Bench::sample);
    }
    benches.iter_mut().for_each(Bench::print);
}
