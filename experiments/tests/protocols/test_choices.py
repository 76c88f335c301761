from __future__ import annotations

import pytest

from sepool_experiments.protocols.choices import parse_names, parse_numbers


def test_parse_lists_drops_duplicates():
    assert parse_names(" a,b , a") == ["a", "b"]
    assert parse_names(" , ") is None
    assert parse_numbers("--seeds", "") is None
    assert parse_numbers("--seeds", "2,0-1,1") == [2, 0, 1]
    assert parse_numbers("--seeds", "4294967295-4294967295") == [4294967295]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-1", r"takes a count \(3\) or a list"),
        ("1.5", r"takes a count \(3\) or a list"),
        ("5-3", "chooses nothing"),
        (",", "chooses nothing"),
        ("10001", "chooses more than 10,000 numbers"),
        ("0,99999999999999999999", "must be below 4,294,967,296, got 99999999999999999999"),
    ],
)
def test_parse_numbers_bad_text_raises(text, message):
    with pytest.raises(ValueError, match=f"^--seeds .*{message}"):
        parse_numbers("--seeds", text)
