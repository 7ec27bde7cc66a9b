"""Devices of this machine, and lists of them as users write them."""

import re

import pytest

from sealift.cli.devices import absences, split_specs
from sealift_lab import _lab
from sealift_lab.machine.devices import look, real_devices


def test_a_run_knows_all_devices_and_the_library_is_the_first_real_one() -> None:
    found = {each.spec: each for each in look()}
    assert {"cpu:isa=aesni", "library", "reference"} <= found.keys()
    assert found["fault"].state == "incomplete"
    assert real_devices()[0] == "library"


def test_a_list_of_devices_is_split_where_devices_end() -> None:
    assert split_specs(_lab, "cpu, library") == ("cpu", "library")
    long = "cpu:isa=aesni,workers=2,library"
    assert split_specs(_lab, long) == ("cpu:isa=aesni,workers=2", "library")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cpu,librery", "no device is called 'librery' (did you mean 'library'?); there are "),
        ("dpu", "no device is called 'dpu'; there are "),
        ("isa=aesni", "no device is called 'isa=aesni'; there are "),
        ("cpu,cpu", "a device stands twice in 'cpu,cpu'"),
    ],
)
def test_a_list_that_is_wrong_is_refused_with_what_would_be_right(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        split_specs(_lab, text)


def test_absent_devices_have_a_reason_and_wrong_settings_are_errors() -> None:
    assert absences(_lab, ["library"]) == {}
    with pytest.raises(ValueError, match="isa"):
        absences(_lab, ["cpu:isa=none"])
