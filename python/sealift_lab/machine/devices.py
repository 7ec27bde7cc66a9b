"""Devices of this machine, as a run's folder has them."""

from importlib import import_module

from sealift.cli.devices import split_specs, states
from sealift_lab.model.run import DeviceState

_lab = import_module("sealift_lab._lab")


def look() -> list[DeviceState]:
    """Every driver, and below each that is present the choices it has, as in `cpu:isa=vaes256`."""
    return [DeviceState(**state) for state in states(_lab)]  # type: ignore[arg-type]


def real_devices() -> tuple[str, ...]:
    """The present devices for users' work; `library` first, as the others are compared with it."""
    names = [driver.name for driver in _lab.drivers() if driver.role == "real"]
    return tuple(sorted(names, key=lambda name: name != REFERENCE))


def chosen_devices(text: str) -> tuple[str, ...]:
    """Devices of a list, without processors that stand for GPUs: experiments on GPUs know these.

    Raises:
        ValueError: If one is no device, or has a setting that its driver doesn't take.
        SealiftError: If one is absent.
    """
    specs = split_specs(_lab, text) if text else ()
    opened = {spec: _lab.Engine([spec]).devices[0] for spec in specs}
    return tuple(
        spec for spec, it in opened.items() if (it.driver, it.role) != ("opencl", "test only")
    )


REFERENCE = "library"
