"""``risala`` and ``python -m risala``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; imports nothing of the service until a command needs it."""
    if sys.argv[1:] == ["--version"]:
        # Scripts and package managers ask only this, and click is most of a start.
        from risala import __version__

        print(f"risala {__version__}")
        return
    from risala.cli.main import cli

    cli(prog_name="risala")


if __name__ == "__main__":
    main()
