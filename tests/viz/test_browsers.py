from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.viz import browsers


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder searched for browsers."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(browsers, "PATHS", ())
    monkeypatch.setattr(browsers, "_playwright_browser", lambda: None)
    for variable in browsers.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def _install(folder: Path, name: str) -> str:
    program = folder / name
    program.touch(mode=0o755)
    return str(program)


@pytest.mark.skipif(os.name != "posix", reason="POSIX programs")
class TestFindBrowser:
    def test_find_browser_without_any_returns_none(self, path: Path) -> None:
        assert browsers.find_browser() is None

    @pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
    def test_find_browser_on_path_returns_it(self, path: Path, name: str) -> None:
        program = _install(path, name)
        assert browsers.find_browser() == program

    def test_find_browser_with_variable_prefers_it(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _install(path, "chromium")
        other = _install(path, "other")
        monkeypatch.setenv("SEPOOL_BROWSER", other)
        assert browsers.find_browser() == other

    def test_find_browser_with_wrong_variable_raises(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _install(path, "chromium")
        monkeypatch.setenv("CHROME_BIN", "/no/such/browser")
        with pytest.raises(FileNotFoundError, match="CHROME_BIN names /no/such/browser"):
            browsers.find_browser()
