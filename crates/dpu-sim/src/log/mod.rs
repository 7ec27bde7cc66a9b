//! What programs print.
//!
//! The vendor's `printf` formats nothing: it writes to a buffer in MRAM what the host needs to format. Two symbols tell where:
//!
//! | symbol | memory | holds |
//! |---|---|---|
//! | `__stdout_buffer` | MRAM | the buffer; its size is the symbol's |
//! | `__stdout_buffer_state` | WRAM | a word: how many bytes were written; a word: not 0, if the buffer was full and begun anew |
//!
//! A message is a text that ends with 0: one format after the other, each from its `%` to its letter, with `%s` for what stands
//! between. Their arguments follow without gaps: `%s` bytes up to a 0; `%c` a byte; `%f`, `%e`, `%g` eight bytes, a double; others
//! four bytes, or eight if there is an `l` in the format. Zeros fill the message up to eight bytes. So `printf("x=%d\n", 5)` is
//!
//! ```text
//! % s % d % s 0  x = 0  5 0 0 0  \n 0  0 0 0 ...
//! ```
//!
//! `puts` is `%s`, `putchar` is `%c`. Besides, `tell r, 1` of any program gives the text in WRAM that the register points to, and
//! `tell` with another number the register's value; a DPU does nothing at `tell`, so programs for both print with `printf`.

mod format;

use crate::exec::Dpu;
use crate::program::Region;
use format::Format;
use std::fmt::Write;

/// Why what was printed cannot be read.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// More was printed than the buffer holds.
    #[error(
        "more was printed than the {size} bytes of __stdout_buffer hold; STDOUT_BUFFER_INIT makes it larger"
    )]
    Full {
        /// Of the buffer, in bytes.
        size: u32,
    },
    /// The program wrote over what belongs to its `printf`.
    #[error("__stdout_buffer_state says that {written} bytes were printed into {size}")]
    State {
        /// What it says.
        written: u32,
        /// Of the buffer, in bytes.
        size: u32,
    },
    /// The symbols do not lie where those of the vendor's runtime do.
    #[error("__stdout_buffer is not in MRAM, or __stdout_buffer_state not in WRAM")]
    Place,
    /// No format where one belongs, or one that nobody could mean.
    #[error("byte {offset} of what was printed is in no format of printf's")]
    Format {
        /// From the start of the buffer.
        offset: usize,
    },
    /// A message ends in the middle.
    #[error("what was printed ends within a message, at byte {offset}")]
    Truncated {
        /// Where the message's missing part begins.
        offset: usize,
    },
    /// More text than anybody reads.
    #[error("what was printed makes more than {TEXT_MAX} bytes of text")]
    Long,
}

/// How much text is made at most, in bytes.
const TEXT_MAX: usize = 64 << 20;

impl Dpu {
    /// What was printed with `printf` since the last start, if the program has the vendor's, and what `tell` said since loading.
    ///
    /// # Errors
    /// The buffer was too small, or what it holds was not written by `printf`.
    pub fn log(&self) -> Result<String, LogError> {
        let mut log = match self.printed()? {
            Some(bytes) => messages(&bytes)?,
            None => String::new(),
        };
        for told in self.told() {
            match &told.text {
                Some(text) => log.push_str(text),
                None => {
                    let value = told.value;
                    let _ = writeln!(log, "tasklet {}: {value} ({value:#x})", told.tasklet);
                }
            }
        }
        Ok(log)
    }

    /// The bytes that `printf` wrote; none, if the program has none.
    fn printed(&self) -> Result<Option<Vec<u8>>, LogError> {
        let (buffer, state) =
            (self.symbol("__stdout_buffer"), self.symbol("__stdout_buffer_state"));
        let Some((buffer, state)) = buffer.zip(state) else { return Ok(None) };
        if (buffer.region, state.region) != (Region::Mram, Region::Wram) {
            return Err(LogError::Place);
        }
        let mut words = [0; 8];
        self.read(Region::Wram, u64::from(state.offset), &mut words)
            .map_err(|_| LogError::Place)?;
        let [a, b, c, d, wrapped @ ..] = words;
        let (written, size) = (u32::from_le_bytes([a, b, c, d]), buffer.size);
        if wrapped != [0; 4] {
            return Err(LogError::Full { size });
        }
        if written > size {
            return Err(LogError::State { written, size });
        }
        let mut bytes = vec![0; written as usize];
        let read = self.read(Region::Mram, u64::from(buffer.offset), &mut bytes);
        read.map_err(|_| LogError::Place)?;
        Ok(Some(bytes))
    }
}

/// Formats all messages of a buffer.
fn messages(buffer: &[u8]) -> Result<String, LogError> {
    let mut text = Vec::new();
    let mut reader = Reader { buffer, at: 0 };
    while reader.skip_padding()? {
        let mut offset = reader.at;
        // One after the other, because a message may have millions of them.
        for part in reader.text()?.split(|byte| *byte == b'%').skip(1) {
            let format = Format::parse(part).ok_or(LogError::Format { offset })?;
            reader.argument(&format, &mut text)?;
            if text.len() > TEXT_MAX {
                return Err(LogError::Long);
            }
            offset += 1 + part.len();
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

struct Reader<'a> {
    buffer: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Goes to the next message, if there is one.
    fn skip_padding(&mut self) -> Result<bool, LogError> {
        let rest = &self.buffer[self.at..];
        let zeros = rest.iter().take_while(|byte| **byte == 0).count();
        self.at += zeros;
        match rest.get(zeros) {
            None => Ok(false),
            Some(b'%') => Ok(true),
            Some(_) => Err(LogError::Format { offset: self.at }),
        }
    }

    fn argument(&mut self, format: &Format, out: &mut Vec<u8>) -> Result<(), LogError> {
        match format.letter {
            b's' => format.text(self.text()?, out),
            b'c' => {
                let [byte] = self.bytes()?;
                format.text(&[byte], out);
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' => {
                format.real(f64::from_le_bytes(self.bytes()?), out);
            }
            _ if format.long => format.whole(i64::from_le_bytes(self.bytes()?), out),
            _ => {
                let word = i32::from_le_bytes(self.bytes()?);
                let unsigned = i64::from(word.cast_unsigned());
                format.whole(if format.is_signed() { i64::from(word) } else { unsigned }, out);
            }
        }
        Ok(())
    }

    /// Bytes up to a 0.
    fn text(&mut self) -> Result<&'a [u8], LogError> {
        let rest = &self.buffer[self.at..];
        let end = rest.iter().position(|byte| *byte == 0);
        let end = end.ok_or(LogError::Truncated { offset: self.buffer.len() })?;
        self.at += end + 1;
        Ok(&rest[..end])
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], LogError> {
        let found = self.buffer[self.at..].first_chunk::<N>();
        let found = found.ok_or(LogError::Truncated { offset: self.buffer.len() })?;
        self.at += N;
        Ok(*found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(formats: &str, arguments: &[&[u8]]) -> Vec<u8> {
        let mut bytes = formats.as_bytes().to_vec();
        bytes.push(0);
        arguments.iter().for_each(|argument| bytes.extend_from_slice(argument));
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    #[test]
    fn messages_are_formatted_one_after_the_other() {
        let mut buffer = message("%s%d%s", &[b"x=\0", &5_i32.to_le_bytes(), b"\n\0"]);
        buffer.extend(message("%c", &[b"!"]));
        buffer.extend(message("%s", &[b"\0"]));
        buffer.extend(message("%lu%lx", &[&[255; 8], &15_i64.to_le_bytes()]));
        assert_eq!(messages(&buffer).unwrap(), "x=5\n!18446744073709551615f");
    }

    #[test]
    fn what_printf_does_not_write_is_refused_and_never_read_beyond() {
        assert_eq!(messages(b"text\0"), Err(LogError::Format { offset: 0 }));
        assert_eq!(messages(b"%d\0\x05"), Err(LogError::Truncated { offset: 4 }));
        assert_eq!(messages(b"%s"), Err(LogError::Truncated { offset: 2 }));
        assert_eq!(messages(b"%\0"), Err(LogError::Format { offset: 0 }));
        assert_eq!(messages(b"%99999d\0aaaa"), Err(LogError::Format { offset: 0 }));
        assert_eq!(messages(b"%c%99999d\0aaaa"), Err(LogError::Format { offset: 2 }));
        // Formats are not looked at before the arguments of those before them.
        assert_eq!(messages(b"%d%99999d\0aaa"), Err(LogError::Truncated { offset: 13 }));
    }
}
