"""Instruction sets of this processor beside three generations of CPUs (document 003, table 4).

The document compared three CPUs; here one CPU stands for older ones by using fewer of its
instructions. A quick run has all of it, a full run more blocks.
"""

from collections.abc import Iterator, Mapping, Sequence

from sealift_lab.experiments.device_names import ADVICE, NAMES
from sealift_lab.experiments.document_003 import messages, printed
from sealift_lab.measure.crypto import AXES, MANY_KEYS, crypto_cells, one_and_all
from sealift_lab.measure.oversubscription import LOAD, Load, with_load
from sealift_lab.model.experiment import Chart, Experiment, Scope
from sealift_lab.model.figure import Figure, Missing, Rate, Scaled, Times
from sealift_lab.model.published import Kind, Published, table
from sealift_lab.model.results import Results
from sealift_lab.model.values import Cell


def _cells(scope: Scope) -> Iterator[Cell]:
    works = (messages.stated(MANY_KEYS), messages.logged())
    return with_load(crypto_cells(works, devices=DEVICES, threads=one_and_all(scope)), scope)


def _published(results: Results) -> Sequence[Published]:
    both = [each for work in messages.DOCUMENT_WORK for each in _beside(results, work)]
    return [*both, _generations()]


def _beside(results: Results, work: Cell) -> Iterator[Published]:
    """All nine values, and what each CPU gained by its threads."""
    for row in table(TABLE):
        yield _value(row, work)
    cells = [{"device": "table", **work, **STANDS_FOR[test]} for test in (EVERY, ONE)]
    threads = max((int(row.cell["threads"]) for row in results.select(**cells[0])), default=0)
    none = Missing("no more than one thread was measured")
    gain = none if threads == 1 else Scaled(Times(*cells), 1 / (threads or 1))
    for cpu in dict.fromkeys(row["cpu"] for row in table(TABLE)):
        yield _gain(cpu, gain, f"messages {work['workload']}, table code, a thread a core")


def _value(row: printed.Row, work: Cell) -> Published:
    test, is_one = row["test"], row["test"] == ONE
    device = "ipp" if test == EVERY_IPP else "table"
    threads = "1 thread" if is_one else f"a thread a core; there {row['cores_as_printed']} threads"
    return printed.speed(
        ID,
        f"{row['cpu']}, {test}",
        row,
        Rate({"device": device, **work, **STANDS_FOR[test]}),
        f"messages {work['workload']}, {NAMES[device]}, {threads}",
        # Drawn once, though compared with both readings of the messages.
        test if work["workload"] == messages.STATED else "",
        {
            "device": row["cpu"],
            "threads": 1 if is_one else int(row["cores_as_printed"]),
            "load": Load.BELOW.value if is_one else Load.ALL.value,
        },
    )


def _gain(cpu: str, gain: Figure, note: str) -> Published:
    """The speed-up a thread of a CPU, since their numbers of threads differ."""
    every, one = (printed.cpu_row(cpu=cpu, test=test) for test in (EVERY, ONE))
    threads, fast, slow = int(every["cores_as_printed"]), *map(printed.mb_per_s, (every, one))
    what = f"{cpu}, speed-up a thread: {fast:g}/{slow:g} MB/s over {threads}"
    value = fast / slow / threads
    return Published(ID, what, value, "x a thread", every["source"], Kind.SLOPE, gain, note)


def _generations() -> Published:
    first, second = "i7-12700H", "i7-13620H"
    ours, other = (
        printed.mb_per_s(printed.cpu_row(cpu=cpu, test=EVERY)) for cpu in (first, second)
    )
    return printed.claim(
        ID,
        f"{first} against {second}, {EVERY}: {ours:g}/{other:g} MB/s",
        "generations",
        Kind.RATIO,
        Missing("the 12th and the 13th generation need a machine each"),
        "",
        value=ours / other,
    )


ID = "003-T4"
TABLE = "003-T4-cpu-generations"
DEVICES = ("table", "cpu:isa=aesni", "cpu:isa=vaes256", "cpu:isa=vaes512", "ipp")
ONE, EVERY, EVERY_IPP = "Thread = 1", "Threads = cores", "Threads = cores, IPP"
STANDS_FOR: Mapping[str, Cell] = {
    ONE: {"threads": 1},
    EVERY: {"load": Load.ALL.value},
    EVERY_IPP: {"load": Load.ALL.value},
}

EXPERIMENT = Experiment(
    name="instruction-sets",
    id=ID,
    title="AES-GCM by instruction set, beside CPU generations",
    question="The document compared three CPUs. How much do the instructions alone gain, on one?",
    axes=(*AXES, LOAD),
    compare="device",
    cells=_cells,
    arm=messages.message_arm,
    operation="message",
    published=_published,
    charts=tuple(
        Chart(
            "device",
            "workload",
            "MB/s",
            f"Instruction sets here, generations as published: {threads}",
            where=where,
            log_y=True,
        )
        for threads, where in (
            ("1 thread", STANDS_FOR[ONE]),
            ("a thread a core", STANDS_FOR[EVERY]),
        )
    ),
    preferred=messages.PREFERRED,
    names=messages.MESSAGE_NAMES,
    advice=ADVICE,
    notes=(
        "One CPU stands for older ones: table code without AES instructions, AES-NI, VAES on 256 "
        "and on 512 bits, and Intel's ippcp, which chooses for itself. The document's tests "
        '"Thread = 1" and "Threads = cores" stand beside table code, "IPP" beside ippcp.'
    ),
)
