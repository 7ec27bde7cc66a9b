"""All that is secret about a key and a text, in the forms in which code keeps it."""

import struct

import sealift
from sealift import hazmat

# Powers of the hash key, blocks of key stream, and bytes of either end of a text.
POWERS = 32
BLOCKS = 9
LONG = 1024


def forms(
    algorithm: str, key: bytes, nonce: bytes, text: bytes, aad: bytes = b""
) -> dict[str, bytes]:
    """Names and bytes of what a process must not keep of a message that was sealed.

    Each has 8 bytes or more; either end of a number may come first.
    """
    ends = {"text's end": text[-LONG:], "text": text[:LONG]} | _key(key, "key")
    if algorithm == "AES-GCM":
        return ends | _gcm(key, nonce)
    if algorithm == "XAES-256-GCM":
        derived = _xaes_key(key, nonce[:12])
        return ends | _key(derived, "derived key") | _gcm(derived, nonce[12:])
    hash_key, derived = _siv_keys(key, nonce)
    secrets = ends | _key(derived, "derived key") | _powers(int.from_bytes(hash_key, "little"))
    # It begins with the tag, which depends on text and aad.
    tag = sealift.AESGCMSIV(key).encrypt(nonce, text, aad)[-16:]
    first, rest = struct.unpack("<I12s", tag[:15] + bytes([tag[15] | 0x80]))
    blocks = (struct.pack("<I12s", (first + i) % 2**32, rest) for i in range(BLOCKS))
    secrets["key stream"] = b"".join(_encrypt(derived, block) for block in blocks)
    return secrets


def _key(key: bytes, name: str) -> dict[str, bytes]:
    return {name: key, f"round keys of {name}": round_keys(key)}


def _gcm(key: bytes, nonce: bytes) -> dict[str, bytes]:
    """The hash key, its powers, and the key stream of the nonce's first blocks."""
    h = int.from_bytes(_encrypt(key, bytes(16)), "big")
    secrets = {"hash key": h.to_bytes(16, "big")}
    # Times x, and x^0 in the highest bit: a shift to the left.
    secrets |= _powers((h << 1 & MASK) ^ (h >> 127) * MODULUS)
    if len(nonce) == 12:
        counter = nonce + bytes([0, 0, 0, 1])
    else:
        # Zeros to a whole block, and how many bits it has (SP 800-38D, section 7.1).
        blocks = nonce + bytes(-len(nonce) % 16) + struct.pack(">QQ", 0, 8 * len(nonce))
        counter = _ghash(h, blocks).to_bytes(16, "big")
    secrets["key stream"] = hazmat.aes_ctr(key, counter, bytes(BLOCKS * 16))
    return secrets


def _ghash(h: int, blocks: bytes) -> int:
    """The hash of whole blocks (SP 800-38D, section 6.4)."""
    hashed = 0
    for at in range(0, len(blocks), 16):
        hashed ^= int.from_bytes(blocks[at : at + 16], "big")
        product, factor = 0, h
        for bit in range(127, -1, -1):
            product ^= factor * (hashed >> bit & 1)
            factor = factor >> 1 ^ (factor & 1) * (0xE1 << 120)
        hashed = product
    return hashed


def _powers(h: int) -> dict[str, bytes]:
    """Powers as tables have them: each is POLYVAL's product (RFC 8452) of the one before."""
    secrets, power = {}, h
    for i in range(1, POWERS + 1):
        low, high = power & HALF, power >> 64
        folded = (low << 64 | high) ^ low << 63 ^ low << 62 ^ low << 57
        secrets[f"hash key^{i}"] = power.to_bytes(16, "little")
        secrets[f"hash key^{i}, folded"] = folded.to_bytes(16, "little")
        secrets[f"hash key^{i}, halves added"] = (low ^ high).to_bytes(8, "little")
        power = _product(power, h)
    return secrets


def _product(a: int, b: int) -> int:
    """a * b * x^-128 modulo x^128 + x^127 + x^126 + x^121 + 1."""
    wide = 0
    for bit in range(128):
        wide ^= (a << bit) * (b >> bit & 1)
    for bit in range(128):
        wide ^= ((MODULUS | 1 << 128) << bit) * (wide >> bit & 1)
    return wide >> 128


def round_keys(key: bytes) -> bytes:
    """The expanded key (FIPS 197, section 5.2)."""
    words = [key[i : i + 4] for i in range(0, len(key), 4)]
    length, constant = len(words), 1
    for i in range(length, 4 * (length + 7)):
        word = words[-1]
        if i % length == 0:
            word = bytes(SBOX[byte] for byte in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = _times_x(constant)
        elif length > 6 and i % length == 4:
            word = bytes(SBOX[byte] for byte in word)
        words.append(bytes(a ^ b for a, b in zip(words[i - length], word, strict=True)))
    return b"".join(words)


def _sbox() -> bytes:
    """Inverses by powers of a generator, and the affine map."""
    powers = [1]
    while len(powers) < 255:
        powers.append(powers[-1] ^ _times_x(powers[-1]))
    box = bytearray([0x63] * 256)
    for i, number in enumerate(powers):
        inverse = powers[-i % 255] * 0x101
        box[number] = 0x63 ^ inverse & 0xFF
        for shift in range(4, 8):
            box[number] ^= inverse >> shift & 0xFF
    return bytes(box)


def _times_x(byte: int) -> int:
    return byte << 1 ^ (byte >> 7) * 0x11B


def _xaes_key(key: bytes, head: bytes) -> bytes:
    """The key of a message (C2SP, XAES-256-GCM)."""
    zero = int.from_bytes(_encrypt(key, bytes(16)), "big")
    mask = (zero << 1 & MASK) ^ (zero >> 127) * 0x87
    blocks = [int.from_bytes(bytes([0, i]) + b"X\0" + head, "big") ^ mask for i in (1, 2)]
    return b"".join(_encrypt(key, block.to_bytes(16, "big")) for block in blocks)


def _siv_keys(key: bytes, nonce: bytes) -> tuple[bytes, bytes]:
    """The keys of a message for authentication and encryption (RFC 8452, section 4)."""
    halves = [_encrypt(key, struct.pack("<I", i) + nonce)[:8] for i in range(2 + len(key) // 8)]
    return b"".join(halves[:2]), b"".join(halves[2:])


def _encrypt(key: bytes, block: bytes) -> bytes:
    return hazmat.aes_ctr(key, block, bytes(16))


HALF, MASK = (1 << 64) - 1, (1 << 128) - 1
MODULUS = 0xC2 << 120 | 1
SBOX = _sbox()
