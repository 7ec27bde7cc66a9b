//! The words every part of Sealift shares, and the contract between engine and device.
//!
//! - A [`Batch`] is columns over buffers: keys, operations, nonces, aad, texts, tags.
//! - [`Work`] is a batch that was checked together with where its results go. Devices only ever see
//!   `Work`, so no device checks a range twice and none can be handed a wrong one.
//! - A [`Driver`] says what it found ([`Probe`]) and opens a [`Device`] from a [`Spec`]; a device runs
//!   work on the calling thread or takes a [`Job`] and rings a [`Notify`] when its [`Completion`] is there.
//!
//! Nothing in this crate is unsafe and nothing in it encrypts.

mod batch;
mod clock;
mod cost;
mod device;
mod error;
mod key;
mod long;
mod nonce;
mod output;
mod overlap;
mod pieces;
mod room;
mod rows;
mod slots;
mod spans;
mod spec;
mod tag;
mod work;

pub use batch::{
    Batch, Buffer, Buffers, Column, Keys, Layout, MAX_TEXT_BYTES, NonceRule, Ops, Shape, Stability,
    Tags, Text,
};
pub use clock::{Clock, Notify, SimulatedClock, SystemClock, ThreadUsage};
pub use cost::{BreakEven, Cost, CostError};
pub use device::{
    Capabilities, Completion, Context, Cuts, Device, Driver, Job, KeySource, Origin, Probe,
    Refusal, Refused, Resource, Role, Submission, Ticket, Timing,
};
pub use error::{BatchError, DeviceError, KeyError, LimitError, NonceError, OpenError, TagError};
pub use key::{Algorithm, Key, KeyLength, SessionId};
pub use long::{LongMessage, PartHash};
pub use nonce::{MAX_NONCE_BYTES, NONCE_BYTES, Nonce, NonceLengths, XAES_NONCE_BYTES};
pub use output::{Output, OutputPool, OwnedOutput, Place};
pub use overlap::{Region, find_overlap};
pub use pieces::{MESSAGE_BYTES, Messages, PART_BYTES_MIN, Piece, TextPart};
pub use rows::{Rows, Strides};
pub use slots::{Slot, SlotTag, SlotText, Slots};
pub use spans::{Span, Spans, TextSpan};
pub use spec::{Spec, SpecError};
pub use tag::{MAX_TAG_BYTES, Tag, TagLength};
pub use work::Work;

/// What is done to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    /// Encrypt the text and make its tag.
    Seal,
    /// Check the tag and decrypt the text; a wrong tag gives zeros.
    Open,
    /// Check the tag only; nothing is written.
    Verify,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Status {
    /// No device has worked on it yet.
    NotProcessed,
    /// A device had begun with it when the batch was stopped or failed: its output is zeros, and in place its text with it.
    Wiped,
    /// Sealed, opened or verified.
    Ok,
    /// The tag does not belong to key, nonce, aad and text, or the input is shorter than a tag. The
    /// output is zeros.
    AuthFailed,
}
