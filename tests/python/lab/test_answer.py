"""Where to run, word for word, and no word more than the rows allow."""

from dataclasses import replace

import pytest

from made_rows import BY_SIZE, another, found, pair
from sealift.lab.answer import answer
from sealift.lab.crowding import Load
from sealift.lab.result import Found, Row, Verified
from sealift.lab.stats import Interval, Verdict

THREADS = "aes-gcm-by-threads"
SIZES = (16, 64, 1_024)


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
    assert said.work == "For 128-byte messages, sealed under one key, one thread:"
    assert said.where == "Run it on cpu."
    assert said.speed_text == (
        "24.10 million [23.63..24.34] messages/s (3,085 MB/s), "
        "2.410 [2.362..2.458] times as fast as library (95 % intervals)."
    )
    assert said.next_best == said.crossover == ""
    assert said.details == ("Measured here: AES-128, sealed, one key, 1 thread, batches of 1,024.",)
    assert said.cautions == ()
    assert said.text.splitlines()[0] == f"{said.work} {said.where} {said.speed_text}"


def test_a_slow_rate_is_not_told_in_millions() -> None:
    said = answer(found(pair(2.0, Verdict.FASTER, library_ns=4_000.0)))
    assert said.speed_text.startswith("500,000 [490,200..505,100] messages/s (64.00 MB/s), 2.000 ")


def test_the_answer_goes_to_the_reference_when_that_wins() -> None:
    said = answer(found(pair(0.5, Verdict.SLOWER)))
    assert said.where == "Run it on library."
    assert "2.000 [1.961..2.041] times as fast as cpu" in said.speed_text


def test_a_third_device_is_the_next_best_where_it_was_the_faster_of_the_losers() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    took = Interval(60.0, 59.0, 61.0, 0.95, 30)
    third = another(cpu, "cuda", ns_per_operation=took, winner=False)
    said = answer(found([library, cpu, third]))
    assert said.next_best == (
        "Next best: cuda, 16.67 million [16.39..16.95] messages/s (2,133 MB/s) (95 % interval)."
    )


def test_the_headline_stands_on_the_documents_messages_on_all_cores_and_names_contrary_sizes() -> (
    None
):
    rows = [
        *pair(3.0, Verdict.FASTER, size_bytes=16),
        *pair(2.0, Verdict.FASTER, size_bytes=128),
        *pair(0.5, Verdict.SLOWER, size_bytes=16_384),
        *pair(1.5, Verdict.FASTER, workload="as stated", experiment=THREADS),
        *pair(9.0, Verdict.FASTER, experiment="own-experiment"),
    ]
    said = answer(found(rows))
    assert said.work == (
        "For document 003's 128-byte messages as stated, sealed under one key, one thread:"
    )
    assert said.where == "Run it on cpu; but on library for 16,384 B (AES-128)."
    assert said.speed_text.startswith("15.00 million [14.71..15.15] messages/s (1,920 MB/s), 1.500")
    assert any(
        line.startswith("library wins for 16,384 B (AES-128): 2.000") for line in said.details
    )
    assert "9.000" not in said.text


def test_of_thread_counts_a_thread_a_core_makes_the_headline_and_one_where_that_is_not_known() -> (
    None
):
    def rows(*loads: Load) -> list[Row]:
        return [
            replace(row, cell={**row.cell, "load": load})
            for threads, load in zip((1, 2, 4), loads, strict=False)
            for row in pair(2.0, Verdict.FASTER, threads=threads, workload="as stated")
        ]

    assert "2 threads:" in answer(found(rows(Load.BELOW, Load.ALL, Load.OVER))).work
    assert "one thread:" in answer(found(rows(Load.BELOW, Load.BELOW))).work
    plain = [row for count in (1, 2) for row in pair(2.0, Verdict.FASTER, threads=count)]
    assert "one thread:" in answer(found(plain)).work


def test_of_key_regimes_many_sessions_make_the_headline() -> None:
    rows = [
        row
        for keys in ("one", "sessions:1024", "fresh")
        for row in pair(2.0, Verdict.FASTER, keys=keys)
    ]
    assert "sealed under 1,024 sessions" in answer(found(rows)).work


@pytest.mark.parametrize(
    ("mix", "keys", "work"),
    [
        ("0/100/0", "fresh", "For 128-byte messages, opened under a fresh key each,"),
        ("50/25/25", "sessions:64", "% sealed/opened/refused under 64 sessions,"),
    ],
)
def test_the_work_is_named_by_what_is_done_under_which_keys(mix: str, keys: str, work: str) -> None:
    rows = [
        replace(row, cell={**row.cell, "mix": mix}) for row in pair(2.0, Verdict.FASTER, keys=keys)
    ]
    assert work in answer(found(rows)).work


def test_where_another_device_wins_the_larger_sizes_the_headline_says_from_which() -> None:
    rows = [
        *pair(2.0, Verdict.FASTER, size_bytes=16),
        *pair(3.0, Verdict.FASTER, size_bytes=128),
        *pair(1.0, Verdict.SAME, size_bytes=1_024),
        *pair(0.5, Verdict.SLOWER, size_bytes=8_192),
        *pair(0.5, Verdict.SLOWER, size_bytes=16_384),
    ]
    assert answer(found(rows)).where == "For 128 B run it on cpu, from 8,192 B on library."


def test_where_another_device_wins_the_smaller_sizes_the_headline_says_up_to_which() -> None:
    rows = [
        *pair(0.5, Verdict.SLOWER, size_bytes=16),
        *pair(0.5, Verdict.SLOWER, size_bytes=64),
        *pair(3.0, Verdict.FASTER, size_bytes=128),
    ]
    assert answer(found(rows)).where == "For 128 B run it on cpu, up to 64 B on library."


def test_no_range_of_sizes_is_claimed_with_an_unsettled_one_in_it() -> None:
    rows = [
        *pair(3.0, Verdict.FASTER, size_bytes=128),
        *pair(0.5, Verdict.SLOWER, size_bytes=8_192),
        *pair(1.0, Verdict.UNSURE, size_bytes=16_384),
    ]
    assert answer(found(rows)).where == "Run it on cpu; but on library for 8,192 B."


def test_no_range_of_sizes_is_claimed_from_wins_under_other_keys() -> None:
    rows = [
        *pair(3.0, Verdict.FASTER, keys="sessions:1024"),
        *pair(1.0, Verdict.UNSURE, size_bytes=8_192, keys="sessions:1024"),
        *pair(0.5, Verdict.SLOWER, size_bytes=8_192, keys="fresh"),
    ]
    assert answer(found(rows)).where == (
        "Run it on cpu; but on library for 8,192 B (a fresh key each)."
    )


def test_another_winner_under_other_keys_or_threads_keeps_the_headline_from_being_plain() -> None:
    rows = [
        *pair(3.0, Verdict.FASTER, keys="sessions:1024"),
        *pair(0.5, Verdict.SLOWER, keys="fresh"),
        *pair(0.5, Verdict.SLOWER, keys="fresh", threads=2),
    ]
    said = answer(found(rows))
    assert said.where == "Run it on cpu; but on library for 2 of 2 other pieces of work."
    few = answer(found(rows[:4]))
    assert few.where == "Run it on cpu; but on library for 128 B (a fresh key each)."


def test_work_without_a_winner_does_not_keep_the_headline_from_being_plain() -> None:
    rows = [*pair(3.0, Verdict.FASTER), *pair(1.0, Verdict.SAME, size_bytes=16_384)]
    assert answer(found(rows)).where == "Run it on cpu."


def test_where_the_headlines_work_is_a_draw_it_is_told_who_won_other_work() -> None:
    rows = [
        *pair(1.0, Verdict.SAME),
        *pair(2.0, Verdict.FASTER, size_bytes=16),
        *pair(2.0, Verdict.FASTER, size_bytes=64),
        *pair(0.5, Verdict.SLOWER, size_bytes=16_384),
    ]
    said = answer(found(rows))
    assert said.where == "Either will do: library and cpu differ by less than 2.0 %."
    assert said.next_best == "Of 3 other pieces of work cpu won 2 and library won 1."
    assert said.passed_over == ""


def test_the_crossover_is_bracketed_by_the_sizes_that_were_shown() -> None:
    rows = [
        *pair(2.0, Verdict.FASTER, size_bytes=16),
        *pair(1.5, Verdict.FASTER, size_bytes=1_024),
        *pair(1.0, Verdict.SAME, size_bytes=4_096),
        *pair(0.5, Verdict.SLOWER, size_bytes=16_384),
    ]
    assert answer(found(rows)).crossover == (
        "By size (AES-128, sealed, one key, 1 thread, batches of 1,024): "
        "the winner changes from cpu to library between 1,024 and 16,384 B."
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
        "By size (AES-128, sealed, 1 thread, batches of 1,024): one key: "
        "the winner changes from cpu to library between 16 and 64 B; "
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
        "By size (AES-128, sealed, one key, 1 thread, batches of up to 1,024): "
        "the winner changes from cpu to library between 64 and 1,048,576 B."
    )
    assert "from 1,048,576 B on library" in said.where
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
    assert said.crossover == (
        "By size (AES-128, sealed, 1 thread, batches of 1,024): "
        "no device was shown to win from 16 to 64 B."
    )


@pytest.mark.parametrize(("noise_floor", "least"), [(0.004, "2.0 %"), (0.045, "4.5 %")])
def test_a_draw_is_told_with_the_smallest_difference_that_a_verdict_calls_one(
    noise_floor: float, least: str
) -> None:
    rows = [
        *pair(2.5, Verdict.FASTER, size_bytes=16),
        *pair(1.0142, Verdict.SAME, size_bytes=64, noise_floor=noise_floor),
    ]
    assert answer(found(rows)).details[1:] == (
        "cpu wins for 16 B: 2.500 [2.450..2.550] times as fast as library (95 % interval).",
        f"For 64 B, library and cpu differ by less than {least}: either will do.",
    )


def test_devices_equal_to_the_reference_are_not_said_to_be_equal_to_each_other() -> None:
    library, cpu = pair(1.0, Verdict.SAME)
    said = answer(found([library, cpu, another(cpu, "cuda")]))
    assert said.where == "Any will do: cpu and cuda each differ from library by less than 2.0 %."


def costing(*sizes: tuple[float, float], verdict: Verdict = Verdict.SAME) -> list[Row]:
    """Of each size a pair of equal devices that take so many ns."""
    return [
        row
        for size, ns in sizes
        for row in pair(1.0, verdict, size_bytes=size, library_ns=ns, keys="sessions:1024")
    ]


def test_what_a_message_and_a_byte_cost_is_told_with_intervals_and_of_which_work() -> None:
    rows = costing((100, 100.0), (500, 150.0), (1_100, 200.0), (1 << 20, 9e9))
    assert answer(found(rows)).details[-1] == (
        "What a message costs (AES-128, sealed, 1,024 sessions, 1 thread, batches of 1,024): one "
        "of 100 B in a batch of 1,024 takes library about 100.0 [99.00..102.0] ns, and "
        "0.1000 [0.09600..0.1050] ns for each byte more; cpu about 100.0 [99.00..102.0] ns, and "
        "0.1000 [0.09600..0.1050] ns for each byte more up to 1,100 B (95 % intervals)."
    )


@pytest.mark.parametrize(
    "rows",
    [
        costing((100, 100.0), (1_100, 200.0), verdict=Verdict.UNSURE),
        costing((100, 100.0), (1_100, 101.0)),
        costing((100, 100.0), (700, 200.0)),
        [
            replace(row, cell={**row.cell, "batch": int(110_000 / float(row.cell["size_bytes"]))})
            for row in costing((100, 100.0), (1_100, 200.0))
        ],
    ],
    ids=["no verdicts", "intervals that meet", "sizes too near", "other batches"],
)
def test_no_cost_of_a_byte_is_told_where_it_can_not_be_said(rows: list[Row]) -> None:
    assert "What a message costs" not in answer(found(rows)).text


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
            "Either will do: library and cpu differ by less than 2.0 %.",
        ),
        (
            two(1.02, Verdict.UNSURE),
            "Not settled here between library and cpu: longer samples are needed.",
        ),
        (
            two(2.0, Verdict.UNSURE, noise_floor=0.2),
            "Not settled here: there was too much noise.",
        ),
        (
            [row for row in two(2.0, Verdict.FASTER) if row.subject == "library"],
            "Only library was measured, so there is nothing to choose from.",
        ),
    ],
)
def test_without_a_winner_the_answer_says_why(rows: list[Row], where: str) -> None:
    said = answer(found(rows))
    assert said.where == where
    assert said.next_best == ""
    # How fast they are is worth knowing all the same.
    assert said.speed_text.startswith(
        "library 10.00 million [9.804..10.10] messages/s (640.0 MB/s)"
    )


def test_two_equal_devices_above_a_slower_one_are_not_anywhere() -> None:
    rows = []
    for library, cpu in (two(1.0, Verdict.SAME)[:2], two(1.0, Verdict.SAME)[2:]):
        rows += [library, cpu, another(cpu, "cuda", verdict=Verdict.SLOWER, winner=False)]
    said = answer(found(rows))
    assert said.where == "Either will do: library and cpu differ by less than 2.0 %."
    assert said.details[1:] == (
        "For 16 and 64 B, library and cpu differ by less than 2.0 %: either will do.",
    )


def test_what_is_unsettled_is_said_to_be() -> None:
    rows = [*pair(1.02, Verdict.UNSURE), *pair(2.0, Verdict.FASTER, size_bytes=16)]
    assert answer(found(rows)).details[-1] == (
        "For 128 B, these samples don't settle it between library and cpu (99 % interval crosses "
        "the noise): cpu 1.020 [0.9996..1.040] times as fast as library (95 % interval)."
    )


def test_a_noisy_machine_gets_no_recommendation() -> None:
    said = answer(found(two(3.0, Verdict.UNSURE, noise_floor=0.25)))
    assert "Run it" not in said.text
    assert said.details[1:] == (
        "For 16 and 64 B there is no verdict (noise floor over 10 %): "
        "cpu 3.000 [2.940..3.060] times as fast as library (95 % intervals).",
    )
    assert said.cautions == (
        "2 of 2 pieces of work without a verdict: the same code differed from itself by more than "
        "10 %.",
    )


def test_where_the_machine_was_busy_no_longer_samples_are_asked_for() -> None:
    said = answer(found(pair(1.5, Verdict.UNSURE, machine_busy=True)))
    assert said.where == "Not settled here between library and cpu: the machine was busy."


def test_a_busy_an_uneasy_and_a_drifting_machine_are_mentioned() -> None:
    rows = [
        *pair(2.0, Verdict.FASTER, size_bytes=16, machine_busy=True, clean_share=0.3),
        *pair(2.0, Verdict.FASTER, size_bytes=64, noise_floor=0.04, steady=False),
    ]
    assert answer(found(rows)).cautions == (
        "The machine was busy during 1 of 2 pieces of work: measure again when it is quiet.",
        "Take 1 of 2 pieces of work with care: noise floor over 3 %.",
        "Times still drifted at the end of 1 of 2 pieces of work: measure longer, and look at the "
        "clock and at what else runs.",
    )


@pytest.mark.parametrize("verdict", [Verdict.SAME, Verdict.UNSURE, Verdict.SLOWER])
def test_a_winner_without_a_verdict_is_not_recommended(verdict: Verdict) -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    said = answer(found([library, replace(cpu, verdict=verdict)]))
    assert "Run it on" not in said.text
    assert said.where.startswith("Not settled here between library and cpu")


@pytest.mark.parametrize("verdict", [Verdict.SAME, Verdict.UNSURE, Verdict.FASTER])
def test_a_winning_reference_without_a_verdict_is_not_recommended(verdict: Verdict) -> None:
    library, cpu = pair(0.5, Verdict.SLOWER)
    said = answer(found([library, replace(cpu, verdict=verdict)]))
    assert "Run it on" not in said.text
    assert said.where.startswith("Not settled here between library and cpu")


def test_a_third_device_does_not_turn_a_lead_over_the_reference_into_a_win() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    third = another(cpu, "cuda", ratio=Interval(2.01, 1.97, 2.05, 0.95, 30))
    said = answer(found([library, cpu, third]))
    assert said.where.startswith("Not settled here between cpu and cuda")


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
    assert said.next_best == ""
    assert "table" not in said.text


def test_a_peer_that_only_noise_lets_win_is_not_worth_a_word() -> None:
    library, cpu = pair(2.0, Verdict.UNSURE, noise_floor=0.3)
    table = another(cpu, "table", winner=True)
    assert "table" not in answer(found([library, cpu, table], table="test only")).text


def test_two_devices_equal_to_a_beaten_reference_are_not_known_to_be_equal() -> None:
    library, cpu = pair(1.01, Verdict.SAME)
    cuda = another(cpu, "cuda")
    said = answer(found([replace(library, winner=False), cpu, cuda]))
    assert "will do" not in said.text
    assert said.where.startswith("Not settled here between cpu and cuda")


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
    assert said.where.startswith("Not settled here between cpu and cuda")


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


def test_a_device_that_was_measured_for_some_of_the_work_is_told_so() -> None:
    library, cpu = pair(2.0, Verdict.FASTER)
    facts = {"role": "real"}
    verified = [
        Verified(BY_SIZE, library.cell, facts),
        Verified(BY_SIZE, cpu.cell, facts),
        Verified(BY_SIZE, {**cpu.cell, "size_bytes": 1 << 30}, {}, skipped="too little memory"),
    ]
    said = answer({BY_SIZE: Found([library, cpu], verified)})
    assert said.cautions == ("cpu was measured for a part of the work only: too little memory",)


def test_sizes_are_a_range_among_those_of_their_own_kind_of_messages() -> None:
    rows = [
        *pair(3.0, Verdict.FASTER, workload="as stated", size_bytes=128, experiment=THREADS),
        *(row for size in SIZES for row in pair(0.5, Verdict.SLOWER, size_bytes=size)),
        *pair(1.0, Verdict.SAME, size_bytes=4_096),
    ]
    won = "library wins for 16 to 1,024 B (AES-128): "
    assert any(line.startswith(won) for line in answer(found(rows)).details)
