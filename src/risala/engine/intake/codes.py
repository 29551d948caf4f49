"""Accepts the messages that carry codes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from risala.engine.intake.intake_places import IntakePlaces
from risala.engine.intake.steps import IntakeSteps, unconfirmed
from risala.engine.journal.messages.verifications import VerificationRepository
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import UNCONFIRMED, OutcomeUnknown
from risala.engine.model.records.messages import (
    Acceptance,
    NewCode,
    NewSealedCode,
    NewVerification,
    Stamp,
)
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.states import Mode


class IntakeCodes:
    def __init__(
        self, steps: IntakeSteps, places: IntakePlaces, verifications: VerificationRepository
    ) -> None:
        self._steps = steps
        self._places = places
        self._verifications = verifications

    async def send(
        self,
        organization: Organization,
        mode: Mode,
        new: NewVerification,
        *,
        by: AuditEntry | None = None,
    ) -> None:
        """Accept a code's SMS and open its session: durable when this returns, or neither.

        Raises:
            RateLimited, InsufficientBalance, SpendCapReached, Forbidden: refused.
            Unavailable: not possible now.
        """
        stamp = self._steps.stamp(organization.id)

        async def begin() -> Acceptance:
            return (await self._verifications.begin(new, stamp, by)).accepted

        work = partial(self._begin_code, organization, mode, new, stamp, begin)
        await self._steps.recorder.answers.within(work, partial(OutcomeUnknown, UNCONFIRMED))

    async def send_sealed(
        self, organization: Organization, mode: Mode, new: NewSealedCode
    ) -> bytes:
        """Accept the SMS of a code that other software made: durable when this returns.

        Returns the answer, as of :meth:`Intake.send`; that of an earlier one with the same key.

        Raises:
            RateLimited, InsufficientBalance, SpendCapReached, Forbidden: refused.
            Unavailable: not possible now.
        """
        stamp = self._steps.stamp(organization.id)
        begin = partial(self._verifications.begin_sealed_code, new, stamp)
        work = partial(self._begin_code, organization, mode, new, stamp, begin)
        doubt = partial(unconfirmed, [new.message.idempotency_key])
        accepted = await self._steps.recorder.answers.within(work, doubt)
        (response,) = accepted.results
        assert isinstance(response, bytes)
        return response

    async def _begin_code(
        self,
        organization: Organization,
        mode: Mode,
        new: NewCode,
        stamp: Stamp | None,
        begin: Callable[[], Awaitable[Acceptance]],
    ) -> Acceptance:
        message = new.message
        holding = self._steps.holding(organization)
        with self._places.inside(1):
            try:
                if mode is Mode.LIVE:
                    await holding.take_hour(new)
                    await holding.reserve((message,))
                accepted = await begin()
            except BaseException as error:
                await holding.failed(error)
                raise
        await holding.committed((message,), accepted)
        if accepted.id is not None:
            if mode is Mode.LIVE:
                self._steps.recorder.minutes.accepted(1, message.created_at)
            self._steps.tell(message)
        if stamp is not None:
            self._steps.senders.look_again(organization.id)
        return accepted
