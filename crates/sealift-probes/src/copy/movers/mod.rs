//! The functions that are timed, each in a loop compiled for it alone.

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
mod apex;
#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
mod asm;
#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
mod stores;
mod system;

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
pub(super) use asm::words;

use super::route::Route;
use super::spec::{Function, Operation};
use crate::ArmError;

/// Goes a way so often, from the place with this number on; gives the sum of what it read.
pub(super) type Lap = unsafe fn(&Route, usize, usize) -> u64;

/// One operation at a place of a way.
pub(super) trait Mover {
    /// Does it `skip` bytes behind the route's first place; gives what it read, or 0.
    ///
    /// # Safety
    /// The route's places are valid for what the operation does to them, and the processor has the
    /// instructions.
    unsafe fn go(route: &Route, skip: usize) -> u64;
}

/// The loop of a function, or why there is none here.
///
/// # Errors
/// The operation has no such function, or this processor can't do it.
pub(super) fn lap_of(operation: Operation, function: Function) -> Result<Lap, ArmError> {
    let lap: Option<Lap> = match (operation, function) {
        (Operation::Copy, Function::Glibc) => Some(lap::<system::Glibc>),
        (Operation::Copy, Function::Ours) => Some(lap::<system::Ours>),
        (Operation::Copy, Function::Pread) => Some(lap::<system::Pread>),
        (Operation::Copy, Function::Pwrite) => Some(lap::<system::Pwrite>),
        (Operation::Copy, Function::MapRead) => Some(lap::<system::MapRead>),
        (Operation::Copy, Function::MapWrite) => Some(lap::<system::MapWrite>),
        (Operation::Copy, Function::FirstTouch) => Some(lap::<system::FirstTouch>),
        (Operation::Copy, Function::Populated) => Some(lap::<system::Populated>),
        (Operation::Fill, Function::Glibc) => Some(lap::<system::GlibcFill>),
        (operation, function) => in_assembly(operation, function)?,
    };
    lap.ok_or_else(|| ArmError::Spec {
        what: "function",
        value: format!("{function} to {operation}"),
        right: Function::of(operation).map(|each| each.to_string()).collect::<Vec<_>>().join(", "),
    })
}

/// The loop around nothing: its price is told beside what it was around.
pub(super) const NOTHING: Lap = lap::<system::Nothing>;

#[cfg(all(target_arch = "x86_64", not(sealift_portable)))]
fn in_assembly(operation: Operation, function: Function) -> Result<Option<Lap>, ArmError> {
    use apex::Apex;
    use asm::{Avx512, NonTemporal, RepMovsb, Sse2, Words};
    function.check_processor()?;
    Ok(match (operation, function) {
        (Operation::Copy, Function::Words) => Some(lap::<Words>),
        (Operation::Copy, Function::Sse2) => Some(lap::<Sse2>),
        (Operation::Copy, Function::RepMovsb) => Some(lap::<RepMovsb>),
        (Operation::Copy, Function::Avx512) => Some(lap::<Avx512>),
        (Operation::Copy, Function::NonTemporal) => Some(lap::<NonTemporal>),
        (Operation::Copy, Function::Apex) => Some(lap::<Apex>),
        (Operation::Read, Function::Words) => Some(lap::<stores::ReadWords>),
        (Operation::Read, Function::Avx512) => Some(lap::<stores::ReadAvx512>),
        (Operation::Write, Function::Avx512) => Some(lap::<stores::WriteAvx512>),
        (Operation::Write, Function::NonTemporal) => Some(lap::<stores::WriteNonTemporal>),
        _ => None,
    })
}

#[cfg(not(all(target_arch = "x86_64", not(sealift_portable))))]
fn in_assembly(_: Operation, function: Function) -> Result<Option<Lap>, ArmError> {
    Err(ArmError::Absent {
        what: format!("the function {function}"),
        reason: "it is written for x86-64; take glibc or ours".to_owned(),
    })
}

/// The timed loop: nothing in it is called through a pointer but what the function itself calls so.
#[inline(never)]
unsafe fn lap<M: Mover>(route: &Route, first: usize, times: usize) -> u64 {
    let (mut place, mut sum) = (first, 0_u64);
    for _ in 0..times {
        // SAFETY: the caller vouches for the route, and a place lies within it.
        sum = sum.wrapping_add(unsafe { M::go(route, place * route.stride) });
        place = route.after(place);
    }
    sum
}
