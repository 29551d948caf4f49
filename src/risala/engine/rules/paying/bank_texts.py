"""What may be made of a bank's text: does it continue the account, and whose payment is it? Pure.

A text's sender is a claim that anybody can forge. So a text credits by itself only what fits in
every respect: the account's balance goes on from the text before it, a customer has begun this very
payment, and has shown that the payer's number is theirs. And never more than the operator's caps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from risala.plugins.payment_texts import CreditCaps

DAY_MS: Final = 86_400_000
"""What the caps of a day are counted over."""


def continues(before: int | None, moved: int | None, after: int | None) -> bool:
    """Whether a text's balance is the one before it and what the text says has moved."""
    if before is None or moved is None or after is None:
        return False
    return before + moved == after


class OpenClaim(Protocol):
    """A payment that goes on, as far as it matters here."""

    @property
    def id(self) -> str: ...

    @property
    def amount(self) -> int: ...

    @property
    def reference_key(self) -> str | None: ...

    @property
    def payer_number(self) -> str | None: ...

    @property
    def payer_checked_at(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class ReportedPayment:
    """What a text says of a payment."""

    key: str
    """Its reference as it is compared."""
    amount: int
    payer: str | None


def owner_of(told: ReportedPayment, candidates: Sequence[OpenClaim]) -> str:
    """The payment's id, or a word why it is nobody's: ``unclaimed``, ``several``,
    ``payer_unchecked``, ``payer`` or ``amount``.

    Args:
        candidates: payments of the method that go on, and have this reference, or no reference and
            this payer's number.
    """
    proved = [
        each
        for each in candidates
        if told.payer and each.payer_checked_at is not None and each.payer_number == told.payer
    ]
    exact = [each for each in proved if each.reference_key == told.key] or [
        each for each in proved if each.reference_key is None and each.amount == told.amount
    ]
    if len(exact) > 1:
        return "several"
    if exact:
        return exact[0].id if exact[0].amount == told.amount else "amount"
    claimed = [each for each in candidates if each.reference_key == told.key]
    if any(each.payer_checked_at is None for each in claimed):
        return "payer_unchecked"
    return "payer" if claimed else "unclaimed"


def over_caps(caps: CreditCaps, amount: int, organization: int, everybody: int) -> str | None:
    """The cap that an amount would break, as a word; None: it is within all of them.

    Args:
        organization: what was credited by itself to its organization in the day before.
        everybody: what was to all.
    """
    if amount > caps.payment:
        return "cap_payment"
    if organization + amount > caps.organization_day:
        return "cap_organization"
    if everybody + amount > caps.day:
        return "cap_day"
    return None
