"""What the payment service's parts need of the rest of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.accounts.accounts import Accounts
from risala.engine.actors.actor import Ref
from risala.engine.actors.alarm import Alarm
from risala.engine.actors.set_aside import SetAsideItems
from risala.engine.billing.claims import BillingMessage
from risala.engine.journal.repositories.payments import BankTextRepository, PaymentRepository
from risala.engine.model.clock import Clock
from risala.engine.model.ids import IdSource
from risala.engine.payments.lines import BankLines
from risala.plugins.payment import PaymentMethod


class CodeStatus(StrEnum):
    """The state of a code that was sent to a payer's number."""

    PENDING = "pending"
    APPROVED = "approved"
    OVER = "over"
    """Expired, guessed at too often, or not sent after all."""


class PayerCodes(Protocol):
    """Sends codes to payers and checks the typed ones: our own verification, used by ourselves."""

    @property
    def are_sent(self) -> bool:
        """False if the settings name no organization that sends and pays for them."""

    async def send(self, number: str, language: str) -> str:
        """Send a code; the session's id.

        Raises:
            RateLimited: the number got enough of them.
            Unavailable: no code can be sent now.
        """

    async def judge(self, session_id: str, code: str) -> bool:
        """Whether it is the code."""

    def status(self, session_id: str) -> CodeStatus:
        """The state of a session."""


@dataclass(frozen=True, slots=True)
class PaymentSources:
    settings: Settings
    clock: Clock
    payments: PaymentRepository
    bank_texts: BankTextRepository
    ids: IdSource
    accounts: Accounts
    billing: Ref[BillingMessage]
    methods: Mapping[str, PaymentMethod]
    """By the names of their tables."""
    codes: PayerCodes
    public_url: str
    """The base URL of the pages."""
    owed: Callable[[], None]
    """Called when a mail is owed."""
    polls: Alarm
    """Wakes the polls; called for each new poll."""
    lines: BankLines
    set_aside: SetAsideItems

    def now_ms(self) -> int:
        return self.clock.now_ms()


@dataclass(frozen=True, slots=True)
class PaymentWish:
    """What a customer wants to pay."""

    organization_id: str
    method: str
    amount: int
    language: str
    entered: Mapping[str, str]
