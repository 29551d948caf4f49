"""What customers' SMPP software does in a history, and what must have come of it."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable

import trio
from tests.simulation.esmes import MANNERS
from tests.simulation.house import House
from tests.simulation.people.errands import Errands
from tests.simulation.world import World

from risala.app.smpp import FACE
from risala.drivers.smpp.link import Link, LinkError
from risala.drivers.smpp.protocol.pdu import BindTransceiver, SubmitSm
from risala.drivers.smpp.protocol.tlv import Tlv, find
from risala.engine.model.numbers import FORGOTTEN
from risala.smpp_server.submits import IDEMPOTENCY_KEY

ENDS = {
    "delivered": {2},
    "undelivered": {3, 4, 5, 7, 8},
    "failed": {3, 4, 5, 7, 8},
    "canceled": {4},
}
"""The ``message_state`` that a receipt may have (SMPP 3.4 §5.2.28), by how a message ended."""
KEYS = 6
SUBMITS_MAX = 4


class EsmeErrands(Errands):
    """One customer's SMPP software, in one life of the engine."""

    async def smpp(self) -> None:
        """It binds, submits some at once, is there for a while, and goes, now and then at once."""
        number = self.dice.randrange(len(self.house.organizations))
        name, password = self.house.credentials[FACE][number]
        count, stays_s = self.dice.randrange(SUBMITS_MAX), self.dice.choice((0, 0, 1, 30))
        submits = [self._submit() for _ in range(count)]
        try:
            async with self.world.esmes.session(self.dice.choice(MANNERS)) as software:
                bound = await software.link.request_beyond_window(BindTransceiver(name, password))
                if bound.command_status:
                    self.say("may not bind", bound.command_status)
                    return
                async with trio.open_nursery() as nursery:
                    for submit in submits:
                        nursery.start_soon(self._send, software.link, number, submit)
                    if stays_s == 0 and self.dice.random() < 0.3:
                        nursery.cancel_scope.cancel()  # it goes, whatever is answered
                await trio.sleep(stays_s)
        except* LinkError as lost:
            self.say("smpp", lost.exceptions[0])

    def _submit(self) -> SubmitSm:
        """One whose key was used before asks for the very same again."""
        key = self.dice.choice((None, None, self.dice.randrange(KEYS)))
        to = self.phone() if key is None else f"+22230000{key:03}"
        known = () if key is None else (Tlv(IDEMPOTENCY_KEY, f"smpp key {key}".encode() + b"\0"),)
        return SubmitSm(
            dest_addr_ton=1,
            dest_addr_npi=1,
            destination_addr=to[1:],
            registered_delivery=1 if key is not None else self.dice.choice((0, 1, 1)),
            short_message=b"hello",
            tlvs=known,
        )

    async def _send(self, link: Link, number: int, submit: SubmitSm) -> None:
        life = self.world.life
        try:
            answer = await link.request(submit)
        except LinkError:
            return
        if answer.command_status:
            self.say("smpp is refused", answer.command_status)
            return
        if self.world.gone(life):
            return
        message_id = answer.message_id
        organization = self.house.organizations[number]
        self.world.accepts(message_id, organization)
        self.world.tally["accepted by smpp"] += 1
        self.say("is told by SMPP", self.world.short(message_id))
        key = find(submit.tlvs, IDEMPOTENCY_KEY)
        if key is not None:
            said = self.world.esmes.ids.setdefault((organization, key.value.decode()), message_id)
            if said != message_id:
                self.world.fault(f"{key.value!r} was answered in two ways")


def faults(world: World, house: House, conn: sqlite3.Connection) -> Iterable[str]:
    """Each receipt that was asked for has come, and each text from a phone. Not where days passed:
    what was to be told went with them."""
    if world.past.gaps:
        return
    told = world.esmes
    for row in conn.execute("SELECT id, status, metadata, recipient FROM messages"):
        if row["recipient"] == FORGOTTEN:  # what was asked for has gone with it
            continue
        asked_for = "smpp.receipt" in json.loads(row["metadata"])
        if not asked_for or row["status"] not in ENDS:  # none tells that one was sent
            continue
        world.tally["receipts by smpp"] += 1
        states = told.receipts.get(row["id"], set())
        if not states & ENDS[row["status"]]:
            yield f"LOST: no receipt said that {row['id']} is {row['status']}: {states}"
    letters = Counter(
        (f"{row['sender'].removeprefix('+')}", row["body"])
        for row in conn.execute(
            "SELECT sender, body FROM inbound WHERE organization_id = ?", (house.organizations[0],)
        )
    )
    for letter, count in letters.items():
        if told.texts[letter] < count:
            yield f"LOST: {count} times {letter} was written, {told.texts[letter]} came by SMPP"
