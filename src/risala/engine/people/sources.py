"""What the parts of people management need from the engine."""

from __future__ import annotations

from collections.abc import Callable

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.accounts.accounts import Accounts
from risala.engine.actors.actor import Ref
from risala.engine.actors.broadcast import Broadcast
from risala.engine.actors.set_aside import SetAsideItems
from risala.engine.journal.accounts.memberships import MembershipRepository
from risala.engine.journal.audit.trail import AuditRepository
from risala.engine.journal.people.signing_in import SignInRepository
from risala.engine.journal.people.user_changes import UserRepository
from risala.engine.journal.people.web_sessions import WebSessionRepository
from risala.engine.journal.repositories import Repositories
from risala.engine.limits.claims import LimitsMessage
from risala.engine.model.clock import Clock
from risala.engine.model.ids import IdSource
from risala.engine.model.people import AccessEnded
from risala.engine.people.tokens import Derived


@dataclass(frozen=True, slots=True)
class PeopleSources:
    settings: Settings
    clock: Clock
    audit: AuditRepository
    users: UserRepository
    members: MembershipRepository
    sign_in: SignInRepository
    web_sessions: WebSessionRepository
    repositories: Repositories
    """For what features store of people."""
    ids: IdSource
    accounts: Accounts
    limits: Ref[LimitsMessage]
    derived: Derived
    ended: Broadcast[AccessEnded]
    """Notified of people who may no longer see what they watch."""
    owed: Callable[[], None]
    """Called when a mail is owed."""
    public_url: str
    """The base URL of the pages."""
    console_url: str
    """The base URL of the console."""
    has_mailer: bool
    set_aside: SetAsideItems

    def now_ms(self) -> int:
        return self.clock.now_ms()
