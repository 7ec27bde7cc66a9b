//! To be written.
#![allow(unsafe_code)]

use super::item::{Ahead, Class, Item};
use crate::x86_64::cpu::HaveVaes512;

/// Whether this kernel works messages of a class.
pub(super) fn takes(_class: &Class) -> bool {
    false
}

/// Works messages of one class.
///
/// # Safety
/// The class is one that this kernel takes, and the items' addresses are what they say.
pub(super) unsafe fn run(
    _token: HaveVaes512,
    _class: &Class,
    _items: &[Item],
    _ahead: &mut Ahead<'_>,
) {
}
