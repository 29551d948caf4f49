"""Begins the next delivery of a code: by itself when its time has come, or because somebody asks.

What is due is read from the rows, so that a crash at any instant loses nothing: the next delivery,
its charge and its row are one unit, which another one that came first refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import structlog
import trio

from risala.config.channels import SMS
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.features.channels.records import DELIVERIES_MAX, NAME
from risala.engine.features.channels.rules import following, offered, opened, refuse_others
from risala.engine.features.channels.sessions import ChannelSessions, leaves_by
from risala.engine.features.channels.stored import (
    ChannelRepository,
    ChannelSession,
    DeliveryOvertaken,
    NewDelivery,
)
from risala.engine.model.commands import Principal
from risala.engine.model.errors import (
    Draining,
    Forbidden,
    InsufficientBalance,
    NoChannelLeft,
    RateLimited,
    SpendCapReached,
)
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import Task, duty
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.messages import Acceptance, Stamp
from risala.engine.model.states import Mode, SessionState, Status
from risala.engine.rules.verification import VerificationRow
from risala.engine.rules.verify_settings import VerifySettings, size_of
from risala.engine.services import Services
from risala.plugins.channel_driver import code_text

LOOK_S: Final = 1.0
"""How soon the next delivery follows one that was refused."""
LOOK_IDLE_S: Final = 30.0
"""The longest wait while no session has a next delivery: a ring may come before its row."""
AT_ONCE: Final = 100
"""Sessions whose next deliveries begin in one turn."""
_REFUSED: Final = (RateLimited, InsufficientBalance, SpendCapReached, Forbidden)
_DELIVERED: Final = Status.DELIVERED.value
NO_NEXT: Final = (
    "Each channel of this verification was tried. Name one in `channel` to use it again, or send"
    " another code."
)
NO_MORE: Final = f"This code was sent {DELIVERIES_MAX} times already. Send another code."
FIXED: Final = "This number has a fixed code: nothing is sent to it."
OWN_WORDS: Final = (
    "A code whose text names a payment or has variables comes by SMS or e-mail: other channels "
    "write their own text."
)
NOT_PENDING: Final = "The verification is over. Send another code."

log = structlog.get_logger(__name__)


class ChannelSending:
    """See the module's text."""

    def __init__(self, services: Services) -> None:
        self._services = services
        part = services.session_features.part(NAME)
        assert isinstance(part, ChannelSessions)
        self._bell = part.bell
        self._tables = part.tables
        self._stored = services.repositories.part(ChannelRepository)
        self._items = services.set_aside.loop("channels")

    # -- by itself

    async def run(self) -> None:
        """Begin each delivery when its time has come, until cancelled."""
        try:
            while True:
                await self._take_turns()
        except Draining:
            await trio.sleep_forever()  # the service stops: the next one goes on

    async def _take_turns(self) -> None:
        await retry_until_committed("channels", self.begin_due)
        if self._stored.next_at() is None:
            await self._bell.wait(trio.current_time() + LOOK_IDLE_S)
        # What rang is on its way to the disk; and what a channel refused is there at any time.
        await trio.sleep(LOOK_S)

    async def begin_due(self) -> None:
        """Begin what is due now.

        Raises:
            Unavailable: it could not be written.
        """
        now_ms = self._services.recorder.clock.now_ms()
        due = self._stored.due(now_ms, AT_ONCE)
        for verification_id in self._items.free(due, str):
            with self._items.item(verification_id):
                await self._begin_next(verification_id)

    async def _begin_next(self, verification_id: str) -> None:
        session = self._stored.find(verification_id)
        if session is None or session.next_at is None:
            return
        there = self._stored.deliveries_of(verification_id)
        channel = following(session.names, {each.channel for each in there})
        if channel is None or any(each.status == _DELIVERED for each in there):
            await self._stored.stay(session)
            return
        stamp = self._services.recorder.stamp()
        row = self._services.repositories.verifications.session(verification_id)
        try:
            await self._deliver(row, session, channel, None)
        except DeliveryOvertaken:
            pass  # it is over, or somebody asked meanwhile: the rows say what is due now
        except _REFUSED as refusal:
            log.info("channels.passed_over", channel=channel, reason=type(refusal).__name__)
            is_last = isinstance(refusal, RateLimited)
            await self._stored.pass_over(session, channel, stamp, is_last)

    # -- because somebody asks

    async def resend(self, principal: Principal, verification_id: str, channel: str | None) -> None:
        """Begin another delivery of a session's code, refused as ``CodeResending`` says.

        Args:
            channel: None: the next one that was not tried.
        """
        row = self._services.repositories.verifications.owned(
            principal.organization_id, principal.mode, verification_id
        )
        now_ms = self._services.recorder.clock.now_ms()
        if row.status_at(now_ms) is not SessionState.PENDING:
            raise NoChannelLeft(NOT_PENDING)
        if row.is_fixed:
            raise NoChannelLeft(FIXED)
        session = self._stored.find(verification_id) or self._plain(principal, row)
        tried = {each.channel for each in self._stored.deliveries_of(verification_id)} or {SMS}
        if channel is not None:
            allowed = [
                each
                for each in opened(self._stored.use_of(row.organization_id), principal.type)
                if each in offered(self._tables, row.recipient)
            ]
            refuse_others((channel,), allowed, "channel")
        self._refuse_unworded(row, session, channel)
        next_channel = channel or following(session.names, tried)
        if session.deliveries >= DELIVERIES_MAX:
            raise NoChannelLeft(NO_MORE)
        if next_channel is None:
            raise NoChannelLeft(NO_NEXT)
        try:
            await self._deliver(row, session, next_channel, principal)
        except DeliveryOvertaken as refusal:
            raise NoChannelLeft(str(refusal)) from None

    def _refuse_unworded(
        self, row: VerificationRow, session: ChannelSession, channel: str | None
    ) -> None:
        """Refuse a channel for a code whose text has words of its own, such as a payment: the
        channel writes another text.

        Raises:
            NoChannelLeft: see above.
        """
        if channel in (None, SMS) or self._tables[channel].carries_texts:
            return
        if self._has_own_words(row, session):
            raise NoChannelLeft(OWN_WORDS)

    def _has_own_words(self, row: VerificationRow, session: ChannelSession) -> bool:
        """Whether the text names a payment or has variables."""
        worded = self._services.session_features.worded
        return session.text is not None and worded(row, session.text) != session.text

    def _plain(self, principal: Principal, row: VerificationRow) -> ChannelSession:
        """A session that has only its SMS so far, as one with channels."""
        text = self._services.repositories.messages.find(row.message_id)
        return ChannelSession(
            verification_id=row.id,
            organization_id=row.organization_id,
            channels=SMS,
            key_type=principal.type.value,
            locale=None,
            text=None if text is None else text.body,
            fallback_ms=0,
            deliveries=1,
            message_id=row.message_id,
            next_at=None,
        )

    # -- both

    async def _deliver(
        self,
        row: VerificationRow,
        session: ChannelSession,
        channel: str,
        asker: Principal | None,
    ) -> None:
        """Begin a delivery.

        Args:
            asker: None: it begins by itself.
        """
        services, stored = self._services, self._stored
        organization = services.accounts.organization(row.organization_id)
        settings = self._settings_for(row, session, asker)
        if channel != SMS and channel not in self._tables:
            raise Forbidden("This service no longer has the channel.")
        text = session.text
        if channel != SMS:
            own = session.text if self._has_own_words(row, session) else None
            text = code_text(session.locale, own or "")
        written = None if text is None else services.session_features.worded(row, text)
        if text is None or written is None:
            raise DeliveryOvertaken(NOT_PENDING)
        first = services.repositories.messages.find(row.message_id)
        key_id = first.api_key if first is not None else None
        mode = Mode(row.mode)
        message = services.intake.drafts.of_code(
            organization,
            Principal(organization.id, key_id or "", KeyType(session.key_type), mode),
            recipient=row.recipient,
            sender=settings.sender,
            template=text,
            size=size_of(written, row.code_length),
            verification_id=row.id,
            now_ms=services.recorder.clock.now_ms(),
            expires_at=row.expires_at,
            leaves=None if channel == SMS else leaves_by(self._tables, channel),
        )
        new = NewDelivery(
            message=message,
            per_phone_per_hour=settings.per_phone_per_hour,
            per_organization_per_hour=settings.per_organization_per_hour,
            session=session,
            channel=channel,
            by_itself=asker is None,
        )

        async def begin(stamp: Stamp | None) -> Acceptance:
            delivered = await stored.deliver(new, stamp)
            services.recorder.tell(delivered.changes)
            return delivered.accepted

        await services.intake.send_code_again(organization, mode, new, begin)

    def _settings_for(
        self, row: VerificationRow, session: ChannelSession, asker: Principal | None
    ) -> VerifySettings:
        """The settings by which a delivery counts.

        Raises:
            RateLimited: the guard refuses it.
        """
        settings_of = duty(Duty.CODE_AGAIN)
        if settings_of is None:
            return self._services.code_settings(row.organization_id)
        settings: VerifySettings = settings_of(
            self._services, row, asker, KeyType(session.key_type)
        )
        return settings


def tasks(services: Services) -> Sequence[Task]:
    """What runs for channels as long as the service."""
    return (("channels", services.part(ChannelSending).run, False),)
