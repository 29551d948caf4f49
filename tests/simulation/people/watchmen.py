"""What members do with alarms: chains are made, alarms raised, answered by phones, and ended."""

from __future__ import annotations

import trio
from tests.simulation.answering import OURS
from tests.simulation.people.talkers import Talkers

KEYS = 5
"""Of alarms that programs raise: few, so that one is asked for again."""
WORD = "coming"


class Watchmen(Talkers):
    """One member's errands with alarms, beside all others."""

    async def alarm(self) -> None:
        """Raise one, by a chain that there is or by a new one; perhaps a phone answers soon."""
        owner, life = self.house.owner(self.organization()), self.world.life
        assert owner.organization_id is not None
        given = {"organization_id": owner.organization_id}
        known = (await self.do("alarm.list", owner, **given))["chains"]
        if not known or self.dice.random() < 0.3:
            people = [self.phone() for _ in range(self.dice.randrange(1, 4))]
            steps = {"interval_seconds": 60, "rounds": self.dice.randrange(1, 3), "word": WORD}
            made = await self.do(
                "alarm.create", owner, name="Room", people=people, **steps, **given
            )
            known = [made]
        chain = self.dice.choice(known)
        key = self.dice.choice((None, f"alarm key {self.dice.randrange(KEYS)}"))
        for _ in range(self.dice.choice((1, 1, 2))):
            raising = {"text": "It is warm.", "idempotency_key": key}
            raised = await self.do("alarm.raise", owner, chain_id=chain["chainId"], **raising)
            if self.world.gone(life):
                return
            self.world.alarms.told(raised["alarmId"], chain["chainId"], owner.organization_id, key)
            self.say("raises", self.world.short(raised["alarmId"]))
        await trio.sleep(self.dice.choice((0, 1, 70)))
        match self.dice.randrange(5):
            case 0:
                await self.do("alarm.end", owner, alarm_id=raised["alarmId"])
            case 1:
                # Before it is asked: a kill may take the answer, and not the wish.
                self.world.alarms.deleted.add(chain["chainId"])
                await self.do("alarm.delete", owner, chain_id=chain["chainId"])
            case 2:
                await self.do("alarm.set", owner, chain_id=chain["chainId"], rounds=1)
            case _:
                carrier, line = self.dice.choice(self.world.carriers), chain["people"][0]
                number = line.partition(" ")[0]
                self.world.phones.write(carrier, number, OURS, f"{WORD}!", self.dice.choice((0, 5)))
                self.say("a phone answers", number)
