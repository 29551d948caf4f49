"""What people do at pages: members, operators and payers, by the pages' own operations."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import trio
from tests.simulation.house import OPERATOR
from tests.simulation.people.strangers import Strangers

from risala.engine.features.payments.records import ACCESS
from risala.engine.model.callers import Caller
from risala.engine.model.errors import EngineError
from risala.engine.model.people import Browser, Language, SessionKind, SignedIn
from risala.plugins.payment import ForgedCallbackError

PEOPLE = tuple(f"p{n}@example.com" for n in range(3))
REFERENCES = 12
"""References of transfers that people have, or make up: few, so that two bring the same one."""


class Desk(Strangers):
    """One person's errands at pages, beside what their programs do."""

    async def do(self, name: str, who: Caller, /, **given: Any) -> dict[str, Any]:
        return await self.gateway.perform(name, given, who)

    # -- the operator ------------------------------------------------------------------------------

    async def desk(self) -> None:
        """Cash at the desk, under a reference; a correction, now and then."""
        organization_id, life = self.organization(), self.world.life
        if self.dice.random() < 0.3:
            amount = self.dice.choice(("-0.50", "1.00"))
            await self.do(
                "adjust", OPERATOR, organization_id=organization_id, amount=amount, reason="slip"
            )
            return
        reference = f"CASH-{self.dice.randrange(REFERENCES)}"
        amount = self.dice.randrange(100, 900)
        await self.do(
            "topup",
            OPERATOR,
            organization_id=organization_id,
            amount=f"{amount / 100:.2f}",
            reference=reference,
        )
        if not self.world.gone(life):
            if reference in self.world.credited:
                self.world.fault(f"{reference} was credited twice")
            self.world.credited[reference] = amount
            self.say("takes cash", reference)

    async def export(self) -> None:
        """An owner has a file written, and deletes one, now and then."""
        owner = self.house.owner(self.organization())
        given, life = {"organization_id": owner.organization_id}, self.world.life
        if self.dice.random() < 0.3:
            for each in (await self.do("export.list", owner, **given))["exports"][:1]:
                await self.do("export.delete", owner, export_id=each["id"])
                self.say("deletes a file", self.world.short(each["id"]))
            return
        made = await self.do("export.ask", owner, **given)
        if not self.world.gone(life):
            self.world.exports.add(made["id"])
            self.say("asks for a file", self.world.short(made["id"]))

    async def forget(self) -> None:
        """An owner looks what there is of a number, and has it taken out, now and then."""
        organization_id = self.organization()
        owner, life = self.house.owner(organization_id), self.world.life
        taken = [copy.segment.recipient for each in self.world.carriers for copy in each.taken[-3:]]
        number = self.dice.choice((self.phone(), self.checked_phone(), *taken))
        given = {"organization_id": organization_id, "number": number}
        await self.do("number.show", owner, **given)
        if self.dice.random() < 0.5:
            return
        # Before it is asked: a kill may take the answer, and not the wish.
        self.world.erased.wishes.add((self.house.numbers[organization_id], number))
        made = await self.do("number.forget", owner, **given)
        if not self.world.gone(life):
            self.world.erased.told[made["id"]] = (organization_id, number)
            self.say("wants", number, "forgotten")

    async def suspend(self) -> None:
        """One operator holds an organization for a moment; or two of them decide at once."""
        given = {"organization_id": self.organization()}
        if self.dice.random() < 0.4:
            async with trio.open_nursery() as nursery:
                for name in ("org.suspend", "org.resume"):
                    nursery.start_soon(self._try, name, given)
        else:
            await self.do("org.suspend", OPERATOR, **given)
        await trio.sleep(self.dice.choice((0, 1)))
        await self.do("org.resume", OPERATOR, **given)

    async def _try(self, name: str, given: dict[str, Any]) -> None:
        with suppress(EngineError):
            await self.do(name, OPERATOR, **given)

    async def gate(self) -> None:
        carrier = self.dice.choice(self.world.ways).name
        match self.dice.choice(("gate", "gate", "override", "reconnect")):
            case "gate":
                how = self.dice.choice(("carriers.pause", "carriers.drain"))
                await self.do(how, OPERATOR, carrier=carrier)
                await trio.sleep(self.dice.choice((0, 2)))
                await self.do("carriers.resume", OPERATOR, carrier=carrier)
            case "override":
                await self.do("carriers.override", OPERATOR, carrier=carrier, weight=3)
                await trio.sleep(1)
                await self.do("carriers.end_override", OPERATOR, carrier=carrier)
            case "reconnect":
                await self.do("carriers.reconnect", OPERATOR, carrier=carrier)

    # -- members -----------------------------------------------------------------------------------

    async def account(self) -> None:
        """Keys, senders and settings of an organization."""
        organization_id = self.organization()
        who = self.house.owner(organization_id)
        match self.dice.randrange(4):
            case 0:
                made = await self.do(
                    "key.create", who, organization_id=organization_id, type="secret"
                )
                principal = self.gateway.authenticate(made["value"])
                if principal.organization_id != organization_id:
                    self.world.fault("a key opens another organization")
                key_id = principal.key_id
                for step in ("key.disable", "key.enable", "key.rotate", "key.delete"):
                    await self.do(step, who, key_id=key_id)
            case 1:
                name = self.dice.choice(("ALPHA", "BETA"))
                asked = await self.do(
                    "sender.request",
                    who,
                    organization_id=organization_id,
                    name=name,
                    description="what a shop tells",
                )
                step = self.dice.choice(("sender.waive", "sender.clear"))
                await self.do(step, OPERATOR, sender_id=asked["id"])
            case 2:
                low = self.dice.choice(("5", "55"))
                await self.do("org.set", who, organization_id=organization_id, low_balance=low)
            case 3:
                smart = self.dice.random() < 0.5
                given = {"organization_id": organization_id, "smart_encoding": smart}
                await self.do("org.set", who, **given)

    async def webhooks(self) -> None:
        """An endpoint that its owner plays with; another one is never touched."""
        which = self.dice.choice(self.house.toyed)
        given = {"endpoint_id": which}
        match self.dice.randrange(5):
            case 0:
                await self.do("webhook.disable", OPERATOR, **given)
                await trio.sleep(self.dice.choice((0, 1)))
                await self.do("webhook.enable", OPERATOR, **given)
            case 1:
                await self.do("webhook.rotate", OPERATOR, **given)
            case 2:
                await self.do("webhook.test", OPERATOR, **given)
            case 3:
                await self.do("webhook.update", OPERATOR, types=["sms.sent"], **given)
            case 4:
                since = "2026-01-01T00:00:00Z"
                await self.do("webhook.replay_failed", OPERATOR, since=since, **given)

    # -- payers ------------------------------------------------------------------------------------

    async def pay(self) -> None:
        if self.dice.random() < 0.35:
            await self._transfer()
        elif self.house.payments and self.dice.random() < 0.5:
            await self._till_tells(self.dice.choice(self.house.payments))
        else:
            organization_id = self.organization()
            begun = await self.do(
                "payment.begin",
                self.house.owner(organization_id),
                organization_id=organization_id,
                method="till",
                amount=f"{self.dice.randrange(1, 20)}",
            )
            self.house.payments.append(begun["id"])
            self.say("begins", self.world.short(begun["id"]))
            if self.dice.random() < 0.7:
                await trio.sleep(self.dice.choice((0, 0.5, 3)))
                await self._till_tells(begun["id"])

    async def _till_tells(self, which: str) -> None:
        """A callback, perhaps forged; the same one may have come before."""
        till, life = self.world.till, self.world.life
        if which not in till.fates:
            return
        forged = self.dice.random() < 0.2
        told = till.says(which, self.world.now_ms(), forged=forged)
        try:
            await self.gateway.access(ACCESS).callback("till", told)
        except ForgedCallbackError:
            return
        if forged and not self.world.gone(life):
            self.world.fault(f"a forged callback of {which} was believed")
        if not self.world.gone(life):
            self.world.tally["callbacks"] += 1
            if till.fates[which] == "paid":
                self.world.credited[till.references[which]] = till.amounts[which]

    async def _transfer(self) -> None:
        """Mobile money: the customer enters a reference, the operator confirms it or does not."""
        organization_id = self.organization()
        who = self.house.owner(organization_id)
        begun = await self.do(
            "payment.begin", who, organization_id=organization_id, method="bankily", amount="3"
        )
        reference = f"BK-{self.dice.randrange(REFERENCES):06}"
        given = {"payment_id": begun["id"]}
        await self.do("payment.claim", who, entered={"reference": reference}, **given)
        if self.dice.random() < 0.3:
            await self.do("payment.refuse", OPERATOR, reason="not there", **given)
            return
        life = self.world.life
        await self.do("payment.confirm", OPERATOR, **given)
        if not self.world.gone(life):
            if reference in self.world.credited:
                self.world.fault(f"{reference} was credited twice")
            self.world.credited[reference] = 300

    # -- who signs in ------------------------------------------------------------------------------

    async def sign_in(self) -> None:
        people, email = self.gateway.people, self.dice.choice(PEOPLE)
        browser = Browser(people.new_token(), self.name, "192.0.2.1", "Sim", Language.ENGLISH)
        await people.sign_in.begin(browser, email)
        for _ in range(self.dice.randrange(1, 4)):
            await trio.sleep(self.dice.choice((0.1, 2, 6)))
            code = self.world.mail.codes.get(email) if self.dice.random() < 0.7 else "000000"
            done = await people.sign_in.finish(browser, code or "111111")
            if not isinstance(done, SignedIn):
                continue
            kind = done.session.kind
            if people.sessions.find(done.token, kind) is None:
                self.world.fault("who signed in has no session")
            if kind is not SessionKind.CUSTOMER:
                self.world.fault("a customer came in as an operator")
            self.world.tally["sign-ins"] += 1
            if self.dice.random() < 0.5:
                await people.sessions.sign_out(done.token, kind)
                if people.sessions.find(done.token, kind) is not None:
                    self.world.fault("who signed out is signed in")
            return


def errand_of(name: str) -> str:
    """The method of an errand of a plan's."""
    return name.replace("-", "_")
