//! The messages of a case: their bytes, and what must come of them.

use sealift::{
    Batch, Column, DeviceId, Engine, Keys, Layout, NONCE_BYTES, NonceRule, Op, Ops, Options,
    OwnedOutput, SessionId, Stability, Status, TagLength, Tags, Text,
};
use sealift_probes::{ArmError, ArmSpec, Memory, Planned, Random, layout};
use std::ops::Range;

/// Messages whose tags are of one length.
pub struct PreparedMessages {
    /// What is done to each.
    pub planned: Vec<Planned>,
    /// Under which keys.
    pub keys: MessageKeys,
    /// Their nonces.
    pub nonces: Packed,
    /// Their additional data.
    pub aads: Packed,
    /// Plaintexts of seals, ciphertexts of opens.
    pub texts: Packed,
    /// Tags of opens, zeros for seals.
    pub tags: Memory,
    /// How long each tag is.
    pub tag_length: TagLength,
    /// What must come of the texts: ciphertexts, plaintexts, zeros where the tag is wrong.
    right_texts: Packed,
    /// The tags that seals must make.
    right_tags: Memory,
}

/// The keys of a set.
pub enum MessageKeys {
    /// Which of the installed keys each message takes.
    Installed(Vec<u32>),
    /// A raw key for each message.
    Fresh(Packed),
}

/// Byte strings in one buffer.
pub struct Packed {
    bytes: Memory,
    layout: Layout<'static>,
}

impl PreparedMessages {
    /// The messages of a spec, parted by tag length.
    ///
    /// Both devices of `truth` must give the same bytes for every message.
    ///
    /// # Errors
    /// A spec that isn't right; two devices that differ.
    pub fn all(spec: &ArmSpec, truth: &Truth) -> Result<Vec<Self>, ArmError> {
        spec.check()?;
        let mut random = Random::new(spec.seed, MESSAGE_STREAM);
        let keys = spec.installed();
        let tag_bytes = &spec.columns.tag_bytes;
        let of_length = |length: &TagLength| -> Vec<usize> {
            let same = |at: &usize| usize::from(tag_bytes[*at]) == length.bytes();
            (0..tag_bytes.len()).filter(same).collect()
        };
        TagLength::ALL
            .iter()
            .map(|length| (*length, of_length(length)))
            .filter(|(_, members)| !members.is_empty())
            .map(|(length, members)| Self::make(spec, length, &members, &keys, truth, &mut random))
            .collect()
    }

    fn make(
        spec: &ArmSpec,
        tag_length: TagLength,
        members: &[usize],
        (installed, key_of): &(Vec<Vec<u8>>, Option<Vec<u32>>),
        truth: &Truth,
        random: &mut Random,
    ) -> Result<Self, ArmError> {
        let columns = &spec.columns;
        let lengths = |of: &dyn Fn(usize) -> usize| members.iter().map(|at| of(*at)).collect();
        let mut drawn =
            |lengths: Vec<usize>| Packed::holding(&random.bytes(sum(&lengths)), &lengths);
        let nonces = drawn(lengths(&|at| columns.nonce_bytes[at].into()));
        let aads = drawn(lengths(&|at| columns.aad_bytes[at] as usize));
        let plain =
            drawn(lengths(&|at| usize::try_from(columns.text_bytes[at]).unwrap_or(usize::MAX)));
        let keys = match key_of {
            Some(key_of) => MessageKeys::Installed(members.iter().map(|at| key_of[*at]).collect()),
            None => MessageKeys::Fresh(drawn(lengths(&|at| columns.key_bytes[at].into()))),
        };
        let planned: Vec<_> = members.iter().map(|at| columns.planned[*at]).collect();
        let none = Packed::holding(&[], &[0]);
        let mut set = Self {
            tags: Memory::zeroed(members.len() * tag_length.bytes()),
            right_tags: Memory::zeroed(members.len() * tag_length.bytes()),
            planned,
            keys,
            nonces,
            aads,
            texts: plain,
            tag_length,
            right_texts: none,
        };
        let sealed = truth.sealed(&set, installed)?;
        set.plan(&sealed, random);
        Ok(set)
    }

    /// Turns messages that are all to be sealed into those that are planned.
    fn plan(&mut self, sealed: &OwnedOutput, random: &mut Random) {
        let tag_bytes = self.tag_length.bytes();
        let lengths: Vec<_> = (0..self.len()).map(|at| self.texts.get(at).len()).collect();
        let mut right = Memory::holding(&self.texts.bytes);
        for at in 0..self.len() {
            let range = self.texts.layout.range(at);
            let tag = at * tag_bytes..(at + 1) * tag_bytes;
            match self.planned[at] {
                Planned::Seal => {
                    right[range].copy_from_slice(sealed.text_of(at));
                    self.right_tags[tag].copy_from_slice(sealed.tag_of(at));
                }
                opened => {
                    self.texts.bytes[range.clone()].copy_from_slice(sealed.text_of(at));
                    self.tags[tag.clone()].copy_from_slice(sealed.tag_of(at));
                    if opened == Planned::Bad {
                        right[range].fill(0);
                        let bit = random.next_u64() % (tag_bytes as u64 * 8);
                        let bit = usize::try_from(bit).unwrap_or(0);
                        self.tags[tag][bit / 8] ^= 1 << (bit % 8);
                    }
                }
            }
        }
        self.right_texts = Packed { bytes: right, layout: layout(&lengths) };
    }

    /// Number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.planned.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.planned.is_empty()
    }

    /// Bytes of all texts.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.texts.bytes.len()
    }

    /// The columns of a batch of some of the messages, whose sessions are those of the installed keys.
    #[must_use]
    pub fn batch(&self, range: Range<usize>, session: impl Fn(u32) -> SessionId) -> Batch<'_> {
        let keys = match &self.keys {
            MessageKeys::Fresh(raw) => Keys::Raw(raw.column(range.clone())),
            MessageKeys::Installed(of) => {
                let of = &of[range.clone()];
                if of.iter().all(|key| *key == of[0]) {
                    session(of[0]).into()
                } else {
                    of.iter().map(|key| session(*key)).collect::<Vec<_>>().into()
                }
            }
        };
        let op = |planned: &Planned| if *planned == Planned::Seal { Op::Seal } else { Op::Open };
        let ops: Vec<_> = self.planned[range.clone()].iter().map(op).collect();
        let is_one = ops.iter().all(|op| *op == ops[0]);
        let ops = if is_one { Ops::All(ops[0]) } else { Ops::Each(ops.into()) };
        self.columns(range, keys, ops)
    }

    fn columns<'b>(&'b self, range: Range<usize>, keys: Keys<'b>, ops: Ops<'b>) -> Batch<'b> {
        let is_standard = range.clone().all(|at| self.nonces.get(at).len() == NONCE_BYTES);
        let nonce_rule = if is_standard { NonceRule::Standard } else { NonceRule::HazmatAnyLength };
        let tag_bytes = self.tag_length.bytes();
        let tags = &self.tags[range.start * tag_bytes..range.end * tag_bytes];
        Batch {
            len: range.len(),
            ops,
            aad: self.aads.column(range.clone()),
            text: Text::Apart(self.texts.column(range.clone())),
            tags: Tags::Apart(Column::fixed(tags, tag_bytes)),
            tag_length: self.tag_length,
            nonce_rule,
            stability: Stability::Frozen,
            ..Batch::seal(range.len(), keys, self.nonces.column(range), Column::Empty)
        }
    }

    /// What is wrong with what came of a message; nothing when it is right.
    #[must_use]
    pub fn wrong(&self, at: usize, text: &[u8], tag: &[u8], status: Status) -> Option<String> {
        let planned = self.planned[at];
        let right = if planned == Planned::Bad { Status::AuthFailed } else { Status::Ok };
        let tag_bytes = self.tag_length.bytes();
        let what = if status != right {
            format!("{status:?} instead of {right:?}")
        } else if text != self.right_texts.get(at) {
            "another text".to_owned()
        } else if planned == Planned::Seal && *tag != self.right_tags[at * tag_bytes..][..tag_bytes]
        {
            "another tag".to_owned()
        } else {
            return None;
        };
        let bytes = text.len();
        Some(format!("message {at}, {planned:?} of {bytes} bytes with tags of {tag_bytes}: {what}"))
    }
}

impl Packed {
    /// Byte strings of these lengths, one after the other.
    fn holding(bytes: &[u8], lengths: &[usize]) -> Self {
        Self { bytes: Memory::holding(bytes), layout: layout(lengths) }
    }

    /// One of them.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, at: usize) -> &[u8] {
        &self.bytes[self.layout.range(at)]
    }

    /// All of them.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where they lie.
    #[inline(always)]
    #[must_use]
    pub fn layout(&self) -> &Layout<'static> {
        &self.layout
    }

    /// Some of them, as a batch takes them.
    fn column(&self, range: Range<usize>) -> Column<'_> {
        if self.bytes.is_empty() {
            return Column::Empty;
        }
        let (bytes, layout) = part(&self.layout, range);
        let buffer = bytes.map_or(&*self.bytes, |bytes| &self.bytes[bytes]);
        Column::Packed { buffer: buffer.into(), layout }
    }
}

/// Where some of the messages lie: in these bytes of the buffer, or in the whole buffer.
#[must_use]
pub fn part<'l>(
    layout: &'l Layout<'static>,
    range: Range<usize>,
) -> (Option<Range<usize>>, Layout<'l>) {
    match layout {
        Layout::Fixed { stride, len } => {
            let bytes = range.start * stride..range.end * stride;
            (Some(bytes), Layout::Fixed { stride: *stride, len: *len })
        }
        Layout::Offsets32(offsets) => {
            (None, Layout::Offsets32((&offsets[range.start..=range.end]).into()))
        }
        Layout::Offsets64(offsets) => {
            (None, Layout::Offsets64((&offsets[range.start..=range.end]).into()))
        }
    }
}

/// Two devices that share no code and must agree on what is right.
pub struct Truth {
    engine: Engine,
    devices: Vec<DeviceId>,
}

impl Truth {
    /// Opens them.
    ///
    /// # Errors
    /// One is absent.
    pub fn open() -> Result<Self, ArmError> {
        let engine = Engine::with(&CHECKERS)?;
        let devices = CHECKERS.iter().map(|name| engine.device(name)).collect::<Result<_, _>>()?;
        Ok(Self { engine, devices })
    }

    /// Seals every message of a set on both.
    fn sealed(
        &self,
        set: &PreparedMessages,
        installed: &[Vec<u8>],
    ) -> Result<OwnedOutput, ArmError> {
        let keys = match &set.keys {
            MessageKeys::Fresh(_) => None,
            MessageKeys::Installed(of) => {
                let each: Vec<_> = of.iter().map(|key| &installed[*key as usize][..]).collect();
                let lengths: Vec<_> = each.iter().map(|key| key.len()).collect();
                Some(Packed::holding(&each.concat(), &lengths))
            }
        };
        let raw = match (&keys, &set.keys) {
            (Some(packed), _) | (None, MessageKeys::Fresh(packed)) => packed.column(0..set.len()),
            (None, MessageKeys::Installed(_)) => Column::Empty,
        };
        let batch = set.columns(0..set.len(), Keys::Raw(raw), Ops::All(Op::Seal));
        let mut agreed: Option<OwnedOutput> = None;
        for (device, name) in self.devices.iter().zip(CHECKERS) {
            let options = Options { on: Some(*device), ..Options::default() };
            let mut sealed = OwnedOutput::for_batch(&batch).map_err(sealift::EngineError::from)?;
            self.engine.run(&batch, sealed.as_output(), &options)?;
            if let Some(first) = &agreed
                && (first.text().0 != sealed.text().0 || first.tags() != sealed.tags())
            {
                let what = format!("it seals otherwise than {}", CHECKERS[0]);
                return Err(ArmError::Wrong { device: name.to_owned(), what });
            }
            agreed = Some(sealed);
        }
        agreed.ok_or_else(|| ArmError::NoChecker {
            device: "the messages".to_owned(),
            tried: "none".to_owned(),
        })
    }
}

fn sum(lengths: &[usize]) -> usize {
    lengths.iter().sum()
}

/// AWS-LC and RustCrypto.
pub const CHECKERS: [&str; 2] = ["library", "reference"];
const MESSAGE_STREAM: u64 = 1;
