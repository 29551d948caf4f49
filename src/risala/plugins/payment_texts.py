"""The contract for methods whose bank confirms payments by SMS to a SIM of the operator's.

The engine keeps that SIM's texts separate: they go to no customer, event or webhook, and a STOP in
one is not an opt-out. A method reads one text at a time and keeps nothing. The engine combines them
(whose payment it is, whether each text's balance fits the one before it, the caps), and only the
engine credits.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from risala.plugins.payment import PaymentSettled
from risala.sms.message import Inbound


class TextKind(StrEnum):
    """The kind of a text, as far as the text alone shows it."""

    CREDIT = "credit"
    """Money came: :attr:`TextReading.settled` has it."""
    DEBIT = "debit"
    """Money went out: only the balance matters."""
    NOTICE = "notice"
    """From the bank, and not about money: a greeting, a password."""
    NO_PATTERN = "no_pattern"
    """Apparently from the bank, and not understood."""
    FOREIGN_CENTRE = "foreign_centre"
    """The text has the bank's name, but came from another service centre than the bank's texts."""
    FOREIGN_SENDER = "foreign_sender"
    """From somebody else."""


@dataclass(frozen=True, slots=True)
class TextReading:
    """A method's reading of one text."""

    kind: TextKind
    """The kind of the text."""
    settled: PaymentSettled | None = None
    """For a :attr:`TextKind.CREDIT`; ``payer`` is the number as the text writes it, if it has it
    whole."""
    moved: int | None = None
    """Minor units by which the account's balance changed, fees included; negative: it fell."""
    balance: int | None = None
    """The account's balance after it, in minor units; None: the text does not say it."""


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
        """How much texts alone may credit; None: each waits for the operator."""

    def heard(self, message: Inbound) -> TextReading:
        """Read a text of that SIM.

        Called once a text is on disk, in order of arrival, and again after a crash; it does not
        wait. Raises nothing: an odd text is :attr:`TextKind.NO_PATTERN`.
        """
