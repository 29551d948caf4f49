"""``risala`` and ``python -m risala``."""

from __future__ import annotations


def main() -> None:
    """Run the command line; imports nothing of the service until a command needs it."""
    from risala.cli.main import cli

    cli(prog_name="risala")


if __name__ == "__main__":
    main()
