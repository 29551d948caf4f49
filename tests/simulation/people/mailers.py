"""What members do with mailings: a table of people becomes a mailing, which they watch over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import trio
from tests.simulation.house import OPERATOR
from tests.simulation.outsiders import FORBIDDEN
from tests.simulation.people.desk import Desk

from risala.engine.model.callers import Caller
from risala.engine.model.times import iso

TEXTS = (
    "Hello {{name}}",
    "Hello {{ Name }}, see you on Monday",
    "السلام عليكم {{name}} " * 3,
    f"{{{{name}}}}, a {FORBIDDEN} word",
)
PEOPLE_MAX = 12
"""Of a table: some of them have bad rows."""
LOOKS_S = (0.05, 1, 5, 20)
"""When somebody looks whether all rows are checked."""
LEFT = 80
"""Minor units that a balance is run down to: enough for one message."""


class Mailers(Desk):
    """One member's errands with mailings, beside all others."""

    async def mailing(self) -> None:
        """Make a mailing and start it, or do something with one that there is."""
        known = [*self.world.mailings.told]
        if known and self.dice.random() < 0.4:
            await self._watch_over(self.dice.choice(known))
        else:
            await self.make_mailing()

    # -- one that repeats

    async def repeat(self) -> None:
        """Let a list be written to each day, soon for the first time; or do something with one."""
        owner, life = self.house.owner(self.organization()), self.world.life
        assert owner.organization_id is not None
        given = {"organization_id": owner.organization_id}
        known = (await self.do("repeat.list", owner, **given))["repeats"]
        if known and self.dice.random() < 0.5:
            step = self.dice.choice(("pause", "go_on", "set", "end", "show"))
            one, more = self.dice.choice(known), {"count": 2} if step == "set" else {}
            await self.do(f"repeat.{step}", owner, repeat_id=one["repeatId"], **more)
            self.say(step, self.world.short(one["repeatId"]))
            return
        upload = await self.gateway.receive_upload(
            owner.organization_id, _chunks(self._table()), "people.csv", owner
        )
        self.world.mailings.lists += 1
        name = f"list {self.world.mailings.lists}"
        listed = await self.do("list.create", owner, name=name, upload=upload, **given)
        zone = (await self.do("org.show", owner, **given))["timeZone"]
        soon_ms = self.world.now_ms() + self.dice.choice((20_000, 70_000, 200_000))
        there = datetime.fromtimestamp(soon_ms / 1000, ZoneInfo(zone))
        arguments = {"name": f"repeat of {name}", "unit": "days", "time": f"{there:%H:%M}"}
        arguments |= {"text": self.dice.choice(TEXTS[:2]), "from_hour": 0, "to_hour": 24}
        arguments["list_id"] = listed["list"]["id"]
        made = await self.do("repeat.create", owner, **arguments, **given)
        if not self.world.gone(life):
            self.world.mailings.repeats[made["repeatId"]] = made["name"]
            self.say("repeats", self.world.short(made["repeatId"]))

    # -- making one

    async def make_mailing(self) -> None:
        """One of a table or a list, which is checked, mostly changed, and mostly started."""
        owner, life = self.house.owner(self.organization()), self.world.life
        given = {"organization_id": owner.organization_id}
        assert owner.organization_id is not None
        upload = await self.gateway.receive_upload(
            owner.organization_id, _chunks(self._table()), "people.csv", owner
        )
        if self.dice.random() < 0.2:
            self.world.mailings.lists += 1
            name = f"list {self.world.mailings.lists}"
            made = await self.do("list.create", owner, name=name, upload=upload, **given)
            source = {"list_id": made["list"]["id"]}
        else:
            source = {"upload": upload}
        text = self.dice.choice(TEXTS)
        made = await self.do("mailing.create", owner, text=text, **source, **given)
        if self.world.gone(life):
            return
        self._made(made["id"], owner)
        if not await self._is_draft(made["id"], owner):
            return
        await self._prepare(made["id"], owner)
        if self.dice.random() < 0.9 and await self._is_draft(made["id"], owner):
            await self.do("mailing.start", owner, mailing_id=made["id"])
            self.say("starts", self.world.short(made["id"]))
            await self._meanwhile(made["id"], owner)

    def _table(self) -> bytes:
        """People, each with a word of their own; some rows are bad, some have the same number."""
        lines = ["name;phone"]
        for _ in range(self.dice.randrange(1, PEOPLE_MAX + 1)):
            number = self.phone() if self.dice.random() < 0.4 else self.world.mailings.number()
            word = self.world.mailings.word(number)
            way = self.dice.random()
            if way < 0.05:
                number = "nobody"
            elif way < 0.1:
                word = ""
            lines.append(f"{word};{number}")
        return "\n".join(lines).encode()

    def _made(self, mailing_id: str, owner: Caller) -> None:
        assert owner.organization_id is not None
        self.world.mailings.told[mailing_id] = owner.organization_id
        self.say("makes", self.world.short(mailing_id))

    async def _is_draft(self, mailing_id: str, owner: Caller) -> bool:
        """Whether all rows are checked, soon."""
        for look_s in LOOKS_S:
            shown = await self.do("mailing.show", owner, mailing_id=mailing_id)
            if shown["mailing"]["state"] == "draft":
                return True
            await trio.sleep(look_s)
        return False

    async def _prepare(self, mailing_id: str, owner: Caller) -> None:
        """Change it before it is started."""
        given = {"mailing_id": mailing_id}
        match self.dice.randrange(6):
            case 0:
                await self.do("mailing.set", owner, text=self.dice.choice(TEXTS), **given)
            case 1:
                await self.do("mailing.read", owner, separator=";", has_header=True, **given)
            case 2:
                await self._mend(mailing_id, owner)
            case 3:
                await self._leave_out(mailing_id, owner)
        hours: dict[str, Any] = {"from_hour": 0, "to_hour": 24} if self.dice.random() < 0.9 else {}
        if self.dice.random() < 0.3:
            hours["pace"] = self.dice.choice((6, 60, 600))
        if self.dice.random() < 0.2:
            hours["send_at"] = iso(self.world.now_ms() + self.dice.randrange(60_000))
        await self.do("mailing.set", owner, **hours, **given)

    async def _mend(self, mailing_id: str, owner: Caller) -> None:
        given = {"mailing_id": mailing_id}
        bad = (await self.do("mailing.rows", owner, state="bad", **given))["rows"]
        if bad:
            number = self.world.mailings.number()
            cells = [self.world.mailings.word(number), number]
            await self.do("mailing.mend", owner, row=bad[0]["row"], cells=cells, **given)

    async def _leave_out(self, mailing_id: str, owner: Caller) -> None:
        """All bad rows, or one that might be sent."""
        given = {"mailing_id": mailing_id}
        rows = (await self.do("mailing.rows", owner, **given))["rows"]
        which = {} if self.dice.random() < 0.5 else {"row": self.dice.choice(rows)["row"]}
        await self.do("mailing.leave_out", owner, **which, **given)

    # -- while it sends

    async def _meanwhile(self, mailing_id: str, owner: Caller) -> None:
        """Watch over it for a while; now and then there is too little money for it."""
        assert owner.organization_id is not None
        if self.dice.random() < 0.15:
            await self._run_empty(owner.organization_id)
        for _ in range(self.dice.randrange(3)):
            await trio.sleep(self.dice.choice((0, 0.02, 0.5, 4)))
            await self._watch_over(mailing_id)

    async def _run_empty(self, organization_id: str) -> None:
        """The money goes elsewhere; a moment later somebody brings some."""
        given = {"organization_id": organization_id}
        balance = (await self.do("org.show", OPERATOR, **given))["balance"]
        spent = round(float(balance) * 100) - LEFT
        if spent > 0:
            amount = f"-{spent / 100:.2f}"
            await self.do("adjust", OPERATOR, amount=amount, reason="spent", **given)
            self.say("runs a balance empty", self.world.short(organization_id))
        await trio.sleep(self.dice.choice((0.5, 5, 40)))
        await self.do("topup", OPERATOR, amount=f"{self.dice.randrange(5, 40)}", **given)

    async def _watch_over(self, mailing_id: str) -> None:
        owner, life = self.house.owner(self.world.mailings.told[mailing_id]), self.world.life
        given = {"mailing_id": mailing_id}
        step = self.dice.choice(
            ("pause", "pause", "go_on", "go_on", "stop", "set", "look", "again", "delete", "mend")
        )
        match step:
            case "look":
                await self.do("mailing.person", owner, step="random", **given)
                await self.do("mailing.report", owner, **given)
            case "set":
                pace = self.dice.choice((None, 6, 600))
                await self.do("mailing.set", owner, pace=pace, **given)
            case "mend":
                await self._mend(mailing_id, owner)
            case "again":
                made = await self.do("mailing.again", owner, **given)
                if not self.world.gone(life):
                    self._made(made["id"], owner)
            case "delete":
                # Before it is asked: a kill may take the answer, and not the wish.
                self.world.mailings.deleted.add(mailing_id)
                await self.do("mailing.delete", owner, **given)
            case _:
                await self.do(f"mailing.{step}", owner, **given)
                self.say(step, self.world.short(mailing_id))
                if step == "pause" and self.dice.random() < 0.7:
                    await trio.sleep(self.dice.choice((0, 0.1, 3)))
                    await self.do("mailing.go_on", owner, **given)


async def _chunks(content: bytes) -> AsyncIterator[bytes]:
    yield content
