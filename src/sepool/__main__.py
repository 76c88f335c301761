"""The command ``sepool``, also as ``python -m sepool``."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn


def main() -> None:
    """Run the command line; without typer, only ``sepool doctor`` runs."""
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interruptible:  # some imports hide a KeyboardInterrupt
        signal.signal(signal.SIGINT, _end)
    try:
        from sepool.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        if "doctor" in sys.argv[1:3]:
            from sepool.cli.doctor import check_installation

            sys.exit(check_installation("--json" in sys.argv))
        from sepool.extras import install_command

        command = install_command("sepool[cli]")
        sys.exit(f"sepool: the command line needs typer and rich: {command}")
    if interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    app()


def _end(*_: Any) -> NoReturn:
    os.write(2, b"sepool: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
