"""What the audit trail holds: who did what by hand, and how the thing stood before and after.

No secrets, no codes, no bodies and no whole phone numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from risala.engine.model.callers import Caller

Values = Mapping[str, Any]

SHOWN_DIGITS: Final = 4
"""Digits of a phone number that are shown: enough for somebody who knows the number, too few for
anybody else."""
FAMILY_END: Final = "."
"""An operation's name that ends so stands for all of its family: ``carriers.``."""


class AuditImage(StrEnum):
    """Things of which the trail shows the state before and after a change."""

    ALERT = "alert"
    ALERT_MUTE = "alert_mute"
    BANK_BALANCE = "bank_balance"
    BANK_TEXT = "bank_text"
    CREDENTIAL = "credential"
    ENDPOINT = "endpoint"
    INVITATION = "invitation"
    KEY = "key"
    MEMBER = "member"
    """A user as a member of the entry's organization."""
    MESSAGE = "message"
    OPT_OUT_POLICY = "opt_out_policy"
    ORGANIZATION = "organization"
    OVERRIDE = "override"
    PAYMENT = "payment"
    RETENTION_DAYS = "retention_days"
    ROUTE = "route"
    SENDER = "sender"
    USER = "user"
    VERIFICATION = "verification"
    VERIFY_SETTINGS = "verify_settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """What the trail is to hold of one operation; written in the transaction that does it."""

    caller: Caller
    action: str
    at: int
    """UTC epoch milliseconds."""
    subject: str | None = None
    """The thing's id; None: the operation makes it, and its answer has it as ``id``."""
    image: AuditImage | None = None
    """What the thing is, which is looked at before and after; None: nothing is looked at."""
    organization_id: str | None = None
    """Where there is nothing to look at, or it does not say."""
    said: Values = field(default_factory=dict)
    """What else the trail should know: a reason, an amount."""
    always: bool = False
    """Also where nothing else is written: what it stands for is done elsewhere."""
    version: int | None = None
    """Of the thing, as who edits it has seen it; None: they don't say."""


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line of the trail, as it is stored."""

    seq: int
    at: int
    who: str
    face: str
    role: str
    action: str
    organization_id: str | None
    subject: str | None
    before: Values | None
    after: Values | None


@dataclass(frozen=True, slots=True)
class TrailFilter:
    """Which lines a list is of; None: whichever."""

    organization_id: str | None = None
    action: str | None = None
    """An operation; or a family of them, by :data:`FAMILY_END`."""
    who: str | None = None
    face: str | None = None
    subject: str | None = None
    """The id of what was changed or looked at."""
    since: int | None = None
    until: int | None = None
    """At or after, and before: UTC epoch milliseconds."""


def family_of(action: str) -> str:
    """What an action is about: ``member`` of ``member.remove``."""
    return action.partition(FAMILY_END)[0]


def masked(number: str) -> str:
    """A phone number's last digits."""
    return f"…{number[-SHOWN_DIGITS:]}"
