//! AWS-LC's `EVP_AEAD` behind a safe type.
#![allow(unsafe_code)]

use aws_lc_sys::{
    AES_KEY, AES_encrypt, AES_set_encrypt_key, AWSLC_VERSION_NUMBER_STRING, ERR_clear_error,
    EVP_AEAD, EVP_AEAD_CTX, EVP_AEAD_CTX_cleanup, EVP_AEAD_CTX_init, EVP_AEAD_CTX_open_gather,
    EVP_AEAD_CTX_seal_scatter, EVP_aead_aes_128_gcm, EVP_aead_aes_128_gcm_siv,
    EVP_aead_aes_192_gcm, EVP_aead_aes_256_gcm, EVP_aead_aes_256_gcm_siv, OPENSSL_cleanse,
};
use sealift_core::{Algorithm, Key, TagLength};
use std::ffi::CStr;
use std::fmt;
use std::ptr;
use zeroize::{Zeroize, Zeroizing};

/// Room for an expanded key, for tags of one length.
///
/// Sealing and opening only read it, so that any number of threads may. Wiped on drop, because
/// `EVP_AEAD_CTX_cleanup` does nothing for AES-GCM. It begins with a cache line, so that a context spans no more of
/// them than it must: under 1,024 keys messages of 128 bytes take 2 % less. A key that was set must not be moved,
/// which would leave a copy.
#[repr(C, align(64))]
pub(super) struct Aead {
    context: [u8; size_of::<EVP_AEAD_CTX>()],
    /// Of the key that is set.
    tag_length: Option<TagLength>,
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
    pub(super) fn new(key: &[u8]) -> Result<Self, Refused> {
        let key: &[u8; 32] = key.try_into().map_err(|_| Refused)?;
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
    /// Room without a key, with which nothing is sealed or opened.
    pub(super) fn new() -> Self {
        // As `EVP_AEAD_CTX_zero` leaves it.
        Self { context: [0; size_of::<EVP_AEAD_CTX>()], tag_length: None }
    }

    /// Expands a key, in the place of one that was set before.
    pub(super) fn set(
        &mut self,
        algorithm: Algorithm,
        key: &[u8],
        tag_length: TagLength,
    ) -> Result<(), Refused> {
        self.tag_length = None;
        let (aead, context) = (aead(algorithm, key.len()), self.context_mut());
        // SAFETY: the context is zeroed or was set, and the next call writes it anew.
        unsafe { EVP_AEAD_CTX_cleanup(context) };
        let (tag_bytes, no_engine) = (tag_length.bytes(), ptr::null_mut());
        // SAFETY: a cleaned context may be set; the algorithm is a static of the library's, and the key has `len`
        // readable bytes.
        let done = unsafe {
            EVP_AEAD_CTX_init(context, aead, key.as_ptr(), key.len(), tag_bytes, no_engine)
        };
        if done != 1 {
            return Err(refused());
        }
        self.tag_length = Some(tag_length);
        Ok(())
    }

    /// How long its tags are; none without a key.
    #[inline]
    pub(super) fn tag_length(&self) -> Option<TagLength> {
        self.tag_length
    }

    fn context(&self) -> *const EVP_AEAD_CTX {
        (&raw const self.context).cast()
    }

    fn context_mut(&mut self) -> *mut EVP_AEAD_CTX {
        (&raw mut self.context).cast()
    }

    /// Encrypts `input` to `output`, which is as long, and writes the tag.
    #[inline(always)]
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
    #[inline(always)]
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
    #[inline(always)]
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
    #[inline(always)]
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
    #[inline(always)]
    unsafe fn seal_raw(
        &self,
        nonce: &[u8],
        aad: &[u8],
        input: *const u8,
        output: *mut u8,
        len: usize,
        tag: &mut [u8],
    ) -> Result<(), Refused> {
        if self.tag_length.map(TagLength::bytes) != Some(tag.len()) {
            return Err(Refused);
        }
        let mut tag_bytes = 0;
        // SAFETY: the context is whole, each pointer is valid for the length beside it, and pointers
        // of empty slices are not followed. There is no extra input.
        let sealed = unsafe {
            EVP_AEAD_CTX_seal_scatter(
                self.context(),
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
    #[inline(always)]
    unsafe fn open_raw(
        &self,
        nonce: &[u8],
        aad: &[u8],
        input: *const u8,
        output: *mut u8,
        len: usize,
        tag: &[u8],
    ) -> bool {
        if self.tag_length.is_none() {
            // SAFETY: the caller says that the output has `len` writable bytes.
            unsafe { output.write_bytes(0, len) };
            return false;
        }
        // SAFETY: the context is whole, each pointer is valid for the length beside it, and pointers
        // of empty slices are not followed. A tag of another length is refused by the library.
        let opened = unsafe {
            EVP_AEAD_CTX_open_gather(
                self.context(),
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
        // SAFETY: the context is zeroed or was set, and is not used again.
        unsafe { EVP_AEAD_CTX_cleanup(self.context_mut()) };
        // SAFETY: it has as many writable bytes.
        unsafe { OPENSSL_cleanse(self.context_mut().cast(), size_of_val(&self.context)) };
    }
}

impl fmt::Debug for Aead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Aead({:?}, secret)", self.tag_length)
    }
}

/// The library's version, as in `5.12.0`.
pub(super) fn version() -> &'static str {
    let version = CStr::from_bytes_until_nul(AWSLC_VERSION_NUMBER_STRING).unwrap_or_default();
    version.to_str().unwrap_or_default()
}

/// The library refuses a key of another length than its algorithm's.
fn aead(algorithm: Algorithm, key_bytes: usize) -> *const EVP_AEAD {
    match (algorithm, key_bytes) {
        // SAFETY: it returns a static.
        (Algorithm::AesGcmSiv, 16) => unsafe { EVP_aead_aes_128_gcm_siv() },
        // SAFETY: it returns a static.
        (Algorithm::AesGcmSiv, _) => unsafe { EVP_aead_aes_256_gcm_siv() },
        // SAFETY: it returns a static.
        (_, 16) => unsafe { EVP_aead_aes_128_gcm() },
        // SAFETY: it returns a static.
        (_, 24) => unsafe { EVP_aead_aes_192_gcm() },
        // SAFETY: it returns a static.
        _ => unsafe { EVP_aead_aes_256_gcm() },
    }
}

/// Empties this thread's queue of the library's errors, so that nobody else finds ours.
fn refused() -> Refused {
    // SAFETY: it touches only the calling thread's queue.
    unsafe { ERR_clear_error() };
    Refused
}
