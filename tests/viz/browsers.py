"""Search for a Chromium on this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

VARIABLES = ("SEPOOL_BROWSER", "CHROME_BIN")
# Debian's packages first, then Google's, then other names.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATHS = ("/usr/lib/chromium/chromium", "/usr/lib/chromium-browser/chromium-browser")


def find_browser() -> str | None:
    """Return the program named by a variable, else the first one installed.

    Raises:
        FileNotFoundError: a variable names a program that does not exist.
    """
    for variable in VARIABLES:
        if name := os.environ.get(variable):
            if path := shutil.which(name):
                return path
            raise FileNotFoundError(f"{variable} names {name}, which is no program")
    path = next(filter(None, map(shutil.which, (*NAMES, *PATHS))), None)
    return path or _playwright_browser()


def _playwright_browser() -> str | None:
    """Return the browser of ``playwright install chromium``, None if it is not installed."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as driver:
        path = driver.chromium.executable_path
    return path if Path(path).exists() else None
