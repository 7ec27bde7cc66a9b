//! Intel's cryptography library (IPP), opened at run time.

use crate::cipher::{Cipher, Opening, Refused, Sealing};
use sealift_probes::ArmSpec;
use sealift_probes::peers::ipp::{self, Direction, Ipp, State, find};
use std::path::Path;
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// The library.
#[derive(Debug)]
pub struct Intel(Arc<Ipp>);

impl Cipher for Intel {
    type Key = State;
    const NAME: &'static str = "ipp";
    const IS_LINKED: bool = false;

    fn open(file: Option<&str>) -> Result<(Self, String), String> {
        let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join(INSTALLED);
        let installed = installed.to_str().filter(|_| installed.is_file());
        let ipp = find(file.or(installed))?;
        let detail = format!("Intel IPP cryptography {}", ipp.version());
        Ok((Self(ipp), detail))
    }

    fn lacks(&self, _: &ArmSpec) -> Option<String> {
        None
    }

    fn expand(&self, raw: &[u8], _: usize) -> Result<State, Refused> {
        let mut state = State::new(&self.0);
        state.set_key(raw).map_err(|error| refused(&error))?;
        Ok(state)
    }

    #[inline(always)]
    fn renew(&self, key: &mut State, raw: &[u8], _: usize) -> Result<(), Refused> {
        key.set_key(raw).map_err(|error| refused(&error))
    }

    #[inline(always)]
    fn seal(&self, key: &mut State, of: Sealing<'_>) -> Result<(), Refused> {
        let tag = key.crypt(Direction::Encrypt, of.nonce, of.aad, of.input, of.output);
        let full = tag.map_err(|error| refused(&error))?;
        of.tag.copy_from_slice(&full[..of.tag.len()]);
        Ok(())
    }

    #[inline(always)]
    fn unseal(&self, key: &mut State, of: Opening<'_>) -> Result<bool, Refused> {
        let tag = key.crypt(Direction::Decrypt, of.nonce, of.aad, of.input, of.output);
        let full = tag.map_err(|error| refused(&error))?;
        Ok(full[..of.tag.len()].ct_eq(of.tag).into())
    }
}

#[cold]
fn refused(error: &ipp::Refused) -> Refused {
    Refused(error.to_string())
}

/// Where `make` installs the package `ipp-crypto`; elsewhere the loader has to find it.
const INSTALLED: &str = "../../.venv/lib/libippcp.so.13";
