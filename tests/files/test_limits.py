from __future__ import annotations

import io

import pytest

from sepool.files.limits import LINE, UNPACKED, BeyondLimit, Limited, limit, line_blocks, lines


@pytest.mark.parametrize("value", ["0", "-1", "many", "nan", "inf"])
def test_limit_bad_value_names_the_variable(monkeypatch, value):
    monkeypatch.setenv(UNPACKED, value)
    with pytest.raises(ValueError, match=f"{UNPACKED} must be a positive number, got '{value}'"):
        limit(UNPACKED)


def test_lines_longest_line_is_read_and_a_longer_one_refused(monkeypatch):
    monkeypatch.setenv(LINE, "2")
    longest = b"x" * (2_000_000 - 1) + b"\n"
    assert list(lines(io.BytesIO(b"a\n" + longest + b"b"))) == [b"a\n", longest, b"b"]
    with pytest.raises(BeyondLimit, match=f"a line has more than 2 MB; set {LINE} to allow more"):
        list(lines(io.BytesIO(2 * longest.strip())))


def test_line_blocks_blocks_are_whole_lines():
    text = b"".join(b"%d %d\n" % (i, i + 1) for i in range(300_000))
    blocks = list(line_blocks(io.BytesIO(text)))
    assert len(blocks) > 1
    assert b"".join(blocks) == text
    assert all(block.endswith(b"\n") for block in blocks)


def test_limited_content_up_to_the_limit_is_read(monkeypatch):
    monkeypatch.setenv(UNPACKED, "0.000001")
    assert io.BufferedReader(Limited(io.BytesIO(bytes(1000)))).read() == bytes(1000)
    with pytest.raises(BeyondLimit, match="unpacks to more than 1e-06 GB"):
        io.BufferedReader(Limited(io.BytesIO(bytes(1001)))).read()
