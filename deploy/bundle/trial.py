"""Try a bundle as somebody does who has nothing else: ``python -m deploy.bundle.trial FILE``.

In an empty home it starts the demo, sends a message, and writes to the people of a workbook, which
a process of its own reads.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any, Final

import openpyxl

WAIT_MAX_S: Final = 600
"""It ends a hang, and measures nothing: the first start unpacks the bundle, which takes seconds, or
minutes where other programs keep all cores busy."""
LOOK_S: Final = 0.1
PEOPLE: Final = [["number", "name"], ["36123457", "Aminata"], ["36123458", "Sidi"]]


class Home:
    """An empty home with a bundle in it."""

    def __init__(self, bundle: Path, home: Path) -> None:
        self._bundle, self.path = bundle.absolute(), home
        self._env = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8"}

    def start(self, *command: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(self._bundle), *command],
            cwd=self.path,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def ask(self, *command: str) -> Any:  # noqa: ANN401 -- JSON
        """What a command prints by ``--json``.

        Raises:
            SystemExit: it failed.
        """
        process = self.start(*command, "--json", "--data", "data")
        told, _ = process.communicate(timeout=WAIT_MAX_S)
        if process.returncode:
            raise SystemExit(f"risala.pyz {' '.join(command)} failed: {told}")
        return json.loads(told)


def main() -> None:
    bundle = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as place:
        home = Home(bundle, Path(place))
        began = time.monotonic()
        service = home.start("serve", "--demo", "--port", "0", "--data", "data")
        try:
            _wait(lambda: (home.path / "data/demo.json").exists(), service)
            first_s = time.monotonic() - began
            _send(home)
            _mail(home, service)
        finally:
            service.terminate()
            service.wait(timeout=WAIT_MAX_S)
    size_mb = bundle.stat().st_size / 1_000_000
    here = f"Python {platform.python_version()}, {platform.machine()}"
    print(
        f"{bundle}: {size_mb:.1f} MB, {here}. It starts in {first_s:.1f} s, sends, reads workbooks"
    )


def _send(home: Home) -> None:
    facts = json.loads((home.path / "data/demo.json").read_text())
    request = urllib.request.Request(
        f"{facts['base_url']}/api/sms",
        data=json.dumps({"to": "+22236123456", "body": "Salam"}).encode(),
        headers={"x-api-key": facts["secret_key"], "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=WAIT_MAX_S) as answer:
        assert json.load(answer)["accepted"]


def _mail(home: Home, service: subprocess.Popen[str]) -> None:
    book = openpyxl.Workbook()
    for row in PEOPLE:
        book.active.append(row)
    book.save(home.path / "people.xlsx")
    home.ask(
        *("mailing", "send", "--file", "people.xlsx", "--text", "Salam {{name}}"),
        *("--hours", "0-24", "--yes"),
    )
    sent = len(PEOPLE)  # and the one message before, less the headings
    _wait(lambda: _delivered(home) == sent, service)


def _delivered(home: Home) -> int:
    return len(home.ask("message", "list", "--status", "delivered")["messages"])


def _wait(done: Any, service: subprocess.Popen[str]) -> None:  # noqa: ANN401 -- a condition
    end = time.monotonic() + WAIT_MAX_S
    while not done():
        if service.poll() is not None:
            raise SystemExit(f"It ended by itself: {service.stdout and service.stdout.read()}")
        if time.monotonic() > end:
            raise SystemExit("It did not happen in time.")
        time.sleep(LOOK_S)


if __name__ == "__main__":
    main()
