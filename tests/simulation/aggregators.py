"""A carrier that is an aggregator with an HTTP API: its stand-in, and the service's own driver.

All of the driver runs but its sockets: its requests go straight to the stand-in, and callbacks
straight to the driver of the engine that lives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from unittest.mock import patch
from urllib.parse import parse_qsl, urlsplit

import trio
from tests.simulation.carriers import RECEIPTS, Carrier, Copy, Line, id_of

from risala.drivers.http import account
from risala.drivers.http.calling import CallFailed, HttpAnswer, HttpCall
from risala.drivers.http.driver import HttpDriver
from risala.drivers.http.settings import HttpSettings
from risala.drivers.http.sources import content_of
from risala.lab.aggregators import row
from risala.lab.aggregators.row import PASSWORD, SIGNING_SECRET, TOKEN, USER
from risala.lab.aggregators.stand_in import (
    AggregatorMessage,
    ArrivedRequest,
    CallbackRequest,
    PlannedAnswer,
    StandIn,
    callback_request,
)
from risala.lab.aggregators.table import AGGREGATORS
from risala.plugins.answering import CarrierRequest, RequestRefusedError
from risala.plugins.contract import (
    Driver,
    DriverContext,
    Inbound,
    NotStoredError,
    Outcome,
    Receipt,
    ReceiptState,
    Segment,
    Unsent,
)
from risala.sms.segment import count

if TYPE_CHECKING:
    from tests.simulation.world import World

FATES: Final = {
    "accept": 60,
    "throttle": 5,
    "is busy": 5,
    "refuse here": 4,
    "refuse a connection": 5,
    "take and be silent": 6,
    "lose and be silent": 4,
    "take and fail": 4,
    "fail": 3,
    "take, and a proxy answers": 3,
}
TAKING: Final = ("accept", "take and be silent", "take and fail", "take, and a proxy answers")
STATUSES: Final = {
    "throttle": (429, b"", (("retry-after", "2"),)),
    "is busy": (503, b"", ()),
    "refuse here": (400, b"", ()),
    "take and fail": (500, b"", ()),
    "fail": (502, b"", ()),
    "take, and a proxy answers": (200, b"<html>Hello</html>", (("content-type", "text/html"),)),
}
LINK_FAILS: Final = 0.1
"""The chance that a look at the account finds nobody."""
ACCOUNTS: Final = {
    "africastalking": {"user": USER, "password": PASSWORD},
    "risala": {"token": TOKEN, "signing_secret": SIGNING_SECRET},
}
FAILED: Final = {
    "africastalking": {"status": "Failed"},
    "risala": {"type": "sms.failed", "status": "undelivered"},
}
"""What replaces members of a receipt of a text that did not arrive."""
OF: Final[ContextVar[Segment]] = ContextVar("submitted")
"""What the present task submits: not every API is told an id of ours."""


@dataclass
class Callback:
    """A request to us that is to come, again and again until it is answered with a yes."""

    due_s: float
    request: CallbackRequest
    message: Inbound | None = None


class AggregatorCarrier(Carrier):
    """An account at an aggregator.

    Args:
        preset: of those whose stand-in is known here.
    """

    def __init__(
        self,
        world: World,
        name: str,
        rate_per_s: float,
        window: int,
        answers_s: tuple[float, ...],
        preset: str,
    ) -> None:
        super().__init__(world, name, rate_per_s, window, answers_s)
        self.preset = preset
        self.knows = "same id" if preset == "risala" else "nothing"
        self.url = f"http://{name}.example"
        self.called_at = f"https://sms.example/carriers/{name}"
        self.stand_in = StandIn(AGGREGATORS[preset], receipts=False, on_taken=self._took)
        self.callbacks: list[Callback] = []
        self.driver_line: AggregatorLine | None = None

    def open(self, line: type[Line]) -> Driver:
        self.driver_line = AggregatorLine(self)
        return self.driver_line

    # -- what it is asked ------------------------------------------------------------------------

    async def asked(self, call: HttpCall) -> PlannedAnswer:
        """Answer a request.

        Raises:
            CallFailed: there is no answer.
        """
        line = self.driver_line
        assert line is not None
        await trio.sleep(self.dice.choice(self.answers_s))
        if line.cut:
            raise CallFailed("GONE", "The process is gone.", left=False)
        request = _arrived(call)
        if request.path == self.stand_in.aggregator.send:
            answer = await self._submitted(request)
        elif request.path in self.stand_in.aggregator.looks:
            has_bad_links = self.world.plan.has("bad-links") and not self.kind
            if has_bad_links and self.dice.random() < LINK_FAILS:
                raise CallFailed("ConnectTimeout", "Nobody answers.", left=False)
            answer = self.stand_in._answer_to(request)
        else:
            answer = PlannedAnswer(404)  # of no message it says what became of it
        assert answer is not None
        if line.cut:
            raise CallFailed("GONE", "The process is gone.", left=True)
        return answer

    async def _submitted(self, request: ArrivedRequest) -> PlannedAnswer | None:
        segment, usual = OF.get(), None
        self.submits[id_of(segment)] += 1
        fate = "accept" if self.kind else self.choose(FATES)
        if fate == "refuse a connection":
            raise CallFailed("ConnectError", "Nobody is there.", left=False)
        if fate in TAKING:
            before = len(self.taken)
            usual = self.stand_in._answer_to(request)
            if len(self.taken) == before:
                self.world.tally["texts that came again with the same id"] += 1
            # A kill may come between the carrier's yes and our note of it.
            await trio.sleep(self.dice.choice((0, 0.01)))
        if fate != "accept":
            self.world.say(f"carrier {self.name}, {self.world.short(segment.message_id)}", fate)
        if fate in STATUSES:
            return PlannedAnswer(*STATUSES[fate])
        if usual is None or fate != "accept":
            raise CallFailed("ReadTimeout", "It was silent.", left=True)
        return usual

    def _took(self, message: AggregatorMessage) -> None:
        segment, world = OF.get(), self.world
        if message.text != segment.text or message.to != segment.recipient:
            world.fault(f"carrier {self.name} got another text than {segment.message_id}")
        world.arrives(self, segment)
        world.tally["texts that an aggregator took"] += 1
        fate = "delivered" if self.kind else self.choose(RECEIPTS)
        world.say(f"aggregator {self.name} takes {world.short(segment.message_id)}", fate)
        state = None
        if fate != "none":
            is_failed = fate == "undelivered"
            state = ReceiptState.UNDELIVERABLE if is_failed else ReceiptState.DELIVERED
            values = {"id": message.id, "to": message.to, "from": message.sender, "parts": "1"}
            changes = FAILED[self.preset] if is_failed else {}
            for _ in range(2 if fate == "twice" else 1):
                self._owe(
                    self.stand_in.aggregator.receipt,
                    values,
                    changes,
                    self.dice.choice((0, 0.5, 5, 60)),
                )
        for number in range(1, count(segment.text).segments + 1):
            part = replace(segment, number=number)
            self.taken.append(Copy(part, message.id, trio.current_time(), state))

    def bring(self, message: Inbound, after_s: float) -> None:
        values = {
            "id": message.carrier_ids[0],
            "from": message.sender,
            "to": message.recipient or "",
            "text": message.text,
        }
        self._owe(self.stand_in.aggregator.inbound, values, {}, after_s, message)

    def _owe(
        self,
        brought: row.AggregatorCallback,
        values: Mapping[str, str],
        changes: Mapping[str, str],
        after_s: float,
        message: Inbound | None = None,
    ) -> None:
        request = callback_request(brought, self.called_at + brought.path, values, changes)
        self.callbacks.append(Callback(trio.current_time() + after_s, request, message))


def _arrived(call: HttpCall) -> ArrivedRequest:
    path, _, query = call.target.partition("?")
    headers = {name.lower(): value for name, value in call.headers}
    fields = dict(parse_qsl(query, keep_blank_values=True))
    content = content_of(call.body, headers.get("content-type", ""), headers, fields)
    return ArrivedRequest(call.method, path, fields, headers, content)


class AggregatorLine:
    """The driver of an account in one engine. After a kill it is heard by nobody."""

    def __init__(self, carrier: AggregatorCarrier) -> None:
        self._carrier = carrier
        self._world = carrier.world
        self._life = carrier.world.life
        carrier.connect()
        given = {
            "preset": carrier.preset,
            "url": carrier.url,
            "secret_address": carrier.called_at,
            **ACCOUNTS[carrier.preset],
        }
        settings = HttpSettings.model_validate(given)
        self.driver = HttpDriver(carrier.name, settings, lambda: _now_s(carrier.world))
        self.capabilities = self.driver.capabilities

    @property
    def cut(self) -> bool:
        """This engine has been killed."""
        return self._world.gone(self._life)

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._call_back)
            await self.driver.run(context, task_status=task_status)

    async def _call_back(self) -> None:
        carrier = self._carrier
        while True:
            await trio.sleep(0.25 if carrier.callbacks else 5)
            now_s = trio.current_time()
            for due in [each for each in carrier.callbacks if each.due_s <= now_s]:
                is_taken = await self._is_taken(due.request)
                if self.cut:
                    return
                if is_taken:
                    carrier.callbacks.remove(due)
                    if due.message is not None:
                        self._world.wrote(due.message)

    async def _is_taken(self, call: CallbackRequest) -> bool:
        carrier = self._carrier
        signed = carrier.stand_in.aggregator.sign(call.address, call.body)
        headers = {name.lower(): value for name, value in {**call.headers, **signed}.items()}
        is_proved = self.capabilities.secret_address

        def prove() -> None:
            nonlocal is_proved
            is_proved = True

        async def read() -> bytes:
            await trio.lowlevel.checkpoint()
            return call.body

        path = urlsplit(call.address).path.removeprefix(f"/carriers/{carrier.name}")
        request = CarrierRequest(
            id="req_1",
            method=call.method,
            path=path,
            query={},
            headers=headers,
            address="192.0.2.7",
            received_at_ms=self._world.clock.read_ms(),
            is_proved=lambda: is_proved,
            prove=prove,
            read=read,
            own_url=carrier.called_at,
        )
        try:
            answer = await self.driver.answer(request)
        except (NotStoredError, RequestRefusedError):
            return False
        return is_proved and answer.status < 300

    async def submit(self, segment: Segment) -> Outcome:
        if self.cut:
            return Unsent("the process is gone")
        carrier, token = self._carrier, OF.set(segment)
        carrier.meet()
        try:
            return await self.driver.submit(segment)
        finally:
            OF.reset(token)
            carrier.in_flight -= 1

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        return await self.driver.query(carrier_id, sender=sender)


def _now_s(world: World) -> float:
    return world.clock.read_ms() / 1000


class StraightCaller:
    """Calls the stand-in of an address without a connection; see
    :class:`risala.drivers.http.calling.HttpCaller`."""

    base = ""

    def __init__(self, carrier: AggregatorCarrier) -> None:
        self._carrier = carrier

    async def call(self, call: HttpCall, *, bytes_max: int = 0) -> HttpAnswer:
        answer = await self._carrier.asked(call)
        headers = {name.lower(): value for name, value in answer.headers}
        kind = headers.setdefault("content-type", "application/json")
        return HttpAnswer(answer.status, headers, content_of(answer.body, kind, headers, None))

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


@contextmanager
def without_sockets(world: World) -> Iterator[None]:
    """Accounts reach the stand-ins of this world, and these sign by its clock."""
    known = {each.url: each for each in world.carriers if isinstance(each, AggregatorCarrier)}

    def caller(url: str, **_: object) -> StraightCaller:
        return StraightCaller(known[url])

    with (
        patch.object(account, "HttpCaller", caller),
        patch.object(row, "now_s", lambda: _now_s(world)),
    ):
        yield
