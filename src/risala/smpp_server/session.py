"""One customer's connection: its bind, its requests, and its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import structlog
import trio

from risala.config.smpp_server import SmppServerSection
from risala.drivers.smpp.link import Link, LinkLimits
from risala.drivers.smpp.protocol.pdu import (
    Bind,
    BindResp,
    BindTransmitter,
    CancelSm,
    DataSm,
    DataSmResp,
    Pdu,
    QuerySm,
    ReplaceSm,
    SubmitMulti,
    SubmitSm,
    SubmitSmResp,
    response_to,
    varied,
)
from risala.drivers.smpp.protocol.session import SmppRole, SmppSession
from risala.drivers.smpp.protocol.status import status_of as row_of
from risala.drivers.smpp.protocol.submit import DefaultAlphabet
from risala.drivers.smpp.protocol.tlv import SC_INTERFACE_VERSION, Tlv
from risala.engine.model.records.upkeep.service import EsmeView
from risala.smpp_server.answers import refused
from risala.smpp_server.binds import SYSTEM_ID_MAX, BindDecisions
from risala.smpp_server.line import RequestLine
from risala.smpp_server.receipt_sender import ReceiptSenders
from risala.smpp_server.session_registry import SessionRegistry, SmppAccount, SmppCounts
from risala.smpp_server.statuses import (
    ESME_RBINDFAIL,
    ESME_RINVCMDID,
    ESME_RINVNUMDESTS,
    ESME_RREPLACEFAIL,
    ESME_RSYSERR,
    ESME_RTHROTTLED,
    StatusRefusal,
)
from risala.smpp_server.submits import IdShape
from risala.sms.evident import InboundCoding
from risala.sms.numbering.plan import NumberingPlan

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


log = structlog.get_logger("risala.smpp_server")

INTERFACE_VERSION: Final = 0x34
"""SMPP 3.4: our version, and the first one with optional parameters."""
PDU_OCTETS_MAX: Final = 16 * 1024
"""Octets of the longest accepted PDU: four times the need of the longest text."""


@dataclass(frozen=True, slots=True)
class House:
    """The parts that all sessions share."""

    settings: SmppServerSection
    plan: NumberingPlan
    engine: Gateway
    decisions: BindDecisions
    roster: SessionRegistry
    now_ms: Callable[[], int]
    """UTC epoch milliseconds."""
    couriers: ReceiptSenders


class EsmeSession:
    """The :class:`~risala.drivers.smpp.link.LinkHandler` of one connection."""

    def __init__(
        self, house: House, stream: trio.abc.Stream, peer: str | None, is_tls: bool
    ) -> None:
        self._house = house
        self.peer = peer
        self.is_tls = is_tls
        self.account: SmppAccount | None = None
        self.kind = ""
        """How it is bound: ``transmitter``, ``receiver`` or ``transceiver``."""
        self.version = 0
        """The version of the customer's software, as 0x34 for SMPP 3.4."""
        self.since_ms = house.now_ms()
        self.counts = SmppCounts()
        self._line: RequestLine | None = None
        self._used = trio.Event()
        self._leaves = False
        """Nothing new is taken."""
        self._leaving = trio.Event()
        self._why = ""
        settings = house.settings
        limits = LinkLimits(
            settings.response_timeout_s, settings.enquire_link_s, settings.deliver_window_max
        )
        session = SmppSession(SmppRole.SMSC, octets_max=PDU_OCTETS_MAX)
        self.link = Link(
            stream, session, self, limits, until_answered=self._answered_all, until_room=self._room
        )
        self._nursery: trio.Nursery | None = None

    @property
    def receives(self) -> bool:
        """Whether receipts and messages may be sent to it."""
        return self.account is not None and self.kind != "transmitter" and not self._leaves

    def view(self) -> EsmeView | None:
        account, submits = self.account, self.counts.submits
        if account is None:
            return None
        return EsmeView(
            system_id=account.system_id,
            credential_id=account.credential_id,
            organization_id=account.principal.organization_id,
            mode=account.principal.mode.value,
            kind=self.kind,
            version=f"{self.version >> 4}.{self.version & 0x0F}",
            peer=self.peer,
            is_tls=self.is_tls,
            since=self.since_ms,
            accepted=submits[0],
            refused=submits.total() - submits[0],
            delivered=self.counts.delivered,
        )

    def touch(self) -> None:
        self._used.set()

    def leave(self, reason: str) -> None:
        self._leaves = True
        self._why = self._why or reason
        self._leaving.set()

    # -- life

    async def run(self) -> None:
        """Serve until the connection ends."""
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                nursery.start_soon(self.link.run)
                nursery.start_soon(self._await_bind)
                nursery.start_soon(self._take_leave)
                try:
                    await self.link.wait_ended()
                finally:
                    self.link.end("the server stopped")
                    nursery.cancel_scope.cancel()
        finally:
            if self.account is not None:
                self._house.couriers.remove(self.account, self)
            self._log_end()

    async def _await_bind(self) -> None:
        await trio.sleep(self._house.settings.bind_timeout_s)
        if self.account is None:
            self.link.end("no bind in time")
            return
        limit_s = self._house.settings.inactivity_s
        if limit_s is not None:
            await self._watch_use(limit_s)

    async def _watch_use(self, limit_s: float) -> None:
        while True:
            self._used = trio.Event()
            with trio.move_on_after(limit_s):
                await self._used.wait()
                continue
            self.leave("nothing passed for too long")
            return

    async def _take_leave(self) -> None:
        """Once requested: answer the waiting requests, then unbind."""
        await self._leaving.wait()
        await self._answered_all()
        await self.link.unbind()

    async def _answered_all(self) -> None:
        if self._line is not None:
            await self._line.wait_idle()

    async def _room(self) -> None:
        if self._line is not None:
            await self._line.wait_room()

    def _log_end(self) -> None:
        if self.account is not None:
            log.info(
                "smpp_server.unbound",
                system_id=self.account.system_id,
                peer=self.peer,
                reason=self._why or self.link.reason,
            )

    # -- PDUs from the customer's software

    def on_request(self, link: Link, request: Pdu) -> None:
        assert self._nursery is not None, "a link is read within the session's nursery"
        self.touch()
        match request:
            case Bind():
                self._nursery.start_soon(self._bind, request)
            case SubmitSm() | DataSm() | QuerySm() | CancelSm():
                self._line_up(request)
            case SubmitMulti():
                text = "Each message has an id of its own: send one submit_sm for each."
                self._answer_in_turn(request, refused(request, ESME_RINVNUMDESTS, text))
            case ReplaceSm():
                text = "A message that was accepted is not replaced: cancel it, and send another."
                self._answer_in_turn(request, refused(request, ESME_RREPLACEFAIL, text))
            case _:
                self._answer_in_turn(request, response_to(request, ESME_RINVCMDID))

    def on_late(self, link: Link, token: object, response: Pdu) -> None:
        """A late answer to a receipt or message that was sent again meanwhile: it adds nothing."""

    def on_trouble(self, link: Link, text: str) -> None:
        # Bound sessions too: their software may err in every request.
        say = self._house.roster.quiet.say
        say("smpp_server.trouble", peer=self.peer, system_id=self._name(), text=text)

    def _name(self) -> str | None:
        return None if self.account is None else self.account.system_id

    def _line_up(self, request: SubmitSm | DataSm | QuerySm | CancelSm) -> None:
        assert self._line is not None, "the protocol lets nobody ask who is not bound"
        if self._leaves:
            text = "The session is about to be unbound. Bind again in a moment."
            self._answer_in_turn(request, refused(request, ESME_RSYSERR, text))
        elif not self._line.put(request):
            text = "Too many requests wait for their answers: the window is full."
            self._answer_in_turn(request, refused(request, ESME_RTHROTTLED, text))

    def _answer_in_turn(self, request: Pdu, response: Pdu) -> None:
        """Give an answer that is known at once, after those to earlier requests."""
        if self._line is None:
            self._answer(request, response)
        else:
            self._line.put_answer(request, response)

    def _answer(self, request: Pdu, response: Pdu) -> None:
        if isinstance(response, SubmitSmResp | DataSmResp):
            self.counts.submits[response.command_status] += 1
            self._house.roster.counts.submits[response.command_status] += 1
        if self.version < INTERFACE_VERSION and response.tlvs:
            response = varied(response, tlvs=())
        self.link.respond(request, response)

    # -- the bind

    async def _bind(self, request: Bind) -> None:
        house = self._house
        try:
            if self._leaves:
                raise StatusRefusal(ESME_RBINDFAIL, "The service is stopping.")
            account = await house.decisions.decide(request, self.peer)
        except StatusRefusal as refusal:
            self._refuse_bind(request, refusal)
            return
        self.version, self.kind = request.interface_version, request.name.removeprefix("bind_")
        self._line = RequestLine(
            house.engine,
            account,
            window_max=house.settings.window_max,
            plan=house.plan,
            alphabet=DefaultAlphabet(house.settings.default_alphabet),
            coding=InboundCoding(house.settings.inbound_coding),
            shape=IdShape(house.settings.message_ids),
            now_ms=house.now_ms,
            answer=self._answer,
        )
        self.account = account
        house.roster.counts.binds[0] += 1
        empty = response_to(request)
        assert isinstance(empty, BindResp)
        version = (Tlv(SC_INTERFACE_VERSION, bytes([INTERFACE_VERSION])),)
        self._answer(request, type(empty)(house.settings.system_id, tlvs=version))
        log.info("smpp_server.bound", system_id=account.system_id, peer=self.peer, kind=self.kind)
        assert self._nursery is not None
        self._nursery.start_soon(self._line.run)
        if not isinstance(request, BindTransmitter):
            house.couriers.add(account, self)

    def _refuse_bind(self, request: Bind, refusal: StatusRefusal) -> None:
        status = refusal.command_status
        self._house.roster.counts.binds[status] += 1
        self._house.roster.quiet.say(
            "smpp_server.bind_refused",
            system_id=request.system_id[:SYSTEM_ID_MAX],
            peer=self.peer,
            status=row_of(status).name,
            reason=str(refusal),
        )
        self._answer(request, response_to(request, status))
        self.link.end_when_written("the bind was refused")
