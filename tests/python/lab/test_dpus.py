"""Document 000's DPUs: what is simulated and projected of them beside what it printed."""

import html
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sealift import InputError
from sealift._sealift import DpuSystem, dpu_systems, run_dpu_kernel, run_dpu_messages
from sealift.cli.ended import summary
from sealift.lab import plot, registry, report, runner, store
from sealift.lab.dpus import SYSTEMS, Direction, cycles_a_byte, fitted, latency, transfers
from sealift.lab.dpus.amounts import AMOUNTS, SIMULATED_MOST, chunk_bytes, taken
from sealift.lab.dpus.cores import Cores, Speed, cores_of
from sealift.lab.dpus.crossing import standing
from sealift.lab.dpus.kernel import CTR, ECB, ECB_FED, GCM, GHASH
from sealift.lab.dpus.literal import literal
from sealift.lab.experiments import (
    dpu_amounts,
    dpu_claims,
    dpu_projection,
    memory_contention,
)
from sealift.lab.published import Kind, Match, table
from sealift.lab.result import Found, Lead, Origin, Row, Verified
from sealift.lab.spec import Context, Experiment, Line, Plot, Scope
from sealift.lab.stats import Interval
from sealift.lab.table import computed_text
from sealift.lab.values import Cell

FULL = Scope(quick=False, cores=2, devices=())
COMPUTED = [
    each for each in registry.all_experiments() if each.id.startswith("000-") and not each.is_timed
]
ASKED: Mapping[str, object] = {
    "kernel": "ecb",
    "key_bits": 128,
    "decrypts": False,
    "tasklets": 3,
    "chunk_bytes": 64,
    "bytes": 1_536,
    "hazard": False,
    "counts": "cycles",
}


@pytest.fixture(scope="module", name="context")
def fixture_context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    return Context(seed=1, folder=tmp_path_factory.mktemp("dpus"))


def computed(experiment: Experiment, context: Context, cells: Iterable[Cell] = ()) -> Found:
    chosen = list(cells) or [cell for group in experiment.groups(FULL) for cell in group]
    verified = [
        Verified(experiment.name, cell, experiment.arm(cell, context).verified()) for cell in chosen
    ]
    return Found((), verified)


@pytest.mark.parametrize("name", ["000-T1", "000-T2"])
def test_every_cell_of_the_tables_is_simulated_within_15_percent(
    name: str, context: Context
) -> None:
    experiment = registry.find(name)
    found = computed(experiment, context)
    compared = experiment.published(found)
    assert len(compared) == 4
    for each in compared:
        assert each.ratio is not None
        assert abs(each.ratio.median - 1) < 0.15, each.what
        assert each.origin is Origin.SIMULATED
    for facts in (each.facts for each in found.verified):
        assert 10.9 <= float(facts["cycles an instruction, simulated"]) <= 11.1
    said = experiment.says(found)
    assert "By mnemonic a block is decrypted with" in said
    assert "lbu +16" in said


def test_a_kernel_has_all_its_counters_and_says_what_checked_it() -> None:
    run = run_dpu_kernel({**ASKED, "hazard": True})
    assert run.cycles == run.instructions + sum(
        (run.idle_revolver_cycles, run.idle_dma_cycles, run.idle_hazard_cycles)
    )
    assert run.idle_hazard_cycles > 0
    assert sum(count for _, count in run.mnemonics) == run.instructions
    assert run.mram_read_bytes == run.mram_written_bytes == 1_536
    assert run.transfers == 48
    assert run.checked_against == "the processor's own kernels"
    assert run_dpu_kernel({**ASKED, "kernel": "gcm"}).checked_against == "AWS-LC"


@pytest.mark.parametrize("kernel", ["ecb", "ecb-by-bank", "ecb-fed", "ctr", "ghash", "gcm"])
def test_every_kernel_is_right_with_every_key_both_ways(kernel: str) -> None:
    for key_bits in (128, 192, 256):
        for decrypts in (False, True) if kernel != "ghash" else (False,):
            asked = {**ASKED, "kernel": kernel, "key_bits": key_bits, "decrypts": decrypts}
            assert run_dpu_kernel(asked).cycles > 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kernel": "des"}, 'kernel is "des": there are document-000, ecb'),
        ({"key_bits": 129}, "key_bits is 129: give 128, 192 or 256"),
        ({"tasklets": 25}, "25 tasklets with chunks of 64 bytes: 1 to 24"),
        ({"chunk_bytes": 48}, "chunks of 48 bytes"),
        ({"bytes": 100}, "bytes is 100: give a multiple of 64"),
        ({"bytes": 0}, "bytes is 0"),
        ({"kernel": "ghash", "decrypts": True}, "ghash decrypts nothing"),
        ({"kernel": "document-000"}, "1 tasklet and 2,048 bytes"),
        ({"counts": "blocks"}, "give cycles or instructions"),
        ({"chunk_bytes": 2_048, "tasklets": 24, "kernel": "gcm", "bytes": 2_048}, "line"),
    ],
)
def test_a_kernel_that_can_not_be_run_so_is_refused(
    change: Mapping[str, object], said: str
) -> None:
    with pytest.raises(InputError, match=said.replace('"', ".")):
        run_dpu_kernel({**ASKED, **change})


def test_messages_with_a_key_each_are_right_with_every_key_both_ways() -> None:
    asked = {
        "key_bits": 128,
        "decrypts": False,
        "tasklets": 3,
        "chunk_bytes": 64,
        "messages": 5,
        "message_bytes": 100,
        "hazard": False,
    }
    for key_bits in (128, 192, 256):
        for decrypts in (False, True):
            run = run_dpu_messages({**asked, "key_bits": key_bits, "decrypts": decrypts})
            assert run.checked_against == "AWS-LC"
    for change, said in (
        ({"key_bits": 64}, "key_bits is 64"),
        ({"messages": 0}, "0 messages of 100 bytes"),
        ({"message_bytes": 64 << 20}, "give 1 to 64 MiB in all"),
        ({"messages": 1 << 60, "message_bytes": 0}, "give 1 to 64 MiB in all"),
        ({"tasklets": 0}, "1 to 24"),
    ):
        with pytest.raises(InputError, match=said):
            run_dpu_messages({**asked, **change})


def test_transfers_take_what_was_printed_and_the_line_through_them_too(context: Context) -> None:
    printed = {
        int(row["transfer_bytes"]): float(row["latency_cycles"])
        for row in table("000-T3-dma-latency")
    }
    for size, cycles in printed.items():
        assert abs(latency(Direction.READ, size) - cycles) <= 1
        assert latency(Direction.WRITE, size) == latency(Direction.READ, size) - 16
        assert latency(Direction.READ, size, granularity_cycles=16) % 16 == 0
    line = fitted(list(printed.items()))
    assert line.overhead_cycles == pytest.approx(134.3, abs=0.1)
    assert line.cycles_a_byte == pytest.approx(0.5185, abs=0.0001)
    experiment = registry.find("000-T3")
    found = computed(experiment, context)
    compared = experiment.published(found)
    matches = {int(each.at["transfer"]): each.match for each in compared}
    fitted_to = matches.pop(2_048)
    assert fitted_to is Match.GIVEN, "what another row costs is fitted to this"
    assert set(matches.values()) == {Match.REPRODUCED}
    assert "134 + 0.518 cycles a byte" in experiment.says(found).partition(" published and ")[0]
    for size in (4, 2_056, 100):
        with pytest.raises(ValueError, match="multiple of 8"):
            latency(Direction.READ, size)
    with pytest.raises(ValueError, match="two would do"):
        fitted([(8, 1.0), (8, 2.0)])


def test_the_kernels_rates_are_those_of_the_model_and_the_bracket_is_that_of_the_hazard() -> None:
    assert cycles_a_byte(ECB, 1, hazard=False) == pytest.approx(380.6, rel=0.01)
    assert cycles_a_byte(ECB, 16, hazard=False) == pytest.approx(34.5, rel=0.03)
    assert cycles_a_byte(ECB, 16, hazard=True) == pytest.approx(47.8, rel=0.03)
    for kernel in (ECB, CTR, GHASH, GCM):
        one, eleven = (cycles_a_byte(kernel, count, hazard=False) for count in (1, 11))
        assert one / eleven == pytest.approx(11, rel=0.03)
    fed = cycles_a_byte(ECB_FED, 17, hazard=False)
    assert fed == pytest.approx(cycles_a_byte(ECB, 16, hazard=False), rel=0.05)


def test_the_slip_of_the_projection_is_shown(context: Context) -> None:
    found = computed(dpu_projection.EXPERIMENT, context)
    many, slip, *corrected = dpu_projection.EXPERIMENT.published(found)
    assert (many.match, many.origin) == (Match.CONTRADICTED, Origin.PROJECTED)
    assert many.ratio is not None
    assert many.ratio.median == pytest.approx(11, rel=0.05)
    assert [each.published for each in corrected] == [51, 72, 5.96]
    assert {each.match for each in corrected} == {Match.REPRODUCED}
    assert slip.match is Match.AGAINST_ITSELF
    assert slip.span is not None
    assert slip.span.value == pytest.approx(3_413, abs=1)
    assert "multiply the rate of one tasklet" in dpu_projection.EXPERIMENT.says(found)


def test_transfers_to_dpus_are_those_that_were_printed() -> None:
    for row in table("000-elsewhere-host-transfers"):
        seconds = transfers(row["path"]).to_and_from_s(int(row["bytes_per_dpu"]))
        printed = float(row["to_dpus_s"]), float(row["from_dpus_s"])
        assert seconds == pytest.approx(printed, rel=1e-9)
    sdk = transfers("SDK")
    to_dpus, from_dpus = sdk.rates(512 << 10, 2_048)
    # What is printed as GB/s are GiB/s, by the times beside them.
    assert to_dpus == pytest.approx(22.613 * 2**30, rel=0.001)
    assert from_dpus == pytest.approx(10.968 * 2**30, rel=0.001)
    assert sdk.to_and_from_s(128) == sdk.to_and_from_s(1_024)
    half = sdk.to_and_from_s(768 << 10)[0]
    assert sdk.to_and_from_s(512 << 10)[0] < half < sdk.to_and_from_s(1 << 20)[0]
    assert sdk.rates(64 << 20, 64) == pytest.approx(sdk.rates(1 << 20, 64))
    assert sdk.in_series(512 << 10, 1e9, 640) < 1e9
    assert sdk.in_series(512 << 10, 1e9, 640) > sdk.in_series(1_024, 1e9, 640)
    with pytest.raises(InputError, match="bytes_each is 0: give 1 or more"):
        sdk.rates(0, 640)
    with pytest.raises(ValueError, match="there are SDK and direct"):
        transfers("smoke")


def test_transfers_are_faster_with_more_dpus_as_was_printed() -> None:
    printed = table("000-elsewhere-transfers-by-dpus")
    for system in dpu_systems():
        for row in printed:
            rates = [1e9 * float(row[f"{way}_dpus_gb_per_s"]) for way in ("to", "from")]
            assert system.rates(int(row["dpus"])) == pytest.approx(rates, rel=1e-9)
        assert system.rates(2_560) == system.rates(2_048)
    sdk = transfers("SDK")
    for dpus in (64, 640):
        share = DpuSystem.named("upmem-640-266").rates(dpus)[0] / sdk.rates(512 << 10, 2_048)[0]
        assert sdk.rates(1_024, dpus)[0] / sdk.rates(1_024, 2_048)[0] == pytest.approx(
            share, rel=1e-3
        )


def test_between_its_points_the_rate_goes_up_as_where_every_doubling_was_timed() -> None:
    model = DpuSystem.named("upmem-2560-350")
    rows = table("000-elsewhere-push-by-dpus")
    timed = {
        (row["bytes_per_dpu"], int(row["dpus"])): float(row["to_dpus_mib_per_s"]) for row in rows
    }
    for (size, dpus), rate in timed.items():
        share = rate / timed[size, 2_048]
        assert 0.5 < model.rates(dpus)[0] / model.rates(2_048)[0] / share < 1.3, (size, dpus)


def test_amounts_beyond_what_is_simulated_go_on_by_its_rate() -> None:
    assert chunk_bytes(128) == 32
    assert chunk_bytes(16 * 300) == 256
    assert chunk_bytes(64 << 20) == 512
    most, twice = taken(ECB_FED, SIMULATED_MOST), taken(ECB_FED, 2 * SIMULATED_MOST)
    assert twice.cycles / most.cycles == pytest.approx(2, rel=0.01)
    # Few bytes wait for memory, many don't.
    few = taken(ECB_FED, 128)
    assert few.waiting / few.cycles > 5 * most.waiting / most.cycles


def test_each_claim_has_a_verdict_or_a_reason(context: Context) -> None:
    compared = dpu_claims.EXPERIMENT.published(computed(dpu_claims.EXPERIMENT, context))
    assert len(compared) == len(table("000-X1-claims"))
    told = {each.what: each for each in compared}
    assert Counter(each.match for each in compared) == {
        Match.REPRODUCED: 5,
        Match.GIVEN: 4,
        Match.IN_SHAPE: 2,
        Match.BEYOND: 2,
        Match.AGAINST_ITSELF: 2,
    }
    assert all(each.note for each in compared)
    given = {each.what for each in compared if each.match is Match.GIVEN}
    assert given == {
        "2KB DMA read",
        "DMA fixed overhead (about)",
        "DMA asymptotic rate (about)",
        "DMA for read+write of 2KB",
    }
    assert told["640 DPUs at 267MHz total (roughly)"].match is Match.AGAINST_ITSELF
    assert told["16 threads on 16 cores at 3GHz"].match is Match.AGAINST_ITSELF
    assert told["what decides whether PIM is attractive"].match is Match.BEYOND


def test_a_claim_in_words_is_a_ratio_whose_name_says_what_stands_over_what(
    context: Context,
) -> None:
    found = computed(dpu_claims.EXPERIMENT, context)
    facts = {str(each.cell["claim"]): each.facts for each in found.verified}
    told = {each.what: each for each in dpu_claims.EXPERIMENT.published(found)}
    compute = literal("Encryption", "instructions").without_dma
    moved = latency(Direction.READ, 2_048) + latency(Direction.WRITE, 2_048)
    assert compute > 10 * moved, "the larger one stands above"
    ratio = told["compute time over DMA time"]
    assert ratio.here is not None
    assert ratio.here.median == pytest.approx(compute / moved, rel=1e-5)
    assert facts["dma-negligible"]["about"] == "compute time over DMA time"
    fed = told["compute time over DMA time, 1 DMA tasklet and 16 crypto tasklets"]
    assert fed.here is not None
    # 552 instructions a block of 16 bytes, and half a cycle a byte both ways, with set-ups.
    assert fed.here.median == pytest.approx(32 * 552 / (2 * 512 / 2 + 77 + 61), rel=0.03)
    assert facts["dma-negligible"]["published"] == "in words"


GCM_CELL = {"system": SYSTEMS[0].title, "kernel": GCM.title}
GCM_FACTS = {
    "data in MRAM, GB/s": 6.0,
    "data in MRAM, GB/s, with the hazard": 5.0,
    "data in host memory, GB/s, by the SDK": 3.0,
    "data in host memory, GB/s, by the SDK, with the hazard": 2.0,
}
PROJECTED = Found((), [Verified("dpu-projection", GCM_CELL, GCM_FACTS)])


def row(threads: int, streams: int, gb_per_s: float, blocks: int = 30, **changes: Any) -> Row:
    """Cores that seal a MiB from memory, so fast."""
    ns = (1 << 20) / gb_per_s
    cell: Cell = {
        "cipher": "AES-128-GCM",
        "threads": threads,
        "other_cores": 2 - threads,
        "streams_percent": streams,
    }
    made = Row(
        experiment="memory-contention",
        cell=cell,
        compare="streams_percent",
        ns_per_operation=Interval(ns, ns / 1.02, ns * 1.02, 0.95, blocks),
        payload_bytes=1 << 20,
        reference=0,
        ratio=None,
        verdict=None,
        winner=True,
        noise_floor=0.01,
        clean_share=1.0,
        machine_busy=False,
        steady=True,
        blocks=blocks,
    )
    return replace(made, **changes)


def led(one: float, both: float, blocks: int = 30, **changes: Any) -> Lead:
    """What is said of the projection beside cores that do so many GB/s."""
    speeds = ((1, 0, one), (1, 100, one / 2), (2, 0, both))
    rows = [row(*each, blocks, **changes) for each in speeds]
    beside = {"memory-contention": Found(rows, ())}
    lead = dpu_projection.EXPERIMENT.leads(replace(PROJECTED, beside=beside))
    assert lead is not None
    assert lead.origin == "Projected DPUs against measured cores"
    assert lead.question == "Is processing in memory worth it?"
    return lead


def test_when_processing_in_memory_pays_is_one_sentence_from_the_figures_of_the_run() -> None:
    lead = led(4.0, 7.0)
    assert lead.answer == (
        "Sealing with AES-128-GCM under one key: with data in MRAM, the DPUs' own memory, 640 DPUs "
        "pay against one core here, not against all 2; with data in host memory, there and back by "
        "the vendor's library (SDK), 640 DPUs don't pay against one core here."
    )
    assert "640 DPUs at 267 MHz with data in MRAM 5 to 6 GB/s" in lead.figures
    assert "Projected from simulated cycles" in lead.figures
    assert "Measured here, AES-128-GCM on texts in memory: one core 4.000 [3.922..4.080] GB/s" in (
        lead.figures
    )
    assert "all 2 cores 7.000" in lead.figures
    assert "one core while others stream 2.000 [1.961..2.040] GB/s" in lead.figures


@pytest.mark.parametrize(
    ("one", "both", "said"),
    [
        (2.0, 3.9, "own memory, 640 DPUs pay against all 2 cores here together;"),
        (2.5, 4.95, "own memory, 640 DPUs pay against one core here;"),
        (5.5, 9.0, "640 DPUs pay against one core here or don't, by how the hazard is modelled;"),
        (5.02, 9.0, "own memory, 640 DPUs are not told apart from one core here;"),
        (9.0, 17.0, "own memory, 640 DPUs don't pay against one core here;"),
        (2.5, 4.95, "or don't, by how the hazard is modelled."),
        (1.0, 1.5, "(SDK), 640 DPUs pay against all 2 cores here together."),
    ],
)
def test_dpus_pay_where_their_lower_end_lies_above_the_upper_end_of_cores(
    one: float, both: float, said: str
) -> None:
    assert said in led(one, both).answer


def test_nothing_pays_against_cores_of_which_too_little_is_known() -> None:
    lead = led(1.0, 2.0, blocks=3)
    assert "640 DPUs are not settled (one core here: 3 blocks are too few" in lead.answer
    assert "pay against" not in lead.answer
    lead = led(1.0, 2.0, machine_busy=True)
    assert "are not settled (one core here: the machine was busy)" in lead.answer
    assert "one core 1.000 [0.9804..1.020] GB/s (not settled: the machine was busy)" in lead.figures
    assert "Measured again while nothing else runs" in lead.figures


def test_noise_widens_what_cores_do_and_what_lies_clear_of_it_is_told() -> None:
    # Three times the noise floor: 3 GB/s may be 1.9 to 4.8, and 6 GB/s 3.9 to 9.6.
    lead = led(3.0, 6.0, noise_floor=0.19)
    assert "own memory, 640 DPUs pay against one core here;" in lead.answer
    assert lead.answer.endswith("one core here (the same code differed from itself by 19 %).")


def test_without_a_measured_core_the_sentence_says_below_which_speed_dpus_pay() -> None:
    for beside in ({}, {"memory-contention": Found((), ())}):
        lead = dpu_projection.EXPERIMENT.leads(replace(PROJECTED, beside=beside))
        assert lead is not None
        assert lead.origin == "Projected DPUs; no core was measured in this run"
        assert lead.answer.endswith(
            "640 DPUs beat any CPU slower than 5 GB/s; with data in host memory, there and back by "
            "the vendor's library (SDK), 640 DPUs beat any CPU slower than 2 GB/s."
        )
        assert "sealift lab run dpu-projection memory-contention" in lead.figures
    assert dpu_projection.EXPERIMENT.leads(Found((), ())) is None


def test_systems_of_dpus_stand_for_so_many_measured_cores() -> None:
    cores = cores_of(Found([row(1, 0, 4.0), row(2, 0, 7.0)], ()))
    assert cores is not None
    assert (cores.count, cores.contended) == (2, None)
    said = standing({"dpu-projection": PROJECTED}, cores, GCM.title)
    assert "640 DPUs at 267 MHz with data in MRAM 5 to 6 GB/s, as 1.25 to 1.50 cores" in said
    assert standing({}, cores, GCM.title) == ""
    assert cores_of(Found([row(1, 0, 4.0, wrong="a byte"), row(2, 0, 7.0)], ())) is None
    alone = Speed(4_000.0, 3_900.0, 4_100.0)
    assert Cores(1, alone, alone).together_text == "the only core here"
    assert Speed(4_000.0, 3_900.0, 4_100.0, "busy").gb_text == (
        "4.000 [3.900..4.100] GB/s (not settled: busy)"
    )
    for change in ({"doubt": "the machine was busy"}, {"noise_floor": 0.2}):
        unsure = replace(cores, alone=replace(cores.alone, **change))
        assert standing({"dpu-projection": PROJECTED}, unsure, GCM.title) == ""


def test_the_line_to_cross_has_both_ends_of_the_bracket() -> None:
    rows = [row(1, 0, 4.0), row(1, 100, 3.0), row(2, 0, 7.0)]
    beside = {"dpu-projection": PROJECTED}
    drawn, *others = memory_contention.EXPERIMENT.charts(Found(rows, (), beside))
    assert not others, "no core was measured in counter mode"
    ends = {each.x: (each.low, each.high) for each in drawn.points if each.origin != "measured"}
    assert ends == {
        "640 DPUs, MRAM": (5.0, 6.0),
        "640 DPUs, host and back": (2.0, 3.0),
    }
    names = [each.x for each in drawn.points if each.origin == "measured"]
    assert names == ["1 core", "1 core beside streams for 100 %", "2 cores"]
    assert "95 % interval" in plot.drawn(drawn)["description"]
    assert memory_contention.EXPERIMENT.charts(Found((), (), beside)) == []


def test_what_memory_gives_is_read_from_each_cell_that_has_streams() -> None:
    counted = {"streamed_bytes": 4, "streamed_ns": 1, "ceiling_bytes": 240, "ceiling_ns": 10}
    each: tuple[Mapping[str, int], ...] = (counted, {**counted, "ceiling_bytes": 0}, {})
    verified = [Verified("memory-contention", {"streams_percent": 50}, facts) for facts in each]
    assert memory_contention.ceilings(Found((), verified)) == [24.0]


def test_the_projection_is_drawn_with_the_hazard_too(context: Context) -> None:
    experiment = dpu_projection.EXPERIMENT
    found = computed(experiment, context)
    lines = experiment.lines(found)
    of_ecb = [each for each in lines if each.at == {"kernel": ECB.title}]
    assert {each.column for each in of_ecb} == {each.y for each in experiment.plots}
    facts = next(each.facts for each in found.verified if each.cell["kernel"] == ECB.title)
    assert of_ecb[0].series == f"{SYSTEMS[0].title}, with the hazard"
    assert of_ecb[0].value == facts["data in MRAM, GB/s, with the hazard"]
    assert of_ecb[0].value < float(facts["data in MRAM, GB/s"])


def test_few_bytes_for_each_dpu_cost_more_and_it_is_said_why(context: Context) -> None:
    experiment = dpu_amounts.EXPERIMENT
    found = computed(experiment, context)
    few, many = (
        next(each.facts for each in found.verified if each.cell["dpu_bytes"] == size)
        for size in (AMOUNTS[0], AMOUNTS[-1])
    )
    assert float(few["cycles a byte"]) > 4 * float(many["cycles a byte"])
    assert (few["tasklets with a chunk"], many["tasklets with a chunk"]) == (4.0, 16.0)
    waits = [float(each.facts["waiting for MRAM, % of a DPU's time"]) for each in found.verified]
    assert max(waits) < 10, "else it would be no small part of what few bytes cost"
    said = experiment.says(found)
    assert "with 128 B for each DPU a byte takes" in said
    assert "(2,560 DPUs at 350 MHz)" in said
    assert experiment.says(Found((), ())) == ""


def test_a_run_of_the_projection_leads_with_the_answer_and_shows_a_narrow_table(
    tmp_path: Path,
) -> None:
    experiment = dpu_projection.EXPERIMENT
    ask = runner.Ask([(experiment, experiment.groups(FULL))], ("run",), out=tmp_path / "run")
    done = runner.run(ask)
    lines = summary(done, as_json=False).splitlines()
    assert lines[0] == "Is processing in memory worth it?"
    assert lines[1].startswith("Projected DPUs; no core was measured in this run. Sealing with")
    told = json.loads(summary(done, as_json=True))
    assert lines[1].endswith(told["lead"]["answer"])
    at = lines.index("dpu-projection, projected; report.html has every column:")
    table = lines[at + 1 : at + 2 + len(SYSTEMS) * len(dpu_projection.TITLES)]
    assert table[0].split()[:2] == ["system", "kernel"]
    assert max(map(len, table)) <= 120
    page = report.page(store.read(done.path))
    band = page.partition('id="answer"')[2].partition("</section>")[0]
    assert told["lead"]["answer"] in html.unescape(band)
    assert "<h1>Is processing in memory worth it?</h1>" in page
    assert "Of DPUs nothing is drawn" in page
    assert "640 DPUs at 267 MHz (document 000, Discussion)" in page


@pytest.mark.parametrize("experiment", COMPUTED, ids=lambda each: each.name)
def test_what_is_computed_fits_a_terminal(experiment: Experiment, context: Context) -> None:
    axes = [axis.name for axis in experiment.axes]
    where = experiment.brief.where if experiment.brief else {}
    cells = [cell for group in experiment.groups(FULL) for cell in group]
    shown = [cell for cell in cells if where.items() <= cell.items()]
    found = computed(experiment, context, shown[:2] + shown[-1:])
    lines = computed_text(found.verified, axes, experiment.brief).splitlines()
    assert max(map(len, lines)) <= 120
    assert len(shown) <= 28, "as many lines as a terminal has, about"


def test_lines_stand_in_the_figures_that_show_their_place() -> None:
    drawn = Plot(x="n", y="payload_MB_per_s", z="", title="speed", facet="cipher")
    rows = [
        {"experiment": "e", "id": "", "n": n, "cipher": cipher, "payload_MB_per_s": 5.0}
        for n in (1, 2)
        for cipher in ("gcm", "ctr")
    ]
    line = Line("640 DPUs", drawn.y, 7.0, Origin.PROJECTED, {"cipher": "gcm"})
    gcm, ctr = plot.figures(drawn, rows, {}, (), (line,))
    across = [each for each in gcm.spec["data"]["values"] if each["series"] == "640 DPUs"]
    assert [(each["x"], each["y"], each["origin"]) for each in across] == [(None, 7.0, "projected")]
    assert "640 DPUs" not in str(ctr.spec["data"])


def test_what_was_printed_in_a_unit_of_its_own_stands_in_the_figure_of_that_unit(
    context: Context,
) -> None:
    experiment = registry.find("000-T3")
    found = computed(experiment, context)
    (drawn,) = experiment.plots
    rows = [{**each.cell, drawn.y: each.facts[drawn.y]} for each in found.verified]
    (figure,) = plot.figures(drawn, rows, {}, experiment.published(found), experiment.lines(found))
    printed = [
        (each["x"], each["y"])
        for each in figure.spec["data"]["values"]
        if each["series"] == "published: document 000"
    ]
    assert printed == [(2_048, 1_200.0), (1_024, 656.0), (512, 400.0), (256, 272.0)]


@pytest.mark.parametrize("experiment", COMPUTED, ids=lambda each: each.name)
def test_what_is_computed_is_drawn_by_facts_that_its_arms_have(
    experiment: Experiment, context: Context
) -> None:
    cell = experiment.groups(FULL)[0][0]
    facts = experiment.arm(cell, context).verified()
    assert all(isinstance(facts[each.y], float) for each in experiment.plots)
    assert experiment.origin in (Origin.SIMULATED, Origin.PROJECTED)
    assert experiment.takes_s, "computed, so that nothing else says what it takes"
    assert experiment.stands_on
    last = experiment.arm(experiment.groups(FULL)[-1][-1], context).verified()
    assert set(experiment.brief.facts if experiment.brief else last) <= last.keys()
    kinds = {each.kind for each in experiment.published(Found((), ()))}
    assert kinds <= {Kind.NUMBER, Kind.MODEL, Kind.SHAPE, Kind.BEYOND, Kind.WITHIN, Kind.GIVEN}
