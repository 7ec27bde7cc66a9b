"""The screen, drawn from fixed readings as text."""

import io
from collections.abc import Sequence

from rich.console import Console
from tests.lab.run import made_up as made

from sealift_lab.machine.sensors import CoreLoads
from sealift_lab.model.run import Fact
from sealift_lab.run.progress import Standing
from sealift_lab.show.live import MachineNow, Screen, frame, line

STANDING = Standing(
    made.planned(title="Messages by size", operation="message", names={"cpu": "Kernels"}),
    0.5,
    "cpu at size_bytes=128: 20.0 ns/message",
    75.0,
    1,
    {0: 40.0, 1: 20.0},
    {0: 128.0, 1: 128.0},
    2.5,
    40.0,
)
NOW = MachineNow(
    Fact(2.5),
    {
        "cpu_pressure_percent": Fact(65.3),
        "temperature_c": Fact(None, "no chip here"),
        "gpu_temperature_c": Fact(51.0),
        "gpu_clock_mhz": Fact(1_980.0),
        "gpu_limited_by_power": Fact(1.0),
    },
    CoreLoads({0: 100.0, 1: 25.0}, 0.0),
)


def drawn(width: int, now: MachineNow = NOW, standing: Standing | None = STANDING) -> Sequence[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    with console.capture() as capture:
        console.print(frame(standing, now, width, "runs/monday"))
    return [each.rstrip() for each in capture.get().splitlines()]


def test_in_80_columns_the_machine_stands_below_the_run() -> None:
    lines = drawn(80)
    assert max(map(len, lines)) <= 80
    assert lines[:2] == ["runs/monday", "by-size: Messages by size"]
    assert lines[2].endswith(f"{'█' * 28}{'·' * 28}   50 %  about 75 s left")
    assert lines[4] == "128 B messages"
    assert [each.split() for each in lines[5:7]] == [
        ["library", "3,200", "MB/s", "25.00", "M", "messages/s", "40.0", "ns", "██████······"],
        ["Kernels", "6,400", "MB/s", "50.00", "M", "messages/s", "20.0", "ns", "█" * 12],
    ]
    text = "\n".join(lines)
    for part in (
        "\nno result for 40 s\n",
        "clock        2.50 GHz",
        "load         62 %",
        "waiting      65 % of the time for a core",
        "temperature  none: no chip here",
        "GPU          1,980 MHz, 51 °C, held down by power",
        "cores         0 ████████ 100 %   1 ██······  25 %",
    ):
        assert part in text


def test_in_200_columns_they_stand_side_by_side_and_many_cores_are_a_block_each() -> None:
    cores = CoreLoads({core: core * 100 / 63 for core in range(64)}, 1.25)
    lines = drawn(200, MachineNow(NOW.clock, NOW.sensors, cores))
    assert max(map(len, lines)) <= 200
    assert lines[0].startswith("runs/monday ")
    assert lines[0].endswith("clock        2.50 GHz")
    assert any("steal        1.2 %" in each for each in lines)
    (row,) = [each for each in lines if "cores" in each]
    assert row.endswith("█|")
    assert len({*row.partition("|")[2][:-1]}) == 9


def test_without_a_run_the_machine_alone_is_shown_and_what_is_unknown_is_said() -> None:
    nothing = MachineNow(Fact(None, "not on x86-64"), {}, None)
    lines = drawn(80, nothing, None)
    assert lines[0] == "clock        none: not on x86-64"
    assert lines[1] == "load         none: no /proc/stat"
    assert not any(each.startswith("cores") for each in lines)


def test_where_no_terminal_is_a_line_has_what_is_known() -> None:
    assert line(STANDING, NOW) == (
        "by-size: 50 %, cpu at size_bytes=128: 20.0 ns/message, no result for 40 s, "
        "about 75 s left; clock 2.50 GHz, load 62 %, waiting 65 % of the time for a core, "
        "GPU 1,980 MHz, 51 °C, held down by power; cores 100 25 %"
    )


def test_a_screen_without_a_terminal_prints_a_line_after_a_second_and_then_every_ten() -> None:
    text, now_s = io.StringIO(), 0.0
    screen = Screen(Console(file=text, width=80), clock_s=lambda: now_s)
    for now_s in (0.0, 1.0, 2.0, 10.4, 10.6):  # noqa: B007 (the clock's)
        screen.draw(None)
    screen.say("\x1b[2J")
    lines = text.getvalue().splitlines()
    assert len(lines) == 3
    assert all("load " in each for each in lines[:2])
    assert lines[2] == "\\u001b[2J"
