"""Organizations, their keys and credentials for other faces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.accounts import accounts, credentials, spending
from risala.engine.journal.pages import organizations, requests
from risala.engine.journal.repositories.store import Store
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.accounts import (
    OrganizationFacts,
    OrganizationFilter,
    Proof,
)
from risala.engine.model.records.credentials import CompatCredential
from risala.engine.model.records.keys import ApiKey
from risala.engine.model.records.paging import CursorPage, Steps
from risala.engine.model.records.people.organizations import Organization


@dataclass(frozen=True, slots=True)
class OrganizationRepository:
    """Organizations. All reads are by an index, on the loop's thread; ``all`` reads every one.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    def all(self) -> list[Organization]:
        """Every organization, deleted ones too, by its id."""
        return accounts.organizations(self._store.reader)

    def organization(self, organization_id: str) -> Organization:
        """One organization.

        Raises:
            NotFound: the id is unknown.
        """
        return accounts.organization(self._store.reader, organization_id)

    def name(self, organization_id: str) -> str:
        """An organization's name."""
        return requests.organization_name(self._store.reader, organization_id)

    def page(self, wanted: OrganizationFilter, steps: Steps) -> CursorPage[Organization]:
        """One page of organizations, the newest first; it looks at a bounded number of them."""
        return organizations.page(self._store.reader, wanted, steps)

    def facts(self, organization: Organization, now_ms: int) -> OrganizationFacts:
        """Facts that are not in an organization's own row."""
        return organizations.facts(self._store.reader, organization, now_ms)

    def spent(self, organization_id: str, day: int) -> int:
        """What an organization was charged on a day of its own, in minor units."""
        return spending.spent(self._store.reader, organization_id, day)

    async def add(self, new: Organization, *, by: AuditEntry | None) -> Organization:
        """Store an organization."""
        return await self._store.commit(partial(accounts.add_organization, organization=new), by)

    async def set_status(
        self, organization_id: str, status: str, *, by: AuditEntry | None
    ) -> Organization:
        """Suspend or resume an organization.

        Raises:
            NotFound: the id is unknown.
            Conflict: it is deleted.
        """
        given = (organization_id, status)
        return await self._store.commit(
            lambda conn: accounts.set_organization_status(conn, *given), by
        )

    async def change(
        self, organization_id: str, changes: Mapping[str, object], *, by: AuditEntry | None
    ) -> None:
        """Change what can be set of an organization: fields by their names.

        Raises:
            NotFound: the id is unknown.
        """
        given = (organization_id, changes)
        await self._store.commit(lambda conn: accounts.change_organization(conn, *given), by)


@dataclass(frozen=True, slots=True)
class KeyRepository:
    """API keys. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    Each that names a key raises ``NotFound`` if the id is unknown.
    """

    _store: Store

    def of_digest(self, digest: bytes) -> ApiKey | None:
        """The key of this value, by the hash of that."""
        return accounts.key_by_hash(self._store.reader, digest)

    def of_old_digest(self, digest: bytes) -> ApiKey | None:
        """The key that had this value before it was rotated."""
        return accounts.key_by_old_hash(self._store.reader, digest)

    def of_organization(self, organization_id: str) -> list[ApiKey]:
        """The keys of an organization, the oldest first."""
        return accounts.keys(self._store.reader, organization_id)

    def key(self, key_id: str) -> ApiKey:
        """One key."""
        return accounts.key(self._store.reader, key_id)

    async def add(self, new: ApiKey, digest: bytes, *, by: AuditEntry | None) -> ApiKey:
        """Store a key by the hash of its value.

        Raises:
            NotFound: no such organization.
            Conflict: it has too many.
        """
        return await self._store.commit(partial(accounts.add_key, key=new, digest=digest), by)

    async def set_enabled(self, key_id: str, *, enabled: bool, by: AuditEntry | None) -> ApiKey:
        """Enable or disable a key."""
        unit = partial(accounts.set_key_enabled, key_id=key_id, enabled=enabled)
        return await self._store.commit(unit, by)

    async def change(
        self, key_id: str, changes: Mapping[str, object], *, by: AuditEntry | None
    ) -> ApiKey:
        """Change what can be set of a key: fields by their names."""
        unit = partial(accounts.change_key, key_id=key_id, changes=changes)
        return await self._store.commit(unit, by)

    async def rotate(
        self,
        key_id: str,
        digest: bytes,
        last4: str,
        old_until: int | None,
        *,
        by: AuditEntry | None,
    ) -> ApiKey:
        """Give a key another value.

        Args:
            old_until: until when the present value stays valid; None: it ends now.
        """
        given = (key_id, digest, last4, old_until)
        return await self._store.commit(lambda conn: accounts.rotate_key(conn, *given), by)

    async def end_old_value(self, key_id: str, *, by: AuditEntry | None) -> ApiKey:
        """End the validity of a key's former value."""
        return await self._store.commit(partial(accounts.end_old_value, key_id=key_id), by)

    async def delete(self, key_id: str, *, by: AuditEntry | None) -> ApiKey:
        """Delete a key for good."""
        return await self._store.commit(partial(accounts.delete_key, key_id=key_id), by)

    async def touch(self, used: dict[str, int]) -> None:
        """Store when keys were last used."""
        await self._store.commit(partial(accounts.touch_keys, used=used))


@dataclass(frozen=True, slots=True)
class CredentialRepository:
    """Credentials for faces other than the API. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    def by_username(self, face: str, username: str) -> CompatCredential | None:
        """The credential with a name, if it is not revoked."""
        return credentials.by_username(self._store.reader, face, username)

    def credential(self, credential_id: str) -> CompatCredential:
        """One credential, revoked or not.

        Raises:
            NotFound: the id is unknown.
        """
        return credentials.credential(self._store.reader, credential_id)

    def proof(self, credential_id: str) -> Proof:
        """What the password of a credential is compared with.

        Raises:
            NotFound: the id is unknown.
        """
        return credentials.proof(self._store.reader, credential_id)

    def of_organization(self, organization_id: str) -> list[CompatCredential]:
        """The credentials of an organization, the oldest first; revoked ones too."""
        return credentials.of_organization(self._store.reader, organization_id)

    async def add(
        self, new: CompatCredential, proof: Proof, *, by: AuditEntry | None
    ) -> CompatCredential:
        """Store a credential.

        Raises:
            NotFound: no such organization.
            Conflict: the username is taken, or the organization has too many.
        """
        return await self._store.commit(partial(credentials.add, credential=new, proof=proof), by)

    async def revoke(
        self, credential_id: str, now_ms: int, *, by: AuditEntry | None
    ) -> CompatCredential:
        """Revoke a credential for good.

        Raises:
            NotFound: the id is unknown.
        """
        unit = partial(credentials.revoke, credential_id=credential_id, now_ms=now_ms)
        return await self._store.commit(unit, by)

    async def touch(self, used: dict[str, int]) -> None:
        """Store when credentials were last used."""
        await self._store.commit(partial(credentials.touch, used=used))
