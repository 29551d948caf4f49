"""Organizations, their keys and credentials for other faces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.accounts import accounts, credentials, spending
from risala.engine.journal.pages import organizations, requests
from risala.engine.journal.repositories.store import Store, command, read
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.accounts import (
    Proof,
)
from risala.engine.model.records.credentials import CompatCredential
from risala.engine.model.records.keys import ApiKey
from risala.engine.model.records.people.organizations import Organization


@dataclass(frozen=True, slots=True)
class OrganizationRepository:
    """Organizations. All reads are by an index, on the loop's thread; ``all`` reads every one.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    all = read(accounts.organizations)
    organization = read(accounts.organization)
    name = read(requests.organization_name)
    page = read(organizations.page)
    facts = read(organizations.facts)
    spent = read(spending.spent)

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

    of_digest = read(accounts.key_by_hash)
    of_old_digest = read(accounts.key_by_old_hash)
    of_organization = read(accounts.keys)
    key = read(accounts.key)

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

    touch = command(accounts.touch_keys)


@dataclass(frozen=True, slots=True)
class CredentialRepository:
    """Credentials for faces other than the API. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    by_username = read(credentials.by_username)
    credential = read(credentials.credential)
    proof = read(credentials.proof)
    of_organization = read(credentials.of_organization)

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

    touch = command(credentials.touch)
