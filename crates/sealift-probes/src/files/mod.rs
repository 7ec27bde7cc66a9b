//! Reading and writing files while the process holds something else: threads that sleep, poll or spin,
//! memory of several kinds, what a vendor's runtime holds for a device that nobody uses.
//!
//! [`write_reads`] makes a file of short reads (FASTQ). [`read_arm`] is a reader on it, [`write_arm`] a writer
//! of text, and [`Held`] what the process holds meanwhile. Whether a process ever had a second thread is
//! something that glibc remembers, so each kind of [`Held`] needs a process of its own.

mod bytewise;
mod evidence;
mod gate;
mod held;
mod kept;
mod linewise;
mod mapped;
mod memory;
mod parsers;
mod reader;
mod reading;
mod reads;
mod stdio;
mod stream;
mod tally;
mod text;
mod writer;
mod writers;

pub use held::Held;
pub use reader::{Cache, ReadSpec, read_arm};
pub use reads::{RECORD_BYTES, SEQUENCES, write_reads};
pub use stream::SOURCE as STREAM_SOURCE;
pub use writer::{TEXT_BYTES, WriteSpec, write_arm};
