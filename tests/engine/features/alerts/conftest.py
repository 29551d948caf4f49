"""A running engine in which anything can be made to go wrong, and all who are told of it."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import trio

from risala.config.alerts import AlertsSection
from risala.config.model import (
    CarrierSection,
    MailSection,
    NumbersSection,
    Settings,
    SinksSection,
    StorageSection,
)
from risala.engine.features.trail_heads import service as trail_heads
from risala.engine.gateway.gateway import Gateway
from risala.engine.journal.messages import counts
from risala.engine.model.clock import TrioClock
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.ids import IdSource, first_id
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault
from risala.engine.rules.webhooks.types import WebhookCall
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import Engine, open_engine
from risala.engine.wiring.foundation import Seams
from risala.plugins.contract import Health, HealthState
from risala.plugins.mail import Mail
from risala.plugins.sink import SinkEvent, SinkUnavailableError
from risala.plugins.testing.fake_driver import FakeDriver
from risala.sms.message import Inbound
from risala.sms.numbering.plan import DEFAULT_COUNTRIES

OPERATOR, SPARE = "amina@example.com", "spare@example.com"
URL = "https://ops.example.com/risala"
SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
HOUR_MS = 3_600_000


@pytest.fixture(autouse=True)
def no_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mails here are about alerts alone, not heads of the audit trail."""
    monkeypatch.setattr(trail_heads, "FIRST_S", math.inf)


class SetClock:
    """Wall time that somebody can set."""

    def __init__(self) -> None:
        self._clock = TrioClock()
        self.ahead_ms = 0

    def now_ms(self) -> int:
        return self._clock.now_ms() + self.ahead_ms


@dataclass
class Mailbox:
    sent: list[Mail] = field(default_factory=list)

    async def send(self, mail: Mail) -> None:
        self.sent.append(mail)


@dataclass
class OpsReceiver:
    """The operator's own address."""

    plan: list[ReceiverAnswer | ReceiverFault] = field(default_factory=list)
    calls: list[WebhookCall] = field(default_factory=list)
    hangs: bool = False

    async def post(self, call: WebhookCall) -> ReceiverAnswer | ReceiverFault:
        self.calls.append(call)
        if self.hangs:
            await trio.sleep_forever()
        return self.plan.pop(0) if self.plan else ReceiverAnswer(200, None, "ok")

    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(call.body) for call in self.calls]


class SomeSink:
    """An event sink that takes all, unless it is down."""

    def __init__(self) -> None:
        self.is_down = False

    async def take(self, events: Sequence[SinkEvent]) -> None:
        await trio.lowlevel.checkpoint()
        if self.is_down:
            raise SinkUnavailableError("It is down.")


@dataclass
class Watched:
    """A running service, and what a test needs to break of it."""

    engine: Engine
    driver: FakeDriver
    clock: SetClock
    mails: Mailbox
    ops: OpsReceiver
    answers: Counter[int]
    data_dir: Path
    principal: Principal
    sink: SomeSink
    _numbers: Any = field(default_factory=count)

    @property
    def gateway(self) -> Gateway:
        return self.engine.gateway

    def retune(self, **limits: Any) -> None:
        """These of the alerts' settings hold from now on, and all others as they are usually."""
        settings = self.gateway.services.settings
        given = settings.alerts.model_dump() | limits
        alerts = AlertsSection.model_validate(given)
        self.engine.retune(settings.model_copy(update={"alerts": alerts}))

    async def do(self, name: str, /, **given: Any) -> dict[str, Any]:
        return await self.gateway.perform(name, given)

    async def alerts(self, **given: Any) -> list[dict[str, Any]]:
        return (await self.do("alert.list", limit=500, **given))["alerts"]

    async def open_kinds(self) -> list[str]:
        return sorted(each["kind"] for each in await self.alerts(open=True))

    async def send(self, to: str = "+22236123456") -> str:
        told = await self.gateway.send_message(self.principal, SendMessage(to=to, body="hello"))
        return json.loads(told)["messageId"]

    def say(self, **details: Any) -> None:
        """The driver tells such details of its link."""
        self.driver.context.health(Health(HealthState.UP, "The fake link is up.", details))

    async def come_in(self, text: str) -> None:
        now_ms = self.clock.now_ms()
        await self.driver.context.inbound(Inbound("+22236000000", "1234", text, now_ms))

    async def commit(self, unit: Callable[[Any], Any]) -> Any:
        return await self.gateway.services.recorder.journal.commit(unit)

    async def traffic(self, hour: int, accepted: int, delivered: int) -> None:
        """Messages to Mattel in an hour, as they are counted when they happen."""

        def unit(conn: Any) -> None:
            (no,) = conn.execute(
                "SELECT no FROM organizations WHERE id = ?", (self.principal.organization_id,)
            ).fetchone()
            found = Counter({(no, 0, hour, 0, 0, "mattel", 0): accepted})
            found[no, 3, hour, 0, 0, "mattel", 12] = delivered
            counts.add(conn, found)

        await self.commit(unit)

    async def codes(self, at_ms: int, whole: int, approved: int, start: str = "+2223612") -> None:
        """Verification sessions that have ended, begun from a moment on."""

        def unit(conn: Any) -> None:
            for n in range(whole):
                number = next(self._numbers)
                begun = at_ms + n
                identity = first_id("ver", begun)[:-4] + f"{number % 10_000:04}"
                status = "approved" if n < approved else "expired"
                conn.execute(
                    "INSERT INTO verifications (id, organization_id, mode, recipient, status,"
                    " attempts_max, code_length, message_id, expires_at, created_at, updated_at)"
                    " VALUES (?, ?, 'live', ?, ?, 5, 6, 'sms_0', ?, ?, ?)",
                    (
                        *(identity, self.principal.organization_id),
                        *(f"{start}{number % 10_000:04}", status, begun, begun, begun),
                    ),
                )

        await self.commit(unit)


OpenWatched = Callable[..., AbstractAsyncContextManager[Watched]]


@pytest.fixture
def open_watched(tmp_path: Path) -> OpenWatched:
    """Opens (and opens again) the engine on one data directory, with one operator."""
    clock, mails, ops, sink = SetClock(), Mailbox(), OpsReceiver(), SomeSink()
    answers: Counter[int] = Counter()
    known: list[Principal] = []

    @asynccontextmanager
    async def open_one(
        *, mailer: bool = True, countries: Sequence[str] = DEFAULT_COUNTRIES, **limits: Any
    ) -> AsyncIterator[Watched]:
        given = {"webhook_url": (URL,), "page_only": (), **limits}
        settings = Settings(
            storage=StorageSection(data_dir=tmp_path),
            mail=MailSection(operator=SPARE),
            alerts=AlertsSection.model_validate(given),
            numbers=NumbersSection(countries=tuple(countries)),
            sinks=SinksSection.model_validate({"archive": {"sink": "some"}}),
        )
        driver = FakeDriver()
        fields = {"name": "fake", "driver": "fake", "prefixes": ["+2223"], "rate_per_s": 1000}
        carrier = CarrierSection.model_validate(fields)
        outside = Connections(
            ops,
            mails if mailer else None,
            url="https://sms.example",
            answers=answers.copy,
            call_secret=SECRET,
            sinks={"archive": sink},
        )
        seams = Seams(clock, IdSource(clock), inline_journal=True)
        async with open_engine(settings, (carrier,), {"fake": driver}, seams, outside) as engine:
            if not known:
                made = await engine.gateway.perform("org.create", {"name": "Shop"})
                topped = {"organization_id": made["id"], "amount": "1000"}
                await engine.gateway.perform("topup", topped)
                user = {"email": OPERATOR, "operator": True, "language": "en"}
                await engine.gateway.perform("user.create", user)
                known.append(Principal(made["id"], "key", KeyType.SECRET, Mode.LIVE))
            parts = (clock, mails, ops, answers, tmp_path, known[0], sink)
            yield Watched(engine, driver, *parts)

    return open_one


@pytest.fixture
async def watched(open_watched: OpenWatched) -> AsyncIterator[Watched]:
    """For tests that take ``autojump_clock`` themselves."""
    async with open_watched() as opened:
        yield opened
