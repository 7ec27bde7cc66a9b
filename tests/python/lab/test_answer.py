"""Where to run, word for word, and no word more than the rows allow."""

from dataclasses import replace

import pytest

from made_rows import BY_SIZE, found, pair
from sealift.lab.answer import answer
from sealift.lab.grid import Load
from sealift.lab.result import Found, Row, Verified
from sealift.lab.stats import Interval, Verdict

THREADS = "aes-gcm-by-threads"


def two(ratio: float, verdict: Verdict, *, noise_floor: float = 0.01) -> list[Row]:
    """Two pieces of work that end alike."""
    return [
        row
        for size in (16, 64)
        for row in pair(ratio, verdict, size_bytes=size, noise_floor=noise_floor)
    ]


def test_the_answer_names_device_size_factor_and_interval() -> None:
    said = answer(found(pair(2.41, Verdict.FASTER)))
    assert said.question == "Where should my bulk encryption run?"
    assert said.where == "Run it on cpu."
    assert said.speed_text == (
        "For 128 B it is 2.410 [2.362..2.458] times as fast as library (95 % interval), "
        "24,100,000 messages/s."
    )
    assert said.next_best == "Next best: library."
    assert said.crossover == ""
    assert said.details == said.cautions == ()
    assert said.text.splitlines()[0] == f"{said.where} {said.speed_text}"


def test_the_answer_goes_to_the_reference_when_that_wins() -> None:
    said = answer(found(pair(0.5, Verdict.SLOWER)))
    assert said.where == "Run it on library."
    assert "2.000 [1.961..2.041] times as fast as cpu" in said.speed_text
    assert said.next_best == "Next best: cpu."


def test_the_headline_stands_on_128_bytes_of_both_experiments_and_the_rest_on_everything() -> None:
    rows = [
        *pair(3.0, Verdict.FASTER, size_bytes=16),
        *pair(2.0, Verdict.FASTER, size_bytes=128),
        *pair(0.5, Verdict.SLOWER, size_bytes=16_384),
        *pair(1.5, Verdict.FASTER, workload="as stated", experiment=THREADS),
        *pair(9.0, Verdict.FASTER, experiment="own-experiment"),
    ]
    said = answer(found(rows))
    assert said.where == "Run it on cpu."
    assert said.speed_text.startswith(
        "For 128 B (AES-128); 128 B (as stated) it is 1.500 [1.470..1.530] to "
        "2.000 [1.960..2.040] times as fast as library (95 % intervals)"
    )
    assert any(
        line.startswith("library wins for 16,384 B (AES-128): 2.000") for line in said.details
    )
    assert "9.000" not in said.text


def test_without_128_bytes_the_headline_counts_every_piece_of_work() -> None:
    rows = [
        *pair(2.0, Verdict.FASTER, size_bytes=16),
        *pair(3.0, Verdict.FASTER, size_bytes=64),
        *pair(0.5, Verdict.SLOWER, size_bytes=16_384),
        *pair(1.0, Verdict.SAME, size_bytes=8_192),
    ]
    said = answer(found(rows))
    assert said.where == (
        "Run it on cpu for 2 of 4 pieces of work, on library for 1 of 4 pieces of work; "
        "either will do for 1."
    )
    assert said.speed_text == (
        "cpu is 2.000 [1.960..2.040] to 3.000 [2.940..3.060] times as fast as library "
        "(95 % intervals) for 16 and 64 B. "
        "library is 2.000 [1.961..2.041] times as fast as cpu (95 % interval) for 16,384 B."
    )
    assert said.next_best == "Next best: library for 2 and cpu for 1 of 3 pieces of work."


def test_the_crossover_is_bracketed_by_the_sizes_that_were_shown() -> None:
    rows = [
        *pair(2.0, Verdict.FASTER, size_bytes=16),
        *pair(1.5, Verdict.FASTER, size_bytes=1_024),
        *pair(1.0, Verdict.SAME, size_bytes=4_096),
        *pair(0.5, Verdict.SLOWER, size_bytes=16_384),
    ]
    assert answer(found(rows)).crossover == (
        "By size: the winner changes from cpu to library between 1,024 and 16,384 B."
    )


def test_each_key_regime_has_its_own_crossover() -> None:
    rows = [
        *pair(2.0, Verdict.FASTER, size_bytes=16, keys="one"),
        *pair(0.5, Verdict.SLOWER, size_bytes=64, keys="one"),
        *pair(2.0, Verdict.FASTER, size_bytes=16, keys="sessions:1024"),
        *pair(2.0, Verdict.FASTER, size_bytes=64, keys="sessions:1024"),
        *pair(2.0, Verdict.FASTER, size_bytes=16, keys="fresh"),
        *pair(1.0, Verdict.SAME, size_bytes=64, keys="fresh"),
        *pair(1.0, Verdict.SAME, size_bytes=128, keys="fresh"),
    ]
    assert answer(found(rows)).crossover == (
        "By size: one key: the winner changes from cpu to library between 16 and 64 B; "
        "1,024 sessions: cpu wins at every size from 16 to 64 B; "
        "a fresh key each: cpu wins at 16 B, and at 64 and 128 B no device was shown to."
    )


def test_large_messages_in_smaller_batches_belong_to_their_line() -> None:
    rows = [
        replace(row, cell={**row.cell, "batch": batch})
        for size, batch, ratio, verdict in (
            (16, 1_024, 2.0, Verdict.FASTER),
            (64, 1_024, 2.0, Verdict.FASTER),
            (1 << 20, 16, 0.5, Verdict.SLOWER),
        )
        for row in pair(ratio, verdict, size_bytes=size)
    ]
    said = answer(found(rows))
    assert said.crossover == (
        "By size: the winner changes from cpu to library between 64 and 1,048,576 B."
    )
    assert "batches" not in said.text
    both = [*rows, *(replace(row, cell={**row.cell, "batch": 1}) for row in rows[:2])]
    assert "one at a time" in answer(found(both)).text


def test_alike_regimes_share_their_crossover() -> None:
    rows = [
        row
        for keys in ("one", "fresh")
        for size in (16, 64)
        for row in pair(1.0, Verdict.SAME, size_bytes=size, keys=keys)
    ]
    said = answer(found(rows))
    assert said.crossover == "By size: no device was shown to win from 16 to 64 B."


def test_a_draw_is_told_with_its_noise_floor() -> None:
    rows = [*pair(2.5, Verdict.FASTER, size_bytes=16), *pair(1.0, Verdict.SAME, size_bytes=64)]
    assert answer(found(rows)).details == (
        "cpu wins for 16 B: 2.500 [2.450..2.550] times as fast as library (95 % interval).",
        "For 64 B, library and cpu are within noise (noise floor 1.0 %): either will do.",
    )


def test_why_is_the_cost_of_a_message_and_of_a_byte() -> None:
    rows = [
        *pair(2.0, Verdict.FASTER, size_bytes=100, library_ns=100.0),
        *pair(1.0, Verdict.SAME, size_bytes=1_100, library_ns=200.0),
        *pair(1.0, Verdict.SAME, size_bytes=1 << 20, library_ns=9e9),
    ]
    assert answer(found(rows)).details[0] == (
        "Why: of messages up to 1,100 B, library takes 100.0 ns for one of 100 B and 0.1000 ns "
        "for each byte more and cpu takes 50.00 ns for one of 100 B and 0.1500 ns for each byte "
        "more."
    )


def test_what_differs_between_pieces_of_work_is_named() -> None:
    rows = [
        *pair(2.0, Verdict.FASTER, keys="one"),
        *pair(3.0, Verdict.FASTER, keys="fresh", threads=2),
        *pair(1.5, Verdict.FASTER, size_bytes=28.25, keys="fresh", workload="as logged"),
    ]
    assert answer(found(rows)).details[-1] == (
        "cpu wins for 128 B (AES-128, one key, 1 thread); 128 B (AES-128, a fresh key each, "
        "2 threads); 28.25 B (as logged): 1.500 [1.470..1.530] to 3.000 [2.940..3.060] times as "
        "fast as library (95 % intervals)."
    )


@pytest.mark.parametrize(
    ("rows", "where"),
    [
        (
            two(1.0, Verdict.SAME),
            "Run it anywhere: all that was measured here is equally fast, within noise.",
        ),
        (
            two(1.02, Verdict.UNSURE),
            "Not settled here: of 2 pieces of work, longer samples are needed for 2.",
        ),
        (
            two(2.0, Verdict.UNSURE, noise_floor=0.2),
            "Not settled here: of 2 pieces of work, there was too much noise for 2.",
        ),
        (
            [row for row in two(2.0, Verdict.FASTER) if row.subject == "library"],
            "Only library was measured, so there is nothing to choose from.",
        ),
        (
            [*two(1.0, Verdict.SAME)[:2], *two(1.02, Verdict.UNSURE)[2:]],
            "Not settled here: of 2 pieces of work, either will do for 1 and "
            "longer samples are needed for 1.",
        ),
    ],
)
def test_without_a_winner_the_answer_says_why(rows: list[Row], where: str) -> None:
    said = answer(found(rows))
    assert said.where == where
    assert said.speed_text == said.next_best == ""


def test_two_equal_devices_above_a_slower_one_are_not_anywhere() -> None:
    rows = []
    for library, cpu in (two(1.0, Verdict.SAME)[:2], two(1.0, Verdict.SAME)[2:]):
        rows += [library, cpu, another(cpu, "cuda", verdict=Verdict.SLOWER, winner=False)]
    said = answer(found(rows))
    assert said.where == "No single winner: of 2 pieces of work, either will do for 2."
    assert said.details == (
        "For 16 and 64 B, library and cpu are within noise (noise floor 1.0 %): either will do.",
    )


def test_what_is_unsettled_is_said_to_be() -> None:
    assert answer(found(pair(1.02, Verdict.UNSURE))).details == (
        "For 128 B, these samples don't settle it between library and cpu: measure longer.",
    )


def test_a_noisy_machine_gets_no_recommendation() -> None:
    said = answer(found(pair(3.0, Verdict.UNSURE, noise_floor=0.25)))
    assert "Run it" not in said.text
    assert said.details == (
        "For 128 B there is no verdict: the same code differed from itself by up to 25.0 %.",
    )
    assert said.cautions == (
        "The machine was busy during 1 of 1 piece of work: measure again when it is quiet.",
    )


def test_a_busy_an_uneasy_and_a_drifting_machine_are_mentioned() -> None:
    rows = [
        *pair(2.0, Verdict.FASTER, size_bytes=16, machine_busy=True, clean_share=0.3),
        *pair(2.0, Verdict.FASTER, size_bytes=64, noise_floor=0.04, steady=False),
    ]
    assert answer(found(rows)).cautions == (
        "The machine was busy during 1 of 2 pieces of work: measure again when it is quiet.",
        "Take 1 of 2 pieces of work with care: noise floor up to 4.0 %.",
        "Times still drifted at the end of 1 of 2 pieces of work: measure longer, and look at the "
        "clock and at what else runs.",
    )


@pytest.mark.parametrize("verdict", [Verdict.SAME, Verdict.UNSURE, Verdict.SLOWER])
def test_a_winner_without_a_verdict_is_not_recommended(verdict: Verdict) -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    said = answer(found([library, replace(cpu, verdict=verdict)]))
    assert "Run it on" not in said.text
    assert "don't settle it" in said.text


@pytest.mark.parametrize("verdict", [Verdict.SAME, Verdict.UNSURE, Verdict.FASTER])
def test_a_winning_reference_without_a_verdict_is_not_recommended(verdict: Verdict) -> None:
    library, cpu = pair(0.5, Verdict.SLOWER)
    said = answer(found([library, replace(cpu, verdict=verdict)]))
    assert "Run it on" not in said.text
    assert "don't settle it" in said.text


def test_a_third_device_does_not_turn_a_lead_over_the_reference_into_a_win() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    third = another(cpu, "cuda", ratio=Interval(2.01, 1.97, 2.05, 0.95, 30))
    said = answer(found([library, cpu, third]))
    assert said.details == (
        "For 128 B, these samples don't settle it between cpu and cuda: measure longer.",
    )


def test_a_peer_that_is_no_device_is_no_advice_even_when_it_is_fastest() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    peer = another(cpu, "ipp", ratio=Interval(9.0, 8.9, 9.1, 0.95, 30), winner=True)
    beaten = replace(cpu, winner=False)
    said = answer(found([library, beaten, peer], ipp="lab only"))
    assert said.where == "Run it on cpu."
    assert said.cautions == ("ipp is no device to run on (lab only), so it is not advised.",)


def test_a_slower_peer_is_not_worth_a_word() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    table = another(cpu, "table", ratio=Interval(0.1, 0.1, 0.1, 0.95, 30), winner=False)
    said = answer(found([library, cpu, table], table="lab only"))
    assert said.where == "Run it on cpu."
    assert said.next_best == "Next best: library."
    assert "table" not in said.text


def test_a_peer_that_only_noise_lets_win_is_not_worth_a_word() -> None:
    library, cpu = pair(2.0, Verdict.UNSURE, noise_floor=0.3)
    table = another(cpu, "table", winner=True)
    assert "table" not in answer(found([library, cpu, table], table="test only")).text


def test_two_devices_equal_to_a_beaten_reference_are_not_known_to_be_equal() -> None:
    library, cpu = pair(1.01, Verdict.SAME)
    cuda = another(cpu, "cuda")
    said = answer(found([replace(library, winner=False), cpu, cuda]))
    assert "either will do" not in said.text
    assert "don't settle it between cpu and cuda" in said.text


def test_threads_that_share_cores_are_no_advice() -> None:
    rows = [
        replace(row, cell={**row.cell, "load": load})
        for threads, load, ratio, verdict in (
            (2, Load.ALL, 2.0, Verdict.FASTER),
            (8, Load.OVER, 0.5, Verdict.SLOWER),
        )
        for row in pair(ratio, verdict, threads=threads, experiment=THREADS)
    ]
    assert answer(found(rows)).where == "Run it on cpu."


def test_of_several_behind_a_peer_none_is_known_to_be_the_fastest() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    cuda = another(cpu, "cuda", winner=False)
    peer = another(cpu, "ipp", winner=True)
    said = answer(found([library, replace(cpu, winner=False), cuda, peer], ipp="lab only"))
    assert "Run it on" not in said.text
    assert "don't settle it between cpu and cuda" in said.text


def test_without_a_real_reference_there_is_no_answer() -> None:
    said = answer(found(pair(2.0, Verdict.FASTER), library="oracle"))
    assert said.where.startswith("No answer: the first device is not for real work")


def test_without_a_comparison_of_devices_there_is_no_answer() -> None:
    assert answer({}).where.startswith("No answer: no device that is for real work")
    other = found(pair(2.0, Verdict.FASTER, experiment="own-experiment"))
    assert answer(other).where.startswith("No answer: no device")


def test_a_device_that_computed_something_wrong_is_told_and_never_advised() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    facts = {"role": "real"}
    verified = [
        Verified(BY_SIZE, library.cell, facts),
        Verified(BY_SIZE, cpu.cell, facts, wrong="a tag differs"),
        Verified(BY_SIZE, {**cpu.cell, "device": "cuda"}, {}, skipped="libcuda.so.1 is missing"),
    ]
    said = answer({BY_SIZE: Found([library, replace(cpu, wrong="a tag differs")], verified)})
    assert said.where == "Only library was measured, so there is nothing to choose from."
    assert said.cautions == (
        "cpu computed something wrong, so its times don't count: a tag differs",
        "cuda was not measured: libcuda.so.1 is missing",
    )


def another(row: Row, device: str, **changes: object) -> Row:
    """The same row of another device."""
    changed = {"cell": {**row.cell, "device": device}, **changes}
    return replace(row, **changed)  # type: ignore[arg-type]
