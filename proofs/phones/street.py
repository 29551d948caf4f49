"""The service, its customers, its phones and its kills."""

from __future__ import annotations

import json
import random
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, TypeVar

import trio
from tests.flows.conftest import Account, Service

from patience import HANG_S
from proofs.phones.handset import Handset
from proofs.process.faces import GONE

T = TypeVar("T")

NAMES: Final = ("phone-1", "phone-2", "phone-3")
TOKEN: Final = "private0token0of0the0phone"
EVERYTHING: Final = "1000000"
"""Money: more than any run spends."""
CUSTOMERS: Final = 4
BATCH: Final = 5
AHEAD_MAX: Final = 150
"""Messages that wait at once at the most: so kills find them under way, and not in a queue."""
LAST: Final = 20
"""When so few are left, nothing is killed any more."""
KILL_S: Final = (3.0, 9.0)
"""Between an open door and the next kill."""
LOOK_S: Final = 0.2
SETTLE_S: Final = 180.0
"""Where nothing has come to its end for so long, nothing moves it on."""
QUIET_S: Final = 8.0
"""After all has an end but receipts: the longest that a late one takes here."""
LONG: Final = " رسالة" * 25
"""Makes a text three segments long."""
SETTINGS: Final = """
[http]
public_url = "{url}"
"""
CARRIER: Final = """
[[carriers]]
name = "{name}"
driver = "phone"
rate_per_s = 100
on_uncertain_message = {{ action = "{action}", after_s = 2 }}
[carriers.phone]
{phone}
per_minute = 60
per_day_max = 100000
fetch_s = 15
sent_s = 15
"""
OWN: Final = 'token_env = "PHONE_TOKEN"\nsim = 1'
SECOND: Final = 'shares = "{name}"\nsim = 2'
"""The second SIM of a phone: a carrier of its own, with a quota of its own."""
ACTIONS: Final = dict(zip(NAMES, ("resend", "resend", "fail"), strict=True))


@dataclass
class Street:
    """Everything of one run."""

    service: Service
    handsets: list[Handset]
    texts: dict[str, tuple[str, str]]
    """By idempotency key: number and text of each message."""
    seed: int
    account: Account = field(init=False)
    accepted: dict[str, str] = field(default_factory=dict)
    """By key: the id that its customer was told."""
    refused: list[str] = field(default_factory=list)
    kills: int = 0
    wipes: int = 0
    is_over: bool = False
    is_open: trio.Event = field(default_factory=trio.Event)

    async def run(self, tell: Callable[[str], None]) -> None:
        """All messages, through all days, to their ends; the service is stopped then."""
        await _in_thread(self.service.start)
        self.account = await _in_thread(self.service.organization, EVERYTHING)
        self.is_open.set()
        async with trio.open_nursery() as phones:
            for handset in self.handsets:
                phones.start_soon(handset.live)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._killer, tell)
                nursery.start_soon(self._wiper)
                keys = iter(self.texts)
                async with trio.open_nursery() as customers:
                    for _ in range(CUSTOMERS):
                        customers.start_soon(self._customer, keys)
                await self._wait_open(LAST)
                self.is_over = True
            for handset in self.handsets:
                handset.is_calm = True
            tell(f"{len(self.accepted)} accepted, {self.kills} kills; they come to their ends")
            await self._settle()
            phones.cancel_scope.cancel()
        status = await _in_thread(self.service.stop)
        if status:
            self.refused.append(f"the service ended with {status}")

    # -- the service -------------------------------------------------------------------------------

    async def _killer(self, tell: Callable[[str], None]) -> None:
        dice = random.Random(f"{self.seed}/kills")
        while not self.is_over:
            await trio.sleep(dice.uniform(*KILL_S))
            if self.is_over:
                return
            self.is_open = trio.Event()
            await _in_thread(self.service.kill)
            self.kills += 1
            await _in_thread(self.service.start)
            self.is_open.set()
            if not self.kills % 5:
                left = sum(sum(each.left.values()) for each in self.handsets)
                tell(f"{self.kills:3} kills; {len(self.accepted)} accepted, {left} left the phones")

    async def _wiper(self) -> None:
        """In the middle, one phone loses all that it knows; the operator lets it in anew."""
        wiped = self.handsets[1]
        while len(self.accepted) < len(self.texts) // 2:  # noqa: ASYNC110 -- no event tells it
            await trio.sleep(LOOK_S)
        known = wiped.registered
        wiped.phone.wipe()
        self.wipes += 1
        while wiped.registered == known:  # noqa: ASYNC110 -- likewise
            await trio.sleep(LOOK_S)
        asked = ("carriers", "ask", wiped.name, "replace")
        with trio.fail_after(HANG_S):
            # The service may be killed meanwhile.
            while (await _in_thread(self.service.command, *asked)).returncode:  # noqa: ASYNC110
                await trio.sleep(LOOK_S)

    # -- customers ---------------------------------------------------------------------------------

    async def _customer(self, keys: Iterator[str]) -> None:
        while some := list(islice(keys, BATCH)):
            await self._wait_open(AHEAD_MAX)
            while some:
                some = await self._sent(some)

    async def _sent(self, keys: list[str]) -> list[str]:
        """Send them; those that are to be sent again, with the same keys."""
        await self.is_open.wait()
        bodies = [
            {"to": self.texts[key][0], "body": self.texts[key][1], "idempotencyKey": key}
            for key in keys
        ]
        try:
            async with self.service.async_client() as client:
                answer = await client.post(
                    "/api/sms/batch", json={"messages": bodies}, headers=self.account.headers
                )
        except GONE:
            await trio.sleep(LOOK_S)
            return keys
        if answer.status_code != 200:
            await trio.sleep(LOOK_S)
            if answer.status_code != 503:
                self.refused.append(f"{answer.status_code} {answer.text[:200]}")
                return []
            return keys
        again = []
        for key, result in zip(keys, answer.json()["results"], strict=True):
            if result.get("accepted"):
                before = self.accepted.setdefault(key, result["messageId"])
                if before != result["messageId"]:
                    self.refused.append(f"{key} was answered with two ids")
            elif result["status"] == 503:
                again.append(key)
            else:
                self.refused.append(json.dumps(result))
        return again

    # -- its end -----------------------------------------------------------------------------------

    async def _open_messages(self) -> int:
        query = "SELECT count(*) FROM messages WHERE status IN ('pending', 'processing')"
        return int((await _in_thread(self.service.rows, query))[0][0])

    async def _wait_open(self, most: int) -> None:
        """Until no more than so many wait."""
        while await self._open_messages() > most:  # noqa: ASYNC110 -- no event tells it
            await trio.sleep(LOOK_S)

    async def _settle(self) -> None:
        fewest, since_s = 10**9, trio.current_time()
        while (waiting := await self._open_messages()) and trio.current_time() - since_s < SETTLE_S:
            if waiting < fewest:
                fewest, since_s = waiting, trio.current_time()
            await trio.sleep(LOOK_S)
        await trio.sleep(QUIET_S)


async def _in_thread(work: Callable[..., T], *given: object) -> T:
    return await trio.to_thread.run_sync(partial(work, *given))


def messages(count: int) -> dict[str, tuple[str, str]]:
    """So many messages, each to a number of its own, every tenth a long one."""
    return {
        f"key {number:06}": (
            f"+222{30_000_000 + number}",
            f"message {number}{LONG if number % 10 == 0 else ''}",
        )
        for number in range(count)
    }


@asynccontextmanager
async def opened(place: Path, count: int, seed: int) -> AsyncIterator[Street]:
    """A street whose service does not run yet."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    config = place / "risala.toml"
    carriers = (
        CARRIER.format(name=name + line, action=ACTIONS[name], phone=phone.format(name=name))
        for name in NAMES
        for line, phone in (("", OWN), ("-second", SECOND))
    )
    config.write_text(SETTINGS.format(url=url) + "".join(carriers), "utf-8")
    options = ("--config", str(config), "--port", str(port))
    service = Service(place / "data", options, [], environment={"PHONE_TOKEN": TOKEN})
    handsets = [Handset(name, f"{url}/carriers/{name}/mobile/v1", TOKEN, seed) for name in NAMES]
    try:
        yield Street(service, handsets, messages(count), seed)
    finally:
        service.close()
        for process in service.processes:
            process.end()


def moods(street: Street) -> Counter[str]:
    """All bad days of all phones."""
    found = sum((each.moods for each in street.handsets), Counter[str]())
    del found["well"]
    return found
