"""Devices of this machine, and lists of them as users write them."""

import re

import pytest

from sealift.cli.devices import absences, split_specs
from sealift_lab import _lab
from sealift_lab.machine.devices import look, real_devices


def test_every_choice_of_a_present_driver_is_a_device_and_one_that_wraps_others_is_incomplete() -> (
    None
):
    found = {each.spec: each for each in look()}
    library = found["library"]
    assert (library.state, library.role, library.reason) == ("present", "real", None)
    assert any(spec.startswith("cpu:isa=") for spec in found)
    for spec, each in found.items():
        assert spec.partition(":")[0] == each.driver
        assert (each.state == "present") == (each.detail is not None)
        assert (each.state == "incomplete") == (f"write {spec}:" in (each.reason or ""))
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
