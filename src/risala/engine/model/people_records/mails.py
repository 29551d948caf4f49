"""Mails that are owed: which, to whom, in which language, and their result."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from risala.dataclass import dataclass
from risala.engine.model.people import Language


class MailKind(StrEnum):
    SIGN_IN_CODE = "sign_in_code"
    INVITATION = "invitation"
    OLD_ADDRESS_CODE = "old_address_code"
    NEW_ADDRESS_CODE = "new_address_code"
    ADDRESS_CHANGED = "address_changed"
    FACTOR_ADDED = "factor_added"
    FACTOR_REMOVED = "factor_removed"
    FACTORS_RESET = "factors_reset"
    RECOVERY_CODES_MADE = "recovery_codes_made"
    RECOVERY_CODE_USED = "recovery_code_used"
    PROVIDER_CHANGED = "provider_changed"
    WEBHOOK_DISABLED = "webhook_disabled"
    LOW_BALANCE = "low_balance"
    PAYMENT_CONFIRMED = "payment_confirmed"
    PAYMENT_REFUSED = "payment_refused"
    KEY_EXPIRES = "key_expires"
    ALERT_RAISED = "alert_raised"
    ALERT_OVER = "alert_over"
    AUDIT_HEAD = "audit_head"
    APPROVAL_ASKED = "approval_asked"


class MailOutcome(StrEnum):
    """The result of a mail."""

    SENT = "sent"
    WITHHELD = "withheld"
    """The mail was never to be sent: its row exists so that both cases take the same time."""
    OVER = "over"
    """The mail was no longer useful."""
    GIVEN_UP = "given up"
    NO_MAILER = "no mailer"


@dataclass(frozen=True, slots=True)
class OwedMail:
    seq: int
    kind: MailKind
    recipient: str
    language: Language
    details: Mapping[str, Any]
    due_at: int
    tries: int
    useless_at: int
    created_at: int

    @property
    def whose(self) -> str:
        """The organization or reader whose turn it is when the mail is sent: the organization that
        it is about, else its reader."""
        return str(self.details.get("organization") or self.recipient)


@dataclass(frozen=True, slots=True)
class NewMail:
    kind: MailKind
    recipient: str
    language: Language
    details: Mapping[str, Any]
    useless_at: int | None = None


@dataclass(frozen=True, slots=True)
class MailQueueStatus:
    """The state of the queue."""

    failing: int
    """Owed, and refused by the mailer at least once."""
    given_up: int
    """Mails that were given up in the last week."""
    no_mailer: int
    """Mails of the last week that were dropped because there is no mailer."""
