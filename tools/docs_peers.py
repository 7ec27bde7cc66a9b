"""Parts of documents on other libraries and on a loop in Python, from run folders of benches."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from docs_runs import Findings, Source, caption, load, pivot, text_table
from sealift_lab.claim.answer import machine_text
from sealift_lab.claim.words import estimate_text, name_of
from sealift_lab.judge.rows import times
from sealift_lab.judge.verdicts import caveat
from sealift_lab.model.arm import Cell
from sealift_lab.model.results import Row, Verdict
from sealift_lab.model.run import DeviceState
from sealift_lab.model.units import format_bytes, format_estimate, format_number

Contest = tuple[Mapping[str, Row], Row]
"""The arms of a case by their names, and of these the fastest library."""


def speed(sources: Sequence[Source]) -> str:
    """By message size and keys how many times as fast as the fastest library."""
    found = load(sources[-1].path)
    names, libraries = found.plans[PEERS].names, found.results[PEERS].rows
    cells = {
        (_message(best.work), name_of(best.work["keys"], names)): _standing(best, names)
        for _, best in contests(found)
        if _message(best.work) in SHOWN
    }
    many = len({row.subject for row in libraries} - {*OWN_ARMS})
    return (
        f"Speed of `Engine::run` over that of the fastest of {many} "
        "other libraries, one core, AES-128. **Bold**: that library is faster, by this; ≈: no "
        f"difference shown.\n\n{pivot('message', cells)}\n\n"
        f"{_short_conditions(found)}; [all cases and machines](docs/performance.md)."
    )


def peers(sources: Sequence[Source]) -> str:
    """Every case of the newest run and its libraries; of other machines' runs who is ahead."""
    found = load(sources[-1].path)
    libraries = [
        [each.detail or f"no {each.spec}: {each.reason}", released(each)]
        for each in found.run.machine.devices
    ]
    parts = [
        _ahead(found),
        text_table(["library", "released"], libraries, texts=2),
        text_table(CASES, [_case(found, each, PORTS) for each in contests(found)]),
        caption(found, sources[-1].link),
    ]
    if note := next(map(caveat, found.results[PEERS].rows), ""):
        parts.append(f"Each ratio is {note}.")
    for each in sources[:-1]:
        then = load(each.path)
        parts.append(f"{_ahead(then)}{_older(then, found)} [All rows]({each.link}).")
    return "\n\n".join(parts)


def memory(sources: Sequence[Source]) -> str:
    """Every case that no cache holds, of the newest run."""
    found = load(sources[-1].path)
    heads = [head.replace("peak", "memcpy") for head in CASES]
    table = text_table(heads, [_case(found, each, MEMCPY) for each in contests(found)])
    parts = [_ahead(found), table, caption(found, sources[-1].link)]
    if note := next(map(caveat, found.results[PEERS].rows), ""):
        parts.append(f"Each ratio is {note}.")
    return "\n\n".join(parts)


def cells(sources: Sequence[Source]) -> str:
    """In how many cells of the whole table another library is ahead, and in which."""
    found = load(sources[-1].path)
    behind = [each for each in contests(found) if each[1].verdict is Verdict.FASTER]
    table = text_table(CASES, [_case(found, each, PORTS) for each in behind])
    parts = [_ahead(found), *([table] if behind else []), caption(found, sources[-1].link)]
    if note := next(map(caveat, found.results[PEERS].rows), ""):
        parts.append(f"Each ratio is {note}.")
    return "\n\n".join(parts)


def contests(found: Findings) -> list[Contest]:
    """The cases that have Sealift and a library; Cipher stands for the engine where measured."""
    every = list[Contest]()
    for _, group in groupby(found.results[PEERS].rows, key=lambda row: row.group):
        arms = {str(row.subject): row for row in group if not row.wrong}
        others = [row for name, row in arms.items() if name not in OWN_ARMS and row.ratio]
        if others and (own := arms.pop(CIPHER, None) or arms.get(ENGINE)):
            every.append(({**arms, ENGINE: own}, min(others, key=lambda row: row.time.value)))
    return every


def loop_sentence(sources: Sequence[Source]) -> str:
    """The gain of a batch over a loop in Python, as judged."""
    found = load(sources[-1].path)
    rows = {str(row.subject): row for row in found.results[LOOP].rows if row.reference == PYCA_LOOP}
    if slow := [name for name in BATCHES if rows[name].verdict is not Verdict.FASTER]:
        raise ValueError(f"{slow[0]} was not shown to be faster than {PYCA_LOOP}")
    lists, columns = (estimate_text(rows[name].ratio) for name in BATCHES)
    return (
        f"That is {lists} times as fast as the loop with lists, and {columns} with numpy arrays "
        f"(16,384 messages of 128 B, 1,024 keys, one core; {_short_conditions(found)})."
    )


def gpu_sentence(sources: Sequence[Source]) -> str:
    """What a GPU seals in its own memory, and from its host's and back beside the host's cores."""
    found = load(sources[-1].path)
    gpus = found.run.machine.facts["nvidia_gpus"].value
    assert isinstance(gpus, Sequence), "the run is of one"
    gpu = str(gpus[0]).partition(",")[0]
    most = max(int(row.cell["batch"]) for row in found.results[BESIDE].rows)

    def speed(data: str, device: str) -> str:
        (row,) = found.results[BESIDE].select(data=data, device=device, batch=most)
        assert row.payload_mb_per_s is not None, "its messages have bytes"
        return f"{row.payload_mb_per_s.value / 1e3:.3g} GB/s"

    return (
        f"From host memory 8 cores seal {speed(HOST, 'cpu, 8 cores')}, and a GPU ({gpu}), fed by 8 "
        f"cores, {speed(HOST, 'cuda, laid out by 8 cores')}; in its own memory it seals "
        f"{speed('resident', 'cuda')} ({most:,} messages of 128 B, a key each; "
        f"{_short_conditions(found)})."
    )


def speed_picture_line(sources: Sequence[Source]) -> str:
    """The picture of speed by size and its conditions."""
    return (
        "![Payload speed by message size](docs/speed-by-size.svg)\n\n"
        "*MB/s by message size: AES-128-GCM, 1,024 keys, 1,024 messages a call, one thread; "
        f"[{_short_conditions(load(sources[-1].path))}]({sources[-1].link}).*"
    )


def released(library: DeviceState) -> str:
    """When its version was published, and the newest known release where that is a later one."""
    published = library.summary.removeprefix("released ")
    version, newest = newest_releases().get(library.spec, ("", ""))
    if published == library.summary or published >= newest:
        return published
    return f"{published}; **older than {version} of {newest}**"


def newest_releases() -> dict[str, tuple[str, str]]:
    """The version and the day of the newest known release of each library."""
    lines = (line for line in RELEASES.read_text("utf-8").splitlines() if line[:1] not in ("", "#"))
    # A library's last line stays.
    return {name: (version, day) for name, version, day in map(str.split, lines)}


def _ahead(found: Findings) -> str:
    verdicts = [best.verdict for _, best in contests(found)]
    even = len(verdicts) - verdicts.count(Verdict.FASTER) - verdicts.count(Verdict.SLOWER)
    return (
        f"{machine_text(found.run.machine)}: another library is ahead in "
        f"{verdicts.count(Verdict.FASTER)} of {len(verdicts)} cases, and in {even} more nobody is "
        "shown to be."
    )


def _older(then: Findings, now: Findings) -> str:
    """Which libraries a run lacked, or had in other versions than a later one."""
    before = {each.spec: each for each in then.run.machine.devices}
    words = [
        f"{was} instead of {_version(each)}" if was else f"without {each.spec}"
        for each in now.run.machine.devices
        if _version(each) != (was := _version(before.get(each.spec)))
    ]
    return f" Libraries of {then.run.plan.created[:10]}: {'; '.join(words)}." if words else ""


def _version(library: DeviceState | None) -> str:
    return re.split("[,;]", library.detail or "")[0] if library else ""


def _case(found: Findings, contest: Contest, limit: str) -> list[str]:
    arms, best = contest
    kernels, most = arms.get(KERNELS), arms.get(limit)
    share = times(found.run, kernels, most).value if kernels and most else None
    assert best.ratio, "Sealift is the reference"
    standing = format_estimate(best.ratio.inverse())
    if best.verdict is not Verdict.SLOWER:
        standing = f"**{standing}**" if best.verdict is Verdict.FASTER else f"{standing}\u202f≈"
    library = name_of(best.subject, found.plans[PEERS].names).partition(" ")[0]
    return [
        str(best.work["work"]).replace(", AES-128", ""),
        _gb_per_s(arms[ENGINE]),
        f"{100 * share:.0f}" if share else "",
        library,
        standing,
    ]


def _standing(best: Row, names: Mapping[str, str]) -> str:
    """How many times as fast as the fastest library the engine is, and whether that was shown."""
    assert best.ratio, "Sealift is the reference"
    if best.verdict is Verdict.FASTER:
        name = name_of(best.subject, names).partition(" ")[0]
        return f"**{name} {format_number(best.ratio.value)}**"
    figure = format_number(best.ratio.inverse().value)
    return figure if best.verdict is Verdict.SLOWER else f"{figure}\u202f≈"


def _message(cell: Cell) -> str:
    size_bytes = int(cell["size_bytes"])
    size = f"{size_bytes:,} B" if size_bytes % 1_024 else format_bytes(size_bytes)
    return size if cell["kind"] == SEALED else f"{size}, {cell['kind']}"


def _gb_per_s(row: Row) -> str:
    speed = row.payload_mb_per_s
    return format_number(speed.value / 1_000) if speed else ""


def _short_conditions(found: Findings) -> str:
    """For a page that names the whole machine elsewhere."""
    return f"{machine_text(found.run.machine).partition(',')[0]}, {found.run.plan.created[:10]}"


RELEASES = Path(__file__).parents[1] / "crates/sealift-peers/src/releases.txt"
PEERS, BESIDE, HOST = "peers", "gpu-beside-cpu", "host to host"
OWN_ARMS = (ENGINE, CIPHER, KERNELS, PORTS, MEMCPY) = (
    "engine",
    "cipher",
    "kernels",
    "ports",
    "memcpy",
)
SEALED = "sealed"
SHOWN = (
    "16 B",
    "128 B",
    "1 KiB",
    "4 KiB",
    "16 KiB",
    "128 B, 1 in a call",
    "128 B, one at a time by Cipher",
)
CASES = (
    "work, AES-128 unless named",
    "`Engine::run`, GB/s",
    "kernels, % of peak",
    "best other library",
    "`Engine::run`, times as fast",
)
LOOP, PYCA_LOOP = "python-loop", "pyca loop, kept AESGCM"
BATCHES = ("seal_batch, lists", "seal_batch, columns")
