"""What members do with the people who write: they read, answer, mark, and share the work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

import trio
from tests.simulation import machine
from tests.simulation.people.mailers import Mailers

from risala.engine.features.answers.records import AnswerKind
from risala.engine.features.answers.service import AnswerSending
from risala.engine.model.errors import EngineError, RecipientOptedOut

KEYS = 6
REPLIES = ("Until 19 h.", "Yes, it is ready.", "Please say STOP if you want no more.")


class Talkers(Mailers):
    """One member's errands with conversations, beside all others."""

    async def talk(self) -> None:
        """Open the list, and do something with one who has written."""
        organization_id = self.organization()
        owner, given = self.house.owner(organization_id), {"organization_id": organization_id}
        which = self.dice.choice(({}, {"unread": True}, {"state": "open"}, {"assigned_to": ""}))
        listed = (await self.do("conversation.list", owner, **given, **which))["conversations"]
        if not listed:
            return
        one = self.dice.choice(listed)
        given["number"] = one["number"]
        match self.dice.randrange(5):
            case 0:
                state = self.dice.choice(("open", "done"))
                await self.do("conversation.mark", owner, state=state, **given)
            case 1:
                read = self.dice.random() < 0.7
                await self.do("conversation.mark", owner, read=read, **given)
            case 2:
                whom = self.dice.choice((*self.house.members[organization_id], ""))
                await self.do("conversation.mark", owner, assigned_to=whom, **given)
            case _:
                await self._reply(organization_id, given)

    async def answer(self) -> None:
        """A program answers the newest texts, as two endpoints of it do: the first one counts."""
        organization_id = self.organization()
        services = self.gateway.services
        sending = services.part(AnswerSending)
        kind = self.dice.choice((AnswerKind.RULE, AnswerKind.WEBHOOK))
        texts = services.repositories._store.reader.execute(
            "SELECT id FROM inbound WHERE organization_id = ? ORDER BY id DESC LIMIT 3",
            (organization_id,),
        ).fetchall()
        async with trio.open_nursery() as nursery:
            for (text_id,) in texts * self.dice.choice((1, 2)):
                body = self.dice.choice(REPLIES)
                put = partial(sending.put_in, organization_id, text_id, kind, body, "All")
                nursery.start_soon(_try, put)

    async def _reply(self, organization_id: str, given: dict[str, Any]) -> None:
        """Read and answer; now and then twice, under the same key."""
        owner, life = self.house.owner(organization_id), self.world.life
        await self.do("conversation.get", owner, **given)
        key = self.dice.choice((None, f"answer {self.dice.randrange(KEYS)}"))
        body = self.dice.choice(REPLIES)
        for _ in range(self.dice.choice((1, 1, 2))):
            try:
                answer = await self.do(
                    "conversation.reply", owner, body=body, idempotency_key=key, **given
                )
            except RecipientOptedOut:
                self.world.stops.refused(self.house.numbers[organization_id], given["number"])
                raise
            if self.world.gone(life):
                return
            self.world.talks.answered(organization_id, key, answer)
            self.say("answers", given["number"], self.world.short(answer["messageId"]))
            await trio.sleep(self.dice.choice((0, 2)))


async def _try(put: Callable[[], Awaitable[bool]]) -> None:
    with suppress(EngineError, machine.SimulatedBug):
        await put()
