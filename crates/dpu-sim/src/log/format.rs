//! Formats of C's `printf`, for one argument.

use std::fmt::Write;

/// From behind a `%` to its letter.
#[derive(Clone, Debug)]
pub(super) struct Format {
    pub(super) letter: u8,
    /// Is the argument of eight bytes?
    pub(super) long: bool,
    left: bool,
    zeros: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// As it was written, for letters that are none of `printf`'s.
    source: Vec<u8>,
}

/// The widest field, and the most digits.
const MOST: usize = 1000;

impl Format {
    /// None, if there is no letter, or a width beyond reason.
    pub(super) fn parse(source: &[u8]) -> Option<Self> {
        let (&letter, before) = source.split_last()?;
        let flags = before.iter().take_while(|byte| b"-0+ #".contains(byte)).count();
        let (flags, rest) = before.split_at(flags);
        let (width, rest) = number(rest)?;
        let (precision, rest) = match rest.split_first() {
            Some((b'.', rest)) => {
                let (precision, rest) = number(rest)?;
                (Some(precision), rest)
            }
            _ => (None, rest),
        };
        let has = |flag: u8| flags.contains(&flag);
        Some(Self {
            letter,
            long: rest.contains(&b'l'),
            left: has(b'-'),
            zeros: has(b'0'),
            plus: has(b'+'),
            space: has(b' '),
            alternate: has(b'#'),
            width,
            precision,
            source: source.to_vec(),
        })
    }

    pub(super) fn is_signed(&self) -> bool {
        matches!(self.letter, b'd' | b'i')
    }

    pub(super) fn text(&self, text: &[u8], out: &mut Vec<u8>) {
        let length = self.precision.filter(|_| self.letter == b's').unwrap_or(text.len());
        self.pad((b"", &text[..length.min(text.len())]), false, out);
    }

    pub(super) fn whole(&self, value: i64, out: &mut Vec<u8>) {
        let bits = value.cast_unsigned();
        let (prefix, digits) = match self.letter {
            b'd' | b'i' => (self.sign(value < 0), value.unsigned_abs().to_string()),
            b'u' => ("", bits.to_string()),
            b'x' => (if self.alternate && bits != 0 { "0x" } else { "" }, format!("{bits:x}")),
            b'X' => (if self.alternate && bits != 0 { "0X" } else { "" }, format!("{bits:X}")),
            b'p' => ("0x", format!("{bits:x}")),
            b'o' => (if self.alternate && bits != 0 { "0" } else { "" }, format!("{bits:o}")),
            // The vendor's own: bits, the lowest first.
            b'b' => ("", (0..32).map(|bit| if bits >> bit & 1 == 1 { '1' } else { '0' }).collect()),
            _ => return self.as_written(out),
        };
        let least = self.precision.unwrap_or(1);
        let digits = if digits == "0" && least == 0 { String::new() } else { digits };
        let digits = format!("{digits:0>least$}");
        self.pad((prefix.as_bytes(), digits.as_bytes()), self.precision.is_none(), out);
    }

    pub(super) fn real(&self, value: f64, out: &mut Vec<u8>) {
        let prefix = self.sign(value.is_sign_negative() && !value.is_nan());
        let (size, precision) = (value.abs(), self.precision.unwrap_or(6));
        let text = match self.letter.to_ascii_lowercase() {
            _ if size.is_nan() => "nan".to_owned(),
            _ if size.is_infinite() => "inf".to_owned(),
            b'e' => scientific(size, precision),
            b'g' => self.shortest(size, precision.max(1)),
            _ => format!("{size:.precision$}"),
        };
        let text = if self.letter.is_ascii_uppercase() { text.to_uppercase() } else { text };
        self.pad((prefix.as_bytes(), text.as_bytes()), value.is_finite(), out);
    }

    /// As `%f` or `%e`, whichever suits, without zeros at the end.
    fn shortest(&self, value: f64, digits: usize) -> String {
        let scientific = scientific(value, digits - 1);
        let exponent = scientific.split_once('e').and_then(|(_, e)| e.parse::<i32>().ok());
        let exponent = exponent.unwrap_or(0);
        let plain = usize::try_from(exponent).unwrap_or(0) < digits && exponent >= -4;
        let cut = |text: &str| {
            let cut = text.contains('.') && !self.alternate;
            let end = if cut { text.trim_end_matches('0').trim_end_matches('.') } else { text };
            end.to_owned()
        };
        if plain {
            let places = i64::try_from(digits).unwrap_or(0) - 1 - i64::from(exponent);
            let places = usize::try_from(places).unwrap_or(0);
            return cut(&format!("{value:.places$}"));
        }
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        format!("{}e{exponent}", cut(mantissa))
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (.., true) => " ",
            _ => "",
        }
    }

    /// Puts it into a field, with zeros behind the sign where those are asked for.
    fn pad(&self, (prefix, text): (&[u8], &[u8]), zeros: bool, out: &mut Vec<u8>) {
        let missing = self.width.saturating_sub(prefix.len() + text.len());
        let (before, between, behind) = match (self.left, self.zeros && zeros) {
            (true, _) => (0, 0, missing),
            (_, true) => (0, missing, 0),
            _ => (missing, 0, 0),
        };
        out.resize(out.len() + before, b' ');
        out.extend_from_slice(prefix);
        out.resize(out.len() + between, b'0');
        out.extend_from_slice(text);
        out.resize(out.len() + behind, b' ');
    }

    fn as_written(&self, out: &mut Vec<u8>) {
        out.push(b'%');
        out.extend_from_slice(&self.source);
    }
}

/// Digits at the start, 0 if there are none; none, if they are beyond reason.
fn number(text: &[u8]) -> Option<(usize, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(digits);
    let add = |sum: usize, digit: &u8| {
        let sum = 10 * sum + usize::from(digit - b'0');
        (sum <= MOST).then_some(sum)
    };
    Some((digits.iter().try_fold(0, add)?, rest))
}

/// As C writes it: the exponent has a sign and two digits at least.
fn scientific(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let mut out = mantissa.to_owned();
    let _ = write!(out, "e{sign}{:02}", exponent.abs());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(format: &str, value: i64) -> String {
        let mut out = Vec::new();
        Format::parse(format.as_bytes()).unwrap().whole(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn real(format: &str, value: f64) -> String {
        let mut out = Vec::new();
        Format::parse(format.as_bytes()).unwrap().real(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn whole_numbers_are_written_as_c_does() {
        for (format, value, expected) in [
            ("d", -5, "-5"),
            ("5d", -5, "   -5"),
            ("-5d", -5, "-5   "),
            ("05d", -5, "-0005"),
            ("+d", 5, "+5"),
            (" d", 5, " 5"),
            (".3d", 5, "005"),
            ("06.3d", 5, "   005"),
            (".0d", 0, ""),
            ("08x", 0xbeef, "0000beef"),
            ("#x", 0xbeef, "0xbeef"),
            ("#X", 0xbeef, "0XBEEF"),
            ("#o", 8, "010"),
            ("p", 0x40, "0x40"),
            ("lu", -1, "18446744073709551615"),
            ("b", 5, "10100000000000000000000000000000"),
            ("q", 5, "%q"),
        ] {
            assert_eq!(whole(format, value), expected, "{format}");
        }
    }

    #[test]
    fn real_numbers_are_written_as_c_does() {
        for (format, value, expected) in [
            ("f", 1.5, "1.500000"),
            (".2f", -1.005, "-1.00"),
            ("08.2f", -1.5, "-0001.50"),
            ("e", 12.345, "1.234500e+01"),
            (".1E", 1e-7, "1.0E-07"),
            ("g", 100_000.0, "100000"),
            ("g", 1e6, "1e+06"),
            ("g", 0.0001, "0.0001"),
            ("g", 0.000_012_5, "1.25e-05"),
            ("#.3g", 1.0, "1.00"),
            ("5f", f64::INFINITY, "  inf"),
            ("05G", f64::NAN, "  NAN"),
        ] {
            assert_eq!(real(format, value), expected, "{format}");
        }
    }
}
