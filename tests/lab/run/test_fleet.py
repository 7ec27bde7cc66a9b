"""A fleet: nodes of one host take turns, others don't wait, and what fails has a reason."""

import io
import tarfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.lab.cli.commands import invoke, refused

from sealift.exit_code import ExitCode
from sealift_lab.cli import fleet as command
from sealift_lab.run import fleet
from sealift_lab.run.fleet import Archive, Node, NodeResult, measure_nodes

Run = Callable[[Node], Iterator[str | Archive]]


class MadeUpCluster:
    """Hosts with nodes whose runs are functions."""

    def __init__(self, run: Run, *hosts: str) -> None:
        self._hosts = [[Node(name, name, 1, 0) for name in host.split()] for host in hosts]
        self._run = run
        self.is_cancelled = False

    def hosts(self) -> Sequence[Sequence[Node]]:
        return self._hosts

    def run(self, node: Node, words: Sequence[str]) -> Iterator[str | Archive]:
        assert words == ["all"]
        return self._run(node)

    def cancel(self) -> None:
        self.is_cancelled = True


def archive_of(folder: Path) -> Archive:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        tar.add(folder, ".")
    return Archive(0, content.getvalue(), "")


def test_nodes_of_one_host_take_turns_and_hosts_dont_wait_for_each_other(tmp_path: Path) -> None:
    # Passed only by two at once.
    together = threading.Barrier(2)
    events: list[str] = []

    def run(node: Node) -> Iterator[str | Archive]:
        events.append(f"{node.name} begins")
        together.wait(timeout=60)
        yield "half"
        events.append(f"{node.name} ends")
        yield Archive(3, b"", "nothing is left to measure")

    lines: list[str] = []
    cluster = MadeUpCluster(run, "a b", "c d")
    results = measure_nodes(cluster, ["all"], tmp_path, lines.append)
    assert results == dict.fromkeys("abcd", NodeResult(3, None, "nothing is left to measure"))
    assert "a: half" in lines
    assert "a: nothing is left to measure" in lines
    for first, second in ("ab", "cd"):
        assert events.index(f"{first} ends") < events.index(f"{second} begins")


def test_ctrl_c_cancels_and_what_was_measured_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "plan.json").write_text("{}")

    def run(node: Node) -> Iterator[str | Archive]:
        is_first = node.name == "a"
        yield archive_of(tmp_path / "there") if is_first else Archive(130, b"", "interrupted")

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(fleet, "wait", interrupt)
    cluster = MadeUpCluster(run, "a", "b")
    results = measure_nodes(cluster, ["all"], tmp_path / "out", lambda _: None)
    assert cluster.is_cancelled
    assert results["a"] == NodeResult(0, tmp_path / "out" / "a")
    assert (tmp_path / "out" / "a" / "plan.json").read_text() == "{}"
    assert results["b"].reason == "interrupted"


def test_an_archive_that_cant_be_written_is_the_reason_of_its_node_alone(tmp_path: Path) -> None:
    (tmp_path / "b").touch()
    (tmp_path / "there").mkdir()

    def run(_: Node) -> Iterator[str | Archive]:
        yield archive_of(tmp_path / "there")

    results = measure_nodes(MadeUpCluster(run, "a", "b"), ["all"], tmp_path, lambda _: None)
    assert results["a"] == NodeResult(0, tmp_path / "a")
    assert results["b"].code == ExitCode.NOT_WRITTEN
    assert f"{tmp_path}/b was not written: " in results["b"].reason


def test_a_failure_without_text_is_named_by_its_type() -> None:
    assert fleet._why_failed(AssertionError()) == "AssertionError"
    assert fleet._why_failed(ValueError("first\nlast\n")) == "ValueError: last"


def test_the_exit_code_is_that_of_all_nodes_or_the_gravest() -> None:
    for codes, code in (
        ({0}, 0),
        ({3}, ExitCode.NOTHING_RAN),
        ({0, 3}, ExitCode.PART_FAILED),
        ({0, 6, 4}, ExitCode.WRONG_RESULT),
        ({0, 4, 130}, ExitCode.INTERRUPTED),
    ):
        assert command._code(codes) == code


def test_what_a_fleet_cant_do_is_refused_before_it_connects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "mine.py"
    own.write_text((Path(__file__).parents[3] / "benches/python_loop.py").read_text())
    there = ("lab", "run", "--fleet", "10.0.0.1:6379")
    assert "'10.0.0.1' is no address" in refused("lab", "run", "--fleet", "10.0.0.1")
    assert "leave out --json" in refused(*there, "--json")
    assert "mine.py is not on the nodes" in refused(*there, own)
    assert "no experiment" in refused(*there, "aes-gcm-by-sise")
    monkeypatch.setattr(fleet, "find_spec", lambda _: None)
    out = tmp_path / "out"
    assert 'pip install "sealift-lab[ray]"' in refused(*there, "premise", "--out", out)
    assert not out.exists()
    assert "--fleet" in invoke("lab", "run", "-h").output
