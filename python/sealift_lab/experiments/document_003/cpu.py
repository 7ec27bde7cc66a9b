"""AES-GCM on CPUs (document 003, figures 5 and 6 and table 4), and the document's premise.

The messages are those of the document as stated, under 1,024 keys, and as logged; full runs of the
first two experiments add the messages as stated under one key and under fresh keys, and the first
one those of which a quarter is verified, not opened and refused. The premise is
the cost of a 128-byte message by primitive, through AWS-LC under one key.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from sealift_lab.experiments.combinations import axes
from sealift_lab.experiments.document_003 import messages, tables
from sealift_lab.experiments.notes import texts
from sealift_lab.measure import crypto
from sealift_lab.measure.crypto import LOAD, MANY_KEYS, Load, crypto_cells, with_load
from sealift_lab.measure.native import native
from sealift_lab.model.arm import Arm, Cell, Context
from sealift_lab.model.experiment import Chart, Experiment, Scope
from sealift_lab.model.published import (
    Figure,
    Kind,
    Missing,
    Published,
    Rate,
    Scaled,
    Times,
    printed_claim,
)
from sealift_lab.model.results import Results
from sealift_lab.model.workload import FRESH_KEYS, ONE_KEY


def _cells_by_threads(scope: Scope) -> Iterator[Cell]:
    """Beside 1 thread, 2, and multiples of the cores, a full run has the document's 20."""
    usual = {1, 2, scope.cores, 2 * scope.cores}
    more = set() if scope.quick else {4 * scope.cores, PUBLISHED_THREADS}
    counts = scope.threads or sorted(usual | more)
    works, devices = (messages.stated(MANY_KEYS), messages.logged()), ("library", "cpu", TABLE_CODE)
    yield from with_load(crypto_cells(works, devices=devices, threads=counts), scope)
    if not scope.quick:
        few = [count for count in counts if count <= scope.cores]
        others = messages.stated(ONE_KEY), messages.stated(FRESH_KEYS), messages.verified(MANY_KEYS)
        yield from with_load(crypto_cells(others, devices=devices, threads=few), scope)


def _published_by_threads(results: Results) -> Iterator[Published]:
    speed, claim = (partial(each, "003-F5") for each in (tables.speed, printed_claim))
    of_one, of_all = (tables.cpu_row(cpu=CPU, test=test) for test in (ONE, EVERY))
    all_threads = f"AES-GCM, {PUBLISHED_THREADS} threads"
    there = f"there {PUBLISHED_THREADS} threads on as many hardware threads, of 6 + 8 cores"
    counts = {
        load: {int(row.cell["threads"]) for row in results.select(**{LOAD.name: load.value})}
        for load in Load
    }
    # The most threads below the cores, as many as cores, and the fewest that share cores.
    most = {max(counts[load], default=1) for load in (Load.BELOW, Load.ALL)} - {1}
    over = min(counts[Load.OVER], default=0)
    for work in messages.DOCUMENT_WORK:
        where: Cell = {"device": TABLE_CODE, **work}
        one, every = {**where, "threads": 1}, {**where, **A_THREAD_A_CORE}
        note, at = f"messages {work['workload']}, table code", {"workload": work["workload"]}
        yield speed("AES-GCM, 1 thread", of_one, Rate(one), note, CPU, {**at, "threads": 1})
        at, text = {**at, "threads": PUBLISHED_THREADS}, f"{note}, a thread a core; {there}"
        yield speed(all_threads, of_all, Rate(every), text, CPU, at)
        exact, text = Rate({**where, "threads": PUBLISHED_THREADS}), f"{note}, as many threads"
        yield speed(all_threads, of_all, exact, f"{text}; {there}")
        text = f"{note}; printed for N threads, N < cores"
        for threads in sorted(most) or [1]:
            here: Figure = Missing("no several threads with a core each were measured")
            if threads > 1:
                here = Scaled(Times({**where, "threads": threads}, one), 1 / threads)
            what = f"speed-up a thread, {threads if threads > 1 else 'N'} threads against 1"
            yield claim(what, "thread-scaling", Kind.SLOPE, here, text, unit="x a thread")
        what = "our reading: a thread a core is faster than more threads than cores"
        here = Missing("no more threads than cores were measured")
        if over:
            here = Times(every, {**where, "threads": over})
        text = f"a thread a core against {over or 'more'} threads; printed is a cause, not a figure"
        yield claim(what, "oversubscribe", Kind.READING, here, f"{note}, {text}")


def _cells_of_libraries(scope: Scope) -> Iterator[Cell]:
    regimes = (MANY_KEYS,) if scope.quick else crypto.REGIMES
    works = (*map(messages.stated, regimes), messages.logged())
    devices = (TABLE_CODE, "cpu", "library", VENDOR)
    return with_load(crypto_cells(works, devices=devices, threads=crypto.one_and_all(scope)), scope)


def _published_libraries(_: Results) -> Iterator[Published]:
    claimed = tables.claim_value("ipp") / 100
    for work in messages.DOCUMENT_WORK:
        note = f"messages {work['workload']}, a thread a core; there {PUBLISHED_THREADS} threads"
        at: Cell = {"threads": PUBLISHED_THREADS, "workload": work["workload"]}
        code, vendor = (
            {"device": device, **work, **A_THREAD_A_CORE} for device in (TABLE_CODE, VENDOR)
        )
        for how, name, test, where in (
            ("without IPP", "table code", EVERY, code),
            ("with IPP", "ippcp", EVERY_IPP, vendor),
        ):
            what, row = f"AES-GCM {how}, 20 threads", tables.cpu_row(cpu=CPU, test=test)
            series = f"{CPU} {how}"
            yield tables.speed("003-F6", what, row, Rate(where), f"{name}, {note}", series, at)
        times, note = Times(vendor, code), f"ippcp against table code, {note}"
        for cpu in (CPU, "i7-11370H", "i7-13620H"):
            rows = [tables.cpu_row(cpu=cpu, test=test) for test in (EVERY_IPP, EVERY)]
            fast, slow = map(tables.mb_per_s, rows)
            what, source = f"boost by IPP on {cpu}: {fast:.0f}/{slow:.0f} MB/s", rows[0]["source"]
            yield Published("003-F6", what, fast / slow, "x", source, Kind.RATIO, times, note)
        note = f"{note}; {claimed:g} times, or {claimed + 1:g} if that is what the library adds"
        what = "boost by IPP, around"
        yield printed_claim("003-F6", what, "ipp", Kind.RATIO, times, note, value=claimed)


def _cells_of_sets(scope: Scope) -> Iterator[Cell]:
    works = messages.stated(MANY_KEYS), messages.logged()
    sets = (f"cpu:isa={name}" for name in ("aesni", "vaes256", "vaes512"))
    devices = (TABLE_CODE, *sets, VENDOR)
    return with_load(crypto_cells(works, devices=devices, threads=crypto.one_and_all(scope)), scope)


def _published_sets(results: Results) -> Iterator[Published]:
    """All nine values, what each CPU gained by its threads, and two generations."""
    every = {row["cpu"]: row for row in tables.CPUS if row["test"] == EVERY}
    for work in messages.DOCUMENT_WORK:
        yield from (_value_of_sets(row, work) for row in tables.CPUS)
        code = {"device": TABLE_CODE, **work}
        all_threads, one = {**code, **A_THREAD_A_CORE}, {**code, "threads": 1}
        counts = (int(row.cell["threads"]) for row in results.select(**all_threads))
        threads = max(counts, default=0)
        gain: Figure = Missing("no more than one thread was measured")
        if threads != 1:
            gain = Scaled(Times(all_threads, one), 1 / (threads or 1))
        for cpu, row in every.items():
            fast, slow = map(tables.mb_per_s, (row, tables.cpu_row(cpu=cpu, test=ONE)))
            cores = int(row["cores_as_printed"])
            what = f"{cpu}, speed-up a thread: {fast:g}/{slow:g} MB/s over {cores}"
            note = f"messages {work['workload']}, table code, a thread a core; there {cores}"
            value, unit, source = fast / slow / cores, "x a thread", row["source"]
            yield Published("003-T4", what, value, unit, source, Kind.SLOPE, gain, note)
    first, second = CPU, "i7-13620H"
    ours, other = (tables.mb_per_s(every[cpu]) for cpu in (first, second))
    what = f"{first} against {second}, {EVERY}: {ours:g}/{other:g} MB/s"
    none, value = Missing("the 12th and the 13th generation need a machine each"), ours / other
    singles = [tables.mb_per_s(tables.cpu_row(cpu=cpu, test=ONE)) for cpu in (first, second)]
    note = "one thread of each: {:g} and {:g} MB/s".format(*singles)
    yield printed_claim("003-T4", what, "generations", Kind.RATIO, none, note, value=value)


def _value_of_sets(row: tables.Row, work: Cell) -> Published:
    test, is_one, cores = row["test"], row["test"] == ONE, int(row["cores_as_printed"])
    device, load = VENDOR if test == EVERY_IPP else TABLE_CODE, Load.BELOW if is_one else Load.ALL
    where = {"device": device, **work, **({"threads": 1} if is_one else A_THREAD_A_CORE)}
    threads = "1 thread" if is_one else f"a thread a core; there {cores}"
    note = f"messages {work['workload']}, {messages.NAMES[device]}, {threads}"
    # Drawn once, though compared with both readings of the messages.
    series = test if work["workload"] == messages.STATED else ""
    at: Cell = {"device": row["cpu"], "threads": 1 if is_one else cores, "load": load.value}
    return tables.speed("003-T4", f"{row['cpu']}, {test}", row, Rate(where), note, series, at)


def _cells_of_primitives(scope: Scope) -> Iterator[Cell]:
    for threads in scope.threads or (1,):
        for name in (*KEY_BITS, *(other for _, _, others in SUITES for other in others)):
            yield {"primitive": name, "message_bytes": messages.STATED_BYTES, "threads": threads}


def _primitive_arm(cell: Cell, context: Context) -> Arm:
    name, threads = str(cell["primitive"]), int(cell["threads"])
    if name in KEY_BITS:
        work = crypto.sized(int(cell["message_bytes"]), ONE_KEY, key_bits=KEY_BITS[name])
        (crypto_cell,) = crypto_cells([work], devices=["library"], threads=[threads])
        return crypto.crypto_arm(crypto_cell, context)
    # `ECDSA P-256 sign` is `ecdsa-p256-sign` there.
    of = {"message_bytes": cell["message_bytes"], "threads": threads}
    name = name.lower().replace(" p-", "-p").replace(" ", "-")
    return native("primitive", context, name=name, **of)


def _published_primitives(results: Results) -> Iterator[Published]:
    """The document claims no speed: that AES-GCM costs the least of its suite is our reading."""
    threads = min((int(row.cell["threads"]) for row in results.rows), default=1)
    for suite, aes_gcm, others in SUITES:
        for other in others:
            what = f"our reading: cheapest a message, suite {suite}: AES-GCM against {other}"
            note, at = f"{aes_gcm}, one key; printed of no speed", {"threads": threads}
            times = Times({"primitive": aes_gcm, **at}, {"primitive": other, **at})
            yield printed_claim("003-P0", what, "aes-gcm-best", Kind.READING, times, note)


# The CPU of figures 5 and 6, and the tests of table 4.
CPU, PUBLISHED_THREADS = "i7-12700H", 20
ONE, EVERY, EVERY_IPP = "Thread = 1", "Threads = cores", "Threads = cores, IPP"
A_THREAD_A_CORE: Cell = {"load": Load.ALL.value}
TABLE_CODE, VENDOR = "table", "ipp"
KEY_BITS = {"AES-128-GCM": 128, "AES-256-GCM": 256}
SUITES: Sequence[tuple[int, str, Sequence[str]]] = (
    (1, "AES-128-GCM", ("SHA-256", "ECDSA P-256 sign", "ECDSA P-256 verify")),
    (2, "AES-256-GCM", ("ECDSA P-384 sign", "ECDSA P-384 verify")),
)
BESIDE = "Instruction sets here, generations as published"
_on_cores = partial(
    Experiment,
    axes=(*crypto.AXES, LOAD),
    compare="device",
    arm=messages.message_arm,
    preferred=messages.PREFERRED,
    names=messages.MESSAGE_NAMES,
    advice=messages.ADVICE,
)

BY_THREADS = _on_cores(
    **texts(__package__, "aes-gcm-by-threads"),
    id="003-F5",
    cells=_cells_by_threads,
    published=lambda results: [*_published_by_threads(results)],
    charts=(
        messages.thread_chart("AES-GCM by CPU threads", messages.STATED),
        messages.thread_chart("AES-GCM by CPU threads", messages.LOGGED),
        messages.thread_chart("Messages a second by CPU threads", messages.LOGGED, "operations/s"),
    ),
    weight=1.5,
)
VENDOR_LIBRARY = _on_cores(
    **texts(__package__, "vendor-library"),
    id="003-F6",
    cells=_cells_of_libraries,
    published=lambda results: [*_published_libraries(results)],
    charts=(
        messages.thread_chart("With and without a vendor's library", messages.STATED),
        messages.thread_chart("With and without a vendor's library", messages.LOGGED),
    ),
)
INSTRUCTION_SETS = _on_cores(
    **texts(__package__, "instruction-sets"),
    id="003-T4",
    cells=_cells_of_sets,
    published=lambda results: [*_published_sets(results)],
    charts=tuple(
        Chart("device", "workload", "MB/s", f"{BESIDE}: {threads}", "", where, log_y=True)
        for threads, where in (("1 thread", {"threads": 1}), ("a thread a core", A_THREAD_A_CORE))
    ),
)
PREMISE = Experiment(
    **texts(__package__, "premise"),
    id="003-P0",
    axes=axes(primitive="primitive", message_bytes="message, bytes", threads="threads"),
    compare="primitive",
    cells=_cells_of_primitives,
    arm=_primitive_arm,
    published=lambda results: [*_published_primitives(results)],
    charts=(Chart("primitive", "threads", "time", "Cost of a message of 128 bytes", log_y=True),),
    weight=0.5,
)
