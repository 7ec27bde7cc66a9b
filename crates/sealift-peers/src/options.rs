//! The command line, and messages as they are read.

use crate::roster::ArmConfig;
use sealift_probes::{ArmSpec, Columns, Planned, Regime};

/// A parsed command line.
pub enum Command {
    /// To be told how this is used.
    Help,
    /// Which libraries there are.
    List,
    /// To measure.
    Measure(Options),
}

/// What to measure.
pub struct Options {
    /// Arms, the reference first.
    pub arms: Vec<String>,
    /// Under which keys.
    pub regime: Regime,
    /// Messages in a call, at most; 0 for all.
    pub batch: usize,
    /// For all blocks together.
    pub seconds: f64,
    /// About how long a sample takes.
    pub sample_ms: f64,
    /// Of bytes and order.
    pub seed: u64,
    /// Cores that threads keep to; those of the process when there are none.
    pub cores: Vec<usize>,
}

/// Reads the words behind the program's name.
///
/// # Errors
/// The first that isn't right, and what would be.
pub fn read(words: impl IntoIterator<Item = String>) -> Result<Command, String> {
    let mut words = words.into_iter();
    let mut options = Options {
        arms: vec![],
        regime: Regime::One,
        batch: 0,
        seconds: 1.0,
        sample_ms: 3.0,
        seed: 1,
        cores: vec![],
    };
    while let Some(word) = words.next() {
        if word == "--help" || word == "-h" {
            return Ok(Command::Help);
        }
        if word == "--list" {
            return Ok(Command::List);
        }
        let known = ["--arm", "--keys", "--batch", "--seconds", "--sample-ms", "--seed", "--cores"];
        if !known.contains(&&*word) {
            return Err(format!("{word:?} is no option; there are {}", known.join(", ")));
        }
        let value = words.next().ok_or_else(|| format!("{word} without a value"))?;
        set(&mut options, &word, &value)?;
    }
    if options.arms.is_empty() {
        return Err("no arm is named; write --arm kernels --arm aws-lc, and see --list".to_owned());
    }
    Ok(Command::Measure(options))
}

fn set(options: &mut Options, word: &str, value: &str) -> Result<(), String> {
    let wrong = |right: &str| format!("{word} {value}: right would be {right}");
    match word {
        "--arm" => {
            ArmConfig::parse(value, 1)?;
            options.arms.push(value.to_owned());
        }
        "--keys" => {
            options.regime = match (value, count(value)) {
                ("one", _) => Regime::One,
                ("fresh", _) => Regime::Fresh,
                (_, Some(keys)) if keys > 0 => Regime::Sessions(keys),
                _ => return Err(wrong("one, fresh, or how many are installed")),
            };
        }
        "--batch" => {
            options.batch = count(value).ok_or_else(|| wrong("messages in a call, 0 for all"))?;
        }
        "--seconds" => options.seconds = above_0(value).ok_or_else(|| wrong("a time above 0"))?,
        "--sample-ms" => {
            options.sample_ms = above_0(value).ok_or_else(|| wrong("a time above 0"))?;
        }
        "--seed" => options.seed = value.parse().map_err(|_| wrong("a whole number"))?,
        _ => {
            let cores = value.split(',').map(str::parse).collect::<Result<_, _>>();
            options.cores = cores.map_err(|_| wrong("numbers of cores, as in 0,1"))?;
        }
    }
    Ok(())
}

/// Reads a count as `sealift` does: `1024`, `1,024`, `1k`, `1Ki`.
fn count(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(|each: char| each.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "k" | "K" => 1_000,
        "M" => 1_000_000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        _ => return None,
    };
    let is_grouped = digits.split(',').skip(1).all(|group| group.len() == 3);
    let number = digits.replace([',', '_'], "").parse::<usize>().ok().filter(|_| is_grouped);
    number?.checked_mul(unit)
}

fn above_0(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0)
}

/// Reads messages: a line for each, or for so many alike.
///
/// # Errors
/// The first line that isn't right.
pub fn messages(text: &str) -> Result<Columns, String> {
    let mut columns = Columns::default();
    for (number, line) in text.lines().enumerate() {
        message(&mut columns, line)
            .ok_or_else(|| format!("line {}, {line:?}: right would be {LINE}", number + 1))?;
    }
    if columns.is_empty() {
        return Err(format!("no messages came in; write lines of {LINE}"));
    }
    let texts = columns.text_bytes.iter().map(|bytes| u128::from(*bytes));
    let bytes = texts.chain(columns.aad_bytes.iter().map(|bytes| (*bytes).into())).sum::<u128>();
    if bytes > BYTES_MAX {
        return Err(format!("texts and aads of {bytes} bytes; right would be at most {BYTES_MAX}"));
    }
    Ok(columns)
}

fn message(columns: &mut Columns, line: &str) -> Option<()> {
    let mut words = line.split_ascii_whitespace();
    let planned = match words.next()? {
        "seal" => Planned::Seal,
        "open" => Planned::Open,
        "forged" => Planned::Bad,
        _ => return None,
    };
    let key_bytes = words.next()?.parse().ok()?;
    let nonce_bytes = words.next()?.parse().ok()?;
    let aad_bytes = words.next()?.parse().ok()?;
    let text_bytes: u64 = words.next()?.parse().ok()?;
    let tag_bytes = words.next()?.parse().ok()?;
    let times: usize = words.next().map_or(Some(1), |times| times.parse().ok())?;
    if words.next().is_some() || times > MESSAGES_MAX - columns.len() {
        return None;
    }
    let len = columns.len() + times;
    columns.planned.resize(len, planned);
    columns.key_bytes.resize(len, key_bytes);
    columns.nonce_bytes.resize(len, nonce_bytes);
    columns.aad_bytes.resize(len, aad_bytes);
    columns.text_bytes.resize(len, text_bytes);
    columns.tag_bytes.resize(len, tag_bytes);
    Some(())
}

impl Options {
    /// The piece of work that these messages are.
    #[must_use]
    pub fn spec(&self, columns: Columns) -> ArmSpec {
        let batch = if self.batch == 0 { columns.len() } else { self.batch };
        ArmSpec { columns, regime: self.regime, batch, threads: 1, seed: self.seed }
    }
}

/// How this is used.
pub const HELP: &str = "\
Seals and opens the same messages with Sealift's kernels and with other libraries, in turn, and writes
each sample as a line of JSON. benches/peers.py runs it for every case and makes the table.

Usage: peers --arm NAME… [options] < MESSAGES
       peers --list

  --arm NAME       who takes part, the reference first: kernels, kernels:isa=aesni,batch=17,threads=2,
                   engine (Engine::run with every device that Engine::detect finds, or with one:
                   engine:device=library), cipher (sealift::Cipher, one message at a time), ports (the
                   instructions of AES and GHASH alone, which is the most that the processor allows),
                   memcpy (texts copied by it), or a library of --list: ring:threads=2, openssl:lib=FILE
  --keys WHICH     one (for each key length), fresh (a raw key for each message), or how many; one
  --batch N        messages in a call of kernels and engine; 0 for all of them; 0
  --seconds S      for all samples together; 8 of each are taken nevertheless; 1
  --sample-ms MS   about how long a sample takes; 3
  --seed N         of bytes and order; 1
  --cores LIST     cores that threads keep to, as in 1 or 0,1; those of the process
  --list           every library with its version, or why it is absent

MESSAGES are lines `seal|open|forged KEY NONCE AAD TEXT TAG [TIMES]` with lengths in bytes; forged is an open
whose tag is wrong. `seal 16 12 0 128 16 1024` is 1,024 messages of 128 bytes.
";
const LINE: &str = "seal|open|forged KEY NONCE AAD TEXT TAG [TIMES], lengths in bytes";
const MESSAGES_MAX: usize = 1 << 26;
/// Every arm has room for all of them.
const BYTES_MAX: u128 = 1 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(words: &[&str]) -> String {
        match read(words.iter().map(|word| (*word).to_owned())) {
            Err(reason) => reason,
            Ok(_) => panic!("{words:?} was taken"),
        }
    }

    #[test]
    fn what_is_not_right_is_refused_with_what_would_be() {
        assert!(refused(&[]).starts_with("no arm is named; write --arm kernels"));
        assert!(refused(&["--arms", "x"]).starts_with("\"--arms\" is no option; there are --arm"));
        assert_eq!(refused(&["--arm"]), "--arm without a value");
        assert!(
            refused(&["--arm", "nss"]).starts_with("there is no arm \"nss\"; there are kernels")
        );
        assert!(refused(&["--arm", "ring:isa=aesni"]).contains("ring has no setting \"isa\""));
        assert!(
            refused(&["--arm", "kernels:isa=sse"]).contains("\"sse\" is no instruction-set path")
        );
        assert!(refused(&["--arm", "kernels:opening"]).contains("kernels has no setting"));
        assert!(refused(&["--arm", "kernels:batch=0"]).ends_with("a whole number above 0"));
        assert_eq!(refused(&["--seconds", "0"]), "--seconds 0: right would be a time above 0");
        assert_eq!(
            refused(&["--keys", "0"]),
            "--keys 0: right would be one, fresh, or how many are installed"
        );
        assert_eq!(
            refused(&["--cores", "a"]),
            "--cores a: right would be numbers of cores, as in 0,1"
        );
    }

    #[test]
    fn counts_are_read_as_sealift_reads_them() {
        let measured = |words: &str| match read(words.split(' ').map(str::to_owned)) {
            Ok(Command::Measure(options)) => options,
            _ => panic!("{words} was not taken"),
        };
        for (text, number) in [("1k", 1_000), ("1,024", 1_024), ("2Ki", 2_048), ("1_000", 1_000)] {
            let options = measured(&format!("--arm ring --keys {text} --batch {text}"));
            assert_eq!(options.batch, number);
            assert!(matches!(options.regime, Regime::Sessions(keys) if keys == number));
        }
        for text in ["1,5k", "k", "1.5k", "-1", "1x", "99999999999999999M"] {
            assert!(refused(&["--batch", text]).ends_with("0 for all"), "{text}");
            assert!(refused(&["--keys", text]).ends_with("how many are installed"), "{text}");
        }
    }

    #[test]
    fn messages_are_read_line_by_line() {
        let columns = messages("seal 16 12 0 128 16 3\nforged 32 1 7 5 4\n").unwrap();
        assert_eq!(columns.planned, [[Planned::Seal; 3].as_slice(), &[Planned::Bad]].concat());
        assert_eq!(
            (columns.key_bytes[3], columns.nonce_bytes[3], columns.aad_bytes[3]),
            (32, 1, 7)
        );
        assert_eq!((columns.text_bytes[3], columns.tag_bytes[3]), (5, 4));
        for line in
            ["seal 16 12 0 128", "verify 16 12 0 1 16", "seal 16 12 0 1 16 1 1", "seal 300 1 1 1 1"]
        {
            assert!(messages(line).unwrap_err().starts_with("line 1, "), "{line}");
        }
        assert!(messages("seal 16 12 0 1 16 99999999999").is_err());
        assert!(
            messages("seal 16 12 0 68719476704 16")
                .unwrap_err()
                .starts_with("texts and aads of 687")
        );
        assert!(messages("").unwrap_err().starts_with("no messages came in"));
    }
}
