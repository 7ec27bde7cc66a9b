"""How many instructions DPUs take for a block, and where a page tells it."""

import pytest

from sealift.lab import registry
from sealift.lab.dpus import cycles_a_byte
from sealift.lab.dpus.instructions import EVERY, sliced
from sealift.lab.experiments import dpu_instructions
from sealift.lab.report.order import place
from sealift.lab.result import Found, Verified
from sealift.lab.spec import Context, Experiment, Scope

FULL = Scope(quick=False, cores=2, devices=())


@pytest.fixture(scope="module", name="context")
def fixture_context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    return Context(seed=1, folder=tmp_path_factory.mktemp("dpus"))


def computed(experiment: Experiment, context: Context) -> Found:
    return Found(
        (),
        [
            Verified(experiment.name, cell, experiment.arm(cell, context).verified())
            for group in experiment.groups(FULL)
            for cell in group
        ],
    )


def test_printed_and_simulated_instructions_are_told_apart_by_mnemonic(context: Context) -> None:
    of_one_run, apart = (registry.find(name) for name in ("000-T2", "000-T1"))
    (listing,) = of_one_run.listings(computed(of_one_run, context))
    encryption, decryption = listing.rows
    assert encryption[1:] == ("793.0 to 800.8", "797.0", "What is printed rounds to this.")
    assert decryption[1:3] == ("775.4 to 776.2", "785.0")
    assert "lw -16, and -20, lsl +8, lbu +16" in decryption[3]
    assert "14.4 to 15.2 of another kind" in decryption[3]
    assert "Encryption then takes 799.4 to 800.2" in decryption[3]
    (listing,) = apart.listings(computed(apart, context))
    encryption, decryption = listing.rows
    # 1.12m cycles hold no 103k instructions of one tasklet.
    assert "not of one run" in decryption[3]
    assert "not of one run" not in encryption[3]
    assert "3,150 to 4,250 instructions apart" in decryption[3]


def test_kernels_take_little_more_than_their_blocks_by_themselves(context: Context) -> None:
    experiment = dpu_instructions.EXPERIMENT
    found = computed(experiment, context)
    facts = {str(each.cell["kernel"]): each.facts for each in found.verified}
    unrolled = {each.kernel.title: each.instructions for each in EVERY}
    assert unrolled == {"ECB": 550, "CTR": 458, "GHASH": 136, "GCM, one key": 594}
    for title, count in unrolled.items():
        takes = float(facts[title]["instructions a block"])
        assert count < takes < 1.02 * count, title
        # One tasklet issues every eleventh cycle.
        kernel = next(each.kernel for each in EVERY if each.kernel.title == title)
        assert 16 * cycles_a_byte(kernel, 1, hazard=False) > 11 * count
    for each in facts.values():
        groups = [float(each[name]) for name in (*dpu_instructions.GROUPS, "others")]
        assert sum(groups) == pytest.approx(float(each["instructions a block"]), rel=1e-4)
    assert sliced() > unrolled["ECB"], "else tables would not be the shorter way"
    why, mnemonics = experiment.listings(found)
    assert [row[0] for row in why.rows] == list(unrolled)
    assert ("xor", "176.0", "176.0", "164.0") in [row[:4] for row in mnemonics.rows]
    assert "ECB 551" in experiment.says(found)
    assert experiment.listings(Found((), ())) == ()


def test_pages_have_tables_first_and_claims_last() -> None:
    names = ["000-X1", "000-P1-scaling", "002-Q", "000-P1", "000-T2", "004-B", "000-T1", "003-F5"]
    assert sorted(names, key=place) == [
        "000-T1",
        "000-T2",
        "000-P1",
        "000-P1-scaling",
        "000-X1",
        "002-Q",
        "003-F5",
        "004-B",
    ]
    assert place("") < place("x")
