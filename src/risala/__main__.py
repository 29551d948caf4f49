"""``risala`` and ``python -m risala``."""

from __future__ import annotations

import gc
import signal
import sys


def hold_reload() -> None:
    """Have a SIGHUP wait until the service can hear it.

    A service takes a second to start, and one that is asked to reread its settings meanwhile
    would be ended by the signal, in a way that systemd takes for an orderly end. In a terminal it
    is left as it is: there it says that the window was closed.
    """
    if not sys.stderr.isatty():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})


def main() -> None:
    """Run the command line; imports nothing of the service until a command needs it."""
    if sys.argv[1:] == ["--version"]:
        # Scripts and package managers ask only this, and click is most of a start.
        from risala import __version__

        print(f"risala {__version__}")
        return
    if "serve" in sys.argv:
        hold_reload()
        # A tenth of a start: nothing that is imported is garbage. The service looks again.
        gc.disable()
        from risala.late import hash_without_openssl, import_late

        import_late()
        hash_without_openssl()
    from risala.cli.main import cli

    cli(prog_name="risala")


if __name__ == "__main__":
    main()
