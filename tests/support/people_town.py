"""A running engine with a mailer that keeps what it was given, and people before its pages."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import trio

from risala.config.model import CarrierSection, PeopleSection, Settings, StorageSection
from risala.engine.gateway.gateway import Gateway
from risala.engine.model.callers import PROCESS, Caller, CallerKind, Role
from risala.engine.model.clock import TrioClock
from risala.engine.model.ids import IdSource
from risala.engine.model.people import Browser, Language, SessionKind, SignedIn
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import Seams
from risala.plugins.mail import Mail, MailNotSentError
from risala.plugins.testing.fake_driver import FakeDriver

OPERATOR = Caller("amina", CallerKind.CLI, Role.OPERATOR)


@dataclass
class KeptMails:
    """A mailer that keeps what it is given, after so many failures."""

    sent: list[Mail] = field(default_factory=list)
    failures: int = 0
    tried_s: list[float] = field(default_factory=list)

    async def send(self, mail: Mail) -> None:
        await trio.lowlevel.checkpoint()
        self.tried_s.append(trio.current_time())
        if self.failures:
            self.failures -= 1
            raise MailNotSentError("The server is away.")
        self.sent.append(mail)

    def to(self, email: str) -> list[Mail]:
        return [mail for mail in self.sent if mail.to == email]


def codes_in(mail: Mail) -> list[str]:
    return re.findall(r"^\d{6}(?:\d\d)?$", mail.text, re.MULTILINE)


class MovedClock:
    """Wall time on which days pass at once: to sleep through them would wake each service often."""

    def __init__(self) -> None:
        self._clock = TrioClock()
        self.ahead_ms = 0

    def now_ms(self) -> int:
        return self._clock.now_ms() + self.ahead_ms


@dataclass
class Town:
    """The engine, and who walks about before it."""

    gateway: Gateway
    mails: KeptMails
    clock: MovedClock
    numbers: Any = field(default_factory=count)

    @property
    def people(self):
        return self.gateway.people

    def pass_s(self, span_s: int) -> None:
        """Move the clock on the wall ahead."""
        self.clock.ahead_ms += span_s * 1000

    def browser(self, token: str | None = None, **fields: Any) -> Browser:
        number = next(self.numbers)
        return Browser(
            **{
                "token": token or self.people.new_token(),
                "bucket": number,
                "address": f"192.0.2.{number % 256}",
                "agent": "Tester/1.0",
                "language": Language.ENGLISH,
                **fields,
            }
        )

    async def posted(self) -> None:
        """Until each mail that is owed was tried: some are sent at once, in any order."""
        # Who waits for a thread that writes counts as blocked, though the mail is still to come.
        while self.rows("SELECT 1 FROM mails WHERE settled_at IS NULL AND tries = 0"):
            await trio.lowlevel.checkpoint()
        await trio.testing.wait_all_tasks_blocked()

    async def mailed(self, email: str) -> str:
        """The last code that was mailed to an address."""
        await self.posted()
        return [code for mail in self.mails.to(email) for code in codes_in(mail)][-1]

    async def sign_in(
        self, email: str, kind: SessionKind = SessionKind.CUSTOMER, browser: Browser | None = None
    ) -> SignedIn:
        browser = browser or self.browser()
        await self.posted()
        await self.people.sign_in.begin(browser, email, kind)
        found = await self.people.sign_in.finish(browser, await self.mailed(email))
        assert isinstance(found, SignedIn)
        return found

    async def do(self, name: str, caller: Caller = PROCESS, /, **arguments: Any) -> dict[str, Any]:
        return await self.gateway.perform(name, arguments, caller)

    async def as_user(self, name: str, who: SignedIn, /, **arguments: Any) -> dict[str, Any]:
        session = self.people.sessions.find(who.token, who.session.kind)
        assert session is not None
        return await self.do(name, self.people.sessions.user_caller(session), **arguments)

    async def as_member(
        self, name: str, who: SignedIn, organization_id: str, /, **arguments: Any
    ) -> dict[str, Any]:
        session = self.people.sessions.find(who.token, who.session.kind)
        assert session is not None
        caller = self.people.sessions.caller(session, organization_id)
        given = {"organization_id": organization_id, **arguments}
        return await self.do(name, caller, **given)

    def rows(self, query: str, *given: Any) -> list[Any]:
        return self.gateway.services.repositories._store.reader.execute(query, given).fetchall()


OpenTown = Callable[..., AbstractAsyncContextManager[Town]]


@pytest.fixture
def open_town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenTown:
    """Opens (and opens again) the engine on one data directory.

    It looks for what to alert of once a day: hours of nothing but that pass in these tests.
    """
    monkeypatch.setattr("risala.engine.features.alerts.service.LOOK_S", 86_400.0)
    clock = MovedClock()

    @asynccontextmanager
    async def open_one(
        mails: KeptMails | None = None, *, mailer: bool = True, **people: Any
    ) -> AsyncIterator[Town]:
        mails = mails or KeptMails()
        settings = Settings(
            storage=StorageSection(data_dir=tmp_path),
            people=PeopleSection.model_validate(people),
        )
        carrier = CarrierSection.model_validate({"name": "fake", "driver": "fake"})
        seams = Seams(clock, IdSource(clock), inline_journal=True)
        outside = Connections(mailer=mails if mailer else None, url="https://sms.example")
        async with open_engine(
            settings, (carrier,), {"fake": FakeDriver()}, seams, outside
        ) as engine:
            yield Town(engine.gateway, mails, clock)

    return open_one


@pytest.fixture
async def town(open_town: OpenTown) -> AsyncIterator[Town]:
    """For tests that take ``autojump_clock`` themselves."""
    async with open_town() as opened:
        yield opened


@pytest.fixture
def kept_mails() -> type[KeptMails]:
    return KeptMails
