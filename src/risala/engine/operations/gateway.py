"""The gateway: the one door to the engine. HTTP, the control socket and the command line call it.

For API clients here are the calls of the hot path; everything that the operator may do is an
operation by name (:mod:`risala.engine.operations`), so that a command works the same beside a
running service and without one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from risala.engine.actors.broadcast import Subscription
from risala.engine.follow.live import Follower
from risala.engine.limits.claims import TakeAddress
from risala.engine.model.callers import PROCESS, Caller
from risala.engine.model.commands import (
    AddressUse,
    LifeEvent,
    Principal,
    Readiness,
    SendCode,
    SendMessage,
    TimelineEntry,
)
from risala.engine.model.errors import FieldFault, NotFound, Refusal
from risala.engine.model.following import What
from risala.engine.model.records.asks import Ask, Versioned
from risala.engine.model.records.messages import MessageView
from risala.engine.model.records.verify.sessions import VerificationView
from risala.engine.operations import answer, perform
from risala.engine.operations.faces.access import CompatAccess
from risala.engine.operations.webhooks.endpoints import endpoint_faults
from risala.engine.payments.payment_service import PaymentService
from risala.engine.people.people import People
from risala.engine.requests.log import RequestLog
from risala.engine.services import Services
from risala.engine.upkeep import overview
from risala.engine.verify.sessions import Judge, Open, view_of
from risala.plugins.page import ConsolePages

R = TypeVar("R")


class Gateway:
    def __init__(self, services: Services) -> None:
        self.services = services
        self.faces = CompatAccess(services)
        """For those who come in by another face than the API."""

    @property
    def people(self) -> People:
        """Who is there, and who may come in: for the pages."""
        return self.services.people

    @property
    def requests(self) -> RequestLog:
        """The log of requests: for whoever answers them."""
        return self.services.requests

    @property
    def payments(self) -> PaymentService:
        """Payments: for providers' callbacks, and the checkout that is only played."""
        return self.services.payments

    @property
    def console_pages(self) -> ConsolePages:
        """Pages that plugins bring to the operator's console."""
        return self.services.pages

    # -- for API clients

    def authenticate(self, api_key: str) -> Principal:
        """Who holds this key.

        Raises:
            Unauthorized: the key is unknown, deleted or disabled.
            Forbidden: its organization is not active.
        """
        return self.services.accounts.authenticate(api_key)

    async def take_address(self, use: AddressUse, bucket: Hashable) -> None:
        """Count one call of a client's address.

        Raises:
            RateLimited: there were too many; it was not counted.
        """
        await self.services.limits.ask(TakeAddress(use, bucket))

    async def send_message(self, principal: Principal, command: SendMessage) -> bytes:
        """Accept a message: stored, charged and synced to disk when this returns.

        Returns the body of the response, byte for byte the same whenever its idempotency key
        comes again. If cancelled, the message is accepted whole or not at all.

        Raises:
            SenderNotApproved, RateLimited, InsufficientBalance, Forbidden: refused; nothing was
                stored.
            Overloaded, Draining, StorageFailed: not now; nothing was stored.
            OutcomeUnknown: it is stored, or it is not; the same key again tells.
        """
        return await self.services.intake.send(principal, command)

    async def send_batch(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> Sequence[bytes | Refusal]:
        """Accept many messages in one unit of work; each stands alone.

        For each, in order, the body of its response or why it was refused. All that were
        accepted are durable when this returns.

        Raises:
            Overloaded, Draining, StorageFailed: not now; nothing of it was stored.
            OutcomeUnknown: it is stored, or it is not; the same keys again tell.
        """
        return await self.services.intake.send_batch(principal, commands)

    def get_message(self, principal: Principal, message_id: str) -> MessageView:
        """A message of the caller's own organization and mode.

        Raises:
            NotFound: unknown, or not the caller's: the same words for both.
        """
        view = self.services.repositories.messages.own(
            message_id, principal.organization_id, principal.mode
        )
        if view is None:
            raise NotFound("There is no message with this id.")
        return view

    def get_numbered(self, principal: Principal, key: int) -> MessageView:
        """A message of the caller's own organization and mode, by its key.

        Raises:
            NotFound: unknown, or not the caller's: the same words for both.
        """
        view = self.services.repositories.messages.own_of_key(
            key, principal.organization_id, principal.mode
        )
        if view is None:
            raise NotFound("There is no message with this id.")
        return view

    def is_lean(self, principal: Principal) -> bool:
        """Whether messages are answered in seven fields and four states."""
        return self.services.accounts.organization(principal.organization_id).lean_answers

    async def send_code(self, principal: Principal, command: SendCode) -> str:
        """Send a one-time code and open its session; the session's id.

        Raises:
            Invalid: an ``appHash``, ``origin`` or ``locale`` that is not registered or known.
            RateLimited, InsufficientBalance, Forbidden, PolicyRefused: refused; nothing was stored.
            Overloaded, Draining, PolicyFailed, StorageFailed: not now; nothing was stored.
        """
        policies = self.services.intake.policies
        if policies.are_there_for_codes:
            await policies.rule_code(principal, command.to)
        verification_id: str = await self.services.sessions.ask(Open(principal, command))
        return verification_id

    def code_faults(
        self, principal: Principal, app_hash: str | None, origin: str | None
    ) -> list[FieldFault]:
        """The faults that :meth:`send_code` would refuse these for. Asked for a body that is wrong
        anyway, so that all faults are named at once."""
        settings = self.services.repositories.verifications.settings(principal.organization_id)
        return settings.faults_of(None, app_hash, origin)

    async def check_code(self, principal: Principal, verification_id: str, code: str) -> bool:
        """Judge a guess: True where it is approved. Counted on disk before this returns.

        Raises:
            NotFound: unknown, or not the caller's: the same words for both.
            Draining, StorageFailed: not now; nothing was counted.
        """
        approved: bool = await self.services.sessions.ask(Judge(principal, verification_id, code))
        return approved

    def get_verification(self, principal: Principal, verification_id: str) -> VerificationView:
        """A session of the caller's own organization and mode.

        Raises:
            NotFound: unknown, or not the caller's: the same words for both.
        """
        row = self.services.repositories.verifications.owned(
            principal.organization_id, principal.mode, verification_id
        )
        return view_of(row, self.services.recorder.clock.now_ms())

    def endpoint_faults(self, members: Mapping[str, object]) -> Sequence[FieldFault]:
        """What the operations on webhook endpoints would refuse of these fields, as far as each has
        the type that it must have: asked before, so that all faults of a body are named at once."""
        return endpoint_faults(self.services, members)

    # -- for everybody

    def readiness(self) -> Readiness:
        """Check that messages are accepted and can be delivered."""
        reasons = tuple(self._reasons())
        return Readiness(not reasons, reasons)

    def _reasons(self) -> Iterator[str]:
        condition = self.services.recorder.journal.condition
        # Looked at now: the last look may be long ago, where nobody has sent anything since.
        condition.check()
        if self.services.intake.draining:
            yield "the service is stopping"
        if condition.ailment is not None:
            yield condition.ailment.text
        if (undone := self.services.preparing()) is not None:
            yield undone
        yield from self.services.delivery.unready()

    def metrics(self) -> bytes:
        """The numbers of this moment, as Prometheus reads them."""
        # Imported here, because a command that opens the engine by itself never needs the library.
        from risala.engine.upkeep.metrics import render

        return render(self.services, ready=self.readiness().ready)

    def watch(self, events_max: int = 1000) -> AbstractContextManager[Subscription[LifeEvent]]:
        """Follow the life of all messages; a slow watcher is told that it lagged."""
        return self.services.recorder.life.subscribe(events_max)

    def follow(
        self, what: What, organization_id: str | None = None, position: str | None = None
    ) -> AbstractContextManager[Follower]:
        """Follow what happens to one organization, or with None to all.

        ``position`` is where to go on: the id of the last event that was read, or a time in UTC
        epoch milliseconds.

        Raises:
            NotFound: there is no such organization.
            Conflict: nothing runs that could be followed.
        """
        if organization_id is not None:
            self.services.accounts.organization(organization_id)
        return self.services.delivery.follow(what, organization_id, position)

    # -- for the operator

    def show_message(self, message_id: str) -> tuple[MessageView, tuple[TimelineEntry, ...]]:
        """Any message, with its timeline. Where the message waits, the last entry says for what at
        this moment.

        Raises:
            NotFound: there is none of this id.
        """
        return overview.message(self.services, message_id)

    async def perform(
        self, name: str, arguments: dict[str, Any], caller: Caller = PROCESS
    ) -> dict[str, Any]:
        """Do one operation by name; JSON-able in and out.

        Args:
            caller: who asks, handed in by every face; the process itself where it is left out.

        Raises:
            NotFound: there is no such operation, or no such thing for the caller.
            Forbidden: it is not for the caller's role.
            Refusal: the arguments are wrong, or it cannot be done; one sentence says why.
        """
        return await perform(self.services, caller, name, arguments)

    async def ask(
        self, ask: Ask[R], arguments: dict[str, Any], caller: Caller = PROCESS
    ) -> Versioned[R]:
        """:meth:`perform` with a typed answer. Raises the same."""
        return await answer(self.services, caller, ask, arguments)

    def drain(self) -> None:
        """Accept nothing from now on."""
        self.services.intake.drain()
