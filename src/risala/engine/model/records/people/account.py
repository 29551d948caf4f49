"""A user's own account: the answers of its operations, and the asks for them."""

from __future__ import annotations

from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.people import EmailChange, ReachableOrganization
from risala.engine.model.records.asks import Ask, Nothing
from risala.engine.model.records.fields import Moment
from risala.engine.model.records.people.members import Invitation
from risala.engine.model.records.people.users import Ended, UserDevice, VersionedUser


@dataclass(frozen=True, slots=True)
class PendingAddress:
    """A change of address that waits for both codes."""

    email: str
    expires_at: Moment
    old_confirmed: bool
    new_confirmed: bool


def pending_address(change: EmailChange) -> PendingAddress:
    return PendingAddress(
        change.email, change.expires_at, change.old_confirmed, change.new_confirmed
    )


@dataclass(frozen=True, slots=True)
class AddressAnswer:
    """The state of a change of address."""

    email: str
    change: PendingAddress | None
    """None: it is done, and the user has the new address."""
    attempts_left: int


@dataclass(frozen=True, slots=True)
class AccountStory:
    """A user with their organizations and everything that waits for them."""

    user: VersionedUser
    memberships: tuple[ReachableOrganization, ...]
    invitations: tuple[Invitation, ...]
    change: PendingAddress | None


@dataclass(frozen=True, slots=True)
class Devices:
    """A user's own sessions, the newest first."""

    devices: tuple[UserDevice, ...]


SHOW: Final = Ask("account.show", AccountStory)
SET: Final = Ask("account.set", VersionedUser)
DEVICES: Final = Ask("account.devices", Devices)
SIGN_OUT: Final = Ask("account.sign_out", Ended)
CHANGE_EMAIL: Final = Ask("account.change_email", PendingAddress)
CONFIRM_EMAIL: Final = Ask("account.confirm_email", AddressAnswer)
ACCEPT: Final = Ask("account.accept", ReachableOrganization)
DECLINE: Final = Ask("account.decline", Nothing)
LEAVE: Final = Ask("account.leave", Nothing)
DELETE: Final = Ask("account.delete", Nothing)
