"""Devices, work, machine and cards in the words that people use for them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sealift.lab.crowding import LOAD, Load
from sealift.lab.devices import Found as Device
from sealift.lab.grid import LOGGED, OF
from sealift.lab.machine import Fact
from sealift.lab.units import format_measure, format_size, keys_text
from sealift.lab.values import Cell, Value

if TYPE_CHECKING:
    from sealift import Card


def device_name(spec: str, devices: Sequence[Device] = ()) -> str:
    """A device beside others: `CPU kernels (AVX-512)`, `AWS-LC`, `GPU (cuda)`."""
    details = {each.spec: each.detail or "" for each in devices}
    code = ISAS.get(details.get(spec, "").partition(":")[0], "")
    return f"{short_name(spec)} ({code})" if spec == "cpu" and code else short_name(spec)


def short_name(spec: str) -> str:
    """A device in a sentence: `CPU kernels`, `AWS-LC`; one with settings as it is opened."""
    return f"GPU ({spec})" if _driver(spec) in GPU_DRIVERS else NAMES.get(spec, spec)


def wins(name: str) -> str:
    """`CPU kernels win`, `AWS-LC wins`."""
    return f"{name} {'win' if name.endswith('s') else 'wins'}"


def run_on(specs: Sequence[str]) -> str:
    """Where to run: `On your CPU, with Sealift's kernels`, `On your GPU (cuda)`."""
    on_cpu = [spec for spec in specs if _driver(spec) in ON_THE_CPU]
    names = ["Sealift's kernels" if spec == "cpu" else short_name(spec) for spec in on_cpu]
    parts = [f"on your CPU, with {any_of(names)}"] if names else []
    others = [short_name(spec) for spec in specs if spec not in on_cpu]
    parts += [f"on your {any_of(others)}"] if others else []
    told = ", or ".join(parts)
    return f"{told[0].upper()}{told[1:]}"


def any_of(names: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or 2 more`."""
    *most, last = names if len(names) <= 3 else (*names[:2], f"{len(names) - 2} more")
    return f"{', '.join(most)} or {last}" if most else last


def work_name(cell: Cell, mean_bytes: float | None = None) -> str:
    """`128-byte messages, sealed, 1,024 keys, both cores, batches of 1,024`.

    Args:
        cell: Of the work.
        mean_bytes: Mean size of a message where the cell's is not exact.
    """
    size = format_size(float(cell["size_bytes"]) if mean_bytes is None else mean_bytes)
    workload = str(cell["workload"])
    is_mean = OF in workload or workload == LOGGED
    bits = workload.partition(OF)[0]
    parts = [
        f"messages of {size} bytes on average" if is_mean else f"{size}-byte messages",
        bits if bits in ("AES-192", "AES-256") else "",
        done_text(cell["mix"]),
        keys_text(cell["keys"]),
        threads_name(cell),
        "one at a time" if cell["batch"] == 1 else f"batches of {cell['batch']:,}",
    ]
    return ", ".join(filter(None, parts))


def threads_name(cell: Cell) -> str:
    """`one core`, `both cores`, `all 8 cores`, `3 threads`."""
    threads = int(cell["threads"])
    if threads == 1:
        return "one core"
    if cell.get(LOAD.name) != Load.ALL:
        return f"{threads:,} threads"
    return "both cores" if threads == 2 else f"all {threads:,} cores"


def done_text(mix: Value) -> str:
    """What is done to messages: `sealed`, `opened`, `50 % sealed`."""
    weights = [float(each) for each in str(mix).split("/")]
    share = 100 * weights[0] / sum(weights)
    if share == 100:
        return "sealed"
    return f"{share:.3g} % sealed" if share else "opened"


def machine_text(facts: Mapping[str, Fact]) -> str:
    """`Intel Xeon, 2 cores, virtual machine`; what is not known is left out."""
    values = {name: fact.value for name, fact in facts.items()}
    model = str(values.get("cpu_model") or "")
    for mark in ("(R)", "(TM)", " Processor", " CPU"):
        model = model.replace(mark, "")
    cores, flags = values.get("cores_affinity"), values.get("cpu_flags")
    parts = [
        model.partition(" @")[0].strip(),
        f"{cores} {'core' if cores == 1 else 'cores'}" if cores else "",
        "virtual machine" if isinstance(flags, tuple) and "hypervisor" in flags else "",
    ]
    return ", ".join(filter(None, parts))


def measured_of(card: "Card") -> str:
    """What of a card was measured here, each a sentence behind a space; "" if nothing was."""
    return "".join(
        f" {constant.name} is {format_measure(constant.value)} {constant.unit}, {constant.source}."
        for constant in card.constants
        if constant.measured
    )


def measured_here(card: "Card") -> dict[str, dict[str, str | float]]:
    """The same for JSON: by name each value, its unit, and how it was measured."""
    return {
        constant.name: {
            "value": constant.value,
            "unit": constant.unit,
            "source": constant.source,
        }
        for constant in card.constants
        if constant.measured
    }


def fitted_of(card: "Card") -> str:
    """What of a card was fitted and how well it meets what it was fitted to, behind a space."""
    fitted = [
        f"{each.name} = {each.value:g}{each.unit and f' {each.unit}'} ({each.source})"
        for each in card.constants
        if each.fitted
    ]
    return f" Fitted: {'; '.join(fitted)}." if fitted else ""


def played_of(card: "Card") -> str:
    """What else there is of a card whose units share a host, a sentence behind a space."""
    if not any(each.name.startswith("board.") for each in card.constants):
        return ""
    return (
        " This is its closed form; `sealift lab run 'cards-*'` plays such boards event by event, "
        "with bus, memory and interrupts that units share, and constants fitted to that, so that "
        "it may say another thing of one card more or less."
    )


def same_but_size(one: Cell, other: Cell) -> bool:
    """Whether two pieces of work differ in nothing but the size of messages and of batches."""
    rest = one.keys() | other.keys()
    return all(one.get(name) == other.get(name) for name in rest - {"size_bytes", "batch"})


def _driver(spec: str) -> str:
    return spec.partition(":")[0]


# What pages call document 003, for whoever meets that name first.
DOCUMENT_003 = '"NVIDIA CUDA on CPU (± Intel oneAPI) & GP-GPU" (Ebadollahyvahed, 2024)'
NAMES = {"cpu": "CPU kernels", "library": "AWS-LC"}
ISAS = {"vaes512": "AVX-512", "vaes256": "AVX2", "aesni": "AES-NI"}
GPU_DRIVERS = ("cuda", "opencl")
# Drivers that work on the processor itself; every other one is an accelerator's.
ON_THE_CPU = frozenset({"cpu", "library", "reference", "null"})
