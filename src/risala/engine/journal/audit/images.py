"""The state of objects before and after a change, for the audit trail: no secret, code, text of a
message or whole phone number."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from risala.dataclass import dataclass
from risala.engine.journal.accounts import accounts, countries, credentials, hooks, senders
from risala.engine.journal.alerts import alerts
from risala.engine.journal.carriers import overrides
from risala.engine.journal.inbound import inbound, opt_outs
from risala.engine.journal.mailings import mailings, recipient_lists, saved_texts
from risala.engine.journal.messages import reads
from risala.engine.journal.messages.codes import verifications
from risala.engine.journal.payments import payments, texts
from risala.engine.journal.people import members, providers, users
from risala.engine.journal.upkeep import retention_days
from risala.engine.journal.webhooks import endpoints as webhooks
from risala.engine.model.audit import AuditEntry, AuditImage, Values, masked
from risala.engine.model.errors import NotFound
from risala.engine.model.money import money
from risala.engine.model.records.people.members import member_of
from risala.engine.model.records.people.users import versioned
from risala.engine.model.records.record import audit_image
from risala.engine.model.times import iso


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of an object at one time, without the parts that the trail must not show."""

    organization_id: str | None
    values: Values


def seen_of(conn: sqlite3.Connection, entry: AuditEntry, subject: str | None) -> Seen | None:
    """The state of an entry's object; None: it does not exist, or nothing is read."""
    if entry.image is None or subject is None:
        return None
    if entry.image is AuditImage.MEMBER:
        return member(conn, entry.organization_id or "", subject)
    return _LOOKS[entry.image](conn, subject)


def origin(url: str) -> str:
    """Scheme and host of a URL; its path and query are omitted, since they may contain a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}"


def organization(conn: sqlite3.Connection, organization_id: str) -> Seen | None:
    try:
        found = accounts.organization(conn, organization_id)
    except NotFound:
        return None
    return Seen(found.id, audit_image(found))


def override(conn: sqlite3.Connection, carrier: str) -> Seen | None:
    """An operator's override of a carrier."""
    found = overrides.of_carrier(conn, carrier)
    values = {} if found is None else {"ratePerS": found.rate_per_s, "weight": found.weight}
    return Seen(None, values)


def _money(amount: int | None) -> str | None:
    return None if amount is None else money(amount)


def bank_balance(conn: sqlite3.Connection, method: str) -> Seen | None:
    """A payment method's account balance, as far as it is known."""
    found = texts.balance(conn, method)
    return None if found is None else Seen(None, audit_image(found))


def seen(
    read: Callable[[sqlite3.Connection, str], Any], conn: sqlite3.Connection, subject: str
) -> Seen | None:
    """An object's fields as its record declares them; None: it does not exist.

    Args:
        read: reads the record, and raises ``NotFound``.
    """
    try:
        found = read(conn, subject)
    except NotFound:
        return None
    return Seen(getattr(found, "organization_id", None), audit_image(found))


key: Final = partial(seen, accounts.key)
mailing: Final = partial(seen, mailings.mailing)
sender: Final = partial(seen, senders.sender)
payment: Final = partial(seen, payments.payment)
bank_text: Final = partial(seen, texts.text)
recipient_list: Final = partial(seen, recipient_lists.recipient_list)
identity_provider: Final = partial(seen, providers.provider)
saved_text: Final = partial(seen, saved_texts.saved_text)


def credential(conn: sqlite3.Connection, credential_id: str) -> Seen | None:
    try:
        found = credentials.credential(conn, credential_id)
    except NotFound:
        return None
    values = audit_image(found)
    values["last4"] = values.pop("last4")  # after the addresses, as entries have always had it
    values["revoked"] = found.revoked_at is not None
    return Seen(found.organization_id, values)


def message(conn: sqlite3.Connection, message_id: str) -> Seen | None:
    found = reads.view(conn, message_id)
    if found is None:
        return None
    return Seen(found.organization_id, {**audit_image(found), "to": masked(found.to)})


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
    image = audit_image(found)
    image |= {"url": origin(found.url), "headers": sorted(found.headers)}
    image["template"] = len(found.template)  # it may contain a secret, as a URL may
    return Seen(found.organization_id, image)


def route(conn: sqlite3.Connection, route_id: str) -> Seen | None:
    found = next((each for each in inbound.routes(conn) if each.id == route_id), None)
    if found is None:
        return None
    return Seen(
        found.organization_id, {"number": found.number or "", "keyword": found.keyword or ""}
    )


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


def user(conn: sqlite3.Connection, user_id: str) -> Seen | None:
    found = users.find(conn, user_id)
    return None if found is None else Seen(None, audit_image(versioned(found)))


def member(conn: sqlite3.Connection, organization_id: str, user_id: str) -> Seen | None:
    """A user as a member of one organization."""
    found, known = members.find(conn, organization_id, user_id), users.find(conn, user_id)
    if found is None or known is None:
        return None
    return Seen(organization_id, audit_image(member_of(found, known)))


def invitation(conn: sqlite3.Connection, invitation_id: str) -> Seen | None:
    found = members.stored_invitation(conn, invitation_id)
    return None if found is None else Seen(found.organization_id, audit_image(found))


def chosen_days(conn: sqlite3.Connection, organization_id: str) -> Seen:
    """The days that the owner chose."""
    return Seen(organization_id, audit_image(retention_days.of_organization(conn, organization_id)))


def opened_countries(conn: sqlite3.Connection, organization_id: str) -> Seen:
    """What an organization reaches abroad."""
    return Seen(organization_id, audit_image(countries.opened(conn, organization_id)))


def hook(conn: sqlite3.Connection, hook_id: str) -> Seen | None:
    try:
        found = hooks.hook(conn, hook_id)
    except NotFound:
        return None
    return Seen(found.organization_id, audit_image(found))


_LOOKS: Final[Mapping[AuditImage, Callable[[sqlite3.Connection, str], Seen | None]]] = {
    AuditImage.ALERT: alert,
    AuditImage.ALERT_MUTE: alert_mute,
    AuditImage.BANK_BALANCE: bank_balance,
    AuditImage.BANK_TEXT: bank_text,
    AuditImage.COUNTRIES: opened_countries,
    AuditImage.CREDENTIAL: credential,
    AuditImage.ENDPOINT: endpoint,
    AuditImage.HOOK: hook,
    AuditImage.IDENTITY_PROVIDER: identity_provider,
    AuditImage.INVITATION: invitation,
    AuditImage.KEY: key,
    AuditImage.MAILING: mailing,
    AuditImage.MESSAGE: message,
    AuditImage.OPT_OUT_POLICY: opt_out_policy,
    AuditImage.ORGANIZATION: organization,
    AuditImage.OVERRIDE: override,
    AuditImage.PAYMENT: payment,
    AuditImage.RECIPIENT_LIST: recipient_list,
    AuditImage.RETENTION_DAYS: chosen_days,
    AuditImage.ROUTE: route,
    AuditImage.SAVED_TEXT: saved_text,
    AuditImage.SENDER: sender,
    AuditImage.USER: user,
    AuditImage.VERIFICATION: verification,
    AuditImage.VERIFY_SETTINGS: verify_settings,
}
