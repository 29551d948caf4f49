"""What payments are decided by: a bank's text (does it continue the account, and which payment is
it?), and when a provider is asked again: ever less often, and not for ever. Pure.

A text's sender can be forged. So a text alone credits only what fits in every respect: the
account's balance continues the text before it, and a customer has begun this very payment and has
proved that the payer's number is theirs. And never more than the operator's caps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.payments.records import StoredPayment
from risala.plugins.payment_texts import CreditCaps

DAY_MS: Final = 86_400_000
"""The period for the caps of a day."""


def continues(before: int | None, moved: int | None, after: int | None) -> bool:
    """Whether a text's balance equals the former one plus the amount that the text names."""
    if before is None or moved is None or after is None:
        return False
    return before + moved == after


@dataclass(frozen=True, slots=True)
class ReportedPayment:
    """A payment as a text reports it."""

    key: str
    """The payment's reference in comparable form."""
    amount: int
    payer: str | None


def owner_of(reported: ReportedPayment, candidates: Sequence[StoredPayment]) -> str:
    """The payment's id, or a word for why it has no owner: ``unclaimed``, ``several``,
    ``payer_unchecked``, ``payer`` or ``amount``.

    Args:
        candidates: the method's open payments that have this reference, or no reference and this
            payer's number.
    """
    proved = [
        each
        for each in candidates
        if reported.payer
        and each.payer_checked_at is not None
        and each.payer_number == reported.payer
    ]
    exact = [each for each in proved if each.reference_key == reported.key] or [
        each for each in proved if each.reference_key is None and each.amount == reported.amount
    ]
    if len(exact) > 1:
        return "several"
    if exact:
        return exact[0].id if exact[0].amount == reported.amount else "amount"
    claimed = [each for each in candidates if each.reference_key == reported.key]
    if any(each.payer_checked_at is None for each in claimed):
        return "payer_unchecked"
    return "payer" if claimed else "unclaimed"


def over_caps(caps: CreditCaps, amount: int, organization: int, everybody: int) -> str | None:
    """The cap that an amount would exceed, as a word; None: it is within all of them.

    Args:
        organization: what was credited automatically to its organization in the day before.
        everybody: the same for all organizations.
    """
    if amount > caps.payment:
        return "cap_payment"
    if organization + amount > caps.organization_day:
        return "cap_organization"
    if everybody + amount > caps.day:
        return "cap_day"
    return None


# -- asking providers

EVERY_MIN_MS: Final = 5_000
"""No provider is asked more often, even if its method wants it."""
EVERY_MAX_MS: Final = 3_600_000
"""The longest wait: a customer who returns to a checkout late need not wait much longer."""
GROWTH: Final = 1.5
POLLED_MS: Final = 7 * 86_400_000
"""How long a payment without an end is asked about."""
LATE_MS: Final = 86_400_000
"""How long after its end: for a late payment while its provider did not answer."""
_GROWN_MAX: Final = 32
"""Polls after which the longest wait is reached from any first one."""


@dataclass(frozen=True, slots=True)
class PolledSoFar:
    """A payment, as far as the next poll depends on it."""

    begun_at: int
    expires_at: int | None
    every: int
    """Milliseconds that its method wants between two polls."""
    polls: int
    """How often it was asked."""


def next_poll(polled: PolledSoFar, now_ms: int) -> int | None:
    """When to ask again (UTC epoch milliseconds); None: never."""
    if polled.expires_at is not None:
        last = polled.expires_at + LATE_MS
    else:
        last = polled.begun_at + POLLED_MS
    if now_ms >= last:
        return None
    every = max(EVERY_MIN_MS, polled.every) * GROWTH ** min(polled.polls, _GROWN_MAX)
    return min(now_ms + min(round(every), EVERY_MAX_MS), last)
