"""The gateway: the only entry to the engine. HTTP, the control socket and the command line call it.

It has the calls of the API's hot path. Everything that an operator may do is an operation by name
(:mod:`risala.engine.operations`), so that a command works the same with and without a running
service.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from importlib import import_module
from typing import Any, Final, TypeVar

import trio

from risala.engine.actors.broadcast import Subscription
from risala.engine.follow.live import Follower
from risala.engine.limits.claims import TakeAddress
from risala.engine.model.callers import PROCESS, Caller, OperatorRole, Role
from risala.engine.model.commands import (
    NOTHING_BESIDE,
    AddressUse,
    Beside,
    LifeEvent,
    Principal,
    Readiness,
    SendCode,
    SendMessage,
    TimelineEntry,
)
from risala.engine.model.errors import (
    UNCONFIRMED,
    FieldFault,
    LogSilent,
    NotFound,
    OutcomeUnknown,
    Refusal,
)
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import duty, features
from risala.engine.model.following import What
from risala.engine.model.records.asks import Ask, FeatureAccess, Versioned
from risala.engine.model.records.ledger import PartsToday
from risala.engine.model.records.messages import MessageView
from risala.engine.model.records.verify.sessions import VerificationView
from risala.engine.people.people import People
from risala.engine.services import Services
from risala.engine.upkeep import overview
from risala.engine.verify.sessions import Judge, Open, settle_seen, view_of
from risala.plugins.page import ConsolePage, ConsolePages, Paged

R = TypeVar("R")
TABLE: Final = "risala.engine.gateway.table"
"""The module that imports every operation."""


class Gateway:
    def __init__(self, services: Services, *, later: bool = False) -> None:
        """
        Args:
            later: load the table of operations with the first of them, in a thread.
        """
        self.services = services
        self._later = later
        self.operated = trio.Event()
        """Set once the table of operations is there: from then on somebody does more than send."""
        if not later:
            self.operated.set()
        self._permitted: dict[tuple[Role, OperatorRole], frozenset[str]] = {}

    @property
    def people(self) -> People:
        """Users and sign-in, for the pages."""
        return self.services.people

    def access(self, of: FeatureAccess[R]) -> R:
        """What a feature offers that is no operation, such as what programs without an account ask.

        Raises:
            NotFound: the feature is not there.
        """
        for feature in features():
            if feature.name == of.feature and feature.access is not None:
                offered: R = self.services.part(feature.access())
                return offered
        raise NotFound("This service does not do that.")

    @property
    def console_pages(self) -> ConsolePages:
        """Pages that plugins bring to the operator's console."""
        return self.services.pages

    def carrier_page(self, carrier: str) -> ConsolePage | None:
        """What a carrier's driver fills of its page in the console; None: nothing. Raises whatever
        the driver raises."""
        workers = self.services.delivery.workers()
        driver = next((each.driver for each in workers if each.name == carrier), None)
        return driver.console_page if isinstance(driver, Paged) else None

    # -- for API clients

    def authenticate(self, api_key: str, address: str | None = None) -> Principal:
        """The caller of this key.

        Args:
            address: the client's, which the key then shows as the last one; None: unknown.

        Raises:
            KeyExpired: the key's time is over.
            Unauthorized: the key is unknown, deleted or disabled.
            Forbidden: its organization is not active.
        """
        return self.services.accounts.authenticate(api_key, address)

    async def take_address(self, use: AddressUse, bucket: Hashable) -> None:
        """Count one call of a client's address.

        Raises:
            RateLimited: there were too many; this one was not counted.
        """
        await self.services.limits.ask(TakeAddress(use, bucket))

    async def send_message(self, principal: Principal, command: SendMessage) -> bytes:
        """Accept a message: stored, charged and synced to disk when this returns.

        Returns the body of the response; the same idempotency key later gets the same bytes. If
        cancelled, the message is accepted whole or not at all.

        Raises:
            SenderNotApproved, RateLimited, InsufficientBalance, Forbidden: refused; nothing was
                stored.
            Overloaded, Draining, StorageFailed: not now; nothing was stored.
            OutcomeUnknown: it may be stored; a repeat with the same key shows it.
        """
        return await self.services.intake.send(principal, command)

    async def send_together(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> Sequence[bytes | Exception | None] | None:
        """:meth:`send_message` for each of these requests, by one unit.

        Returns for each, in order, what it returns or raises; None for one or all: nothing was
        done, and it has to be asked alone.
        """
        return await self.services.intake.send_together(principal, commands)

    async def send_batch(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> Sequence[bytes | Refusal]:
        """Accept many messages in one unit of work; each succeeds or fails alone.

        Returns for each, in order, the body of its response or the refusal. All accepted messages
        are durable when this returns.

        Raises:
            Overloaded, Draining, StorageFailed: not now; nothing was stored.
            OutcomeUnknown: they may be stored; a repeat with the same keys shows it.
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
        """Whether answers about messages have only seven fields and four states."""
        return self.services.accounts.organization(principal.organization_id).lean_answers

    def parts_today(self, organization_id: str) -> PartsToday | None:
        """What an organization has sent today, of what it may; None: customers pay instead."""
        services = self.services
        if not self.is_self_paid:
            return None
        # Imported here: see _load.
        from risala.engine.operations.organizations import parts_today

        organization = services.accounts.organization(organization_id)
        return parts_today(services, organization, services.recorder.clock.now_ms())

    @property
    def is_self_paid(self) -> bool:
        """Whether nobody pays for messages."""
        return self.services.intake.payer.is_self

    async def send_code(self, principal: Principal, command: SendCode) -> str:
        """Send a one-time code and open its session; the session's id.

        Raises:
            Invalid: an ``appHash``, ``origin`` or ``locale`` that is not registered or known; or
                what features read.
            RateLimited, InsufficientBalance, Forbidden, PolicyRefused: refused; nothing was stored.
            Overloaded, Draining, PolicyFailed, StorageFailed: not now; nothing was stored.
        """
        policies = self.services.intake.policies
        if policies.are_there_for_codes:
            await policies.rule_code(principal, command.to)
        verification_id: str = await self.services.sessions.ask(Open(principal, command))
        return verification_id

    def code_faults(
        self,
        principal: Principal,
        locale: str | None,
        app_hash: str | None,
        origin: str | None,
    ) -> list[FieldFault]:
        """The faults for which :meth:`send_code` would refuse these values. For a body that is
        wrong anyway: its answer then names all faults at once."""
        settings = self.services.code_settings(principal.organization_id)
        return settings.faults_of(locale, app_hash, origin)

    async def check_code(
        self,
        principal: Principal,
        verification_id: str,
        code: str | None,
        beside: Beside = NOTHING_BESIDE,
    ) -> bool:
        """Check a code; True: approved. The check is counted on disk before this returns.

        Args:
            code: None: ``beside`` says something else.

        Raises:
            Invalid: something is missing that the session wants; nothing was counted.
            NotFound: unknown, or not the caller's: the same words for both.
            Draining, StorageFailed: not now; nothing was counted.
            OutcomeUnknown: it may be counted; the session shows it.
        """
        judged = Judge(principal, verification_id, code, beside=beside)
        work = partial(self.services.sessions.ask, judged)
        answers = self.services.recorder.answers
        approved: bool = await answers.within(work, partial(OutcomeUnknown, UNCONFIRMED))
        return approved

    def pending_verification(self, principal: Principal, to: str) -> str:
        """The id of the newest pending session of a number.

        Raises:
            NotFound: it has none of the caller's organization and mode.
        """
        stored, now_ms = self.services.repositories, self.services.recorder.clock.now_ms()
        whose = principal.organization_id, principal.mode
        return stored.verifications.pending_to(*whose, to, now_ms).id

    async def settled(self) -> None:
        """Before a read whose answer has to be the truth: if the second machine should have
        confirmed something by now, wait until it has.

        Raises:
            Unavailable: it has not.
        """
        answers = self.services.recorder.answers
        if answers.is_late:
            await answers.within(self.services.recorder.journal.settled, LogSilent)

    async def show_verification(
        self, principal: Principal, verification_id: str
    ) -> VerificationView:
        """:meth:`get_verification` for an answer that must stay true: what the second machine
        should have confirmed is confirmed, and a session that is shown as expired is so in the
        journal.

        Raises:
            NotFound: unknown, or not the caller's: the same words for both.
            Unavailable: the second machine has not confirmed.
        """
        await self.settled()
        services = self.services
        row = services.repositories.verifications.owned(
            principal.organization_id, principal.mode, verification_id
        )
        await settle_seen(services.sessions, services.recorder.clock, (row,))
        return self.get_verification(principal, verification_id)

    def get_verification(self, principal: Principal, verification_id: str) -> VerificationView:
        """A session of the caller's own organization and mode.

        Raises:
            NotFound: unknown, or not the caller's: the same words for both.
        """
        row = self.services.repositories.verifications.owned(
            principal.organization_id, principal.mode, verification_id
        )
        now_ms = self.services.recorder.clock.now_ms()
        return view_of(row, now_ms, self.services.session_features)

    def endpoint_faults(self, members: Mapping[str, object]) -> Sequence[FieldFault]:
        """The faults for which operations on webhook endpoints would refuse these fields, as far as
        their types are right: asked first, so that an answer names all faults of a body at once."""
        # Imported here: see _load.
        from risala.engine.operations.webhooks import endpoint_faults

        return endpoint_faults(self.services, members)

    # -- for everybody

    def readiness(self) -> Readiness:
        """Check that messages are accepted and can be delivered."""
        reasons = tuple(self._reasons())
        return Readiness(not reasons, reasons)

    def _reasons(self) -> Iterator[str]:
        condition = self.services.recorder.journal.condition
        # Checked now: the last check may be long ago if no message was sent since.
        condition.check()
        if self.services.intake.draining:
            yield "the service is stopping"
        if condition.ailment is not None:
            yield condition.ailment.text
        if self.services.recorder.answers.is_late:
            yield "the second machine does not answer"
        if (undone := self.services.preparing()) is not None:
            yield undone
        yield from self.services.delivery.unready()

    def metrics(self) -> bytes:
        """The numbers of this moment, as Prometheus reads them."""
        # Imported here, because a command with its own engine never needs the library.
        from risala.engine.upkeep.metrics import render

        return render(self.services, ready=self.readiness().ready)

    def watch(self, events_max: int = 1000) -> AbstractContextManager[Subscription[LifeEvent]]:
        """Follow the life of all messages; a slow reader learns that it missed some."""
        return self.services.recorder.life.subscribe(events_max)

    def follow(
        self, what: What, organization_id: str | None = None, position: str | None = None
    ) -> AbstractContextManager[Follower]:
        """Follow the events of one organization, or with None of all.

        ``position`` is where to go on: the id of the last event read, or a time in UTC epoch
        milliseconds.

        Raises:
            NotFound: this organization does not exist.
            Conflict: the service is not running.
        """
        if organization_id is not None:
            self.services.accounts.organization(organization_id)
        return self.services.delivery.follow(what, organization_id, position)

    # -- for the operator

    def show_message(self, message_id: str) -> tuple[MessageView, tuple[TimelineEntry, ...]]:
        """Any message, with its timeline. If it waits, the last entry says for what.

        Raises:
            NotFound: no message has this id.
        """
        return overview.message(self.services, message_id)

    async def perform(
        self, name: str, arguments: dict[str, Any], caller: Caller = PROCESS
    ) -> dict[str, Any]:
        """Do one operation by name; JSON-able in and out.

        Args:
            caller: each face gives its own; by default the process itself.

        Raises:
            NotFound: the operation, or the thing it names, does not exist for this caller.
            Forbidden: it is not for the caller's role.
            Refusal: the arguments are wrong, or it cannot be done; one sentence says why.
        """
        await self._load()
        from risala.engine.gateway.table import perform

        return await perform(self.services, caller, name, arguments)

    async def ask(
        self, ask: Ask[R], arguments: dict[str, Any], caller: Caller = PROCESS
    ) -> Versioned[R]:
        """:meth:`perform` with a typed answer. Raises the same."""
        await self._load()
        from risala.engine.gateway.table import answer

        return await answer(self.services, caller, ask, arguments)

    def console_lock(self) -> str | None:
        """The only address, or network, that the console answers; None: all."""
        return self.services.repositories.sign_in.console_lock().address

    async def permitted(self, caller: Caller) -> frozenset[str]:
        """The names of the operations that are for the caller's role."""
        role = (caller.role, caller.operator_role)
        if role not in self._permitted:
            await self._load()
            from risala.engine.gateway.table import permitted

            self._permitted[role] = permitted(caller)
        return self._permitted[role]

    async def _load(self) -> None:
        """Load the table of operations: megabytes that a service does without until somebody does
        more than send."""
        if self._later:
            await trio.to_thread.run_sync(import_module, TABLE)
            self._later = False
            self.operated.set()

    async def receive_upload(
        self,
        organization_id: str,
        chunks: AsyncIterator[bytes],
        name: str,
        caller: Caller = PROCESS,
        /,
    ) -> str:
        """Store a file with the rows of a mailing or a list, while it comes in; the upload's id.

        Args:
            name: the file's own name.

        Raises:
            NotFound: the organization does not exist for this caller.
            Forbidden: it is not for the caller's role.
            Invalid: the file is too large.
            Conflict: too many files wait, or the service is not running.
        """
        receive = duty(Duty.UPLOAD)
        if receive is None:
            raise NotFound("This service takes no files.")
        upload: str = await receive(self.services, caller, organization_id, chunks, name)
        return upload

    def drain(self) -> None:
        """Accept nothing from now on."""
        self.services.intake.drain()
