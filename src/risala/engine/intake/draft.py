"""Drafts the row of a message, for sends and codes alike: its price, route and first timeline
line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from risala.config.model import Settings
from risala.engine.accounts.senders import Senders
from risala.engine.billing.prices import Prices
from risala.engine.model.answers import ended, ending, own_key
from risala.engine.model.clock import Clock
from risala.engine.model.commands import AnswerWay, Principal, SendMessage
from risala.engine.model.errors import CountryNotOpen, SenderNotApproved
from risala.engine.model.ids import MessageIds, is_id
from risala.engine.model.lines import (
    ACCEPTED_UNSERVED,
    JUST_ACCEPTED,
    Kind,
    Line,
    Values,
    Wait,
)
from risala.engine.model.numbers import part_number
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.messages import CodeRoute, NewMessage
from risala.engine.model.records.people.countries import CountryUse, OpenedCountries
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.states import PRIORITY_CODE, Mode
from risala.engine.rules.days import day_of
from risala.engine.rules.router import TEST_ROUTE, UNSERVED, Router, pinned, usual_first
from risala.sms.address import fold_sender
from risala.sms.segment import SegmentCount, count
from risala.sms.unseen import as_sent

_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@lru_cache(maxsize=1024)
def _is_key(text: str) -> bool:
    """Whether this is the id of a key, a face's credential or a hook; operators' commands have no
    id."""
    return any(is_id(text, prefix) for prefix in ("key", "crd", "hok"))


Notice = dict[str, str]
"""Shown to a customer whose message leaves with another sender than the requested one."""


Ailing = Callable[[str, str, int], Values | None]
"""What keeps all carriers of a route from sending (values for the timeline; None: nothing), by
route, number and segments."""


def nothing_ails(*_: object) -> None:
    """For a gateway without carriers: no message waits because of a link."""


UsualCarrier = Callable[[str, str, frozenset[str], int], str | None]
"""The sticky carrier that a number had last, by the organization's id, the number, the names of
the carriers and the time; None: it had none of them."""


def nothing_usual(*_: object) -> None:
    """Where no feature knows what was usual."""


class _Sender(NamedTuple):
    """What a request's messages with the same sender share."""

    name: str
    notice: str | None
    """JSON, if it is not the requested sender."""
    ending: str
    """The notices of their answers."""


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
        usual: UsualCarrier = nothing_usual,
    ) -> None:
        self.currency = settings.service.currency
        self.default_sender = settings.service.default_sender
        self.validity_s = settings.delivery.validity_s
        self.prices = prices
        self.plan = settings.plan
        rules = ((each.code, settings.numbers.of(each.code)) for each in self.plan.countries)
        self._numeric = {code: rule.sender for code, rule in rules if rule.sender is not None}
        """What is sent as the sender in countries that take no names."""
        self.router = router
        self.ailing = ailing
        self._usual = usual
        self._clock = clock
        self._ids = ids
        self._senders = senders

    def of_request(
        self, organization: Organization, principal: Principal, count: int
    ) -> RequestDrafts:
        """Drafts of at most so many messages, which were requested together and just now."""
        now_ms = self._clock.now_ms()
        return RequestDrafts(self, organization, principal, now_ms, self._ids.new(now_ms, count))

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
        leaves: CodeRoute | None = None,
    ) -> NewMessage:
        """The row of a code's SMS: its text is a template, without the code.

        ``sender`` is the one that the organization wants for its codes; until it is approved, the
        general one is used.

        Args:
            leaves: how it leaves, if not by SMS: then it is for no country.
        """
        ids = self._ids.new(now_ms)
        drafts = RequestDrafts(self, organization, principal, now_ms, ids)
        return drafts.of_code(
            recipient,
            self.numeric_of(recipient) or self._sender_of_codes(organization.id, sender),
            template,
            size,
            verification_id,
            expires_at,
            leaves,
        )

    def of_sealed_code(
        self,
        organization: Organization,
        principal: Principal,
        *,
        recipient: str,
        sender: str | None,
        body: str,
        size: SegmentCount,
        once: str | None,
        validity_s: int,
    ) -> NewMessage:
        """The row of a code's SMS that other software made.

        Args:
            sender: as for :meth:`of_code`.
            body: what may be shown of the text.
            size: of the text with the code in it.
            once: its idempotency key; None: it may have been sent before.
        """
        now_ms = self._clock.now_ms()
        ids = self._ids.new(now_ms)
        drafts = RequestDrafts(self, organization, principal, now_ms, ids)
        return drafts.of_sealed_code(
            recipient,
            self.numeric_of(recipient) or self._sender_of_codes(organization.id, sender),
            body,
            size,
            once,
            now_ms + validity_s * 1000,
        )

    def sender_of(self, organization_id: str, requested: str | None) -> tuple[str, Notice | None]:
        """The sender to use, and the notice if it is not the requested one.

        Raises:
            SenderNotApproved: it was denied, or is not on the account.
        """
        default = self.default_sender
        if requested is None or fold_sender(requested) == fold_sender(default):
            return default, None
        own = self._senders.by_name(organization_id, requested)
        if own is None or own.status == "denied":
            raise SenderNotApproved(requested)
        if own.status == "approved":
            return own.name, None
        return default, {
            "code": "SENDER_PENDING_APPROVAL",
            "requestedFrom": requested,
            "message": f"The sender {own.name!r} awaits approval; sent from {default!r}.",
        }

    def reaches(self, organization: Organization, number: str) -> bool:
        """Whether an organization may send messages to a number, by its country."""
        if self.prices.is_home(number):
            return True
        opened, country = self.prices.opened(organization.id), self.plan.country_of(number)
        is_priced = self.prices.abroad_of(opened, number) is not None
        return country is not None and is_priced and opened.has(country.code, CountryUse.SEND)

    def route_of(self, organization_id: str, number: str, carrier: str | None = None) -> str:
        """The key of a message's route: the number's, with its usual carrier first where carriers
        are sticky.

        Args:
            carrier: the one that a text came by which the message answers; it has no reserve unless
                it is sticky.
        """
        key = self.router.route_key(number)
        sticky = self.router.sticky.get(key, ())
        if carrier is not None:
            return usual_first(carrier, key) if carrier in sticky else pinned(carrier)
        usual = sticky and self._usual(organization_id, number, sticky, self._clock.now_ms())
        return usual_first(usual, key) if usual else key

    def numeric_of(self, number: str) -> str | None:
        """What is sent as the sender to a number in a country that takes no names; None: names are
        sent there."""
        if not self._numeric:
            return None
        country = self.plan.country_of(number)
        return None if country is None else self._numeric.get(country.code)

    def _sender_of_codes(self, organization_id: str, wished: str | None) -> str:
        if wished is not None:
            own = self._senders.by_name(organization_id, wished)
            if own is not None and own.status == "approved":
                return own.name
        return self.default_sender


def _not_possible(requested: str, numeric: str) -> Notice:
    return {
        "code": "SENDER_NOT_POSSIBLE",
        "requestedFrom": requested,
        "message": f"The recipient's country takes no names as senders; sent from {numeric!r}.",
    }


class RequestDrafts:
    """Drafts the messages of one request: what they share is looked up once."""

    def __init__(
        self,
        drafts: Drafts,
        organization: Organization,
        principal: Principal,
        now_ms: int,
        ids: Iterable[tuple[int, str]],
    ) -> None:
        self._drafts = drafts
        self._organization = organization
        self._is_live = principal.mode is Mode.LIVE
        self._came: Values = {}
        """The face and credential they came by, if not the API."""
        if principal.face is not None:
            self._came = {"face": principal.face, "credential": principal.key_id}
        self._now_ms = now_ms
        self._ids = iter(ids)
        self._per_segment = drafts.prices.per_segment_of(organization) if self._is_live else 0
        self._shared = (
            *(organization.id, principal.mode.value, drafts.currency, now_ms),
            *(drafts.prices.low_balance_of(organization), day_of(organization.time_zone, now_ms)),
            principal.key_id if _is_key(principal.key_id) else None,
        )
        """The end of each row."""
        policy = drafts.prices.payer
        self._allowance = policy.allowance(organization, now_ms) if self._is_live else None
        self._senders: dict[tuple[str | None, str | None], _Sender] = {}
        self._opened: OpenedCountries | None = None
        """What the organization reaches abroad, after the first look."""
        is_publishable = principal.type is KeyType.PUBLISHABLE
        self._use_of_codes = CountryUse.PUBLISHABLE if is_publishable else CountryUse.VERIFY

    def of_send(self, command: SendMessage) -> NewMessage:
        """The row of a customer's message.

        Raises:
            CountryNotOpen: the number's country is not open to the organization.
            SenderNotApproved: it cannot be sent with the requested sender.
            ClassNotPossible: no carrier of its number can send a flash message.
        """
        to, text, wished, once, priority, metadata, send_at, validity_s, part, way, flash = command
        per_segment = self.per_segment_to(to, CountryUse.SEND)
        numeric = self._drafts.numeric_of(to)
        known = self._senders.get((wished, numeric)) if way is None else self._answering(way)
        name, notice, end = known or self._sender(wished, numeric)
        if part is None:
            body = as_sent(text, smart=self._organization.smart_encoding)
            size = count(body)
            segments, alphabet = size.segments, size.alphabet
        else:
            body, segments, alphabet = text, 1, part.alphabet
        due_at = max(self._now_ms, send_at or 0)
        key, message_id = next(self._ids)
        named = own_key(message_id) if once is None else once
        route = self._route(to, way)
        if flash is not None:
            route = self._drafts.router.flash_route(route)
        # Made from a tuple: calling the class takes four times as long.
        return NewMessage._make(
            (
                key,
                message_id,
                "sms",
                to,
                name,
                body,
                alphabet.value,
                segments,
                segments * per_segment,
                _JSON(dict(metadata)) if metadata else "{}",
                priority,
                route,
                due_at,
                due_at + (validity_s or self._drafts.validity_s) * 1000,
                send_at,
                named,
                once is None,
                ended(message_id, named, end),
                self._first_line(due_at, route, to, segments),
                None,
                notice,
                *self._shared,
                None if part is None else part_number(part.place, part.halves),
                self._allowance,
            )
        )

    def of_code(
        self,
        recipient: str,
        sender: str,
        template: str,
        size: SegmentCount,
        verification_id: str,
        expires_at: int,
        leaves: CodeRoute | None = None,
    ) -> NewMessage:
        """The row of a code's SMS.

        Raises:
            CountryNotOpen: the number's country is not open for codes of this caller's kind.
        """
        # The code is useless after its session, so it is not sent after that.
        new = self._code(recipient, sender, template, size, expires_at, leaves)
        return new._replace(idempotency_key=verification_id, verification_id=verification_id)

    def of_sealed_code(
        self,
        recipient: str,
        sender: str,
        body: str,
        size: SegmentCount,
        once: str | None,
        valid_until: int,
    ) -> NewMessage:
        """The row of a code's SMS that other software made.

        Raises:
            CountryNotOpen: the number's country is not open for codes.
        """
        new = self._code(recipient, sender, body, size, valid_until)
        named = once or own_key(new.id)
        end = ending(self._organization.id, sender, None)
        return new._replace(
            idempotency_key=named, key_is_ours=once is None, response=ended(new.id, named, end)
        )

    def _code(
        self,
        recipient: str,
        sender: str,
        body: str,
        size: SegmentCount,
        valid_until: int,
        leaves: CodeRoute | None = None,
    ) -> NewMessage:
        if leaves is None:
            price = size.segments * self.per_segment_to(recipient, self._use_of_codes)
            route = self._route(recipient)
        elif self._is_live:
            route, price = leaves
            price = 0 if self._drafts.prices.payer.is_self else price
        else:
            route, price = TEST_ROUTE, 0
        key, message_id = next(self._ids)
        return NewMessage._make(
            (
                key,
                message_id,
                "code",
                recipient,
                sender,
                body,
                size.alphabet.value,
                size.segments,
                price,
                "{}",
                PRIORITY_CODE,
                route,
                self._now_ms,
                valid_until,
                None,
                "",
                True,
                b"",
                self._first_line(self._now_ms, route, recipient, size.segments),
                None,
                None,
                *self._shared,
                None,
                self._allowance,
            )
        )

    def _route(self, recipient: str, way: AnswerWay | None = None) -> str:
        if not self._is_live:
            return TEST_ROUTE
        carrier = None if way is None else way.carrier
        return self._drafts.route_of(self._organization.id, recipient, carrier)

    def per_segment_to(self, number: str, use: CountryUse) -> int:
        """What a segment to a number costs.

        Raises:
            CountryNotOpen: its country is not open to the organization for this, or has no price.
        """
        prices = self._drafts.prices
        if prices.is_home(number):
            return self._per_segment
        if self._opened is None:
            self._opened = prices.opened(self._organization.id)
        country = self._drafts.plan.country_of(number)
        price = prices.abroad_of(self._opened, number)
        if country is None or price is None or not self._opened.has(country.code, use):
            raise CountryNotOpen(number if country is None else country.name)
        return price if self._is_live else 0

    def _sender(self, requested: str | None, numeric: str | None) -> _Sender:
        organization_id = self._organization.id
        name, named_notice = self._drafts.sender_of(organization_id, requested)
        if numeric is not None:
            named_notice = None if requested is None else _not_possible(requested, numeric)
            name = numeric
        notice = None if named_notice is None else _JSON(named_notice)
        sender = _Sender(name, notice, ending(organization_id, name, notice))
        self._senders[requested, numeric] = sender
        return sender

    def _answering(self, way: AnswerWay) -> _Sender | None:
        """The number of ours that a text came to, from which its answer is; None: unknown."""
        if way.sender is None:
            return None
        return _Sender(way.sender, None, ending(self._organization.id, way.sender, None))

    def _first_line(self, due_at: int, route: str, recipient: str, segments: int) -> Line:
        """The first line of the timeline: accepted, by which face, and what the message waits
        for."""
        if self._came:
            waits = self._wait(due_at, route, recipient, segments).values or {}
            return Line(Kind.ACCEPTED, values={**self._came, **waits})
        return self._wait(due_at, route, recipient, segments)

    def _wait(self, due_at: int, route: str, recipient: str, segments: int) -> Line:
        if route == UNSERVED:
            return ACCEPTED_UNSERVED
        if due_at > self._now_ms:
            return Line(Kind.ACCEPTED, values={"wait": Wait.SCHEDULED.value, "until": due_at})
        if ailing := self._drafts.ailing(route, recipient, segments):
            return Line(Kind.ACCEPTED, values=ailing)
        return JUST_ACCEPTED
