"""Tables, word for word."""

from sealift.lab.table import aligned, fitted


def test_columns_stand_under_each_other() -> None:
    assert aligned([("a", "long"), ("bbb", "")]) == "a    long\nbbb"


ROWS = [
    ("figure", "here", "what", "with what"),
    ("T4", "1.0", "a speed", "a long sentence of many words"),
    ("F5", "200.0", "", "few words"),
    ("F6", "", "", ""),
]


def test_a_table_that_has_room_stays_as_it_is() -> None:
    longest = max(map(len, aligned(ROWS).splitlines()))
    assert fitted(ROWS, None) == aligned(ROWS) == fitted(ROWS, longest)
    assert fitted(ROWS, longest - 1) != aligned(ROWS)


def test_what_has_no_room_beside_stands_below_and_no_line_is_longer() -> None:
    assert fitted(ROWS, 50) == (
        "figure  here   what\n    with what\n"
        "T4      1.0    a speed\n    a long sentence of many words\n"
        "F5      200.0\n    few words\n"
        "F6"
    )
    narrow = fitted([("name", "what"), ("x" * 30, "one two three four five six seven")], 40)
    assert narrow.splitlines()[2:] == ["x" * 30, "    one two three four five six seven"]
    words = [("name", "what"), ("x" * 30, "word " * 100)]
    assert max(map(len, fitted(words, 20).splitlines())) <= 40
    assert fitted(words, 40).count("word") == 100
