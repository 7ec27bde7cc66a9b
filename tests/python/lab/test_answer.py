"""Where to run, and no more than the rows allow."""

from dataclasses import replace

import pytest

from made_rows import BY_SIZE, another, found, pair
from sealift.lab.answer import answer
from sealift.lab.crowding import Load
from sealift.lab.result import Found, Row, Verified
from sealift.lab.stats import Interval, Verdict

THREADS = "aes-gcm-by-threads"
KERNELS = "On your CPU, with Sealift's kernels"


def headline(*rows: Row, **roles: str) -> str:
    return answer(found(list(rows), **roles)).headline


def test_where_another_device_wins_other_sizes_the_headline_says_from_or_up_to_which() -> None:
    larger = [
        *pair(2.0, Verdict.FASTER, size_bytes=16),
        *pair(3.0, Verdict.FASTER, size_bytes=128),
        *pair(1.0, Verdict.SAME, size_bytes=1_024),
        *pair(0.5, Verdict.SLOWER, size_bytes=8_192),
        *pair(0.5, Verdict.SLOWER, size_bytes=16_384),
    ]
    assert headline(*larger) == f"{KERNELS}; AWS-LC from 8 KiB"
    assert answer(found(larger)).sizes == (
        "CPU kernels win from 16 B to 128 B; no difference at 1 KiB; "
        "AWS-LC wins from 8 KiB to 16 KiB."
    )
    smaller = [
        *pair(0.5, Verdict.SLOWER, size_bytes=16),
        *pair(0.5, Verdict.SLOWER, size_bytes=64),
        *pair(3.0, Verdict.FASTER, size_bytes=128),
    ]
    assert headline(*smaller) == f"{KERNELS}; AWS-LC up to 64 B"


def test_no_range_of_sizes_is_claimed_with_an_unsettled_one_in_it() -> None:
    rows = [
        *pair(3.0, Verdict.FASTER, size_bytes=128),
        *pair(0.5, Verdict.SLOWER, size_bytes=8_192),
        *pair(1.0, Verdict.UNSURE, size_bytes=16_384),
    ]
    assert headline(*rows) == f"{KERNELS}; AWS-LC for 1 of 2 other workloads"


def test_wins_under_other_keys_are_counted_and_claim_no_size() -> None:
    rows = [
        *pair(3.0, Verdict.FASTER, keys="sessions:1024"),
        *pair(0.5, Verdict.SLOWER, keys="fresh"),
        *pair(0.5, Verdict.SLOWER, keys="fresh", threads=2),
    ]
    assert headline(*rows) == f"{KERNELS}; AWS-LC for 2 of 2 other workloads"


def test_work_without_a_winner_does_not_keep_the_headline_from_being_plain() -> None:
    rows = [*pair(3.0, Verdict.FASTER), *pair(1.0, Verdict.SAME, size_bytes=16_384)]
    assert headline(*rows) == KERNELS


def test_devices_equal_to_the_reference_are_all_named() -> None:
    library, cpu = pair(1.0, Verdict.SAME)
    assert headline(library, cpu, another(cpu, "cuda")) == (
        "On AWS-LC, CPU kernels or GPU (cuda): each differs from AWS-LC by less than 2.0 %"
    )


def test_the_headline_is_for_many_sessions_on_all_cores_as_document_003_states_them() -> None:
    regimes = [
        row
        for keys in ("one", "sessions:1024", "fresh")
        for row in pair(2.0, Verdict.FASTER, keys=keys)
    ]
    assert "1,024 keys" in answer(found(regimes)).basis
    threads = [
        replace(row, cell={**row.cell, "load": load})
        for count, load in ((1, Load.BELOW), (2, Load.ALL), (4, Load.OVER))
        for row in pair(2.0, Verdict.FASTER, threads=count, workload="as stated")
    ]
    assert "both cores" in answer(found(threads)).basis


@pytest.mark.parametrize("verdict", [Verdict.SAME, Verdict.UNSURE, Verdict.SLOWER])
def test_a_winner_without_a_verdict_is_not_recommended(verdict: Verdict) -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    told = headline(library, replace(cpu, verdict=verdict))
    assert told.startswith("Not settled: AWS-LC or CPU kernels")


@pytest.mark.parametrize("verdict", [Verdict.SAME, Verdict.UNSURE, Verdict.FASTER])
def test_a_winning_reference_without_a_verdict_is_not_recommended(verdict: Verdict) -> None:
    library, cpu = pair(0.5, Verdict.SLOWER)
    told = headline(library, replace(cpu, verdict=verdict))
    assert told.startswith("Not settled: AWS-LC or CPU kernels")


def test_a_third_device_does_not_turn_a_lead_over_the_reference_into_a_win() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    third = another(cpu, "cuda", ratio=Interval(2.01, 1.97, 2.05, 0.95, 30))
    assert headline(library, cpu, third).startswith("Not settled: CPU kernels or GPU")


def test_two_devices_equal_to_a_beaten_reference_are_not_known_to_be_equal() -> None:
    library, cpu = pair(1.01, Verdict.SAME)
    told = headline(replace(library, winner=False), cpu, another(cpu, "cuda"))
    assert told.startswith("Not settled: CPU kernels or GPU")


def test_a_peer_that_is_no_device_is_no_advice_and_has_no_bar() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    peer = another(cpu, "ipp", ratio=Interval(9.0, 8.9, 9.1, 0.95, 30), winner=True)
    said = answer(found([library, replace(cpu, winner=False), peer], ipp="lab only"))
    assert said.headline == KERNELS
    assert [bar.device for bar in said.bars] == ["cpu", "library"]


def test_of_several_behind_a_peer_none_is_known_to_be_the_fastest() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    cuda = another(cpu, "cuda", winner=False)
    peer = another(cpu, "ipp", winner=True)
    told = headline(library, replace(cpu, winner=False), cuda, peer, ipp="lab only")
    assert told.startswith("Not settled: CPU kernels or GPU")


def test_threads_that_share_cores_are_no_advice() -> None:
    rows = [
        replace(row, cell={**row.cell, "load": load})
        for threads, load, ratio, verdict in (
            (2, Load.ALL, 2.0, Verdict.FASTER),
            (8, Load.OVER, 0.5, Verdict.SLOWER),
        )
        for row in pair(ratio, verdict, threads=threads, experiment=THREADS)
    ]
    assert headline(*rows) == KERNELS


def test_without_a_real_reference_or_a_comparison_of_devices_there_is_no_answer() -> None:
    assert headline(*pair(2.0, Verdict.FASTER), library="oracle").startswith("No answer")
    assert answer({}).headline.startswith("No answer")
    assert headline(*pair(2.0, Verdict.FASTER, experiment="own-experiment")).startswith("No answer")


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


def test_a_drifting_machine_is_a_reason_for_care() -> None:
    rows = [
        *pair(2.0, Verdict.FASTER, size_bytes=16),
        *pair(2.0, Verdict.FASTER, size_bytes=64, steady=False),
    ]
    assert answer(found(rows)).care == ("Speeds drifted during 1 of 2 workloads.",)


def test_where_nothing_is_settled_it_is_said_who_won_other_work() -> None:
    rows = [*pair(1.0, Verdict.UNSURE), *pair(1.0, Verdict.UNSURE, size_bytes=64)]
    assert answer(found(rows)).headline.startswith("Not settled: ")
    assert answer(found(rows)).sizes == "Not settled from 64 B to 128 B."
