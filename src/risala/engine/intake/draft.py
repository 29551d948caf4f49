"""Drafts the row of a message, for sends and codes alike: its price, its route, and the first line
of its timeline."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from risala.config.model import Settings
from risala.engine.accounts.senders import Senders
from risala.engine.billing.prices import Prices
from risala.engine.journal.rows import NewMessage
from risala.engine.model.answers import answer, own_key
from risala.engine.model.clock import Clock
from risala.engine.model.commands import Mode, Organization, Principal, SendMessage
from risala.engine.model.errors import SenderNotApproved
from risala.engine.model.ids import MessageIds, is_id
from risala.engine.model.lines import JUST_ACCEPTED, Kind, Line, Values, Wait
from risala.engine.model.states import PRIORITY_CODE, PRIORITY_MESSAGE
from risala.engine.rules.days import day_of
from risala.engine.rules.router import TEST_ROUTE, UNSERVED, Router
from risala.sms.address import fold_sender
from risala.sms.alphabet import smart_encode
from risala.sms.segment import SegmentCount, count

_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
Notice = dict[str, str]
"""Told to a customer whose message leaves by another sender than the one that was asked for."""


Ailing = Callable[[str, str, int], Values | None]
"""Tells what keeps all carriers of a route from sending (values for the timeline; None: nothing),
by route, number and segments."""


def nothing_ails(*_: object) -> None:
    """For a gateway without carriers: their links are no message's reason to wait."""


class Drafts:
    def __init__(
        self,
        settings: Settings,
        prices: Prices,
        clock: Clock,
        ids: MessageIds,
        senders: Senders,
        router: Router,
        ailing: Ailing,
    ) -> None:
        self._currency = settings.service.currency
        self._default_sender = settings.service.default_sender
        self._validity_s = settings.delivery.validity_s
        self._prices = prices
        self._clock = clock
        self._ids = ids
        self._senders = senders
        self._router = router
        self._ailing = ailing

    def of_send(
        self,
        organization: Organization,
        principal: Principal,
        command: SendMessage,
        sender: tuple[str, Notice | None],
    ) -> NewMessage:
        """The row of a customer's message; ``sender`` is what :meth:`sender_of` said."""
        body = smart_encode(command.body) if organization.smart_encoding else command.body
        now_ms = self._clock.now_ms()
        due_at = max(now_ms, command.send_at or now_ms)
        message_id = self._ids.new(now_ms)
        key = command.idempotency_key or own_key(message_id)
        name, told = sender
        notice = None if told is None else _JSON(told)
        return self._row(
            organization,
            principal,
            message_id=message_id,
            kind="sms",
            recipient=command.to,
            sender=name,
            body=body,
            size=count(body),
            metadata=_JSON(command.metadata) if command.metadata else "{}",
            priority=PRIORITY_CODE if command.urgent else PRIORITY_MESSAGE,
            now_ms=now_ms,
            due_at=due_at,
            valid_until=due_at + (command.validity_s or self._validity_s) * 1000,
            send_at=command.send_at,
            key=key,
            key_is_ours=command.idempotency_key is None,
            response=answer(message_id, key, organization.id, name, notice),
            notice=notice,
        )

    def of_code(
        self,
        organization: Organization,
        principal: Principal,
        *,
        recipient: str,
        sender: str | None,
        template: str,
        size: SegmentCount,
        verification_id: str,
        now_ms: int,
        expires_at: int,
    ) -> NewMessage:
        """The row of a code's SMS: its text is a template, without the code.

        ``sender`` is the one that the organization wishes for its codes; the general one takes its
        place until it is approved.
        """
        return self._row(
            organization,
            principal,
            message_id=self._ids.new(now_ms),
            kind="code",
            recipient=recipient,
            sender=self._sender_of_codes(organization.id, sender),
            body=template,
            size=size,
            metadata="{}",
            priority=PRIORITY_CODE,
            now_ms=now_ms,
            due_at=now_ms,
            # The code is worth nothing once its session is over, so it is not sent after that.
            valid_until=expires_at,
            send_at=None,
            key=verification_id,
            key_is_ours=True,
            response=b"",
            verification_id=verification_id,
        )

    def sender_of(self, organization_id: str, requested: str | None) -> tuple[str, Notice | None]:
        """The sender to use, and the notice where it is not the one that was asked for.

        Raises:
            SenderNotApproved: it was denied, or is not on the account.
        """
        default = self._default_sender
        if requested is None or fold_sender(requested) == fold_sender(default):
            return default, None
        found = self._senders.by_name(organization_id, requested)
        if found is None or found.status == "denied":
            raise SenderNotApproved(requested)
        if found.status == "approved":
            return found.name, None
        return default, {
            "code": "SENDER_PENDING_APPROVAL",
            "requestedFrom": requested,
            "message": f"The sender {found.name!r} awaits approval; sent from {default!r}.",
        }

    def _sender_of_codes(self, organization_id: str, wished: str | None) -> str:
        if wished is not None:
            found = self._senders.by_name(organization_id, wished)
            if found is not None and found.status == "approved":
                return found.name
        return self._default_sender

    def _row(
        self,
        organization: Organization,
        principal: Principal,
        *,
        message_id: str,
        kind: str,
        recipient: str,
        sender: str,
        body: str,
        size: SegmentCount,
        metadata: str,
        priority: int,
        now_ms: int,
        due_at: int,
        valid_until: int,
        send_at: int | None,
        key: str,
        key_is_ours: bool,
        response: bytes,
        verification_id: str | None = None,
        notice: str | None = None,
    ) -> NewMessage:
        mode = principal.mode
        live = mode is Mode.LIVE
        route = self._router.route_key(recipient) if live else TEST_ROUTE
        return NewMessage(
            id=message_id,
            organization_id=organization.id,
            mode=mode.value,
            kind=kind,
            recipient=recipient,
            sender=sender,
            body=body,
            encoding=size.alphabet.value,
            segments=size.segments,
            price=self._prices.of(organization, size.segments) if live else 0,
            currency=self._currency,
            metadata=metadata,
            priority=priority,
            route=route,
            due_at=due_at,
            valid_until=valid_until,
            send_at=send_at,
            created_at=now_ms,
            idempotency_key=key,
            key_is_ours=key_is_ours,
            response=response,
            line=self._first_line(now_ms, due_at, route, recipient, size.segments),
            verification_id=verification_id,
            low_balance=self._prices.low_balance_of(organization),
            day=day_of(organization.time_zone, now_ms),
            api_key=principal.key_id if is_id(principal.key_id, "key") else None,
            notice=notice,
        )

    def _first_line(
        self, now_ms: int, due_at: int, route: str, recipient: str, segments: int
    ) -> Line:
        """The first line of the timeline: accepted, and what the message waits for."""
        if route == UNSERVED:
            return Line(Kind.ACCEPTED, values={"wait": Wait.UNSERVED.value})
        if due_at > now_ms:
            return Line(Kind.ACCEPTED, values={"wait": Wait.SCHEDULED.value, "until": due_at})
        if ailing := self._ailing(route, recipient, segments):
            return Line(Kind.ACCEPTED, values=ailing)
        return JUST_ACCEPTED
