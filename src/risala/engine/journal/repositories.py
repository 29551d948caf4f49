"""The repositories of all domains: the journal's interface for the rest of the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from risala.dataclass import dataclass
from risala.engine.journal.accounts.accounts import OrganizationRepository
from risala.engine.journal.accounts.balances import LedgerRepository
from risala.engine.journal.accounts.keys import KeyRepository
from risala.engine.journal.accounts.memberships import MembershipRepository
from risala.engine.journal.accounts.senders import SenderRepository
from risala.engine.journal.audit.trail import AuditRepository
from risala.engine.journal.carrier_secrets import CarrierSecretRepository
from risala.engine.journal.carriers import CarrierRepository
from risala.engine.journal.inbound.inbound import InboundRepository
from risala.engine.journal.messages.held import ReceiptRepository
from risala.engine.journal.messages.live import EventRepository
from risala.engine.journal.messages.messages import MessageRepository
from risala.engine.journal.messages.verifications import VerificationRepository
from risala.engine.journal.messages.waiting import QueueRepository
from risala.engine.journal.pages.find import MessageListRepository
from risala.engine.journal.people.mails import MailRepository
from risala.engine.journal.people.signing_in import SignInRepository
from risala.engine.journal.people.user_changes import UserRepository
from risala.engine.journal.people.web_sessions import WebSessionRepository
from risala.engine.journal.sealed.resealing import SealedRepository
from risala.engine.journal.storage import StorageRepository
from risala.engine.journal.store.repository import Store
from risala.engine.journal.webhooks.endpoints import EndpointRepository
from risala.engine.journal.webhooks.history import DeliveryRepository

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Repositories:
    """One of each domain; each part of the engine gets those that it needs."""

    _store: Store
    """What all of them read and write with: for tests alone."""
    organizations: OrganizationRepository
    keys: KeyRepository
    senders: SenderRepository
    audit: AuditRepository
    carriers: CarrierRepository
    carrier_secrets: CarrierSecretRepository
    inbound: InboundRepository
    ledger: LedgerRepository
    mails: MailRepository
    members: MembershipRepository
    queue: QueueRepository
    receipts: ReceiptRepository
    endpoints: EndpointRepository
    deliveries: DeliveryRepository
    events: EventRepository
    messages: MessageRepository
    message_lists: MessageListRepository
    sealed: SealedRepository
    storage: StorageRepository
    verifications: VerificationRepository
    sign_in: SignInRepository
    users: UserRepository
    web_sessions: WebSessionRepository

    @classmethod
    def open(cls, store: Store) -> Repositories:
        """All repositories, over one store."""
        return cls(
            _store=store,
            organizations=OrganizationRepository(store),
            keys=KeyRepository(store),
            senders=SenderRepository(store),
            audit=AuditRepository(store),
            carriers=CarrierRepository(store),
            carrier_secrets=CarrierSecretRepository(store),
            inbound=InboundRepository(store),
            ledger=LedgerRepository(store),
            mails=MailRepository(store),
            members=MembershipRepository(store),
            queue=QueueRepository(store),
            receipts=ReceiptRepository(store),
            endpoints=EndpointRepository(store),
            deliveries=DeliveryRepository(store),
            events=EventRepository(store),
            messages=MessageRepository(store),
            message_lists=MessageListRepository(store),
            sealed=SealedRepository(store),
            storage=StorageRepository(store),
            verifications=VerificationRepository(store),
            sign_in=SignInRepository(store),
            users=UserRepository(store),
            web_sessions=WebSessionRepository(store),
        )

    def part(self, kind: Callable[[Store], R]) -> R:
        """The repository of a feature, over the same store."""
        return kind(self._store)
