"""Members of organizations, and invitations."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.journal import member_changes
from risala.engine.journal.accounts import accounts
from risala.engine.journal.people import members
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.model.people import Membership


@dataclass(frozen=True, slots=True)
class MembershipRepository:
    """Users' roles in organizations. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    For an owner's request, it raises ``Forbidden`` if they are no longer one.
    """

    _store: Store

    # -- reads

    member = read(members.member)

    def of_organization(self, organization_id: str) -> list[Membership]:
        """Its members, the first first.

        Raises:
            NotFound: the organization does not exist.
        """
        accounts.organization(self._store.reader, organization_id)
        return members.of_organization(self._store.reader, organization_id)

    of_user = read(members.of_user)
    requires_provider = read(members.requires_provider)
    invitation = read(members.invitation)
    invitations_of = read(members.invitations_of)
    invitations_to = read(members.invitations_to)

    # -- an organization of one's own

    found = audited_command(member_changes.found)

    # -- invitations

    invite = audited_command(member_changes.invite)
    uninvite = audited_command(member_changes.uninvite)
    accept = audited_command(member_changes.accept)
    decline = audited_command(members.answer)

    # -- members

    add = audited_command(member_changes.add)
    set_role = audited_command(member_changes.set_role)
    remove = audited_command(member_changes.remove)
    leave = audited_command(members.remove)
