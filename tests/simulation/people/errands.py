"""What customers' programs do: they send, verify and withdraw; and phones that write to us.

Whatever is refused is refused; only what was answered is remembered, and held against the disk.
"""

from __future__ import annotations

import json
from contextlib import suppress

import trio
from tests.simulation.answering import OURS, THEIRS
from tests.simulation.channels import CHAT
from tests.simulation.checks.past import LONG_S, has_gap
from tests.simulation.house import House
from tests.simulation.outsiders import FORBIDDEN
from tests.simulation.world import World

from risala.config.channels import SMS
from risala.engine.features.channels.service import ChannelSending
from risala.engine.model.commands import Principal, SendCode, SendMessage
from risala.engine.model.errors import RecipientOptedOut, Refusal
from risala.engine.wiring.engine import Engine

TEXTS = ("hello", "é€[~]" * 20, "x" * 400, "السلام عليكم " * 12, f"a {FORBIDDEN} word")
WORDS = ("STOP", "START", "hello", "ARRET")
PHONES = 12


class Errands:
    """One customer's, in one life of the engine."""

    def __init__(self, world: World, engine: Engine, house: House, name: str) -> None:
        self.world = world
        self.gateway = engine.gateway
        self.house = house
        self.name = name
        self.dice = world.plan.stream(f"{world.life}/{name}")

    def say(self, *words: object) -> None:
        self.world.say(self.name, *words)

    def organization(self) -> str:
        return self.dice.choice(self.house.organizations)

    def phone(self) -> str:
        """One that messages go to, and come from: few, and often one that has sent STOP."""
        if (stopped := self.world.stops.numbers) and self.dice.random() < 0.3:
            return self.dice.choice(stopped)
        return f"+22230000{self.dice.randrange(PHONES):03}"

    def checked_phone(self) -> str:
        """One whose number is checked by a code: four, so that limits are met."""
        return f"+2224000000{self.dice.randrange(4)}"

    # -- messages ----------------------------------------------------------------------------------

    def message(self) -> SendMessage:
        choose = self.dice.choice
        return SendMessage(
            to=self.phone(),
            body=choose(TEXTS),
            idempotency_key=choose((None, f"key {self.dice.randrange(30):05}")),
            send_at=choose((None, None, self.world.now_ms() + self.dice.randrange(60_000))),
            # Some are still under way when days have passed.
            validity_s=choose((60, 300, LONG_S if has_gap(self.world.plan) else 900)),
            sender=choose((None, None, "shop")),
        )

    async def send(self) -> None:
        organization_id, command = self.organization(), self.message()
        principal = self.world.principal(organization_id)
        try:
            response = await self.gateway.send_message(principal, command)
        except RecipientOptedOut:
            self.world.stops.refused(self.house.numbers[organization_id], command.to)
            raise
        self._told(organization_id, response, command.idempotency_key)

    def _told(self, organization_id: str, response: bytes, key: str | None = None) -> None:
        key = key or json.loads(response)["idempotencyKey"]
        if (message_id := self.world.answer(organization_id, key, response)) is not None:
            self.say("is told", self.world.short(message_id))

    async def batch(self) -> None:
        organization_id = self.organization()
        commands = [self.message() for _ in range(self.dice.randrange(1, 6))]
        principal = self.world.principal(organization_id)
        answers = await self.gateway.send_batch(principal, commands)
        for command, answer in zip(commands, answers, strict=True):
            if not isinstance(answer, Refusal):
                self._told(organization_id, answer, command.idempotency_key)

    async def cancel(self) -> None:
        if self.world.accepted:
            message_id = self.dice.choice([*self.world.accepted])
            await self.gateway.perform("message.cancel", {"message_id": message_id})
            self.say("withdraws", self.world.short(message_id))

    # -- codes -------------------------------------------------------------------------------------

    async def verify(self) -> None:
        principal = self.world.principal(self.organization())
        to = self.checked_phone()
        for _ in range(self.dice.randrange(3)):  # whoever does not get one soon asks for another
            await self.gateway.send_code(principal, SendCode(to))
        session = await self.gateway.send_code(principal, SendCode(to))
        life = self.world.life
        if not self.world.gone(life):
            self.world.sessions.append((principal.organization_id, session))
        for _ in range(self.dice.randrange(7)):
            await trio.sleep(self.dice.choice((0, 0.1, 4, 20)))
            code = self.world.codes.get(to) if self.dice.random() < 0.4 else "000000"
            if self.dice.random() < 0.2:
                with suppress(Refusal):
                    await self._resend(principal, session)
            good = await self.gateway.check_code(principal, session, code or "111111")
            if not self.world.gone(life):
                self.world.guesses[session] += not good
                self.world.approved[session] += good

    async def resend(self) -> None:
        """Somebody asks again for a code of before, of any age."""
        if self.world.sessions:
            organization_id, session = self.dice.choice(self.world.sessions[-4:])
            await self._resend(self.world.principal(organization_id), session)

    async def _resend(self, principal: Principal, session: str) -> None:
        channel = self.dice.choice((None, CHAT, SMS))
        await self.gateway.services.part(ChannelSending).resend(principal, session, channel)
        self.say("asks again for", self.world.short(session), channel)

    # -- who writes to us -------------------------------------------------------------------------

    async def write(self) -> None:
        """Somebody writes to us, and the carrier brings it, perhaps twice."""
        carrier = self.dice.choice(self.world.carriers)
        number = self.phone()
        ours, word = self.dice.choice((OURS, OURS, THEIRS)), self.dice.choice(WORDS)
        phones, soon = self.world.phones, (0, 1, 20)
        message = phones.write(carrier, number, ours, word, self.dice.choice(soon))
        if self.dice.random() < 0.3:
            carrier.bring(message, self.dice.choice(soon))
        self.say("a phone writes", number, word)
