"""Two runs are compared cell by cell; one process of each carries no verdict."""

from collections.abc import Callable

from sealift_lab.claim.compare import compare
from sealift_lab.model.claim import Relation
from sealift_lab.run.folder import Run

Make = Callable[..., Run]


def test_a_later_run_that_is_faster_is_called_so_cell_by_cell(a_run: Make) -> None:
    before = a_run({16: (100.0, 50.0), 64: (10.0,)}, "before")
    now = a_run({16: (100.0, 40.0), 1024: (9.0,)}, "now", seed=2)
    found = compare(before, now)
    told = [(claim.subject, claim.relation) for _, claim in found.pairs]
    assert told == [
        ("16 B messages, AWS-LC", Relation.SAME),
        ("16 B messages, Kernels", Relation.FASTER),
    ]
    assert [round(each.before.value) for each, _ in found.pairs] == [100, 50]
    assert len(found.notes) == 2
    assert "1 of made-up" in found.notes[0]


def test_one_process_of_each_settles_nothing_and_says_so(a_run: Make) -> None:
    before = a_run({16: (100.0, 50.0)}, "before", processes=1, blocks=20)
    now = a_run({16: (100.0, 40.0)}, "now", processes=1, blocks=20)
    _, (_, claim) = compare(before, now).pairs
    assert claim.relation is Relation.INCONCLUSIVE
    assert "process" in claim.reason
