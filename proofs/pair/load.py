"""Customers that come through the proxy: each asks again with the same key until it is answered."""

from __future__ import annotations

import itertools
import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
import trio

CUSTOMERS: Final = 4
PAUSE_S: Final = 0.1
"""Of each one between two messages: some 30 messages a second in all."""
AGAIN_S: Final = 0.2
ANSWER_S: Final = 15.0
"""Longer than the proxy waits."""


@dataclass
class Asked:
    """One message, as its customer knows it."""

    word: str
    number: str
    """A phone of its own."""
    unanswered: bool = False
    """It was asked for more than once: nobody knew what had become of the first time."""
    unsure: bool = False
    """It was told ``OUTCOME_UNKNOWN``."""
    id: str | None = None
    at_ms: int = 0
    """When the answer came."""
    by: str = ""
    """The machine that answered."""


@dataclass
class Customers:
    """All of them, and what they were told."""

    url: str
    headers: dict[str, str]
    """With the API key."""
    names: dict[str, str]
    """The machines, by their address."""
    asked: list[Asked] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    answered: dict[str, float] = field(default_factory=dict)
    """When each machine last answered, by a clock that never jumps."""
    last_s: float = 0.0
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _stopping: trio.Event = field(default_factory=trio.Event)

    def accepted(self) -> list[Asked]:
        return [each for each in self.asked if each.id is not None]

    async def run(self) -> None:
        """Until :meth:`stop`, and until each has its last answer."""
        self._stopping = trio.Event()
        async with trio.open_nursery() as nursery:
            for _ in range(CUSTOMERS):
                nursery.start_soon(self._one)

    def stop(self) -> None:
        self._stopping.set()

    async def _one(self) -> None:
        limits = httpx2.Limits(max_connections=2)
        given: dict[str, Any] = {"trust_env": False, "timeout": ANSWER_S, "limits": limits}
        async with httpx2.AsyncClient(base_url=self.url, **given) as client:
            while not self._stopping.is_set():
                number = next(self._numbers)
                asked = Asked(f"pair-{number:07d}", f"+2223{number:07d}")
                self.asked.append(asked)
                while asked.id is None:
                    with suppress(httpx2.TransportError):
                        await self._ask(client, asked)
                    if asked.id is None:
                        await trio.sleep(AGAIN_S)
                with trio.move_on_after(PAUSE_S):
                    await self._stopping.wait()

    async def _ask(self, client: httpx2.AsyncClient, asked: Asked) -> None:
        body = {"to": asked.number, "body": asked.word, "idempotencyKey": asked.word}
        was_unanswered, asked.unanswered = asked.unanswered, True
        answer = await client.post("/api/sms", json=body, headers=self.headers)
        self.statuses[str(answer.status_code)] += 1
        if answer.status_code == 200:
            asked.unanswered = was_unanswered
            asked.at_ms = int(time.time() * 1000)
            upstream = answer.headers.get("x-machine", "").rpartition(", ")[2]
            asked.by = self.names.get(upstream, upstream)
            asked.id = answer.json()["messageId"]
            self.last_s = self.answered[asked.by] = time.monotonic()
        elif answer.status_code == 503:
            with suppress(ValueError, AttributeError):
                code = (json.loads(answer.text).get("data") or {}).get("code")
                if code == "OUTCOME_UNKNOWN":
                    self.statuses[code] += 1
                    asked.unsure = True
        elif answer.status_code < 500:
            raise AssertionError(f"{asked.word}: {answer.status_code} {answer.text[:300]}")
