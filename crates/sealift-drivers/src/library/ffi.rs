//! AWS-LC's `EVP_AEAD` behind a safe type.
#![allow(unsafe_code)]

use aws_lc_sys::{
    AES_KEY, AES_encrypt, AES_set_encrypt_key, AWSLC_VERSION_NUMBER_STRING, ERR_clear_error,
    EVP_AEAD, EVP_AEAD_CTX, EVP_AEAD_CTX_cleanup, EVP_AEAD_CTX_free, EVP_AEAD_CTX_init,
    EVP_AEAD_CTX_new, EVP_AEAD_CTX_open_gather, EVP_AEAD_CTX_seal_scatter, EVP_aead_aes_128_gcm,
    EVP_aead_aes_128_gcm_siv, EVP_aead_aes_192_gcm, EVP_aead_aes_256_gcm, EVP_aead_aes_256_gcm_siv,
};
use sealift_core::{Algorithm, Key, KeyLength, TagLength};
use std::ffi::CStr;
use std::fmt;
use std::ptr::{self, NonNull};
use zeroize::{Zeroize, Zeroizing};

/// An expanded key for tags of one length.
///
/// Wiped on drop: `EVP_AEAD_CTX_cleanup` alone does nothing for AES-GCM, but `EVP_AEAD_CTX_free` goes
/// through `OPENSSL_free`, which overwrites every block it frees. So the context lives in a block of
/// the library's own.
pub(super) struct Aead {
    context: NonNull<EVP_AEAD_CTX>,
    tag_length: TagLength,
}

/// The key of an XAES-256-GCM session (C2SP), from which a message's is derived by AES blocks. Behind a pointer, so that a
/// move leaves no copy; wiped on drop.
pub(super) struct Xaes {
    schedule: Box<AES_KEY>,
    /// What is added to each block before it is encrypted.
    mask: Box<Zeroizing<u128>>,
}

impl Xaes {
    /// Expands a key.
    pub(super) fn new(key: &[u8; 32]) -> Result<Self, Refused> {
        let schedule = Box::new(AES_KEY { rd_key: [0; 60], rounds: 0 });
        let mut xaes = Self { schedule, mask: Box::default() };
        let place = &raw mut *xaes.schedule;
        // SAFETY: the key has 256 readable bits, and the schedule is writable.
        if unsafe { AES_set_encrypt_key(key.as_ptr(), 256, place) } != 0 {
            return Err(refused());
        }
        let mut zero = Zeroizing::new([0; 16]);
        xaes.encrypt(&mut zero);
        let zero = u128::from_be_bytes(*zero);
        // Times x, as CMAC has it (NIST SP 800-38B, section 6.1), without a branch.
        let carry = (zero.cast_signed() >> 127).cast_unsigned();
        **xaes.mask = (zero << 1) ^ (carry & 0x87);
        Ok(xaes)
    }

    /// The key of a message whose nonce begins so.
    pub(super) fn derive(&self, head: &[u8; 12]) -> Key {
        let mut derived = Zeroizing::new([0; 32]);
        let head = head.iter().fold(0, |number, byte| number << 8 | u128::from(*byte));
        for (counter, half) in (1..).zip(derived.as_chunks_mut::<16>().0) {
            // Two bytes of a counter, the label X, a zero, and the beginning of the nonce.
            let block = counter << 112 | u128::from(b'X') << 104 | head;
            *half = (block ^ **self.mask).to_be_bytes();
            self.encrypt(half);
        }
        Key::Aes256(*derived)
    }

    /// Encrypts a block where it is.
    fn encrypt(&self, block: &mut [u8; 16]) {
        let place = block.as_mut_ptr();
        // SAFETY: a block has 16 bytes and may be its own output; the schedule is that of a key.
        unsafe { AES_encrypt(place.cast_const(), place, &raw const *self.schedule) };
    }
}

impl Drop for Xaes {
    fn drop(&mut self) {
        self.schedule.rd_key.zeroize();
    }
}

impl fmt::Debug for Xaes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Xaes(secret)")
    }
}

/// The library refused; it has no memory left, or a length is beyond its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused;

impl Aead {
    /// Expands a key.
    pub(super) fn new(key: &Key, tag_length: TagLength) -> Result<Self, Refused> {
        let bytes = key.as_bytes();
        let aead = algorithm(key);
        // SAFETY: the algorithm is a static of the library's, and the key has `len` readable bytes.
        let context =
            unsafe { EVP_AEAD_CTX_new(aead, bytes.as_ptr(), bytes.len(), tag_length.bytes()) };
        let context = NonNull::new(context).ok_or_else(refused)?;
        Ok(Self { context, tag_length })
    }

    /// Expands another key in this one's place, which costs no memory.
    pub(super) fn renew(self, key: &Key) -> Result<Self, Refused> {
        let (context, aead, bytes) = (self.context.as_ptr(), algorithm(key), key.as_bytes());
        // SAFETY: the context is whole, and the next call writes it anew.
        unsafe { EVP_AEAD_CTX_cleanup(context) };
        let (tag_bytes, no_engine) = (self.tag_length.bytes(), ptr::null_mut());
        // SAFETY: a cleaned context may be set; the algorithm is a static of the library's, and the key has `len`
        // readable bytes. A context that could not be set is dropped here, unused.
        let done = unsafe {
            EVP_AEAD_CTX_init(context, aead, bytes.as_ptr(), bytes.len(), tag_bytes, no_engine)
        };
        if done == 1 { Ok(self) } else { Err(refused()) }
    }

    /// How long its tags are.
    #[inline]
    pub(super) fn tag_length(&self) -> TagLength {
        self.tag_length
    }

    /// Encrypts `input` to `output`, which is as long, and writes the tag.
    pub(super) fn seal(
        &self,
        nonce: &[u8],
        aad: &[u8],
        input: &[u8],
        output: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), Refused> {
        if input.len() != output.len() {
            return Err(Refused);
        }
        // SAFETY: both texts have `len` bytes, and the borrows keep them apart.
        unsafe { self.seal_raw(nonce, aad, input.as_ptr(), output.as_mut_ptr(), input.len(), tag) }
    }

    /// Encrypts a text where it is, and writes the tag.
    pub(super) fn seal_in_place(
        &self,
        nonce: &[u8],
        aad: &[u8],
        text: &mut [u8],
        tag: &mut [u8],
    ) -> Result<(), Refused> {
        let (place, len) = (text.as_mut_ptr(), text.len());
        // SAFETY: the text has `len` bytes and is its own output, which the library allows.
        unsafe { self.seal_raw(nonce, aad, place, place, len, tag) }
    }

    /// Decrypts `input` to `output`, which is as long, and says whether the tag was right. If not,
    /// the output is zeros.
    ///
    /// The library may read the input twice, so nobody may write to it meanwhile.
    pub(super) fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        input: &[u8],
        output: &mut [u8],
        tag: &[u8],
    ) -> bool {
        if input.len() != output.len() {
            output.fill(0);
            return false;
        }
        // SAFETY: both texts have `len` bytes, and the borrows keep them apart.
        unsafe { self.open_raw(nonce, aad, input.as_ptr(), output.as_mut_ptr(), input.len(), tag) }
    }

    /// Decrypts a text where it is, and says whether the tag was right. If not, the text is zeros.
    pub(super) fn open_in_place(
        &self,
        nonce: &[u8],
        aad: &[u8],
        text: &mut [u8],
        tag: &[u8],
    ) -> bool {
        let (place, len) = (text.as_mut_ptr(), text.len());
        // SAFETY: the text has `len` bytes and is its own output, which the library allows.
        unsafe { self.open_raw(nonce, aad, place, place, len, tag) }
    }

    /// # Safety
    /// `input` is readable and `output` writable for `len` bytes; they are the same or apart from each
    /// other and from the rest.
    unsafe fn seal_raw(
        &self,
        nonce: &[u8],
        aad: &[u8],
        input: *const u8,
        output: *mut u8,
        len: usize,
        tag: &mut [u8],
    ) -> Result<(), Refused> {
        if tag.len() != self.tag_length.bytes() {
            return Err(Refused);
        }
        let mut tag_bytes = 0;
        // SAFETY: the context is whole, each pointer is valid for the length beside it, and pointers
        // of empty slices are not followed. There is no extra input.
        let sealed = unsafe {
            EVP_AEAD_CTX_seal_scatter(
                self.context.as_ptr(),
                output,
                tag.as_mut_ptr(),
                &raw mut tag_bytes,
                tag.len(),
                nonce.as_ptr(),
                nonce.len(),
                input,
                len,
                ptr::null(),
                0,
                aad.as_ptr(),
                aad.len(),
            )
        };
        if sealed == 1 && tag_bytes == tag.len() { Ok(()) } else { Err(refused()) }
    }

    /// # Safety
    /// `input` is readable and `output` writable for `len` bytes; they are the same or apart from each
    /// other and from the rest.
    unsafe fn open_raw(
        &self,
        nonce: &[u8],
        aad: &[u8],
        input: *const u8,
        output: *mut u8,
        len: usize,
        tag: &[u8],
    ) -> bool {
        // SAFETY: the context is whole, each pointer is valid for the length beside it, and pointers
        // of empty slices are not followed. A tag of another length is refused by the library.
        let opened = unsafe {
            EVP_AEAD_CTX_open_gather(
                self.context.as_ptr(),
                output,
                nonce.as_ptr(),
                nonce.len(),
                input,
                len,
                tag.as_ptr(),
                tag.len(),
                aad.as_ptr(),
                aad.len(),
            )
        };
        // A failure has zeroed the output, and left an entry in this thread's queue of errors.
        if opened != 1 {
            let _ = refused();
        }
        opened == 1
    }
}

impl Drop for Aead {
    fn drop(&mut self) {
        // SAFETY: made by `EVP_AEAD_CTX_new` and freed once.
        unsafe { EVP_AEAD_CTX_free(self.context.as_ptr()) }
    }
}

// SAFETY: a context belongs to no thread.
unsafe impl Send for Aead {}

// SAFETY: sealing and opening take the context as const; the library's documentation allows any
// number of them at the same time.
unsafe impl Sync for Aead {}

impl fmt::Debug for Aead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Aead(tags of {} bytes, secret)", self.tag_length.bytes())
    }
}

/// The library's version, as in `5.12.0`.
pub(super) fn version() -> &'static str {
    let version = CStr::from_bytes_until_nul(AWSLC_VERSION_NUMBER_STRING).unwrap_or_default();
    version.to_str().unwrap_or_default()
}

fn algorithm(key: &Key) -> *const EVP_AEAD {
    match (key.algorithm(), key.length()) {
        // SAFETY: it returns a static.
        (Algorithm::AesGcmSiv, KeyLength::Aes128) => unsafe { EVP_aead_aes_128_gcm_siv() },
        // SAFETY: it returns a static.
        (Algorithm::AesGcmSiv, _) => unsafe { EVP_aead_aes_256_gcm_siv() },
        // SAFETY: it returns a static.
        (_, KeyLength::Aes128) => unsafe { EVP_aead_aes_128_gcm() },
        // SAFETY: it returns a static.
        (_, KeyLength::Aes192) => unsafe { EVP_aead_aes_192_gcm() },
        // SAFETY: it returns a static.
        (_, KeyLength::Aes256) => unsafe { EVP_aead_aes_256_gcm() },
    }
}

/// Empties this thread's queue of the library's errors, so that nobody else finds ours.
fn refused() -> Refused {
    // SAFETY: it touches only the calling thread's queue.
    unsafe { ERR_clear_error() };
    Refused
}
