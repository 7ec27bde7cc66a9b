"""The cases in which the engine, the kernels and other libraries are compared."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sealift.lab.workload import (
    FRESH_KEYS,
    ONE_KEY,
    OPEN_ONLY,
    SEAL_ONLY,
    Keys,
    Mix,
    Regime,
    Workload,
    as_logged,
    as_stated,
    of_size,
)


@dataclass(frozen=True)
class Case:
    """Messages that all arms work in turn.

    Attributes:
        name: For the command line.
        title: For people.
        kind: The message size, or what else is special. A summary takes a kind's cases together.
        workload: The messages.
        batch: Messages in a call of the engine and the kernels; all of them for 0.
    """

    name: str
    title: str
    kind: str
    workload: Workload
    batch: int = 0


def cases() -> tuple[Case, ...]:
    """Every case, short messages first."""
    return (*_sealed(), *_one_call_each(), *_opened(), *_from_memory(), *_document_003())


def _sealed() -> Iterator[Case]:
    for size, regimes in SIZES.items():
        for regime in regimes:
            yield _case(size, regime)
    for size, regime in AES_256:
        yield _case(size, regime, bits=256)
    yield _with_aad(_case(128, "many"), 17)
    yield _with_aad(_case(1_420, "some"), 20)


def _one_call_each() -> Iterator[Case]:
    """What a call costs: other libraries have one for each message anyway."""
    for batch in (1, 16):
        plain = _case(128, "many")
        title = (
            f"{plain.title}, {batch} in a call" if batch > 1 else f"{plain.title}, one in a call"
        )
        kind = f"{batch} messages a call" if batch > 1 else "1 message a call"
        name = f"{plain.name}-batch-{batch}"
        yield replace(plain, name=name, title=title, kind=kind, batch=batch)


def _opened() -> Iterator[Case]:
    for size, regime in OPENED:
        yield _case(size, regime, mix=OPEN_ONLY)


def _from_memory() -> Iterator[Case]:
    for regime in ("one", "many"):
        yield _case(128, regime, messages=FROM_MEMORY)


def _document_003() -> Iterator[Case]:
    for regime in ("many", "fresh"):
        yield Case(
            name=f"003-{regime}",
            title=f"document 003 as stated, {KEYS[regime]}",
            kind="document 003's mix",
            workload=as_stated(REGIMES[regime], messages=3_072),
        )
    yield Case(
        name="003-as-logged",
        title="document 003 as logged, a fresh key each",
        kind="document 003's log",
        workload=as_logged(),
    )


def _case(
    size: int, regime: str, *, bits: int = 128, mix: Mix = SEAL_ONLY, messages: int = 0
) -> Case:
    is_sealing = mix is SEAL_ONLY
    infix = "" if is_sealing else "-open"
    place = "-memory" if messages else ""
    from_memory = f", {messages:,} messages from memory" if messages else ""
    operation = "" if is_sealing else " opened"
    # One key: a quarter of a MiB, so that texts and results lie in the second cache.
    fitting = min(RING, max(1, (1 << 18) // size)) if regime == "one" else RING
    return Case(
        name=f"{size}{infix}-{regime}-{bits}{place}",
        title=f"{_size(size)}{operation}, {KEYS[regime]}, AES-{bits}{from_memory}",
        kind=f"{_size(size)}{' from memory' if messages else ''}",
        workload=of_size(size, REGIMES[regime], mix, messages=messages or fitting, key_bits=bits),
    )


def _with_aad(plain: Case, aad: int) -> Case:
    head, _, tail = plain.title.partition(", ")
    return replace(
        plain,
        name=f"{plain.name}-aad-{aad}",
        title=f"{head} and {aad} B of aad, {tail}",
        workload=replace(plain.workload, aad_len=((aad, 1),)),
    )


def _size(size: int) -> str:
    if size >= 1 << 20:
        return f"{size >> 20} MiB"
    return f"{size >> 10} KiB" if size >= 4_096 else f"{size:,} B"


# Messages in a ring: different ones, and few enough for a core's caches.
RING, FROM_MEMORY = 1_024, 1_000_000
REGIMES = {
    "one": ONE_KEY,
    "some": Regime(Keys.SESSIONS, 369),
    "many": Regime(Keys.SESSIONS, RING),
    "fresh": FRESH_KEYS,
}
KEYS = {
    "one": "one key",
    "some": "369 keys",
    "many": "1,024 keys",
    "fresh": "a fresh key each",
}
EVERY = ("one", "many", "fresh")
SIZES = {
    16: EVERY,
    64: EVERY,
    128: EVERY,
    256: ("one", "many"),
    1_024: ("one", "many"),
    1_420: ("one", "many"),
    4_096: ("one", "many"),
    8_192: ("one",),
    16_384: ("one",),
    1 << 20: ("one",),
}
AES_256 = ((128, "one"), (128, "many"), (128, "fresh"), (1_420, "many"), (16_384, "one"))
OPENED = (
    (128, "one"),
    (128, "many"),
    (128, "fresh"),
    (256, "many"),
    (1_420, "many"),
    (16_384, "one"),
)
