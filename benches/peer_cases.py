"""The cases that the kernels are measured in beside other libraries, and what is wanted of each."""

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

BEST_PEER = "best peer"
# The instructions of AES and GHASH alone: nobody is faster by them.
PORTS = "ports"


@dataclass(frozen=True)
class Wanted:
    """What one arm is set against, and what is wanted of it.

    Attributes:
        arm: As the command `peers` names it.
        against: The best of all libraries of the run, sealing the same messages, or an arm.
        times: As fast as that at least; None where it is only shown.
        cycles: A message at most, of the arm itself; None for any.
        is_aim: Something to try for, not a condition.
        needs: The library without which the verdict doesn't count, or "".
    """

    arm: str = "kernels"
    against: str = BEST_PEER
    times: float | None = None
    cycles: float | None = None
    is_aim: bool = False
    needs: str = ""


@dataclass(frozen=True)
class Case:
    """Messages that some arms work in turn.

    Attributes:
        name: For the command line.
        title: For people.
        workload: The messages.
        wanted: One row of the table each, in order.
        batch: Messages in a call of our own arms; all of them for 0.
        with_peers: Whether the libraries take part.
        cores: How many the arms need.
    """

    name: str
    title: str
    workload: Workload
    wanted: tuple[Wanted, ...]
    batch: int = 0
    with_peers: bool = True
    cores: int = 1

    @property
    def arms(self) -> tuple[str, ...]:
        """Our own arms of the case, each once, and what the processor allows."""
        named = [arm for each in self.wanted for arm in (each.arm, each.against)]
        named += [PORTS] if self.with_peers else []
        return tuple(dict.fromkeys(arm for arm in named if arm != BEST_PEER))


def cases() -> tuple[Case, ...]:
    """Every case, those of the main table first."""
    return (
        *_of_128_bytes(),
        *_large(),
        *_document_003(),
        *_two_threads(),
        *_middle(),
        *_small(),
        *_with_aad(),
        *_from_memory(),
        *_opening(),
        *_calls(),
    )


def _of_128_bytes() -> Iterator[Case]:
    for regime, word, times, cycles, needs in (
        (ONE_KEY, "one", 2.7, (41, 48), IPSEC_MB),
        (MANY_KEYS, "many", 2.5, (54, 63), IPSEC_MB),
        (FRESH_KEYS, "fresh", 5.5, (63, 74), ""),
    ):
        for bits, most in zip(KEY_BITS, cycles, strict=True):
            wanted = Wanted(times=times, cycles=most, needs=needs)
            yield _sealing(128, bits, regime, word, (wanted,))


def _large() -> Iterator[Case]:
    for size, title, messages in LARGE:
        for bits in KEY_BITS:
            wanted = (Wanted(times=1.1),)
            yield _sealing(size, bits, ONE_KEY, "one", wanted, messages=messages, title=title)


def _document_003() -> Iterator[Case]:
    for regime, word, cached, memory in (
        (MANY_KEYS, "many", 1.75, 1.0),
        (FRESH_KEYS, "fresh", 4.2, 3.4),
    ):
        for messages, times, place in (
            (IN_CACHE, cached, "cache"),
            (FROM_MEMORY, memory, "memory"),
        ):
            yield Case(
                name=f"003-{word}-{place}",
                title=f"document 003 as stated, {KEYS[word]}, {messages:,} messages",
                workload=as_stated(regime, messages=messages),
                wanted=(Wanted(times=times),),
            )
    yield Case(
        name="003-as-logged",
        title="document 003 as logged, a fresh key each",
        workload=as_logged(),
        wanted=(Wanted(times=3.0, is_aim=True),),
    )


def _two_threads() -> Iterator[Case]:
    for regime, word in ((MANY_KEYS, "many"), (FRESH_KEYS, "fresh")):
        yield Case(
            name=f"two-threads-{word}",
            title=f"document 003 as stated, {KEYS[word]}, two threads",
            workload=as_stated(regime, messages=IN_CACHE),
            wanted=(Wanted(arm="kernels:threads=2", against="kernels", times=1.9),),
            with_peers=False,
            cores=2,
        )


def _middle() -> Iterator[Case]:
    wanted = (Wanted(times=1.2, is_aim=True),)
    for size in (256, 512, 1_024, 1_420):
        for regime, word in ((ONE_KEY, "one"), (MANY_KEYS, "many")):
            for bits in KEY_BITS:
                yield _sealing(size, bits, regime, word, wanted)


def _small() -> Iterator[Case]:
    for size, cached, fresh in ((16, 3.0, 8.0), (64, 2.5, 6.0)):
        for regime, word, times in ((MANY_KEYS, "many", cached), (FRESH_KEYS, "fresh", fresh)):
            for bits in KEY_BITS:
                wanted = (Wanted(times=times, is_aim=True),)
                yield _sealing(size, bits, regime, word, wanted)


def _with_aad() -> Iterator[Case]:
    """As meters have it: a byte and a key or two, beside messages of 128 bytes."""
    for aad in (17, 33):
        for regime, word in ((ONE_KEY, "one"), (MANY_KEYS, "many"), (FRESH_KEYS, "fresh")):
            plain = _sealing(128, 128, regime, word, (Wanted(),))
            yield replace(
                plain,
                name=f"128-aad-{aad}-{word}-128",
                title=f"128 B and {aad} B of aad, {KEYS[word]}, AES-128",
                workload=replace(plain.workload, aad_len=((aad, 1),)),
            )


def _from_memory() -> Iterator[Case]:
    for size, title in ((8_192, "8 KiB from memory"), (16_384, "16 KiB from memory")):
        for bits in KEY_BITS:
            yield _sealing(size, bits, MANY_KEYS, "many", (Wanted(),), title=title)


def _opening() -> Iterator[Case]:
    for regime, word in ((ONE_KEY, "one"), (MANY_KEYS, "many"), (FRESH_KEYS, "fresh")):
        for bits in KEY_BITS:
            wanted = Wanted(against="kernels:sealing", times=0.9, is_aim=True)
            yield Case(
                name=f"128-open-{word}-{bits}",
                title=f"128 B opened, {KEYS[word]}, AES-{bits}",
                workload=_work(128, regime, OPEN_ONLY, bits, RING),
                wanted=(Wanted(), wanted),
            )


def _calls() -> Iterator[Case]:
    for messages, times in ((RING, 0.9), (16_384, 0.95)):
        yield Case(
            name=f"engine-{messages}",
            title=f"Engine::run on {messages:,} messages of 128 B, {KEYS['many']}, AES-128",
            workload=_work(128, MANY_KEYS, SEAL_ONLY, 128, messages),
            wanted=(Wanted(arm="engine", against="kernels", times=times),),
            with_peers=False,
        )
    many = f"kernels:batch={LONG}"
    goals = {1: None, 3: None, 17: None, 256: 0.95}
    yield Case(
        name="batches",
        title=f"kernels in calls of so many messages of 128 B, {KEYS['many']}, AES-128",
        workload=_work(128, MANY_KEYS, SEAL_ONLY, 128, LONG),
        wanted=tuple(
            Wanted(arm=f"kernels:batch={batch}", against=many, times=times)
            for batch, times in goals.items()
        ),
        with_peers=False,
    )


def _sealing(
    size: int,
    bits: int,
    regime: Regime,
    word: str,
    wanted: tuple[Wanted, ...],
    *,
    messages: int | None = None,
    title: str = "",
) -> Case:
    return Case(
        name=f"{size}-{word}-{bits}",
        title=f"{title or f'{size:,} B'}, {KEYS[word]}, AES-{bits}",
        workload=_work(size, regime, SEAL_ONLY, bits, messages or RING),
        wanted=wanted,
    )


def _work(size: int, regime: Regime, mix: Mix, bits: int, messages: int) -> Workload:
    return of_size(size, regime, mix, messages=messages, key_bits=bits)


# Messages in a ring: different ones, and few enough for a core's caches.
RING, IN_CACHE, FROM_MEMORY, LONG = 1_024, 3_072, 1_000_000, 8_192
LARGE = ((8_192, "8 KiB", 32), (16_384, "16 KiB", 16), (1 << 20, "1 MiB", 1))
KEY_BITS = (128, 256)
MANY_KEYS = Regime(Keys.SESSIONS, RING)
KEYS = {"one": "one key", "many": "1,024 keys", "fresh": "a fresh key each"}
IPSEC_MB = "ipsec-mb"
