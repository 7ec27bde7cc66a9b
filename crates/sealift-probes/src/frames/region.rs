//! Memory that one process writes, and that the other reads or doesn't have at all.

use super::ffi;
use super::rules::{Access, Name, Rules, Side};
use crate::ArmError;
use memmap2::{MmapOptions, MmapRaw};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create,
};
use std::ops::Range;
use std::sync::atomic::AtomicU32;

/// A region as one process has it mapped.
///
/// It has no name in any file system and is gone with the last process that has it. Its length is
/// sealed, and once its writer has mapped it nobody can map it to write any more.
#[derive(Debug)]
pub(super) struct Region {
    name: Name,
    map: MmapRaw,
    descriptor: OwnedFd,
}

impl Region {
    /// Makes a region of so many zeros, to be written by this process.
    ///
    /// # Errors
    /// The rules don't let this process write it; there is no memory, or no way to seal it.
    pub(super) fn make(
        name: Name,
        side: Side,
        bytes: usize,
        rules: &Rules,
    ) -> Result<Self, ArmError> {
        rules.check(name, side, Access::Write)?;
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let descriptor = memfd_create(format!("sealift-{name}"), flags).map_err(failed(name))?;
        ftruncate(&descriptor, bytes as u64).map_err(failed(name))?;
        let map = MmapOptions::new().len(bytes).map_raw(&descriptor);
        let map = map.map_err(|_| ArmError::NoMemory { bytes })?;
        let writers = rules.granted(name, side.other()) == Access::Write;
        let nobody_else = if writers { SealFlags::empty() } else { SealFlags::FUTURE_WRITE };
        fcntl_add_seals(&descriptor, LENGTH_SEALS | nobody_else | SealFlags::SEAL)
            .map_err(failed(name))?;
        Ok(Self { name, map, descriptor })
    }

    /// What the other process maps it by.
    ///
    /// # Errors
    /// The rules don't let the other process read it.
    pub(super) fn lend(&self, to: Side, rules: &Rules) -> Result<BorrowedFd<'_>, ArmError> {
        rules.check(self.name, to, Access::Read)?;
        Ok(self.descriptor.as_fd())
    }

    /// Maps a region that the other process has lent.
    ///
    /// # Errors
    /// The rules don't let this process have it so; it has another length, or one that can change;
    /// the system refuses, as it does to map for writing what its writer has sealed.
    pub(super) fn borrow(
        name: Name,
        side: Side,
        access: Access,
        descriptor: OwnedFd,
        bytes: usize,
        rules: &Rules,
    ) -> Result<Self, ArmError> {
        rules.check(name, side, access)?;
        let found = fstat(&descriptor).map_err(failed(name))?.st_size;
        let seals = fcntl_get_seals(&descriptor).map_err(failed(name))?;
        // Reading behind the end of a file that has become shorter would end the process.
        if u64::try_from(found) != Ok(bytes as u64) || !seals.contains(LENGTH_SEALS) {
            let what = format!("has {found} bytes and {bytes} are right, sealed against change");
            return Err(ArmError::Region { region: name, what });
        }
        let mut options = MmapOptions::new();
        options.len(bytes);
        let map = match access {
            Access::Write => options.map_raw(&descriptor),
            Access::Read | Access::None => options.map_raw_read_only(&descriptor),
        };
        let refused = |error: std::io::Error| ArmError::Region {
            region: name,
            what: format!("can't be mapped to {access} it: {error}"),
        };
        Ok(Self { name, map: map.map_err(refused)?, descriptor })
    }

    /// Its bytes that were handed over.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        ffi::bytes(&self.map, range)
    }

    /// Its bytes, to write to; of a region that was made here.
    pub(super) fn bytes_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        ffi::bytes_mut(&mut self.map, range)
    }

    /// A counter in it; stored to only where it was made.
    pub(super) fn word(&self, at: usize) -> &AtomicU32 {
        ffi::word(&self.map, at)
    }
}

fn failed<E: std::fmt::Display>(region: Name) -> impl Fn(E) -> ArmError {
    move |error| ArmError::Region { region, what: format!("can't be made or looked at: {error}") }
}

const LENGTH_SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

#[cfg(test)]
mod tests {
    use super::super::rules::RULES;
    use super::*;

    fn rules() -> Rules {
        Rules::parse(RULES).unwrap()
    }

    fn lent() -> (Region, OwnedFd) {
        let rules = rules();
        let region = Region::make(Name::NearOutbox, Side::Near, 8_192, &rules).unwrap();
        let descriptor = region.lend(Side::Far, &rules).unwrap().try_clone_to_owned().unwrap();
        (region, descriptor)
    }

    #[test]
    fn what_one_process_writes_the_other_reads() {
        let (mut region, descriptor) = lent();
        let name = Name::NearOutbox;
        let read =
            Region::borrow(name, Side::Far, Access::Read, descriptor, 8_192, &rules()).unwrap();
        region.bytes_mut(4_000..4_200).fill(7);
        assert_eq!(read.bytes(4_000..4_200), [7; 200]);
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let address = format!("{:x}-", read.bytes(0..1).as_ptr().addr());
        let line = maps.lines().find(|line| line.starts_with(&address)).unwrap();
        assert!(line.contains(" r--s "), "{line}");
    }

    #[test]
    fn the_rules_refuse_before_anything_is_mapped() {
        let (region, descriptor) = lent();
        let name = Name::NearOutbox;
        let write = Region::borrow(name, Side::Far, Access::Write, descriptor, 8_192, &rules());
        assert!(matches!(write, Err(ArmError::Forbidden { .. })));
        drop(region);
        let made = Region::make(Name::FarOutbox, Side::Near, 8_192, &rules());
        assert!(matches!(made, Err(ArmError::Forbidden { .. })));
    }

    #[test]
    fn what_a_process_owns_is_never_lent() {
        let own = Region::make(Name::NearOwn, Side::Near, 4_096, &rules()).unwrap();
        let error = own.lend(Side::Far, &rules()).unwrap_err().to_string();
        assert_eq!(
            error,
            "the far process may not read the region near-own: the rules grant it none"
        );
    }

    #[test]
    fn the_kernel_refuses_what_the_writer_has_sealed_whatever_rules_say() {
        let (_region, descriptor) = lent();
        let lax = Rules::parse(&RULES.replace("far=read", "far=write")).unwrap();
        let name = Name::NearOutbox;
        let error = Region::borrow(name, Side::Far, Access::Write, descriptor, 8_192, &lax)
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("the region near-outbox can't be mapped to write it"), "{error}");
    }

    #[test]
    fn a_region_of_another_or_an_unsealed_length_is_refused() {
        let (_region, descriptor) = lent();
        let borrow = |descriptor, bytes| {
            Region::borrow(Name::NearOutbox, Side::Far, Access::Read, descriptor, bytes, &rules())
                .map(|_| ())
                .map_err(|error| error.to_string())
        };
        let error = borrow(descriptor, 12_288).unwrap_err();
        assert!(error.contains("has 8192 bytes and 12288 are right"), "{error}");
        let unsealed = memfd_create("unsealed", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&unsealed, 8_192).unwrap();
        assert!(borrow(unsealed, 8_192).unwrap_err().contains("sealed against change"));
    }
}
