//! Published vectors: a small set that is a part of this crate, and how such cases are given to a device.

use crate::compare::{Attempt, Tally, conform};
use crate::form::Form;
use crate::message::{Group, Message, Ring, Truth};
use crate::subject::Subject;
use sealift_core::{Algorithm, Key, Op, TagLength};

/// Gives the vectors of this crate's files to a device.
pub(crate) fn check(subject: &Subject) -> Result<String, String> {
    let forms = if subject.is_slow() { 1 } else { 4 };
    Ok(format!("published vectors {}", give(subject, &built_in()?, forms)?))
}

fn built_in() -> Result<Vec<Case>, String> {
    let files = [
        (Algorithm::AesGcm, BUILT_IN),
        (Algorithm::Xaes256Gcm, include_str!("vectors-xaes.txt")),
        (Algorithm::AesGcmSiv, include_str!("vectors-siv.txt")),
    ];
    let cases = files.into_iter().map(|(algorithm, text)| parse(algorithm, text));
    Ok(cases.collect::<Result<Vec<_>, _>>()?.concat())
}

/// A published case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) algorithm: Algorithm,
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    /// Nothing where it must not open.
    pub(crate) plain: Option<Vec<u8>>,
    pub(crate) cipher: Vec<u8>,
    pub(crate) tag: Vec<u8>,
}

/// Opens and verifies every case, and seals those that open, in so many forms of a batch.
pub(crate) fn give(subject: &Subject, cases: &[Case], forms: usize) -> Result<String, String> {
    let (mut tally, mut runs) = (Tally::default(), 0);
    for (n, case) in cases.iter().enumerate() {
        let mut attempt = Attempt::Passed;
        for n in forms * n..forms * (n + 1) {
            let form = Form::nth(n, subject.capabilities());
            for group in case.groups()? {
                let one = conform(&*subject.device, &group, form);
                match one.map_err(|fault| format!("{}: {fault}", case.name))? {
                    Attempt::Passed => runs += 1,
                    refused => attempt = refused,
                }
                group.ring.retire_all(&*subject.device);
            }
        }
        tally.add(attempt, 1);
    }
    Ok(format!("{tally}; {runs} batches"))
}

/// Reads a case from each line: name, key, nonce, aad, plaintext, ciphertext and tag in hexadecimal, `-` where one is empty,
/// and `invalid` for the plaintext of a case that must not open. Lines that begin with `#` are for people.
///
/// # Errors
/// The first line that is none of this.
pub(crate) fn parse(algorithm: Algorithm, text: &str) -> Result<Vec<Case>, String> {
    let lines =
        text.lines().zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let case = |(line, number)| {
        Case::parse(algorithm, line).ok_or_else(|| format!("line {number} is no vector: {line}"))
    };
    lines.map(case).collect()
}

impl Case {
    fn parse(algorithm: Algorithm, line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let name = words.next()?.to_owned();
        let mut field = || hex(words.next()?);
        let (key, nonce, aad) = (field()?, field()?, field()?);
        let plain = match words.next()? {
            "invalid" => None,
            plain => Some(hex(plain)?),
        };
        let (cipher, tag) = (hex(words.next()?)?, hex(words.next()?)?);
        words.next().is_none().then_some(Self {
            name,
            algorithm,
            key,
            nonce,
            aad,
            plain,
            cipher,
            tag,
        })
    }

    fn groups(&self) -> Result<Vec<Group>, String> {
        let wrong = |error: &dyn std::error::Error| format!("{}: {error}", self.name);
        let key = Key::with_algorithm(self.algorithm, &self.key).map_err(|error| wrong(&error))?;
        let tag_length = TagLength::new(self.tag.len()).map_err(|error| wrong(&error))?;
        let group = |message: Message, truth| Group {
            ring: Ring::new(vec![key.clone()]),
            tag_length,
            messages: vec![message],
            truths: vec![truth],
        };
        let (nonce, aad) = (self.nonce.clone(), self.aad.clone());
        let (text, tag) = (self.cipher.clone(), self.tag.clone());
        let open = Message { op: Op::Open, key: 0, nonce, aad, text, tag };
        let verify = Message { op: Op::Verify, ..open.clone() };
        let Some(plain) = &self.plain else {
            let failed = [Truth::failed(&open), Truth::failed(&verify)];
            return Ok([open, verify].into_iter().zip(failed).map(|(m, t)| group(m, t)).collect());
        };
        let seal = Message { op: Op::Seal, text: plain.clone(), tag: vec![], ..open.clone() };
        Ok(vec![
            group(open, Truth::opened(plain)),
            group(verify, Truth::verified()),
            group(seal, Truth::sealed(&self.cipher, &self.tag)),
        ])
    }
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    if digits == "-" {
        return Some(vec![]);
    }
    let pair = |at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(pair).collect()
}

const BUILT_IN: &str = include_str!("vectors.txt");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{nist, published};

    #[test]
    fn every_vector_of_the_small_set_is_one_that_was_published() {
        let mut published = published::cases().unwrap();
        if nist::are_here().unwrap() {
            published.extend(nist::cases().unwrap());
        }
        let (mut of_nist, mut of_wycheproof) = (0, 0);
        for case in parse(Algorithm::AesGcm, BUILT_IN).unwrap() {
            let is_nist = case.name.starts_with("nist-");
            *if is_nist { &mut of_nist } else { &mut of_wycheproof } += 1;
            if !is_nist || nist::are_here().unwrap() {
                let same = |each: &&Case| each.key == case.key && each.nonce == case.nonce;
                let mut found = published.iter().filter(same);
                let is_known =
                    found.any(|each| Case { name: case.name.clone(), ..each.clone() } == case);
                assert!(is_known, "{} was published otherwise", case.name);
            }
        }
        assert!(of_nist >= 50 && of_wycheproof >= 50, "{of_nist} and {of_wycheproof}");
    }

    #[test]
    fn a_line_that_is_no_vector_is_named() {
        let whole = "a 00 01 - invalid 02 03";
        assert_eq!(parse(Algorithm::AesGcm, &format!("# why\n\n{whole}")).unwrap()[0].plain, None);
        for wrong in ["a 00", "a 00 01 - invalid 02 03 04", "a 0 01 - - 02 03", "a zz 01 - - 02 03"]
        {
            let fault = parse(Algorithm::AesGcm, &format!("{whole}\n{wrong}")).unwrap_err();
            assert_eq!(fault, format!("line 2 is no vector: {wrong}"));
        }
    }
}
