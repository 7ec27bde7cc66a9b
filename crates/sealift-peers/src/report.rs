//! What was found, as lines of JSON.

use crate::releases;
use crate::roster::{ArmConfig, PEERS};
use sealift_probes::{Arm, ArmError, Sample, Verified};
use std::fmt::Write as _;
use std::io::{self, Write};
use thiserror::Error;

/// Why measuring ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// An arm failed or gave something wrong.
    #[error(transparent)]
    Arm(#[from] ArmError),
    /// A line couldn't be written.
    #[error("the samples can't be written: {0}")]
    Output(#[from] io::Error),
}

/// Writes lines as soon as they are known.
pub struct Report<'w> {
    out: &'w mut dyn Write,
}

impl<'w> Report<'w> {
    /// To any place.
    pub fn to(out: &'w mut dyn Write) -> Self {
        Self { out }
    }

    /// An arm that takes part; the first one is number 0.
    ///
    /// # Errors
    /// The line couldn't be written.
    pub fn arm(&mut self, config: &ArmConfig, arm: &dyn Arm) -> Result<(), Failure> {
        let against = match arm.verified() {
            Verified::Against(devices) => devices.join(", "),
            Verified::NothingToCheck => String::new(),
        };
        self.line(&format!(
            r#"{{"arm":{},"detail":{},"in_place":{},"checked_against":{},"cores":{:?}}}"#,
            quoted(&config.name),
            quoted(arm.detail()),
            config.is_in_place(),
            quoted(&against),
            arm.cores(),
        ))
    }

    /// An arm that doesn't take part.
    ///
    /// # Errors
    /// The line couldn't be written.
    pub fn absent(&mut self, name: &str, reason: &str) -> Result<(), Failure> {
        self.line(&format!(r#"{{"absent":{},"reason":{}}}"#, quoted(name), quoted(reason)))
    }

    /// A sample of an arm, by its number.
    ///
    /// # Errors
    /// The line couldn't be written.
    pub fn sample(&mut self, block: usize, arm: usize, sample: &Sample) -> Result<(), Failure> {
        let Sample { ns, operations, bytes, involuntary_switches, cpu_share, steal_ns, .. } =
            sample;
        let clock_ghz = sample.clock_ghz.map_or("null".to_owned(), |ghz| format!("{ghz:.4}"));
        self.line(&format!(
            r#"{{"block":{block},"of":{arm},"ns":{ns},"operations":{operations},"bytes":{bytes},"involuntary_switches":{involuntary_switches},"cpu_share":{cpu_share:.4},"steal_ns":{steal_ns},"clock_ghz":{clock_ghz}}}"#,
        ))
    }

    /// Every library, with its version or why it is absent.
    ///
    /// # Errors
    /// A line couldn't be written.
    pub fn peers(&mut self) -> Result<(), Failure> {
        for peer in PEERS {
            match peer.probe() {
                Ok(detail) => {
                    let version = releases::version(&detail).unwrap_or_default();
                    let released = releases::released(peer.name, version).unwrap_or_default();
                    self.line(&format!(
                        r#"{{"peer":{},"detail":{},"version":{},"released":{},"in_place":{}}}"#,
                        quoted(peer.name),
                        quoted(&detail),
                        quoted(version),
                        quoted(released),
                        peer.in_place
                    ))?;
                }
                Err(reason) => self.absent(peer.name, &reason)?,
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &str) -> Result<(), Failure> {
        writeln!(self.out, "{line}")?;
        Ok(self.out.flush()?)
    }
}

/// As a JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            control if control < ' ' => {
                // Writing into a string can't fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_quoted_as_json_wants_it() {
        assert_eq!(quoted("a \"b\" \\ é\n"), "\"a \\\"b\\\" \\\\ é\\u000a\"");
    }

    #[test]
    fn a_sample_is_one_line_with_every_field() {
        let mut lines = vec![];
        let sample = Sample {
            ns: 1,
            operations: 2,
            bytes: 3,
            involuntary_switches: 4,
            cpu_share: 0.5,
            steal_ns: 6,
            clock_ghz: None,
        };
        Report::to(&mut lines).sample(7, 8, &sample).unwrap();
        assert_eq!(
            String::from_utf8(lines).unwrap(),
            "{\"block\":7,\"of\":8,\"ns\":1,\"operations\":2,\"bytes\":3,\"involuntary_switches\":4,\
             \"cpu_share\":0.5000,\"steal_ns\":6,\"clock_ghz\":null}\n"
        );
    }
}
