"""The contract for methods whose bank confirms payments by SMS to a SIM of the operator's.

The engine keeps what comes to that SIM apart: it goes to no customer, no event and no webhook, and
a STOP in it is no opt-out. A method reads one text at a time and keeps nothing; what follows from
all of them together (whose payment it is, whether the account's balance goes on from text to text,
the caps) is the engine's, which alone credits.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from risala.plugins.payment import PaymentSettled
from risala.sms.message import Inbound


class TextKind(StrEnum):
    """What a text is, as far as one text alone tells."""

    CREDIT = "credit"
    """Money came: :attr:`TextReading.settled` says what."""
    DEBIT = "debit"
    """Money went out: only the balance matters."""
    NOTICE = "notice"
    """The bank's, and about no money: a greeting, a password."""
    NO_PATTERN = "no_pattern"
    """From the bank, as it seems, and not understood."""
    FOREIGN_CENTRE = "foreign_centre"
    """It has the bank's name, and came by another service centre than the bank's texts do."""
    FOREIGN_SENDER = "foreign_sender"
    """From somebody else."""


@dataclass(frozen=True, slots=True)
class TextReading:
    """What a method reads in one text."""

    kind: TextKind
    """What it is about."""
    settled: PaymentSettled | None = None
    """Of a :attr:`TextKind.CREDIT`; ``payer`` as ``+222XXXXXXXX`` where the text tells a whole
    number."""
    moved: int | None = None
    """Minor units by which the account's balance changed, fees included; negative: it fell."""
    balance: int | None = None
    """The account's balance after it, in minor units; None: the text does not tell."""


@dataclass(frozen=True, slots=True)
class CreditCaps:
    """The most that texts alone may credit, in minor units: a sender's name can be forged.

    A day is any 24 hours.
    """

    payment: int
    """By one text."""
    organization_day: int
    """To one organization in a day."""
    day: int
    """To all of them in a day."""


@runtime_checkable
class HearsTexts(Protocol):
    """A method whose bank confirms payments by SMS to a modem's SIM of its own."""

    @property
    def carrier(self) -> str:
        """The configured name of that modem. Several methods may name the same one."""

    @property
    def caps(self) -> CreditCaps | None:
        """What may be credited by texts alone; None: each waits for the operator."""

    def heard(self, message: Inbound) -> TextReading:
        """Read a text of that SIM.

        Called once a text is on disk, in the order in which they came, and again after a crash; it
        does not wait. Raises nothing: a text that is odd is :attr:`TextKind.NO_PATTERN`.
        """
