from __future__ import annotations

import os
from pathlib import Path

import browsers
import pytest


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with no browser but those that a test puts into this folder."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(browsers, "PLACES", ())
    monkeypatch.setattr(browsers, "_of_playwright", lambda: None)
    for variable in browsers.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def _install(folder: Path, name: str) -> str:
    program = folder / name
    program.touch(mode=0o755)
    return str(program)


@pytest.mark.skipif(os.name != "posix", reason="programs of another kind")
class TestFindBrowser:
    def test_none(self, path: Path) -> None:
        assert browsers.find_browser() is None

    @pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
    def test_by_name(self, path: Path, name: str) -> None:
        program = _install(path, name)
        assert browsers.find_browser() == program

    def test_a_variable_comes_first(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _install(path, "chromium")
        mine = _install(path, "mine")
        monkeypatch.setenv("SEPOOL_BROWSER", mine)
        assert browsers.find_browser() == mine

    def test_a_variable_that_is_wrong(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        _install(path, "chromium")
        monkeypatch.setenv("CHROME_BIN", "/no/such/browser")
        with pytest.raises(FileNotFoundError, match="CHROME_BIN names /no/such/browser"):
            browsers.find_browser()
