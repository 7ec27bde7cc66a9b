"""machine.json: the machine, its devices and its sensors when a run begins."""

from sealift_lab._lab import effective_clock_ghz
from sealift_lab.machine import devices
from sealift_lab.machine.facts import describe
from sealift_lab.machine.sensors import Sensors
from sealift_lab.model.run import Fact, Surroundings


def surroundings() -> Surroundings:
    """Looks at everything once; opens each device, so it takes a second or two."""
    clock_ghz = effective_clock_ghz()
    return Surroundings(
        facts=describe() | {"core_clock_ghz": Fact(clock_ghz, None if clock_ghz else NO_CLOCK)},
        devices=devices.look(),
        sensors=Sensors().look(),
    )


NO_CLOCK = "cycles of a multiplication are known on x86-64 only"
