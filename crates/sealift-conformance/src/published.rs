//! Project Wycheproof's cases of AES-GCM, AES-GMAC and AES-GCM-SIV, all of them.

use crate::subject::Subject;
use crate::vectors::{Case, give};
use sealift_core::Algorithm;
use sealift_testing::ran;
use wycheproof::{TestResult, aead, mac_with_nonce};

/// How many cases the three files have.
pub(crate) const CASES: usize = 316 + 414 + 202;

/// Gives every case to a device: opened and verified, and sealed where it is valid.
pub(crate) fn check(subject: &Subject) -> Result<String, String> {
    let cases = cases()?;
    ran("wycheproof");
    if cases.len() != CASES {
        return Err(format!("{} of {CASES} cases", cases.len()));
    }
    Ok(format!("cases {}", give(subject, &cases, 4)?))
}

/// The cases of the files; a GMAC is an AES-GCM without text.
pub(crate) fn cases() -> Result<Vec<Case>, String> {
    let mut cases = aead_cases(Algorithm::AesGcm, aead::TestName::AesGcm)?;
    cases.extend(aead_cases(Algorithm::AesGcmSiv, aead::TestName::AesGcmSiv)?);
    let gmac = mac_with_nonce::TestSet::load(mac_with_nonce::TestName::Gmac)
        .map_err(|error| error.to_string())?;
    let gmac = gmac.test_groups.into_iter().flat_map(|group| group.tests).map(|test| {
        let name = format!("aes_gmac case {} ({})", test.tc_id, test.comment);
        Ok(Case {
            algorithm: Algorithm::AesGcm,
            key: test.key.to_vec(),
            nonce: test.nonce.to_vec(),
            aad: test.msg.to_vec(),
            plain: opens(&name, test.result)?.then(Vec::new),
            cipher: vec![],
            tag: test.tag.to_vec(),
            name,
        })
    });
    cases.extend(gmac.collect::<Result<Vec<_>, String>>()?);
    Ok(cases)
}

fn aead_cases(algorithm: Algorithm, file: aead::TestName) -> Result<Vec<Case>, String> {
    let set = aead::TestSet::load(file).map_err(|error| error.to_string())?;
    let case = |test: aead::Test| {
        let name = format!("{algorithm} case {} ({})", test.tc_id, test.comment);
        Ok(Case {
            algorithm,
            key: test.key.to_vec(),
            nonce: test.nonce.to_vec(),
            aad: test.aad.to_vec(),
            plain: opens(&name, test.result)?.then(|| test.pt.to_vec()),
            cipher: test.ct.to_vec(),
            tag: test.tag.to_vec(),
            name,
        })
    };
    set.test_groups.into_iter().flat_map(|group| group.tests).map(case).collect()
}

/// None of these cases is only acceptable.
fn opens(name: &str, result: TestResult) -> Result<bool, String> {
    match result {
        TestResult::Valid => Ok(true),
        TestResult::Invalid => Ok(false),
        TestResult::Acceptable => Err(format!("{name}: neither valid nor invalid")),
    }
}
