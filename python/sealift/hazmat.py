"""Building blocks that protect nothing by themselves.

Use `sealift.AESGCM` or an engine's batches. Counter mode authenticates nothing: whoever can change
a ciphertext can flip any bit of the plaintext, and nobody notices; and two texts whose counters
meet under one key give away what they differ in. It is here for protocols that ask for it and
authenticate by other means.

    from sealift import hazmat

    ciphertext = hazmat.aes_ctr(key, counter, b"text")
"""

from sealift._sealift import aes_ctr

__all__ = ["aes_ctr"]
