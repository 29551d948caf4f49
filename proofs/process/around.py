"""Processes around the service, which are killed and come back at the same place."""

from __future__ import annotations

import json
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from patience import until
from processes import Process

ROOT: Final = Path(__file__).parents[2]


class Around:
    """One of them, over all its lives: what it told, life by life, is kept.

    Args:
        name: for people.
        command: what starts it on a port; 0 has it choose one. A process without a port is given
            0 always.
        listens: whether its first line tells its port.
    """

    def __init__(
        self,
        name: str,
        command: Callable[[int], list[str]],
        cwd: Path,
        *,
        listens: bool = True,
        typed: bool = False,
    ) -> None:
        self.name = name
        self.port = 0
        self.kills = 0
        """How often it was."""
        self._command = command
        self._cwd = cwd
        self._listens = listens
        self._typed = typed
        self._told: list[dict[str, Any]] = []
        self._read = 0
        self._earlier: list[Process] = []
        self.process: Process
        self._launch()

    def _launch(self) -> None:
        command = [sys.executable, *self._command(self.port)]
        paths = f"{ROOT}:{ROOT / 'tests/support'}"
        self.process = Process(command, self._cwd, typed=self._typed, PYTHONPATH=paths)
        self._read = 0
        if self._listens:
            line = self.process.wait_line(lambda line: '"Listening"' in line)
            self.port = json.loads(line)["port"]

    def kill(self) -> None:
        """``kill -9``: what it had told is kept, what it had in its hands is gone."""
        self.process.signal(signal.SIGKILL)
        self.process.wait_exit()
        self.told()
        self.kills += 1
        self._earlier.append(self.process)
        self._launch()

    def type(self, line: str) -> None:
        stream = self.process.popen.stdin
        assert stream is not None
        stream.write(f"{line}\n")
        stream.flush()

    def told(self) -> list[dict[str, Any]]:
        """All that it told so far, from its first life on."""
        lines = self.process.lines
        while self._read < len(lines):
            self._told.append(json.loads(lines[self._read]))
            self._read += 1
        return self._told

    def end(self) -> None:
        for process in (*self._earlier, self.process):
            process.end()


class Carrier(Around):
    """``risala simulate smsc``."""

    def __init__(self, cwd: Path, scenario: Callable[[int], Path]) -> None:
        """``scenario`` writes its file, of this life of it."""
        simulate = ["-m", "risala", "simulate", "smsc", "--json"]

        def command(port: int) -> list[str]:
            return [*simulate, "--scenario", str(scenario(self.kills)), "--port", str(port)]

        super().__init__("smsc", command, cwd)
        self._whole: Counter[str] = Counter()
        self._parts: dict[str, set[int]] = {}
        self._counts: dict[str, int] = {}
        self._texts: dict[str, str] = {}
        self._by_text: Counter[str] = Counter()
        self._looked = 0

    def taken(self, number: str) -> int:
        """How often a phone got a message; each has one of its own.

        A carrier that was killed has forgotten the parts that it had, but it had taken them: all
        parts are a message too.
        """
        self._look()
        if self._whole[number]:
            return self._whole[number]
        return int(len(self._parts.get(number, ())) == self._counts.get(number))

    def text(self, number: str) -> str | None:
        """The last text of a phone."""
        self._look()
        return self._texts.get(number)

    def came(self, text: str) -> int:
        """How often a text came to any phone, in one part."""
        self._look()
        return self._by_text[text]

    def _look(self) -> None:
        told = self.told()
        for event in told[self._looked :]:
            if event["event"] == "MessageReceived":
                number = f"+{event['message']['recipient'].lstrip('+')}"
                self._whole[number] += 1
                self._texts[number] = event["message"]["text"]
                self._by_text[event["message"]["text"]] += 1
            elif event["event"] == "Submitted" and event["is_taken"] and event["concatenation"]:
                number = f"+{event['recipient'].lstrip('+')}"
                self._parts.setdefault(number, set()).add(event["concatenation"]["number"])
                self._counts[number] = event["concatenation"]["total"]
        self._looked = len(told)

    def brought(self) -> Counter[str]:
        """Parts of phones' messages that the service has acknowledged, by their texts."""
        return Counter(
            event["text"]
            for event in self.told()
            if event["event"] == "InboundSent" and event["command_status"] == 0
        )


class Modem(Around):
    """``risala simulate modem``."""

    def __init__(self, cwd: Path, link: Path) -> None:
        simulate = ["-m", "risala", "simulate", "modem", "--json", "--link", str(link)]
        simulate += ["--report-delay-s", "0.05"]
        super().__init__("modem", lambda _: simulate, cwd, listens=False, typed=True)
        self._taken: Counter[str] = Counter()
        self._looked = 0
        until(link.exists, "the modem's port")

    def taken(self, number: str) -> int:
        """How often a phone got a message."""
        told = self.told()
        for event in told[self._looked :]:
            if event["event"] == "MessageReceived":
                self._taken[f"+{event['recipient'].lstrip('+')}"] += 1
        self._looked = len(told)
        return self._taken[number]


class Hooks(Around):
    """Customers' servers."""

    def __init__(self, cwd: Path) -> None:
        super().__init__("hooks", lambda port: ["-m", "proofs.process.hooks", str(port)], cwd)

    def calls(self, path: str) -> list[dict[str, Any]]:
        return [each for each in self.told() if each.get("target", "").startswith(path)]
