from __future__ import annotations

import re
from pathlib import Path

import sepool

CITATION = Path(__file__).parents[1] / "CITATION.cff"


def test_citation_names_this_version():
    text = CITATION.read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", text, re.MULTILINE) == [sepool.__version__]
