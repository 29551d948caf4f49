"""What payments need of the rest of the engine, and how a payer's number is proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.accounts.accounts import Accounts
from risala.engine.actors.actor import Ref
from risala.engine.actors.alarm import Alarm, Bell
from risala.engine.actors.set_aside import SetAsideItems
from risala.engine.billing.claims import BillingMessage
from risala.engine.features.payments.stored.repository import BankTextRepository, PaymentRepository
from risala.engine.journal.messages.verifications import VerificationRepository
from risala.engine.model.clock import Clock
from risala.engine.model.commands import Principal, SendCode
from risala.engine.model.errors import (
    Forbidden,
    InsufficientBalance,
    Invalid,
    NotFound,
    SpendCapReached,
    Unavailable,
)
from risala.engine.model.ids import IdSource
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode, SessionState
from risala.engine.services import Services
from risala.engine.verify.sessions import Judge, Open, SessionsMessage
from risala.plugins.kinds import PAYMENT_METHODS
from risala.plugins.payment import PaymentMethod
from risala.plugins.payment_texts import HearsTexts

_KEY: Final = "payments"
"""A word in place of a key: no key was used."""
_NOT_NOW: Final = "The code cannot be sent now. Try again later."
_OURS: Final = (NotFound, Forbidden, InsufficientBalance, SpendCapReached, Invalid)
"""Errors that concern the operator, and that a payer cannot fix."""


class CodesFailed(Unavailable):
    """The operator's organization sends no code: it is unknown, suspended or has no money."""


@dataclass(frozen=True, slots=True)
class PayerCodes:
    """Codes to the numbers of payers: the service's own verification, paid for by an organization
    of the operator."""

    organization_id: str | None
    """The organization that pays for them; None: no codes are sent."""
    sessions: Ref[SessionsMessage]
    stored: VerificationRepository
    clock: Clock

    @property
    def are_sent(self) -> bool:
        """False if the settings name no organization that sends and pays for them."""
        return self.organization_id is not None

    async def send(self, number: str, language: str) -> str:
        """Send a code; the session's id.

        Raises:
            RateLimited: the number got enough of them.
            Unavailable: no code can be sent now.
        """
        if self.organization_id is None:
            raise CodesFailed(_NOT_NOW)
        principal = Principal(self.organization_id, _KEY, KeyType.SECRET, Mode.LIVE)
        try:
            session_id: str = await self.sessions.ask(
                Open(principal, SendCode(to=number, locale=language))
            )
        except _OURS as error:
            raise CodesFailed(_NOT_NOW) from error
        return session_id

    async def judge(self, session_id: str, code: str) -> bool:
        """Whether it is the code."""
        session = self.stored.find(session_id)
        if session is None:
            return False
        whose = Principal(session.organization_id, _KEY, KeyType.SECRET, Mode(session.mode))
        approved: bool = await self.sessions.ask(Judge(whose, session_id, code))
        return approved

    def status(self, session_id: str) -> SessionState | None:
        """The state of a session; None: there is no such session."""
        session = self.stored.find(session_id)
        return None if session is None else session.status_at(self.clock.now_ms())


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
    """Payment methods by the names of their tables."""
    listeners: Mapping[str, HearsTexts]
    """The methods whose bank writes to a SIM, by the names of their tables."""
    codes: PayerCodes
    public_url: str
    """The base URL of the pages."""
    owed: Callable[[], None]
    """Called when a mail is owed."""
    polls: Alarm
    """Wakes the polls; called for each new poll."""
    texts: Bell
    """Wakes the reader of banks' texts: one came, or a payment changed that one may be about."""
    set_aside: SetAsideItems

    @classmethod
    def of(cls, services: Services) -> PaymentSources:
        settings, clock, stored = services.settings, services.recorder.clock, services.repositories
        plugged = services.surroundings.plugged
        methods: Mapping[str, PaymentMethod] = plugged.get(PAYMENT_METHODS.key, {})
        pays_codes = settings.payments.codes_organization
        return cls(
            settings=settings,
            clock=clock,
            payments=stored.part(PaymentRepository),
            bank_texts=stored.part(BankTextRepository),
            ids=services.ids,
            accounts=services.accounts,
            billing=services.billing,
            methods=methods,
            listeners={
                name: method for name, method in methods.items() if isinstance(method, HearsTexts)
            },
            codes=PayerCodes(pays_codes, services.sessions, stored.verifications, clock),
            public_url=services.public_url,
            owed=services.people.sources.owed,
            polls=Alarm(clock),
            texts=Bell(),
            set_aside=services.set_aside,
        )

    def now_ms(self) -> int:
        return self.clock.now_ms()
