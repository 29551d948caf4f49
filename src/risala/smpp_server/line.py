"""The requests of one session in their order, and the one task that answers them.

All waiting requests are taken together: their submits become one unit of work and share one disk
sync, however many they are; a single one shares them with those of other sessions of its
credential. A ``submit_sm_resp`` leaves after that sync.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog
import trio

from risala.drivers.smpp.protocol.pdu import CancelSm, DataSm, Pdu, QuerySm, SubmitSm, response_to
from risala.drivers.smpp.protocol.submit import DefaultAlphabet
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.commands import SendMessage
from risala.engine.model.errors import EngineError, NotFound, Refusal
from risala.engine.model.ids import keys_of
from risala.engine.model.records.messages import MessageView
from risala.smpp_server.answers import accepted, query_answer, refused
from risala.smpp_server.session_registry import SmppAccount
from risala.smpp_server.statuses import (
    ESME_RCANCELFAIL,
    ESME_RINVMSGID,
    ESME_RSYSERR,
    StatusRefusal,
    status_of,
)
from risala.smpp_server.submits import IdShape, command_of, shape_of, written
from risala.sms.evident import InboundCoding
from risala.sms.numbering.plan import NumberingPlan

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


log = structlog.get_logger("risala.smpp_server")

Submit = SubmitSm | DataSm
Asked = SubmitSm | DataSm | QuerySm | CancelSm


Answer = Callable[[Pdu, Pdu], None]
"""Answers a request on the wire."""


@dataclass(frozen=True, slots=True)
class _Decided:
    """A request with a known answer that waits for earlier answers."""

    request: Pdu
    response: Pdu


class RequestLine:
    """The unanswered requests of a bound session."""

    def __init__(
        self,
        engine: Gateway,
        account: SmppAccount,
        *,
        window_max: int,
        plan: NumberingPlan,
        alphabet: DefaultAlphabet,
        coding: InboundCoding,
        shape: IdShape,
        now_ms: Callable[[], int],
        answer: Answer,
    ) -> None:
        self._engine = engine
        self._account = account
        self._window_max = window_max
        self._plan = plan
        self._alphabet = alphabet
        self._coding = coding
        self._shape = shape
        self._now_ms = now_ms
        self._answer = answer
        self._waiting: deque[Asked | _Decided] = deque()
        self._decided = 0
        """Waiting requests with a known answer, which take no place in the window."""
        self._under_way = 0
        self._came = trio.Event()
        self._idle = trio.Event()
        self._idle.set()
        self._has_room = trio.Event()

    def put(self, request: Asked) -> bool:
        """Put a request in line; False: the window is full."""
        if len(self._waiting) - self._decided + self._under_way >= self._window_max:
            return False
        self._append(request)
        return True

    def put_answer(self, request: Pdu, response: Pdu) -> None:
        """Answer a request once all before it are answered."""
        self._decided += 1
        self._append(_Decided(request, response))

    def _append(self, entry: Asked | _Decided) -> None:
        self._waiting.append(entry)
        self._idle = trio.Event() if self._idle.is_set() else self._idle
        self._came.set()

    async def wait_room(self) -> None:
        """Return once at most one window of known answers waits: a client that exceeds its window
        is not read meanwhile, so that its answers keep their order in bounded memory."""
        while self._decided >= self._window_max:
            self._has_room = trio.Event()
            await self._has_room.wait()

    async def wait_idle(self) -> None:
        """Return once everything in line is answered."""
        await self._idle.wait()

    async def run(self) -> None:
        """Answer for the session's life."""
        while True:
            while self._waiting:
                await self._take_first()
            self._idle.set()
            self._came = trio.Event()
            await self._came.wait()

    async def _take_first(self) -> None:
        """Answer the submits at the head of the line together, or the one question there."""
        if isinstance(self._waiting[0], _Decided):
            self._answer_decided()
            return
        submits: list[Submit] = []
        while self._waiting and isinstance(self._waiting[0], SubmitSm | DataSm):
            first = self._waiting.popleft()
            assert isinstance(first, SubmitSm | DataSm)
            submits.append(first)
        self._under_way = len(submits) or 1
        try:
            if submits:
                await self._submit(submits)
            else:
                question = self._waiting.popleft()
                assert isinstance(question, QuerySm | CancelSm)
                await self._ask(question)
        finally:
            self._under_way = 0

    def _answer_decided(self) -> None:
        while self._waiting and isinstance(self._waiting[0], _Decided):
            first = self._waiting.popleft()
            assert isinstance(first, _Decided)
            self._decided -= 1
            self._answer(first.request, first.response)
        self._has_room.set()

    # -- submits

    async def _submit(self, submits: Sequence[Submit]) -> None:
        good: list[tuple[Submit, SendMessage]] = []
        answers: dict[int, Pdu] = {}
        for place, request in enumerate(submits):
            try:
                command = self._command_of(request)
            except StatusRefusal as wrong:
                answers[place] = refused(request, wrong.command_status, str(wrong))
            else:
                good.append((request, command))
        commands = [command for _, command in good]
        results = zip(commands, await self._accept(commands), strict=True)
        # Answers leave in the order of their requests.
        for place, request in enumerate(submits):
            answer = answers.get(place)
            if answer is None:
                answer = self._answer_to(request, *next(results))
            self._answer(request, answer)

    def _command_of(self, request: Submit) -> SendMessage:
        now_ms, sender = self._now_ms(), self._account.sender
        return command_of(
            request, now_ms, self._plan, self._alphabet, sender, self._shape, self._coding
        )

    def _answer_to(self, request: Submit, command: SendMessage, result: bytes | EngineError) -> Pdu:
        if isinstance(result, EngineError):
            return refused(request, status_of(result), str(result))
        message_id, shape = json.loads(result)["messageId"], self._shape
        if command.idempotency_key is not None:
            # The message may be an earlier one, whose id was written differently then.
            shape = self._shape_of(message_id)
        return accepted(request, written(message_id, shape))

    def _shape_of(self, message_id: str) -> IdShape:
        try:
            view = self._engine.get_message(self._account.principal, message_id)
        except NotFound:  # no longer kept
            return self._shape
        return shape_of(view.metadata)

    async def _accept(self, commands: Sequence[SendMessage]) -> Sequence[bytes | EngineError]:
        if not commands:
            return ()
        principal = self._account.principal
        try:
            if len(commands) == 1:
                # Many sessions with a narrow window: those of this credential that submit in the
                # same turn of the loop are one unit, by the door that HTTP's sends have.
                return (await self._engine.send_message(principal, commands[0]),)
            return await self._engine.send_batch(principal, commands)
        except EngineError as error:
            return [error] * len(commands)
        except Exception:
            log.exception("smpp_server.bug", system_id=self._account.system_id)
            return [EngineError("An error occurred in the service. Try again later.")] * len(
                commands
            )

    # -- questions

    async def _ask(self, request: QuerySm | CancelSm) -> None:
        try:
            answer = await self._answer_of(request)
        except EngineError as error:
            answer = refused(request, status_of(error), str(error))
        except Exception:
            log.exception("smpp_server.bug", system_id=self._account.system_id)
            answer = response_to(request, ESME_RSYSERR)
        self._answer(request, answer)

    async def _answer_of(self, request: QuerySm | CancelSm) -> Pdu:
        if not request.message_id:
            # Without an id, cancel_sm means all messages of two addresses (§4.9.1).
            return refused(request, ESME_RCANCELFAIL, "Name the message by its message_id.")
        try:
            view = self._find(request.message_id)
        except NotFound as unknown:
            return refused(request, ESME_RINVMSGID, str(unknown))
        if isinstance(request, QuerySm):
            return query_answer(request, view)
        try:
            await self._engine.perform("message.cancel", {"message_id": view.id}, self._caller())
        except Refusal as refusal:
            return refused(request, ESME_RCANCELFAIL, str(refusal))
        return response_to(request)

    def _find(self, message_id: str) -> MessageView:
        """The message of an id in any shape, independent of the current setting.

        Raises:
            NotFound: this organization has no such message.
        """
        for key in keys_of(message_id):
            with suppress(NotFound):
                return self._engine.get_numbered(self._account.principal, key)
        return self._engine.get_message(self._account.principal, message_id)

    def _caller(self) -> Caller:
        """The user who cancels a message, for the audit trail."""
        account = self._account
        who = f"{account.system_id} ({account.credential_id})"
        return Caller(who, CallerKind.SMPP, Role.DEVELOPER, account.principal.organization_id)
