"""Customers who come by other gateways' HTTP, in process: Kannel's and Twilio's words.

What they were told is kept, and at the end each must have been called back about how it ended.
"""

from __future__ import annotations

import base64
import json
import sqlite3
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlencode

import trio
from tests.simulation.outsiders import HEALTHY, SICK
from tests.simulation.people.submits import EsmeErrands

from risala.drivers.faces.twilio.compat import CHECK, MESSAGES, VERIFICATIONS, service_of
from risala.drivers.faces.twilio.wire import start_of
from risala.engine.features.compat.access import CompatAccess
from risala.engine.model.numbers import FORGOTTEN
from risala.http.faces.service import RequestService
from risala.plugins.face import FaceAnswer, FaceRefusedError, FaceRequest, fields_of

if TYPE_CHECKING:
    from tests.simulation.house import House
    from tests.simulation.world import World

KANNEL_TYPES = {"delivered": {"1"}, "undelivered": {"2"}, "failed": {"2", "16"}}
"""One of these is what Kannel's ``%d`` says of each end."""
KEYS = 2


class Strangers(EsmeErrands):
    """One customer's programs, in one life of the engine."""

    async def _ask(self, face: str, **given: object) -> FaceAnswer:
        now_ms = self.world.now_ms()
        request = FaceRequest(
            request_id="req_1",
            base_url="https://sms.example",
            received_at_ms=now_ms,
            **{"arguments": {}, "query": {}, "headers": {}, "read": _body(b""), **given},
        )
        access = self.gateway.services.part(CompatAccess)
        service = RequestService(self.gateway, access, self.world.settings, face, None, now_ms)
        return await self.world.faces[face].answer(request, service)

    async def faces(self) -> None:
        """A Kannel's customer, who is called back about receipts."""
        name, password = self.dice.choice(self.house.credentials["kannel"])
        host = self.dice.choice((HEALTHY, SICK))
        to = f"+22220000{self.dice.randrange(1000):03}"
        back = quote(f"{host}dlr/{to[1:]}?type=%d&id=%I", safe="")
        query = (
            f"username={name}&password={password}&to={quote(to)}&text=hello"
            f"&dlr-mask=31&dlr-url={back}"
        )
        life, given = self.world.life, fields_of(query.encode())
        try:
            answer = await self._ask("kannel", method="GET", path="/cgi-bin/sendsms", query=given)
        except FaceRefusedError:
            return
        if answer.status == 202 and not self.world.gone(life):
            self.world.tally["accepted by a face"] += 1
            self.house.by_face.append(to)
            if host == HEALTHY:
                self.house.called_back.append(to)
            self.say("is told by Kannel", to)

    async def twilio(self) -> None:
        """A customer of Twilio's library, who asks again under the same token now and then."""
        account, password = self.dice.choice(self.house.credentials["twilio"])
        host = self.dice.choice((HEALTHY, SICK))
        token = self.dice.choice((None, *(f"token {n}" for n in range(KEYS))))
        fields = {"To": self.phone(), "Body": "hello", "StatusCallback": f"{host}twilio"}
        headers = {} if token is None else {"i-twilio-idempotency-token": token}
        life = self.world.life
        answer = await self._post(account, password, MESSAGES, fields, **headers)
        if answer.status != 201 or self.world.gone(life):
            self.say("Twilio's answer", answer.status)
            return
        sid = json.loads(answer.body)["sid"]
        key = (account, token or sid)
        if self.house.sids.setdefault(key, sid) != sid:
            self.world.fault(f"{token} of {account} was answered in two ways")
        if host == HEALTHY:
            self.house.told_sids.setdefault(sid, self.world.past.gaps)
        self.say("is told by Twilio's words", self.world.short(sid))
        self.world.tally["accepted by a face"] += 1

    async def twilio_verify(self) -> None:
        """A customer of Twilio's library has a number checked, by its number or by the sid."""
        account, password = self.dice.choice(self.house.credentials["twilio"])
        to = self.checked_phone()
        post, life = partial(self._post, account, password), self.world.life
        answer = await post(VERIFICATIONS, {"To": to, "Channel": "sms"})
        if answer.status != 201 or self.world.gone(life):
            self.say("Twilio's answer", answer.status)
            return
        sid = json.loads(answer.body)["sid"]
        read = self.gateway.services.repositories._store.reader.execute
        (session,) = read(
            "SELECT id FROM verifications WHERE id LIKE ?", (f"{start_of('VE', 'ver', sid)}%",)
        ).fetchone()
        self.say("has a code sent in Twilio's words", self.world.short(session))
        for _ in range(self.dice.randrange(5)):
            await trio.sleep(self.dice.choice((0, 0.1, 4, 20)))
            code = self.world.codes.get(to) if self.dice.random() < 0.4 else None
            meant = self.dice.choice(({"To": to}, {"VerificationSid": sid}))
            answer = await post(CHECK, {**meant, "Code": code or "000000"})
            if answer.status != 200 or self.world.gone(life):
                continue
            found = json.loads(answer.body)
            if found["sid"] != sid:  # by its number a later session is meant
                session = start_of("VE", "ver", found["sid"])
                (session,) = read(
                    "SELECT id FROM verifications WHERE id LIKE ?", (f"{session}%",)
                ).fetchone()
                sid = found["sid"]
            self.world.guesses[session] += not found["valid"]
            self.world.approved[session] += found["valid"]
            self.world.tally["checked by Twilio's words"] += 1

    async def _post(
        self, account: str, password: str, path: str, fields: Mapping[str, str], **headers: str
    ) -> FaceAnswer:
        """One form, as the account itself or as its only Verify service has it."""
        word = base64.b64encode(f"{account}:{password}".encode()).decode()
        is_verify = path != MESSAGES
        arguments = {"service": service_of(account)} if is_verify else {"account": account}
        return await self._ask(
            "twilio",
            method="POST",
            path=path,
            arguments=arguments,
            headers={"authorization": f"Basic {word}", **headers},
            read=_body(urlencode(fields).encode()),
        )


def _body(text: bytes) -> Callable[[], Awaitable[bytes]]:
    async def read() -> bytes:
        return text

    return read


def faults(world: World, house: House, conn: sqlite3.Connection) -> Iterable[str]:
    """What was answered for is there, and who wanted to be called back was told of its end."""
    rows = conn.execute("SELECT id, recipient, status FROM messages").fetchall()
    # Whom to call about a message goes with its number.
    forgotten = {row["id"] for row in rows if row["recipient"] == FORGOTTEN}
    said: dict[str, set[str]] = defaultdict(set)
    for body in world.receivers.got[f"{HEALTHY}twilio"].values():
        fields = parse_qs(body.decode())
        said[fields["MessageSid"][0]].add(fields["MessageStatus"][0])
    for sid in house.sids.values():
        start = start_of("SM", "sms", sid)
        row = next((each for each in rows if start and each["id"].startswith(start)), None)
        if row is None:
            yield f"LOST: {sid} was answered for"
            continue
        since = house.told_sids.get(sid)
        # Days that passed before a call could be made took its event with them.
        if since is None or since != world.past.gaps or row["status"] == "canceled":
            continue
        if row["id"] in forgotten:
            continue
        world.tally["called back"] += 1
        if row["status"] not in said[sid]:
            yield f"LOST: nobody was called back that {row['id']} is {row['status']}: {said[sid]}"
    if world.past.gaps:
        return
    ends: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        ends[row["recipient"]].append(row["status"])
    for number in house.called_back:
        calls = world.receivers.got[f"{HEALTHY}dlr/{number[1:]}"]
        types = {parse_qs(call.partition("?")[2])["type"][0] for call in calls}
        for status in ends[number]:
            if len(ends[number]) == 1 and status in KANNEL_TYPES:
                world.tally["called back"] += 1
                if not KANNEL_TYPES[status] & types:
                    yield f"LOST: Kannel's customer of {number} was not told {status}: {types}"
