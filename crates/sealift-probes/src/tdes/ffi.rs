//! AWS-LC's triple DES, which shares no code with RustCrypto's, behind a safe function.
#![allow(unsafe_code)]

use super::{BLOCK_BYTES, KEY_BYTES};
use aws_lc_sys::{
    EVP_CIPHER_CTX, EVP_CIPHER_CTX_free, EVP_CIPHER_CTX_new, EVP_CIPHER_CTX_set_padding,
    EVP_EncryptInit_ex, EVP_EncryptUpdate, EVP_des_ede3_cbc,
};
use std::ptr::{NonNull, null_mut};

/// A text of whole blocks, encrypted; nothing for another one, or where the library refuses.
pub(crate) fn encrypted(
    key: &[u8; KEY_BYTES],
    iv: &[u8; BLOCK_BYTES],
    text: &[u8],
) -> Option<Vec<u8>> {
    let context = Context::new()?;
    // SAFETY: it gives a cipher that stays for ever.
    let cipher = unsafe { EVP_des_ede3_cbc() };
    let (key, iv) = (key.as_ptr(), iv.as_ptr());
    // SAFETY: the context is whole, and the cipher reads the 24 bytes of the key and the 8 of the vector.
    let begun = unsafe { EVP_EncryptInit_ex(context.0.as_ptr(), cipher, null_mut(), key, iv) };
    // SAFETY: the context is whole.
    let plain = unsafe { EVP_CIPHER_CTX_set_padding(context.0.as_ptr(), 0) };
    let (mut out, mut len) = (vec![0; text.len()], 0);
    let bytes = i32::try_from(text.len()).ok()?;
    // SAFETY: so many bytes are readable and as many writable; without padding no more than whole blocks
    // of the text are written.
    let worked = unsafe {
        EVP_EncryptUpdate(context.0.as_ptr(), out.as_mut_ptr(), &raw mut len, text.as_ptr(), bytes)
    };
    (begun == 1 && plain == 1 && worked == 1 && len == bytes).then_some(out)
}

/// What the library keeps of a text; freeing it wipes it.
struct Context(NonNull<EVP_CIPHER_CTX>);

impl Context {
    fn new() -> Option<Self> {
        // SAFETY: it makes one, or null.
        NonNull::new(unsafe { EVP_CIPHER_CTX_new() }).map(Self)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by `EVP_CIPHER_CTX_new` and freed once.
        unsafe { EVP_CIPHER_CTX_free(self.0.as_ptr()) }
    }
}
