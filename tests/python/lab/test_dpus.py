"""Document 000's DPUs: what is simulated and projected of them beside what it printed."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import inf

import pytest

from sealift import InputError
from sealift._sealift import DpuSystem, dpu_systems, run_dpu_kernel, run_dpu_messages
from sealift.lab import plot, registry
from sealift.lab.dpus import SYSTEMS, Direction, cycles_a_byte, fitted, latency, transfers
from sealift.lab.dpus.amounts import SIMULATED_MOST, chunk_bytes, taken
from sealift.lab.dpus.crossing import Cores, crossing
from sealift.lab.dpus.kernel import CTR, ECB, ECB_FED, GCM, GHASH
from sealift.lab.dpus.literal import literal
from sealift.lab.experiments import dpu_claims, dpu_projection
from sealift.lab.published import Kind, Match, table
from sealift.lab.result import Found, Origin, Verified
from sealift.lab.spec import Context, Experiment, Line, Plot, Scope
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
    assert "lbu" in said


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
    assert {each.match for each in compared} == {Match.GIVEN}, "the model is fitted to these"
    assert all(each.here and each.note.startswith("fitted to this") for each in compared)
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
    one, many, slip = dpu_projection.EXPERIMENT.published(found)
    assert (one.match, one.origin) == (Match.REPRODUCED, Origin.PROJECTED)
    assert many.match is Match.CONTRADICTED
    assert many.ratio is not None
    assert one.ratio is not None
    assert many.ratio.median / one.ratio.median == pytest.approx(11, rel=0.03)
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
        Match.REPRODUCED: 6,
        Match.GIVEN: 4,
        Match.HOLDS: 2,
        Match.BEYOND: 2,
        Match.AGAINST_ITSELF: 1,
    }
    assert all(each.note for each in compared)
    given = {each.what for each in compared if each.match is Match.GIVEN}
    assert given == {
        "2KB DMA read",
        "DMA fixed overhead (about)",
        "DMA asymptotic rate (about)",
        "DMA for read+write of 2KB",
    }
    assert told["640 DPUs at 267MHz total (roughly)"].match is Match.REPRODUCED
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


def test_the_crossing_is_reckoned_from_the_projection_of_the_same_run() -> None:
    facts = {
        "data in MRAM, GB/s": 6.0,
        "data in MRAM, GB/s, with the hazard": 5.0,
        "data in host memory, GB/s, by the SDK": 3.0,
        "data in host memory, GB/s, by the SDK, with the hazard": 2.0,
    }
    cell = {"system": SYSTEMS[0].title, "kernel": "GCM, one key"}
    beside = {"dpu-projection": Found((), [Verified("dpu-projection", cell, facts)])}
    cores = Cores(count=2, alone=4_000.0, contended=2_500.0, together=7_000.0, alone_most=4_400.0)
    said = crossing(beside, cores)
    assert "5.000 to 6.000 GB/s, as 1.25 to 1.50 cores: more than one core;" in said
    assert "0.50 to 0.75 cores: less than one core or more than one core only while others" in said
    assert f"pays with {SYSTEMS[0].title} for data in MRAM, and otherwise" in said
    assert crossing({}, cores) == ""
    assert cores.beside(7.5) == "more than the 7.000 GB/s of all 2 cores together"
    quick = Cores(count=2, alone=9_000.0, contended=0.0, together=17_000.0, alone_most=9_100.0)
    assert "pays nowhere" in crossing(beside, quick)
    near = replace(cores, alone_most=5_500.0)
    assert "pays nowhere" in crossing(beside, near), "an end of the bracket within the interval"
    unknown = crossing(beside, replace(cores, alone_most=inf))
    assert "not settled here" in unknown
    assert "pays with" not in unknown


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
    kinds = {each.kind for each in experiment.published(Found((), ()))}
    assert kinds <= {Kind.MODEL, Kind.SHAPE, Kind.BEYOND, Kind.WITHIN, Kind.GIVEN}
