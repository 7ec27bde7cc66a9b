"""The cases in which the engine, the kernels and other libraries are compared."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from sealift_lab.experiments.document_003.messages import logged_workload, stated_workload
from sealift_lab.model.arm import Value
from sealift_lab.model.units import format_bytes
from sealift_lab.model.workload import (
    FRESH_KEYS,
    ONE_KEY,
    OPEN_ONLY,
    SEAL_ONLY,
    KeyRegime,
    Keys,
    Mix,
    Workload,
    of_size,
)

ENGINE, CIPHER = "engine", "cipher"
"""Arms of Sealift."""


@dataclass(frozen=True)
class Case:
    """Messages that all arms work in turn.

    Attributes:
        name: For the command line.
        kind: What is special of it; `sealed` for plain sealing under AES-128.
        title: For people.
        workload: The messages.
        batch: Messages in a call of the engine and the kernels; all of them for 0.
        sealift: The arm of Sealift that libraries are compared with.
        is_usual: Whether it is measured without being named.
    """

    name: str
    kind: str
    title: str
    workload: Workload
    batch: int = 0
    sealift: str = ENGINE
    is_usual: bool = True

    @property
    def is_from_memory(self) -> bool:
        """Whether no cache holds the messages."""
        return self.kind.endswith("from memory")

    @property
    def cell(self) -> dict[str, Value]:
        """Its axes with their values."""
        return {
            "kind": self.kind,
            "work": self.title,
            "size_bytes": round(self.workload.text_len_mean),
            "keys": str(self.workload.regime),
            "batch": self.batch or self.workload.messages,
        }


def cases() -> tuple[Case, ...]:
    """Every case, short messages first."""
    plain = _case(128, "many")
    return (
        *(_case(size, regime) for size, regimes in sorted(SIZES.items()) for regime in regimes),
        *(_case(size, regime, "AES-256", bits=256) for size, regime in AES_256),
        _with_aad(plain, 17),
        _with_aad(_case(1_420, "some"), 20),
        *(_small_call(plain, batch) for batch in (1, 16)),
        _one_at_a_time(plain),
        *(_case(size, regime, "opened", mix=OPEN_ONLY) for size, regime in OPENED),
        *(_from_memory(*each) for each in USUAL_FROM_MEMORY),
        *_document_003(),
        *_more_from_memory(),
        *_cells(),
    )


def size_text(size_bytes: int) -> str:
    """`4 KiB`, and what is no whole number of them as bytes: `1,420 B`."""
    return f"{size_bytes:,} B" if size_bytes % 1_024 else format_bytes(size_bytes)


def _case(
    size: int,
    regime: str,
    kind: str = "sealed",
    *,
    bits: int = 128,
    mix: Mix = SEAL_ONLY,
    messages: int = 0,
) -> Case:
    more = "" if kind in ("sealed", "AES-256") else f", {kind}"
    keys, words = REGIMES[regime]
    # One key: a quarter of a MiB, so that texts and results lie in the second cache.
    fitting = min(RING, max(1, (1 << 18) // size)) if keys == ONE_KEY else RING
    return Case(
        "-".join([str(size), regime, str(bits), *more.removeprefix(", ").split()]),
        kind,
        f"{size_text(size)}, {words}, AES-{bits}{more}",
        of_size(size, keys, mix, messages=messages or fitting, key_bits=bits),
    )


def _from_memory(size: int, regime: str, mix: Mix) -> Case:
    kind = "from memory" if mix == SEAL_ONLY else "opened from memory"
    return _case(size, regime, kind, mix=mix, messages=FROM_MEMORY[size])


def _more_from_memory() -> Iterator[Case]:
    for size, regime, mix in product(FROM_MEMORY, ("one", "many", "most"), (SEAL_ONLY, OPEN_ONLY)):
        is_usual = (size, regime, mix) in USUAL_FROM_MEMORY
        # Fewer messages than keys would leave keys unused.
        if not is_usual and (size, regime) != (16_384, "most"):
            case = _from_memory(size, regime, mix)
            yield replace(case, name=f"memory-{case.name}", is_usual=False)


def _cells() -> Iterator[Case]:
    """Sizes by numbers of keys, key sizes, sealed and opened, without and with aad."""
    every = product(CELL_SIZES, CELL_KEYS, (128, 192, 256), CELL_MIXES, (0, 20))
    for size, regime, bits, (word, mix), aad_len in every:
        messages = REGIME_MESSAGES[regime]
        if size * messages > CELL_BYTES:
            continue
        plain = _case(size, regime, word, bits=bits, mix=mix, messages=messages)
        case = _with_aad(plain, aad_len)
        title = f"{size_text(size)}, {REGIMES[regime][1]}, AES-{bits}, {word}, {aad_len} B of aad"
        name = f"cell-{size}-{regime}-{bits}-{word}-{aad_len}"
        yield replace(case, name=name, kind="every cell", title=title, is_usual=False)


def _with_aad(plain: Case, aad_len: int) -> Case:
    shapes = tuple(replace(shape, aad_len=aad_len) for shape in plain.workload.shapes)
    name, title = f"{plain.name}-aad-{aad_len}", f"{plain.title}, {aad_len} B of aad"
    return Case(name, "with aad", title, replace(plain.workload, shapes=shapes))


def _small_call(plain: Case, batch: int) -> Case:
    """Part of the cost of a call: other libraries have one for each message anyway."""
    kind = f"{batch} in a call"
    title = f"{plain.title}, {kind}"
    return replace(plain, name=f"{plain.name}-batch-{batch}", kind=kind, title=title, batch=batch)


def _one_at_a_time(plain: Case) -> Case:
    """By `Cipher`, which is for single messages and needs no engine."""
    kind = "one at a time by Cipher"
    name, title = f"{plain.name}-single", f"{plain.title}, {kind}"
    return replace(plain, name=name, kind=kind, title=title, batch=1, sealift=CIPHER)


def _document_003() -> Iterator[Case]:
    for regime in ("many", "fresh"):
        keys, words = REGIMES[regime]
        title = f"document 003 as stated, {words}"
        workload = stated_workload(keys, DOCUMENT_MESSAGES, 1)
        yield Case(f"003-{regime}", "document 003", title, workload)
    title = "document 003 as logged, a fresh key each"
    workload = logged_workload(FRESH_KEYS, LOGGED_MESSAGES, 1)
    yield Case("003-as-logged", "document 003", title, workload)


# Messages in a ring: different ones, and few enough for a core's caches.
RING = 1_024
# As many by size as no cache holds.
FROM_MEMORY = {128: 1_000_000, 1_420: 262_144, 16_384: 16_384}
USUAL_FROM_MEMORY = ((128, "one", SEAL_ONLY), (128, "many", SEAL_ONLY))
CELL_SIZES = (16, 64, 128, 256, 1_024, 1_420, 4_096, 16_384, 1 << 20)
CELL_KEYS = ("one", "many", "most", "fresh")
CELL_MIXES = (("sealed", SEAL_ONLY), ("opened", OPEN_ONLY))
# One key: as many as fit the second cache. Others: one for each key, of so many bytes at most.
REGIME_MESSAGES, CELL_BYTES = {"one": 0, "many": RING, "most": 20_000, "fresh": RING}, 100 << 20
# The second is as many as the document's log has.
DOCUMENT_MESSAGES, LOGGED_MESSAGES = 3_072, 37_800
REGIMES = {
    "one": (ONE_KEY, "one key"),
    "some": (KeyRegime(Keys.SESSIONS, 369), "369 keys"),
    "many": (KeyRegime(Keys.SESSIONS, RING), "1,024 keys"),
    "most": (KeyRegime(Keys.SESSIONS, 20_000), "20,000 keys"),
    "fresh": (FRESH_KEYS, "a fresh key each"),
}
EVERY = ("one", "many", "fresh")
SIZES = {
    **dict.fromkeys((16, 64, 128), EVERY),
    **dict.fromkeys((256, 1_420, 4_096), EVERY),
    1_024: EVERY[:2],
    # 1,040 and 4,112: a block more than pages and windows have, as texts with a tag behind them do.
    **dict.fromkeys((1_040, 4_112, 8_192, 16_384, 1 << 20), EVERY[:1]),
}
AES_256 = ((128, "one"), (128, "many"), (128, "fresh"), (1_420, "many"), (16_384, "one"))
OPENED = (*AES_256[:3], (256, "many"), *AES_256[3:])
