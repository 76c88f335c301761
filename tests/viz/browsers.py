"""Where a Chromium may be found, to show pages in."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

VARIABLES = ("SEPOOL_BROWSER", "CHROME_BIN")
# Debian's packages first, then Google's, then what others call it.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PLACES = ("/usr/lib/chromium/chromium", "/usr/lib/chromium-browser/chromium-browser")


def find_browser() -> str | None:
    """The program that a variable names, or the first that is installed.

    Raises:
        FileNotFoundError: a variable names one that is not there.
    """
    for variable in VARIABLES:
        if named := os.environ.get(variable):
            if found := shutil.which(named):
                return found
            raise FileNotFoundError(f"{variable} names {named}, which is no program")
    found = next(filter(None, map(shutil.which, (*NAMES, *PLACES))), None)
    return found or _of_playwright()


def _of_playwright() -> str | None:
    """The browser that ``playwright install chromium`` brings, if someone has run that."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as driver:
        path = driver.chromium.executable_path
    return path if Path(path).exists() else None
