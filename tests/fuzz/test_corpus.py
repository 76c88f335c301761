"""The kept corpus of the fuzzer, without a fuzzer."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz.targets import targets

CORPUS = Path(__file__).with_name("corpus")
SHORT = [b"", b"\n", b"\0", b"\xff\xfe", b"PK\3\4", b"\x1f\x8b", b"9" * 99]
FILES = sorted(path for path in CORPUS.glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name}/{path.name}" for path in FILES])
def test_target_kept_input_is_read_or_refused(path):
    targets()[path.parent.name](path.read_bytes())


def test_targets_each_has_a_corpus():
    assert {path.parent.name for path in FILES} == set(targets())


@pytest.mark.parametrize("name", sorted(targets()))
@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\0", b"\xff\xfe", b"PK\3\4", b"\x1f\x8b", b"9" * 99]
)
def test_target_short_input_is_read_or_refused(name, data):
    targets()[name](data)
