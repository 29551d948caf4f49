"""What the audit trail shows of a thing before and after a change: no secret, code, text of a
message or whole phone number."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from risala.engine.journal.accounts import accounts, credentials, senders
from risala.engine.journal.alerts import alerts
from risala.engine.journal.carriers import overrides
from risala.engine.journal.inbound import inbound, opt_outs
from risala.engine.journal.messages import reads, verifications
from risala.engine.journal.payments import payments, texts
from risala.engine.journal.upkeep.audit_log import Seen
from risala.engine.journal.webhooks import endpoints as webhooks
from risala.engine.model.errors import NotFound
from risala.engine.model.money import money
from risala.engine.model.records.record import audit_image
from risala.engine.model.times import iso

SHOWN_DIGITS: Final = 4
"""Digits of a phone number that are shown: enough for somebody who knows the number, too few for
anybody else."""


def masked(number: str) -> str:
    """A phone number's last digits."""
    return f"…{number[-SHOWN_DIGITS:]}"


def origin(url: str) -> str:
    """Scheme and host of a URL; its path and query are left out, since they may hold a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}"


def organization(conn: sqlite3.Connection, organization_id: str) -> Seen | None:
    try:
        found = accounts.organization(conn, organization_id)
    except NotFound:
        return None
    return Seen(
        found.id,
        {
            "name": found.name,
            "status": found.status,
            "balance": money(found.balance),
            "pricePerSegment": _money(found.price_per_segment),
            "smartEncoding": found.smart_encoding,
            "leanAnswers": found.lean_answers,
            "smsPerSecond": found.sms_per_s,
            "lowBalance": _money(found.low_balance),
            "operatorSpendCap": _money(found.operator_spend_cap),
            "ownerSpendCap": _money(found.owner_spend_cap),
            "timeZone": found.time_zone,
        },
    )


def override(conn: sqlite3.Connection, carrier: str) -> Seen | None:
    """What is put over the settings of a carrier."""
    found = overrides.of_carrier(conn, carrier)
    values = {} if found is None else {"ratePerS": found.rate_per_s, "weight": found.weight}
    return Seen(None, values)


def _money(amount: int | None) -> str | None:
    return None if amount is None else money(amount)


def payment(conn: sqlite3.Connection, payment_id: str) -> Seen | None:
    try:
        found = payments.payment(conn, payment_id)
    except NotFound:
        return None
    values = {
        "method": found.method,
        "amount": money(found.amount),
        "state": found.state.value,
        "reference": found.reference,
        "paid": _money(found.paid),
    }
    return Seen(found.organization_id, values)


def bank_text(conn: sqlite3.Connection, text_id: str) -> Seen | None:
    """Without its words and its payer's number."""
    try:
        found = texts.text(conn, text_id)
    except NotFound:
        return None
    values = {
        "method": found.method,
        "state": found.state.value,
        "why": found.why,
        "reference": found.reference,
        "amount": _money(found.amount),
    }
    return Seen(None, values)


def bank_balance(conn: sqlite3.Connection, method: str) -> Seen | None:
    """What a payment method's account has, as far as it is known."""
    found = texts.balance(conn, method)
    return None if found is None else Seen(None, {"balance": money(found.balance)})


def seen(
    read: Callable[[sqlite3.Connection, str], Any], conn: sqlite3.Connection, subject: str
) -> Seen | None:
    """A thing as the fields of its record say; None: it is not there.

    Args:
        read: reads the record, and raises ``NotFound``.
    """
    try:
        found = read(conn, subject)
    except NotFound:
        return None
    return Seen(found.organization_id, audit_image(found))


key: Final = partial(seen, accounts.key)


def credential(conn: sqlite3.Connection, credential_id: str) -> Seen | None:
    try:
        found = credentials.credential(conn, credential_id)
    except NotFound:
        return None
    addresses = found.allowed_addresses
    return Seen(
        found.organization_id,
        {
            "face": found.face,
            "username": found.username,
            "mode": found.mode.value,
            "name": found.name,
            "from": found.sender,
            "allowedAddresses": None if addresses is None else list(addresses),
            "last4": found.last4,
            "revoked": found.revoked_at is not None,
        },
    )


def sender(conn: sqlite3.Connection, sender_id: str) -> Seen | None:
    try:
        found = senders.sender(conn, sender_id)
    except NotFound:
        return None
    values = {
        "name": found.name,
        "status": found.status,
        "cleared": found.cleared,
        "reason": found.reason,
    }
    return Seen(found.organization_id, values)


def message(conn: sqlite3.Connection, message_id: str) -> Seen | None:
    found = reads.view(conn, message_id)
    if found is None:
        return None
    values = {
        "kind": found.kind,
        "to": masked(found.to),
        "status": str(found.status),
        "segments": found.segments,
        "price": money(found.price),
    }
    return Seen(found.organization_id, values)


def verification(conn: sqlite3.Connection, verification_id: str) -> Seen | None:
    try:
        found = verifications.of_operator(conn, verification_id)
    except NotFound:
        return None
    values = {
        "to": masked(found.recipient),
        "status": str(found.status),
        "attempts": found.attempts,
    }
    return Seen(found.organization_id, values)


def verify_settings(conn: sqlite3.Connection, organization_id: str) -> Seen | None:
    """The stored settings: those that differ from the defaults."""
    text = verifications.settings(conn, organization_id)
    return None if text is None else Seen(organization_id, {"settings": text})


def endpoint(conn: sqlite3.Connection, endpoint_id: str) -> Seen | None:
    try:
        found = webhooks.endpoint(conn, endpoint_id)
    except NotFound:
        return None
    values = {
        "url": origin(found.url),
        "mode": found.mode,
        "types": list(found.types),
        "headers": sorted(found.headers),
        "signatureHeader": found.signature_header,
        "signatureKey": found.signature_key,
        "notify": found.notify,
        "enabled": found.enabled,
    }
    return Seen(found.organization_id, values)


def route(conn: sqlite3.Connection, route_id: str) -> Seen | None:
    found = next((each for each in inbound.routes(conn) if each.id == route_id), None)
    if found is None:
        return None
    return Seen(found.organization_id, {"number": found.recipient, "keyword": found.keyword})


def opt_out_policy(conn: sqlite3.Connection, organization_id: str) -> Seen | None:
    heeds = organization_id in opt_outs.policies(conn)
    return Seen(organization_id, {"heeds": heeds})


def alert(conn: sqlite3.Connection, alert_id: str) -> Seen | None:
    found = alerts.find(conn, int(alert_id.rpartition("_")[2]))
    if found is None:
        return None
    values = {
        "kind": found.kind.value,
        "subject": found.subject,
        "acknowledgedBy": found.acknowledged_by,
    }
    return Seen(None, values)


def alert_mute(conn: sqlite3.Connection, mute_id: str) -> Seen | None:
    found = alerts.find_mute(conn, int(mute_id.rpartition("_")[2]))
    if found is None:
        return None
    values = {"kind": found.kind.value, "subject": found.subject, "until": iso(found.until)}
    return Seen(None, values)
