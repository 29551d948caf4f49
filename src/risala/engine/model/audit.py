"""The content of the audit trail: who did what by hand, and the state before and after.

No secrets, no codes, no bodies and no whole phone numbers. A page that is reloaded, or stays open
and refreshes itself, shows its reader what they have just seen: one line a minute is enough for all
of these reads, and in between the reader does not wait for a disk (:class:`AuditedReads`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.model.callers import Caller

Values = Mapping[str, Any]

SHOWN_DIGITS: Final = 4
"""Digits of a phone number that are shown: enough for a reader who knows the number, too few for
others."""
FAMILY_END: Final = "."
"""An operation's name with this ending means its whole family: ``carriers.``."""


class AuditImage(StrEnum):
    """Kinds of objects whose state before and after a change is in the trail."""

    ALARM = "alarm"
    ALARM_CHAIN = "alarm_chain"
    ALERT = "alert"
    ALERT_MUTE = "alert_mute"
    BANK_BALANCE = "bank_balance"
    BANK_TEXT = "bank_text"
    CONVERSATION = "conversation"
    ANSWER_RULE = "answer_rule"
    COUNTRIES = "countries"
    """What an organization reaches abroad, and its prices there."""
    CREDENTIAL = "credential"
    ENDPOINT = "endpoint"
    FIXED_NUMBER = "fixed_number"
    HOOK = "hook"
    IDENTITY_PROVIDER = "identity_provider"
    INVITATION = "invitation"
    INVOICE = "invoice"
    INVOICE_CUSTOMER = "invoice_customer"
    KEY = "key"
    MAILING = "mailing"
    MEMBER = "member"
    """A user as a member of the entry's organization."""
    MESSAGE = "message"
    OPT_OUT_POLICY = "opt_out_policy"
    ORGANIZATION = "organization"
    OVERRIDE = "override"
    PAYMENT = "payment"
    RECIPIENT_LIST = "recipient_list"
    REPEAT = "repeat"
    RETENTION_DAYS = "retention_days"
    ROUTE = "route"
    SAVED_TEXT = "saved_text"
    SENDER = "sender"
    USER = "user"
    VERIFICATION = "verification"
    VERIFY_SETTINGS = "verify_settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """The trail's record of one operation; written in the transaction that does it."""

    caller: Caller
    action: str
    at: int
    """UTC epoch milliseconds."""
    subject: str | None = None
    """The object's id; None: the operation makes it, and its answer has it as ``id``."""
    image: AuditImage | None = None
    """The kind of object, read before and after; None: nothing is read."""
    organization_id: str | None = None
    """If there is nothing to read, or it does not contain this."""
    details: Values = field(default_factory=dict)
    """Facts for the trail besides: a reason, an amount."""
    always: bool = False
    """Written even if nothing else is: the operation's effect is elsewhere."""
    version: int | None = None
    """The object's version as the editor saw it; None: not given."""
    approval_id: str | None = None
    """The request of another operator that this confirms, in the same transaction."""
    alone: str | None = None
    """Why its asker confirms it; None: somebody else does."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of an object at one time, without the parts that the trail must not show."""

    organization_id: str | None
    values: Values


@dataclass(frozen=True, slots=True)
class TrailFilter:
    """Which lines are in a list; None: any."""

    organization_id: str | None = None
    action: str | None = None
    """An operation; or a family of them, by :data:`FAMILY_END`."""
    who: str | None = None
    face: str | None = None
    subject: str | None = None
    """The id of the object that was changed or read."""
    since: int | None = None
    until: int | None = None
    """At or after, and before: UTC epoch milliseconds."""
    left_out: tuple[str, ...] = ()
    """Operations whose lines are not listed."""


def family_of(action: str) -> str:
    """The subject of an action: ``member`` of ``member.remove``."""
    return action.partition(FAMILY_END)[0]


def masked(number: str) -> str:
    """A phone number's last digits."""
    return f"…{number[-SHOWN_DIGITS:]}"


HOLDS_MS: Final = 60_000
"""How long a line covers the same read: the trail is exact to the minute."""
KEPT_MAX: Final = 2000
"""About 2 MB. Beyond that the oldest is forgotten, and leaves a line when it comes again."""


class AuditedReads:
    """The last note of each read: who, by which operation, with which arguments."""

    def __init__(self) -> None:
        self._noted: OrderedDict[Hashable, int] = OrderedDict()

    def stands(self, look: Hashable, now_ms: int) -> bool:
        """Whether a line covers this read."""
        noted_at = self._noted.get(look)
        # If the clock was set back, a line that seems to be from the future covers nothing.
        return noted_at is not None and 0 <= now_ms - noted_at < HOLDS_MS

    def note(self, look: Hashable, now_ms: int) -> None:
        """A line was written for this read."""
        self._noted[look] = now_ms
        self._noted.move_to_end(look)
        if len(self._noted) > KEPT_MAX:
            self._noted.popitem(last=False)
