"""Devices of this machine, and lists of them as users write them."""

import re

import pytest

from sealift_lab.machine.devices import absences, look, real_devices, role, split_specs


def test_every_choice_of_a_present_driver_is_a_device() -> None:
    found = {each.spec: each for each in look()}
    assert found["library"].state == "present"
    assert (found["library"].role, found["library"].reason) == ("real", None)
    for spec, each in found.items():
        assert spec.partition(":")[0] == each.driver
        assert each.summary
        assert (each.state == "present") == (each.detail is not None)
    assert any(spec.startswith("cpu:isa=") for spec in found)


def test_a_device_that_wraps_others_is_incomplete_and_not_absent() -> None:
    states = {each.spec: (each.state, each.reason or "") for each in look()}
    incomplete = {spec for spec, (state, _) in states.items() if state == "incomplete"}
    assert incomplete
    assert all(f"write {spec}:" in states[spec][1] for spec in incomplete)


def test_real_devices_begin_with_the_library() -> None:
    assert real_devices()[0] == "library"
    assert {role(device) for device in real_devices()} == {"real"}
    assert role("table") == "test only"


@pytest.mark.parametrize(
    ("text", "specs"),
    [
        ("cpu, library", ("cpu", "library")),
        ("cpu:isa=aesni,workers=2,library", ("cpu:isa=aesni,workers=2", "library")),
    ],
)
def test_a_list_of_devices_is_split_where_devices_end(text: str, specs: tuple[str, ...]) -> None:
    assert split_specs(text) == specs


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cpu,librery", "no device is called 'librery' (did you mean 'library'?); there are "),
        ("isa=aesni", "no device is called 'isa=aesni'; there are "),
        ("cpu,cpu", "a device stands twice in 'cpu,cpu'"),
    ],
)
def test_a_list_that_is_wrong_is_refused_with_what_would_be_right(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=re.escape(why)):
        split_specs(text)


def test_absent_devices_have_a_reason_and_wrong_settings_are_errors() -> None:
    assert absences(["library"]) == {}
    with pytest.raises(ValueError, match="isa"):
        absences(["cpu:isa=none"])
