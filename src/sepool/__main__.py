"""The command ``sepool``, also as ``python -m sepool``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; without typer, only ``sepool doctor`` runs."""
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
    except KeyboardInterrupt:
        print("sepool: interrupted", file=sys.stderr)
        sys.exit(130)
    app()


if __name__ == "__main__":
    main()
