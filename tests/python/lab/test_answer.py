"""Where to run: one recommendation, one number, and no word more than the rows allow."""

import re
from dataclasses import asdict, replace

import pytest

from made_rows import BY_SIZE, another, found, pair
from sealift.lab.answer import NOTHING, Answer, Bar, answer, answer_of, bars_text, missing_bars
from sealift.lab.crowding import Load
from sealift.lab.devices import Found as Device
from sealift.lab.devices import look
from sealift.lab.result import Found, Origin, Row, Verified
from sealift.lab.stats import Interval, Verdict
from sealift.lab.store import Run, Surroundings, read
from sealift.lab.summary import summarise
from sealift.lab.wording import GPU_DRIVERS, ON_THE_CPU
from synthetic_run import SURROUNDINGS, made, write_run

THREADS = "aes-gcm-by-threads"
LINKS = (
    ("Page", "runs/2026-11-24T075408Z/report.html"),
    ("Your load", "sealift advise --size 128 --keys 5000 --rate 40k"),
)
ON_CPU = "On your CPU, with Sealift's kernels"
BOTH = "On your CPU, with AWS-LC or Sealift's kernels"


def device(spec: str, reason: str | None = None, role: str = "real") -> Device:
    state = "absent" if reason else "present"
    detail = "vaes512: wide" if spec == "cpu" else None
    return Device(spec, spec.partition(":")[0], state, role, detail, None, reason, spec)


CPU = (device("cpu"), device("library"))
NO_GPU = (*CPU, device("cuda", "libcuda.so.1 is missing"), device("opencl", "no loader"))


def on(*devices: Device) -> Surroundings:
    return replace(SURROUNDINGS, devices=devices)


def of(rows: list[Row], *devices: Device, lacking: str = "") -> Answer:
    return answer(found(rows), on(*devices) if devices else None, lacking=lacking)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A made-up quick run of everything."""
    return read(write_run(tmp_path_factory.mktemp("runs") / "quick", made()))


def test_the_answer_is_a_recommendation_a_number_a_basis_and_bars() -> None:
    said = of(pair(2.41, Verdict.FASTER), *NO_GPU)
    assert said.question == "Where should my bulk encryption run?"
    assert said.headline == ON_CPU
    assert said.figure == "2.41× AWS-LC [2.36–2.46]"
    assert said.basis == "128-byte messages, sealed, one key, one core, batches of 1,024"
    assert [(bar.name, bar.text) for bar in said.bars] == [
        ("CPU kernels (AVX-512)", "24.1 M messages/s"),
        ("AWS-LC", "10.0 M messages/s"),
        ("GPU", "none in this machine"),
    ]
    assert said.machine == "A made-up <processor> & more, 2 cores, virtual machine"
    assert (said.noise_text, said.disturbed_text) == ("noise ±1.0 %", "0 % of samples disturbed")
    assert said.care == ()


def test_the_text_is_the_answer_first_and_the_next_command_last() -> None:
    rows = [*pair(2.41, Verdict.FASTER), *pair(1.2, Verdict.FASTER, size_bytes=16_384)]
    machine = on(*NO_GPU)
    cpu = replace(machine.facts["cpu_model"], value="Intel(R) Xeon(R) Processor")
    machine = replace(machine, facts={**machine.facts, "cpu_model": cpu})
    assert answer(found(rows), machine).text(*LINKS) == GOLDEN


def test_the_answer_of_a_quick_run_is_short_and_plain(run: Run) -> None:
    said = answer_of(run, summarise(run))
    assert said is not None
    assert said.headline == ON_CPU
    text = said.text(*LINKS)
    assert len(text.split()) < 80
    assert len(text.splitlines()) <= 15
    assert max(map(len, text.splitlines())) <= 80
    assert text.replace("\n", "").isprintable()
    assert "none in this machine" in text


SHORTFALL = (
    "Interrupted after about 2 of 60 s, with 30 of 200 blocks, as few as 3 for some work (verdicts "
    "need 8)."
)


@pytest.mark.parametrize("more", [0, 1, 2, 5])
@pytest.mark.parametrize("verdict", [Verdict.FASTER, Verdict.SAME, Verdict.UNSURE])
@pytest.mark.parametrize("lacking", ["", SHORTFALL])
def test_however_many_devices_and_reasons_for_care_there_are_the_answer_is_short(
    more: int, verdict: Verdict, lacking: str
) -> None:
    ratio = 2.0 if verdict is Verdict.FASTER else 1.0
    rows = pair(ratio, verdict, machine_busy=True, steady=False)
    rows += [another(rows[1], f"cpu:isa=aesni,batch={place}") for place in range(more)]
    rows += pair(1.0, Verdict.UNSURE, size_bytes=16_384, steady=False)
    said = of(rows, *NO_GPU, lacking=lacking)
    assert len(said.bars) == 3 + more
    assert len(said.care) >= 2
    text = said.text(*LINKS)
    assert len(text.split()) < 80
    assert len(text.splitlines()) <= 15
    assert max(map(len, text.splitlines())) <= 80
    assert said.care[0] in " ".join(text.split())
    assert LINKS[0][1] in text
    left_out = re.search(r"\n  and (\d+) more\n", text)
    drawn = sum("messages/s" in line for line in text.splitlines()) + ("GPU  " in text)
    assert drawn + (int(left_out[1]) if left_out else 0) == len(said.bars)


def test_a_reason_why_a_device_has_no_bar_is_cut_at_the_end_of_the_line() -> None:
    (line,) = bars_text([Bar("cuda", "GPU (cuda)", None, "was not measured: " + "why " * 30)], 3)
    assert len(line) <= 78
    assert line.startswith("GPU (cuda)  was not measured: why")
    assert line.endswith("why…")


def test_the_answer_goes_to_the_reference_when_that_wins() -> None:
    said = of(pair(0.5, Verdict.SLOWER))
    assert (said.headline, said.figure) == (
        "On your CPU, with AWS-LC",
        "2.00× CPU kernels [1.96–2.04]",
    )
    assert [bar.device for bar in said.bars] == ["library", "cpu"]


def test_a_gpu_that_wins_is_recommended() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    fast = Interval(9.0, 8.9, 9.1, 0.95, 30)
    cuda = another(cpu, "cuda", ratio=fast, ns_per_operation=Interval(11.0, 10.9, 11.1, 0.95, 30))
    said = of([library, replace(cpu, winner=False), cuda], *CPU, device("cuda"))
    assert (said.headline, said.figure) == ("On your GPU (cuda)", "9.00× AWS-LC [8.90–9.10]")
    assert [bar.name for bar in said.bars] == ["GPU (cuda)", "CPU kernels (AVX-512)", "AWS-LC"]
    assert [bar.is_advised for bar in said.bars] == [True, False, False]


@pytest.mark.parametrize(
    ("rows", "headline", "figure"),
    [
        (
            pair(1.0, Verdict.SAME),
            f"{BOTH}: they differ by less than 2.0 %",
            "CPU kernels 1.00× AWS-LC [0.980–1.02]",
        ),
        (
            pair(1.0, Verdict.SAME, noise_floor=0.045),
            f"{BOTH}: they differ by less than 4.5 %",
            "CPU kernels 1.00× AWS-LC [0.980–1.02]",
        ),
        (
            pair(1.02, Verdict.UNSURE),
            "Not settled: AWS-LC or CPU kernels (99 % interval crosses the noise)",
            "CPU kernels 1.02× AWS-LC [1.00–1.04]",
        ),
        (
            pair(1.5, Verdict.UNSURE, machine_busy=True),
            "Not settled: AWS-LC or CPU kernels (machine busy)",
            "CPU kernels 1.50× AWS-LC [1.47–1.53]",
        ),
        (
            pair(3.0, Verdict.UNSURE, noise_floor=0.25),
            "Not settled: AWS-LC or CPU kernels (noise floor over 10 %)",
            "CPU kernels 3.00× AWS-LC [2.94–3.06]",
        ),
        (
            [replace(row, blocks=7) for row in pair(1.5, Verdict.UNSURE)],
            "Not settled: AWS-LC or CPU kernels (fewer than 8 blocks)",
            "CPU kernels 1.50× AWS-LC [1.47–1.53]",
        ),
        (
            pair(2.0, Verdict.FASTER)[:1],
            "On your CPU, with AWS-LC, the only device measured",
            "10.0 M messages/s [9.80 M–10.1 M]",
        ),
    ],
    ids=["tie", "noisy tie", "unsettled", "busy", "noisy", "short", "one device"],
)
def test_without_a_winner_the_headline_says_so(rows: list[Row], headline: str, figure: str) -> None:
    said = of(rows)
    assert (said.headline, said.figure) == (headline, figure)
    assert any(bar.is_advised for bar in said.bars) is not headline.startswith("Not settled")


def test_devices_equal_to_the_reference_are_not_said_to_be_equal_to_each_other() -> None:
    library, cpu = pair(1.0, Verdict.SAME)
    said = of([library, cpu, another(cpu, "cpu:isa=aesni")])
    assert said.headline.endswith(": each differs from AWS-LC by less than 2.0 %")


def test_two_equal_devices_above_a_slower_one_are_a_tie_of_two() -> None:
    library, cpu = pair(1.0, Verdict.SAME)
    said = of([library, cpu, another(cpu, "cuda", verdict=Verdict.SLOWER, winner=False)])
    assert said.headline == f"{BOTH}: they differ by less than 2.0 %"


@pytest.mark.parametrize("verdict", [Verdict.SAME, Verdict.UNSURE, Verdict.SLOWER])
def test_a_winner_without_a_verdict_is_not_recommended(verdict: Verdict) -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    assert of([library, replace(cpu, verdict=verdict)]).headline.startswith("Not settled: ")


@pytest.mark.parametrize("verdict", [Verdict.SAME, Verdict.UNSURE, Verdict.FASTER])
def test_a_winning_reference_without_a_verdict_is_not_recommended(verdict: Verdict) -> None:
    library, cpu = pair(0.5, Verdict.SLOWER)
    assert of([library, replace(cpu, verdict=verdict)]).headline.startswith("Not settled: ")


def test_a_third_device_does_not_turn_a_lead_over_the_reference_into_a_win() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    third = another(cpu, "cuda", ratio=Interval(2.01, 1.97, 2.05, 0.95, 30))
    told = of([library, cpu, third]).headline
    assert told == "Not settled: CPU kernels or GPU (cuda) (judged by library only)"


def test_two_devices_equal_to_a_beaten_reference_are_not_known_to_be_equal() -> None:
    library, cpu = pair(1.01, Verdict.SAME)
    said = of([replace(library, winner=False), cpu, another(cpu, "cuda")])
    assert said.headline.startswith("Not settled: CPU kernels or GPU (cuda)")


def test_a_peer_that_is_no_device_is_no_advice_even_when_it_is_fastest() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    peer = another(cpu, "ipp", ratio=Interval(9.0, 8.9, 9.1, 0.95, 30), winner=True)
    said = answer(found([library, replace(cpu, winner=False), peer], ipp="lab only"))
    assert said.headline == ON_CPU
    assert "ipp" not in said.text()


def test_of_several_behind_a_peer_none_is_known_to_be_the_fastest() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    cuda = another(cpu, "cuda", winner=False)
    peer = another(cpu, "ipp", winner=True)
    said = answer(found([library, replace(cpu, winner=False), cuda, peer], ipp="lab only"))
    assert said.headline.startswith("Not settled: CPU kernels or GPU (cuda)")


def test_threads_that_share_cores_are_no_advice() -> None:
    rows = [
        replace(row, cell={**row.cell, "load": load})
        for threads, load, ratio, verdict in (
            (2, Load.ALL, 2.0, Verdict.FASTER),
            (8, Load.OVER, 0.5, Verdict.SLOWER),
        )
        for row in pair(ratio, verdict, threads=threads, experiment=THREADS)
    ]
    assert of(rows).headline == ON_CPU


@pytest.mark.parametrize(
    "none",
    [
        {},
        found(pair(2.0, Verdict.FASTER), library="oracle"),
        found(pair(2.0, Verdict.FASTER, experiment="own-experiment")),
    ],
    ids=["nothing", "no real reference", "another experiment"],
)
def test_without_a_comparison_of_real_devices_there_is_no_answer(none: dict[str, Found]) -> None:
    said = answer(none)
    assert (said.headline, said.figure, said.bars) == (NOTHING, "", ())


def test_a_device_that_computed_something_wrong_is_told_and_never_advised() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    facts = {"role": "real"}
    verified = [
        Verified(BY_SIZE, library.cell, facts),
        Verified(BY_SIZE, cpu.cell, facts, wrong="a tag differs"),
    ]
    said = answer({BY_SIZE: Found([library, replace(cpu, wrong="a tag differs")], verified)})
    assert said.headline == "On your CPU, with AWS-LC, the only device measured"
    assert said.care == ("cpu computed something wrong, so its times don't count.",)
    assert said.care[0] in " ".join(said.text().split())


def test_a_winner_of_other_sizes_keeps_the_headline_from_being_plain() -> None:
    larger = [
        *pair(3.0, Verdict.FASTER, size_bytes=128),
        *pair(1.0, Verdict.SAME, size_bytes=1_024),
        *pair(0.5, Verdict.SLOWER, size_bytes=8_192),
        *pair(0.5, Verdict.SLOWER, size_bytes=16_384),
    ]
    assert of(larger).headline == f"{ON_CPU}; AWS-LC from 8 KiB"
    smaller = [*pair(0.5, Verdict.SLOWER, size_bytes=64), *pair(3.0, Verdict.FASTER)]
    assert of(smaller).headline == f"{ON_CPU}; AWS-LC up to 64 B"


@pytest.mark.parametrize(
    "others",
    [
        [
            *pair(0.5, Verdict.SLOWER, size_bytes=8_192),
            *pair(1.0, Verdict.UNSURE, size_bytes=16_384),
        ],
        [
            *pair(1.0, Verdict.UNSURE, size_bytes=8_192),
            *pair(0.5, Verdict.SLOWER, size_bytes=8_192, keys="fresh"),
        ],
    ],
    ids=["an unsettled one in it", "wins under other keys"],
)
def test_no_range_of_sizes_is_claimed_that_was_not_shown_whole(others: list[Row]) -> None:
    said = of([*pair(3.0, Verdict.FASTER), *others])
    assert said.headline == f"{ON_CPU}; AWS-LC for 1 of 2 other workloads"


def test_work_without_a_winner_does_not_keep_the_headline_from_being_plain() -> None:
    rows = [*pair(3.0, Verdict.FASTER), *pair(1.0, Verdict.SAME, size_bytes=16_384)]
    assert of(rows).headline == ON_CPU


def test_the_headline_is_for_128_bytes_the_documents_messages_many_keys_and_all_cores() -> None:
    def basis(*rows: Row) -> str:
        return of(list(rows)).basis

    sizes = [
        row for size in (16, 128, 16_384) for row in pair(2.0, Verdict.FASTER, size_bytes=size)
    ]
    stated = pair(1.5, Verdict.FASTER, workload="as stated", experiment=THREADS, keys="fresh")
    assert basis(*sizes).startswith("128-byte messages")
    assert "a fresh key each" in basis(*sizes, *stated)
    keys = [
        row
        for name in ("one", "sessions:1024", "fresh")
        for row in pair(2.0, Verdict.FASTER, keys=name)
    ]
    assert "1,024 keys" in basis(*keys)
    threads = [
        replace(row, cell={**row.cell, "load": load})
        for count, load in ((1, Load.BELOW), (2, Load.ALL), (4, Load.OVER))
        for row in pair(2.0, Verdict.FASTER, threads=count)
    ]
    assert "both cores" in basis(*threads)


def test_a_settled_piece_of_work_goes_before_an_open_one_which_is_counted() -> None:
    rows = [*pair(1.0, Verdict.UNSURE, threads=2), *pair(2.0, Verdict.FASTER, keys="fresh")]
    said = of(rows)
    assert (said.headline, "a fresh key each" in said.basis) == (ON_CPU, True)
    assert said.care == ("Not settled: 1 of 1 other workloads.",)


def test_a_headline_that_a_busy_or_drifting_machine_measured_says_so() -> None:
    assert of(pair(2.0, Verdict.FASTER, machine_busy=True, steady=False)).care == (
        "The machine was busy: measure again.",
        "Speeds drifted during 1 of 1 workloads.",
    )


def test_what_a_run_lacks_is_told_first() -> None:
    lacking = "Interrupted after about 3 of 60 s."
    said = of(pair(2.0, Verdict.FASTER, machine_busy=True), lacking=lacking)
    assert said.care[0] == lacking
    assert lacking in said.text()


def test_where_nothing_is_settled_all_of_it_is_counted() -> None:
    rows = [row for size in (16, 128, 1_024) for row in pair(1.0, Verdict.UNSURE, size_bytes=size)]
    said = of(rows)
    assert said.headline.startswith("Not settled: ")
    assert said.care == ("Not settled: 2 of 2 other workloads.",)


def test_where_ones_own_work_is_open_it_is_told_who_won_other_work() -> None:
    own = pair(1.0, Verdict.UNSURE)
    rows = [*own, *pair(2.0, Verdict.FASTER, size_bytes=16)]
    work = {name: value for name, value in own[0].cell.items() if name != "device"}
    said = answer(found(rows), own=work)
    assert said.headline.startswith("Not settled: ")
    assert said.care == ("Of 1 other workloads CPU kernels won 1.",)


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        (
            {16: Verdict.FASTER, 128: Verdict.FASTER, 1_024: Verdict.FASTER},
            "CPU kernels win from 16 B to 1 KiB.",
        ),
        (
            {16: Verdict.FASTER, 128: Verdict.UNSURE, 1_024: Verdict.FASTER},
            "CPU kernels win at 16 B and at 1 KiB; not settled at 128 B.",
        ),
        (
            {16: Verdict.FASTER, 128: Verdict.SAME, 1_024: Verdict.SLOWER},
            "CPU kernels win at 16 B; no difference at 128 B; AWS-LC wins at 1 KiB.",
        ),
        (
            {
                size: Verdict.FASTER if place % 2 else Verdict.SLOWER
                for place, size in enumerate((16, 32, 64, 128, 256))
            },
            "AWS-LC wins at 3 of 5 sizes; CPU kernels win at 2 of 5 sizes.",
        ),
        ({128: Verdict.FASTER}, ""),
    ],
    ids=["all", "one open", "changes", "to and fro", "one size"],
)
def test_it_is_told_at_which_sizes_which_device_wins(
    outcomes: dict[int, Verdict], told: str
) -> None:
    ratios = {Verdict.FASTER: 2.0, Verdict.SLOWER: 0.5}
    rows = [
        row
        for size, verdict in outcomes.items()
        for row in pair(ratios.get(verdict, 1.0), verdict, size_bytes=size)
    ]
    assert of(rows).sizes == told


@pytest.mark.parametrize(
    ("mix", "keys", "told"),
    [
        ("0/100/0", "fresh", "128-byte messages, opened, a fresh key each, "),
        ("50/25/25", "sessions:64", "128-byte messages, 50 % sealed, 64 keys, "),
    ],
)
def test_the_basis_says_what_is_done_under_which_keys(mix: str, keys: str, told: str) -> None:
    rows = [
        replace(row, cell={**row.cell, "mix": mix}) for row in pair(2.0, Verdict.FASTER, keys=keys)
    ]
    assert of(rows).basis.startswith(told)


@pytest.mark.parametrize(
    ("devices", "told"),
    [
        ((), []),
        (CPU, []),
        (NO_GPU, ["none in this machine"]),
        ((*CPU, device("cuda")), ["not measured: --devices cuda"]),
        ((*CPU, device("opencl", role="test only")), ["none in this machine"]),
    ],
    ids=["not known", "no driver", "absent", "not measured", "a processor in its place"],
)
def test_gpus_have_a_line_where_none_was_measured(
    devices: tuple[Device, ...], told: list[str]
) -> None:
    assert [bar.note for bar in missing_bars(devices, ["cpu", "library"])] == told
    assert missing_bars(devices, ["cuda:1"]) == ()


def test_bars_are_as_long_as_rates_are_high_and_projected_ones_are_shaded() -> None:
    def bar(name: str, rate: float, origin: Origin = Origin.MEASURED) -> Bar:
        return Bar(name, name, Interval(rate, rate, rate, 0.95, 8), origin=origin)

    bars = [bar("fast", 20e6), bar("half", 10e6), bar("card", 5e6, Origin.PROJECTED)]
    fast, half, card, gpu = bars_text([*bars, Bar("gpu", "GPU", None, "none")], 3)
    assert fast.count("█") == 28
    assert half.count("█") == 14
    assert card.count("░") == 7
    assert card.endswith("5.00 M messages/s (projected)")
    assert gpu == "GPU   none"
    tiny = bars_text([bar("fast", 20e6), bar("slow", 1.0)], 3)[1]
    assert re.search(r"slow  ▏ +1.00 messages/s", tiny)


def test_an_answer_can_be_written_as_json() -> None:
    assert asdict(of(pair(2.0, Verdict.FASTER)))["bars"][0]["rate"]["median"] == pytest.approx(20e6)


def test_it_is_known_of_every_driver_whether_it_works_on_the_processor() -> None:
    alone = {device.driver for device in look() if not device.is_incomplete}
    assert alone - {*GPU_DRIVERS} == ON_THE_CPU


GOLDEN = """\
Where should my bulk encryption run?

  On your CPU, with Sealift's kernels: 2.41× AWS-LC [2.36–2.46]
  128-byte messages, sealed, one key, one core, batches of 1,024

  CPU kernels (AVX-512)  ████████████████████████████  24.1 M messages/s
  AWS-LC                 ███████████▋                  10.0 M messages/s
  GPU                    none in this machine

  Intel Xeon, 2 cores, virtual machine: noise ±1.0 %, 0 % of samples disturbed.
  CPU kernels win from 128 B to 16 KiB.

  Page       runs/2026-11-24T075408Z/report.html
  Your load  sealift advise --size 128 --keys 5000 --rate 40k
"""
