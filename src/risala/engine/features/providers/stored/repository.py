"""Organizations' own identity providers."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.features.providers.stored import providers, signing_in
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.model.errors import SecretLost
from risala.engine.rules.sealing import SecretPurpose


@dataclass(frozen=True, slots=True)
class ProviderRepository:
    """Identity providers of organizations, one each. All reads are by an index, on the loop's
    thread; a list of all of them is for operators.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    find = read(providers.find)
    provider = read(providers.provider)
    of_domain = read(providers.of_domain)
    all_of_them = read(providers.all_of_them)

    # -- secrets of clients, which the database has sealed

    def sealed(self, organization_id: str, secret: str) -> str:
        """A secret as the database keeps it."""
        purpose = SecretPurpose.CLIENT_SECRET
        return self._store.sealing.seal(purpose, organization_id, secret.encode())

    def secret_of(self, organization_id: str) -> str | None:
        """The secret of a provider's client; empty: it has none. None: the key that sealed it is
        lost."""
        sealed = providers.sealed_secret(self._store.reader, organization_id)
        if sealed is None:
            return ""
        purpose = SecretPurpose.CLIENT_SECRET
        try:
            return self._store.sealing.unseal(purpose, organization_id, sealed).decode()
        except SecretLost:
            return None

    # -- commands

    put = audited_command(providers.put)
    delete = audited_command(providers.delete)
    confirm = audited_command(providers.confirm)
    refuse = audited_command(providers.refuse)
    enter_by_identity = command(signing_in.enter_by_identity)
    enter_member = command(signing_in.enter_member)
    refuse_without_role = command(signing_in.refuse_without_role)
    freshen_by_identity = command(signing_in.freshen_by_identity)
