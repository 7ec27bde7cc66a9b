"""Numbers with their nouns."""

from sealift_lab.model.units import counted, rate_unit


def test_nouns_follow_their_number() -> None:
    counts = (counted(1, "row"), counted(0, "row"), counted(1024, "key"), counted(3, "process"))
    assert counts == ("1 row", "0 rows", "1,024 keys", "3 processes")
    units = [rate_unit(each) for each in ("copy", "batch", "key", "MiB", "64 KiB of text")]
    assert units == ["copies/s", "batches/s", "keys/s", "MiB/s", "operations/s"]
