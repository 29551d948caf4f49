"""A running engine with mailings, whose files are read on the loop: a mock clock stays exact."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
import trio
from tests.engine.features.mailings.people_tables import table

from mailing_book import ON_LOOP
from risala.engine.features.mailings.records import Mailing, MailingState, NewMailing
from risala.engine.features.mailings.service import MailingService, mailing_service
from risala.engine.model.states import Mode

TEXT = "Hello {{name}}"
AWAITED_S = 1000
"""Of the mock clock: what has not come after that does not come."""


class Desk:
    """The mailings of a running engine."""

    def __init__(self, house: Any) -> None:
        self.house = house
        self.organization_id = house.principal.organization_id

    @property
    def service(self) -> MailingService:
        return self.house.gateway.services.part(mailing_service)

    @property
    def texts(self) -> list[str]:
        """What the carrier has got."""
        return [segment.text for segment in self.house.driver.submitted]

    async def draft(self, content: bytes, text: str = TEXT, **fields: Any) -> Mailing:
        """A mailing whose rows are checked."""
        upload = await self.service.uploads.keep(self.organization_id, content, "people.csv")
        given = {"organization_id": self.organization_id, "mode": Mode.LIVE, **fields}
        new = NewMailing(created_by="somebody", text=text, upload=upload, **given)
        made = await self.service.create(new)
        await self.until(made.id, MailingState.DRAFT)
        return await self.service.change(made.id, {"from_hour": 0, "to_hour": 24})

    async def start(self, count: int, **settings: Any) -> Mailing:
        """A mailing to so many people that sends."""
        made = await self.draft(table(count))
        if settings:
            await self.service.change(made.id, settings)
        return await self.service.start(made.id)

    async def until(self, mailing_id: str, state: MailingState) -> Mailing:
        """Until a mailing is in a state."""
        return await self.when(mailing_id, lambda mailing: mailing.state is state)

    async def when(self, mailing_id: str, holds: Callable[[Mailing], bool]) -> Mailing:
        """Until something holds of a mailing: looked at after each commit's time."""
        with trio.fail_after(AWAITED_S):
            while True:
                if holds(found := self.service.mailing(mailing_id)):
                    return found
                await trio.sleep(0.05)  # a commit rings no bell of a test's

    def counts(self, mailing_id: str) -> tuple[int, int, int, int, int]:
        """Ready, bad, left out, accepted and refused."""
        found = self.service.mailing(mailing_id)
        return (found.ready, found.bad, found.left_out, found.accepted, found.refused)

    def messages(self) -> list[tuple[str, str]]:
        """All messages of the journal: to whom, and the text."""
        store = self.house.gateway.services.repositories._store
        rows = store.reader.execute("SELECT recipient, body FROM messages ORDER BY recipient")
        return [(str(recipient), body) for recipient, body in rows]


OpenDesk = Callable[..., AbstractAsyncContextManager[Desk]]


@pytest.fixture
def open_desk(open_house) -> OpenDesk:
    """Opens (and opens again) the engine on one data directory."""
    former: list[Any] = []

    @asynccontextmanager
    async def open_one(*carriers: Any, **given: Any) -> AsyncIterator[Desk]:
        async with open_house(*carriers, parts=ON_LOOP, **given) as house:
            desk = Desk(house)
            if former:
                desk.organization_id = former[0]
            former[:] = [desk.organization_id]
            yield desk

    return open_one
