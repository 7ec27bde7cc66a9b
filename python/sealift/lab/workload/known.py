"""The workloads that have names: document 003's two, and messages of one length."""

import csv
from functools import lru_cache
from importlib.resources import files

from sealift.lab.workload.stream import KEY_BITS, Shape, Workload, joint_mix, margin
from sealift.lab.workload.terms import FRESH_KEYS, Keys, Mix, Operation, Regime


def as_stated(regime: Regime | None = None, *, messages: int = 8_192, seed: int = 3) -> Workload:
    """Document 003's workload as its text states it.

    128-byte messages, nonces of 12 bytes, tags of 16, no additional data; a third for each key
    size; half seals, a quarter opens, a quarter opens with a wrong tag.

    Args:
        regime: Under which keys; the text doesn't say. 1,024 sessions when left out.
        messages: How many.
        seed: Of order and bytes.
    """
    return Workload(
        name="003 as stated",
        text_len=((128, 1),),
        nonce_len=((12, 1),),
        aad_len=((0, 1),),
        tag_len=((16, 1),),
        key_bits=tuple((bits, 1) for bits in KEY_BITS),
        mix=Mix(50, 25, 25),
        regime=regime or Regime(Keys.SESSIONS, 1_024),
        messages=messages,
        seed=seed,
    )


def as_logged(*, messages: int | None = None, seed: int = 3) -> Workload:
    """Document 003's workload as its log and its input file show it.

    The 37,800 NIST CAVP AES-GCM records that have a text: 13, 16, 32 or 51 bytes (28 on
    average), nonces of 1, 12 and 128 bytes, tags of 4 to 16, and a fresh key for each message.

    Args:
        messages: How many; all 37,800 when left out.
        seed: Of order and bytes.
    """
    joint = _as_logged_shapes()
    return Workload(
        name="003 as logged",
        text_len=margin(joint, "text_len"),
        nonce_len=margin(joint, "nonce_len"),
        aad_len=margin(joint, "aad_len"),
        tag_len=margin(joint, "tag_len"),
        key_bits=margin(joint, "key_bits"),
        mix=joint_mix(joint),
        regime=FRESH_KEYS,
        messages=sum(shape.weight for shape in joint) if messages is None else messages,
        seed=seed,
        joint=joint,
    )


def of_size(
    size_bytes: int,
    regime: Regime,
    mix: Mix,
    *,
    messages: int,
    key_bits: int = 128,
    seed: int = 1,
) -> Workload:
    """Messages of one length, as the field's benchmarks have them.

    Nonces of 12 bytes, tags of 16, no additional data.

    Args:
        size_bytes: Length of each text.
        regime: Under which keys.
        mix: Which operations.
        messages: How many.
        key_bits: Size of every key.
        seed: Of order and bytes.
    """
    return Workload(
        name=f"AES-{key_bits}",
        text_len=((size_bytes, 1),),
        nonce_len=((12, 1),),
        aad_len=((0, 1),),
        tag_len=((16, 1),),
        key_bits=((key_bits, 1),),
        mix=mix,
        regime=regime,
        messages=messages,
        seed=seed,
    )


@lru_cache(maxsize=1)
def _as_logged_shapes() -> tuple[Shape, ...]:
    table = files("sealift.lab") / "data" / "003-as-logged.csv"
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    return tuple(
        Shape(
            operation,
            int(row["key_bits"]),
            int(row["nonce_bytes"]),
            int(row["aad_bytes"]),
            int(row["text_bytes"]),
            int(row["tag_bytes"]),
            int(row[column]),
        )
        for operation, column in zip(Operation, ("seals", "opens", "bad"), strict=True)
        for row in rows
        if int(row[column])
    )
