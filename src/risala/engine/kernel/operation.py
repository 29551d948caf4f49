"""What an operation is: typed arguments in, a frozen result out, and who may call it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import field
from typing import Any, Final, Generic, TypeVar, get_args, get_type_hints

from risala.dataclass import dataclass
from risala.engine.journal.store.repository import Store
from risala.engine.kernel.arguments import Arguments, Json
from risala.engine.model.audit import AuditEntry, AuditImage, Values
from risala.engine.model.callers import Caller, CallerKind, Freshness, OperatorRole, Role
from risala.engine.model.errors import (
    AccountClosed,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    NotFresh,
)
from risala.engine.model.records.accounts import DELETED
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.record import to_json
from risala.engine.rules.roles import ADMINISTRATORS, SUPPORT, RoleVerdict, admits, judge
from risala.engine.services import Services

A = TypeVar("A", bound=Arguments)
R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Weight:
    """What a call weighs."""

    amount: int | None
    """Minor units that count against the limit of a day; None: one operator never does it alone."""
    seen: Mapping[str, Any] = field(default_factory=dict)
    """What it would change, as it is now: where that has changed, nobody confirms it any more."""
    is_always: bool = False
    """Whether it needs two also where the settings ask for no four eyes."""

    def is_watched(self, limit: int | None, caller: Caller) -> bool:
        """Whether four eyes watch what a caller does: operators, once there is a limit, or
        always."""
        return caller.role is Role.OPERATOR and (limit is not None or self.is_always)


@dataclass(frozen=True, slots=True)
class Confirming:
    """A request that is being confirmed."""

    id: str
    asked_by: str
    alone: str | None = None
    """Why its asker confirms it; None: somebody else does."""

    @property
    def details(self) -> Values:
        """What the audit trail says of it, beside who confirms."""
        values = {"approval": self.id, "asked_by": self.asked_by}
        return values if self.alone is None else {**values, "alone": self.alone}


@dataclass(frozen=True, slots=True)
class Call(Generic[A]):
    """One call of an operation: the caller, the arguments, and the engine's parts to do it with."""

    services: Services
    caller: Caller
    action: str
    arguments: A
    approval: Confirming | None = None
    """The request of another operator that this call confirms."""

    @property
    def now_ms(self) -> int:
        return self.services.recorder.clock.now_ms()

    def part(self, kind: Callable[[Services], T]) -> T:
        """The object that a feature's class or function makes of the services."""
        return self.services.part(kind)

    def stored(self, kind: Callable[[Store], T]) -> T:
        """A feature's repository."""
        return self.services.repositories.part(kind)

    @property
    def hides_texts(self) -> bool:
        """Whether messages' texts stay hidden: in the console, an operator reads customers'
        messages only for a stated reason (``message.body``)."""
        return self.caller.face is CallerKind.CONSOLE and self.caller.role is Role.OPERATOR

    def audit(
        self,
        image: AuditImage | None = None,
        subject: str | None = None,
        *,
        details: Values | None = None,
        organization_id: str | None = None,
        always: bool = False,
    ) -> AuditEntry:
        """The audit entry of the call, for the unit of work that does it; the arguments are fields
        of :class:`AuditEntry`. An edit with a version is compared with later changes."""
        return AuditEntry(
            caller=self.caller,
            action=self.action,
            at=self.now_ms,
            subject=subject,
            image=image,
            organization_id=organization_id,
            details={**(details or {}), **({} if self.approval is None else self.approval.details)},
            always=always,
            version=getattr(self.arguments, "version", None),
            approval_id=None if self.approval is None else self.approval.id,
            alone=None if self.approval is None else self.approval.alone,
        )

    async def note(self, by: AuditEntry) -> None:
        """Commit only an audit entry, for something that is done elsewhere, or only shown. Call
        it first.

        Raises:
            Unavailable: the entry could not be written: do not do it.
        """
        await self.services.repositories.audit.note(by)

    async def note_look(self, by: AuditEntry) -> None:
        """:meth:`note` for data of a member's own organization: the same read again within a minute
        adds no entry. Operators add one each time. A program adds none: its key's log of requests
        has all its calls.

        Raises:
            Unavailable: the entry could not be written: do not show the data.
        """
        if self.caller.face is CallerKind.API:
            return
        if not self.caller.is_member:
            await self.note(by)
            return
        looks, look = self.services.looks, (self.caller, self.action, self.arguments)
        if not looks.stands(look, by.at):
            await self.note(by)
            looks.note(look, by.at)


Handler = Callable[[Call[A]], Awaitable[R]]
"""Does an operation."""
Owner = Callable[[Services, A], str | None]
"""Finds the organization of the thing that the arguments name; None: no single organization.
Raises ``NotFound`` if the thing does not exist.
"""


def no_organization(_: Services, __: Arguments) -> str | None:
    """The owner for operations that concern no single organization."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Generic[A, R]):
    """One operation: its name, its types, who may call it, and its handler."""

    name: str
    arguments: type[A]
    result: type[R]
    wire: Callable[[R], Json]
    """The one place where the result becomes JSON."""
    handler: Callable[[Call[A]], Awaitable[R]]
    roles: frozenset[Role]
    operators: frozenset[OperatorRole] = ADMINISTRATORS
    """The operators who may call it, if operators may."""
    owner: Owner[A] = no_organization
    for_all: bool = False
    """Members may call it though it concerns no single organization."""
    reserved: Mapping[str, frozenset[Role]] = field(default_factory=dict)
    """Arguments that only some of the roles may give, by name."""
    changes: bool = False
    """Whether it changes something: each call that did adds a line to the audit trail."""
    record: type[Any] | None = None
    """The record that it changes; its fields say what the audit trail shows."""
    shows_texts: bool = False
    """Whether it shows messages' texts, or data of several organizations: each call adds a line
    too, but a member's repeat within a minute (:meth:`Call.note_look`) does not."""
    reads_all_organizations: bool = False
    """Without an organization it shows data of all of them: then each call adds a line."""
    versioned_by: str | None = None
    """The argument with the id of the edited thing. The JSON has its version, for the edit."""
    fresh: bool = False
    """Whether it is important: an operator, and a member with a second factor, has shown within ten
    minutes who they are."""
    fresh_for_all: bool = False
    """Whether everybody with a session has shown within ten minutes who they are, by a code by
    e-mail if there is no factor."""
    tops_up: bool = False
    """Whether it brings money: it works for a suspended organization too."""
    allows_deleted: bool = False
    """The operator may do it for a deleted organization too."""
    works_without_standby: bool = False
    """Whether it works while the second machine does not answer: it is about that machine."""
    four_eyes: Callable[[Call[A]], Weight | None] | None = None
    """What a call weighs for four eyes; None, or an answer of None: one operator may do it."""

    @property
    def reserved_operators(self) -> frozenset[OperatorRole]:
        """The operators who may give reserved arguments: of an operation that else only reads,
        those who change things for customers."""
        return self.operators & SUPPORT if Role.VIEWER in self.roles else self.operators

    def allows(self, caller: Caller) -> bool:
        """Whether it is for the caller's role, whatever it is done to."""
        return admits(caller, self.roles, self.operators)

    def writes(self, arguments: A) -> bool:
        """Whether this call is meant to change something.

        A viewer's operation only reads, unless a reserved argument is given.
        """
        if not self.changes or Role.VIEWER not in self.roles:
            return self.changes
        return bool(arguments.model_fields_set & self.reserved.keys())

    def shows_all(self, arguments: A) -> bool:
        """Whether this call reads data of all organizations."""
        return self.reads_all_organizations and getattr(arguments, "organization_id", None) is None

    def refuse(self, services: Services, caller: Caller, arguments: A) -> None:
        """Raise if a call is not for the caller.

        Raises:
            NotFound: the named thing belongs to another organization.
            Forbidden: it is not for the caller's role.
            NotFresh: they have to show again who they are.
        """
        try:
            owner = self.owner(services, arguments) if caller.is_member else None
        except NotFound:
            raise NotFound(HIDDEN) from None
        verdict = judge(caller, self.roles, owner, for_all=self.for_all, operators=self.operators)
        if verdict is RoleVerdict.HIDDEN:
            raise NotFound(HIDDEN)
        if verdict is RoleVerdict.FORBIDDEN:
            raise Forbidden(f"This is not for the role {caller.role_word!r}.")
        if caller.bound and caller.role is Role.USER:
            raise AccountClosed
        for name in sorted(arguments.model_fields_set & self.reserved.keys()):
            if not admits(caller, self.reserved[name], self.reserved_operators):
                raise Forbidden(f"`{name}` is not for the role {caller.role_word!r}.")
        self._refuse_stale(caller)
        if not self.writes(arguments):
            return
        mine = caller.organization_id
        if mine is None:
            self._refuse_deleted(services, arguments)
        elif not self.tops_up and services.accounts.organization(mine).status != "active":
            raise Forbidden(SUSPENDED)

    def _refuse_stale(self, caller: Caller) -> None:
        is_stale = self.fresh and caller.freshness is Freshness.STALE
        if is_stale or (self.fresh_for_all and caller.freshness is not Freshness.FRESH):
            raise NotFresh

    def _refuse_deleted(self, services: Services, arguments: A) -> None:
        """A deleted organization can no longer be changed."""
        if self.allows_deleted:
            return
        with suppress(NotFound):  # the handler has a better sentence for what is missing
            whose = self.owner(services, arguments)
            if whose is not None and services.accounts.organization(whose).status == DELETED:
                raise Conflict("The organization is deleted.")


class Operations(list[Operation[Any, Any]]):
    """The operations of one noun: each is declared above the function that does it, whose
    annotation says the arguments."""

    def __call__(
        self,
        ask: Ask[R],
        *,
        changes: type[Any] | None = None,
        wire: Callable[[R], Json] = to_json,
        **more: Any,  # noqa: ANN401 -- the other fields of an operation
    ) -> Callable[[Handler[A, R]], Handler[A, R]]:
        """Declare the operation of an ``ask``, which has its name, answer and JSON.

        Args:
            changes: the record that it changes, whose fields say the audit image; None: it changes
                nothing.
            wire: makes its JSON, if that is not the record's own.
            more: the other fields of :class:`Operation`.
        """

        def declare(handler: Handler[A, R]) -> Handler[A, R]:
            (arguments,) = get_args(get_type_hints(handler)["call"])
            declared = Operation(
                name=ask.name,
                arguments=arguments,
                result=ask.result,
                wire=wire,
                handler=handler,
                changes=changes is not None,
                record=changes,
                **more,
            )
            self.append(declared)
            return handler

        return declare


SUSPENDED: Final = "The organization is suspended: it reads and tops up, and does nothing else."
HIDDEN: Final = "There is no such thing in this organization."
"""One sentence for a missing thing and for another organization's, so that nobody learns which it
is."""


# Answers in parts: the first part writes the audit entry, and returns its number; calls for the
# other parts hand that number back, and write no entry.

EXPORT_AGE_MAX_MS: Final = 24 * 3_600_000
"""An export that is still read after a day must begin again."""


async def line_of(
    call: Call[Any], export: int | None, details: Values, organization_id: str | None
) -> int:
    """The number of the audit entry of an export; written if ``export`` is None.

    Raises:
        Invalid: the entry is somebody else's, has other filters, or is too old.
    """
    if export is None:
        by = call.audit(organization_id=organization_id, details=details, always=True)
        return await call.services.repositories.audit.note(by)
    line = call.services.repositories.audit.line(export)
    is_ours = (
        line is not None
        and (line.action, line.who) == (call.action, call.caller.who)
        and line.organization_id == organization_id
        and (line.after or {}) == details
    )
    if line is None or not is_ours or call.now_ms - line.at > EXPORT_AGE_MAX_MS:
        raise Invalid("export", "unknown_export", "Begin the export again, without `export`.")
    return export
