"""Which devices are asked for on the command line."""

import re
from collections.abc import Sequence


def devices(text: str) -> tuple[str, ...]:
    """Reads a list of devices that are to be measured.

    Raises:
        ValueError: Naming the part that is no device, and what there is; of an accelerator, and of
            what the lab only compares with, why it can't be asked for.
    """
    from sealift import drivers
    from sealift.lab.devices import split_specs

    known = [driver.name for driver in drivers()]
    for part in text.split(","):
        name = re.split(r"[:(]", part.strip(), maxsplit=1)[0].casefold()
        if name in known:
            continue
        if name in ACCELERATORS:
            raise ValueError(
                f"{name!r} is an accelerator, and this version has no driver for accelerators "
                f"yet; there are {', '.join(known)}"
            )
        if users := _comparing_with(name):
            raise ValueError(
                f"{name!r} is for the lab's comparisons only, by `sealift lab run {users[0]}`"
                f"{_or(users[1:])}; here there are {', '.join(known)}"
            )
    return split_specs(text)


def _comparing_with(name: str) -> list[str]:
    """The experiments that have an arm of this name."""
    from sealift.lab import registry
    from sealift.lab.survey import this_scope

    scope = this_scope(quick=False)
    return [
        experiment.name
        for experiment in registry.all_experiments()
        if any(cell.get("device") == name for group in experiment.groups(scope) for cell in group)
    ]


def _or(names: Sequence[str]) -> str:
    return f" (or {', '.join(names)})" if names else ""


# What people call accelerators, and the ways to them. One that has a driver is known by it.
ACCELERATORS = frozenset(
    {
        "accel", "accelerator", "accelerators", "cuda", "dpu", "dpus", "dsa", "fpga", "gpu", "gpus",
        "hip", "iaa", "metal", "npu", "nvidia", "oneapi", "opencl", "pim", "qat", "rocm", "sycl",
        "tpu", "upmem", "vulkan",
    }
)  # fmt: skip
