"""A service of its own for the rig: real, in a process, in memory where there is room for it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import trio

from proofs.timing import planted
from proofs.timing.wire import Wire
from risala.cli.reach.client import connect

STOP_S: Final = 30.0
"""More than a stop takes."""
SETTINGS: Final = """\
[http]
public_url = "https://risala.example"
trusted_proxies = ["127.0.0.1"]

[people]
codes_per_ip_per_hour = 100000
codes_per_address_per_hour = 100000
codes_per_hour = 100000

[compat.kannel]
enabled = true

[compat.planted]
enabled = true

[mail]
mailer = "outbox"
outbox = "{folder}/mails.jsonl"

[plugins]
folder = "{folder}/plugins"
"""
"""Limits are out of the way, as many samples come from one place; all else is as it is."""


@dataclass(frozen=True, slots=True)
class House:
    """A service that runs."""

    wire: Wire
    data: Path

    def perform(self, operation: str, **arguments: object) -> dict[str, Any]:
        async def main() -> dict[str, Any]:
            async with connect(self.data) as gateway:
                return dict(await gateway.perform(operation, arguments))

        return trio.run(main)


@contextmanager
def open_house() -> Iterator[House]:
    """Start a service, and stop it at the end.

    Raises:
        RuntimeError: it did not start.
    """
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        prefix="risala-timing-", dir=memory if memory.is_dir() else None
    ) as name:
        folder = Path(name)
        (folder / "plugins").mkdir()
        source = Path(planted.__file__).read_text("utf-8")
        (folder / "plugins/planted.py").write_text(source, "utf-8")
        (folder / "risala.toml").write_text(SETTINGS.format(folder=folder), "utf-8")
        command = ("serve", "--config", str(folder / "risala.toml"), "--port", "0")
        kept = {key: value for key, value in os.environ.items() if not key.startswith("RISALA_")}
        with (
            (folder / "log").open("w") as log,
            subprocess.Popen(
                (sys.executable, "-m", "risala", *command, "--data", str(folder / "data")),
                env=kept | {"PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            ) as process,
        ):
            assert process.stdout is not None
            try:
                told = (re.match(r"Risala is running at (\S+)", line) for line in process.stdout)
                found = next(filter(None, told), None)
                if found is None:
                    raise RuntimeError((folder / "log").read_text("utf-8"))
                place = urlsplit(found[1])
                wire = Wire(str(place.hostname), int(place.port or 0))
                yield House(wire, folder / "data")
                wire.close()
            finally:
                process.terminate()
                process.wait(STOP_S)
