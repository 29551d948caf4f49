"""Second factors, and what shows that somebody has them."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.features.factors.records import Factor
from risala.engine.features.factors.stored import factors, proving
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.model.errors import SecretLost
from risala.engine.rules.secrets.sealing import SecretPurpose


@dataclass(frozen=True, slots=True)
class FactorRepository:
    """Users' second factors. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    of_user = read(factors.of_user)
    by_credential = read(factors.by_credential)
    codes_left = read(factors.codes_left)

    # -- seeds of apps, which the database has sealed

    def sealed(self, factor_id: str, seed: str) -> str:
        """A seed as the database keeps it."""
        return self._store.sealing.seal(SecretPurpose.TOTP_SEED, factor_id, seed.encode())

    def seed_of(self, app: Factor) -> str | None:
        """The seed of an app; None: the key that sealed it is lost."""
        try:
            return self._store.sealing.unseal(SecretPurpose.TOTP_SEED, app.id, app.seed).decode()
        except SecretLost:
            return None

    # -- commands

    add = audited_command(factors.add)
    remove = audited_command(factors.remove)
    renew_codes = audited_command(factors.renew_codes)
    reset = audited_command(factors.reset)
    judge = command(proving.judge)
    enter_by_passkey = command(proving.enter_by_passkey)
    freshen = command(proving.freshen)
