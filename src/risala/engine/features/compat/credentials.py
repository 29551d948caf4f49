"""Credentials for faces other than the API: made, compared, revoked.

As with keys: the journal is the truth, a cache entry is dropped by the same call that committed a
change, and a password exists nowhere once its owner has seen it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.engine.accounts.accounts import safe_name
from risala.engine.accounts.last_uses import LastUses
from risala.engine.features.compat.records import (
    Admitted,
    CompatCredential,
    CreatedCredential,
    Proof,
)
from risala.engine.features.compat.rules import FACE, CredentialShape, shape_of, username_fault
from risala.engine.features.compat.stored import CredentialRepository
from risala.engine.model.audit import AuditEntry
from risala.engine.model.commands import Principal
from risala.engine.model.errors import (
    AddressNotAllowed,
    Forbidden,
    Invalid,
    NotFound,
    SecretLost,
    Unauthorized,
)
from risala.engine.model.origins import ranges_of
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.services import Services

Address = IPv4Address | IPv6Address

REMEMBERED_MAX: Final = 10_000
"""Credentials in memory; more than these in use at once cost an indexed read each."""
PASSWORD_CHARACTERS_MAX: Final = 128
"""A longer one is invalid, and is refused without hashing it."""
SALT_BYTES: Final = 16
_SCRYPT: Final = {"n": 1 << 14, "r": 8, "p": 1, "dklen": 32, "maxmem": 64 << 20}
"""16 MB and some 50 ms a guess: of eight random characters, with 10^14 possibilities, only a
negligible part can be tried."""
_REVOKED: Final = "The credential is unknown or revoked, or the password is wrong."


@dataclass(frozen=True, slots=True)
class _Known:
    """A credential in memory."""

    admitted: Admitted
    proof: Proof
    seen: bytes | None = None
    """A quick hash of the password that matched, under a key of this process, if the stored hash is
    slow."""


class Credentials:
    """See the module's text."""

    def __init__(self, services: Services) -> None:
        self._accounts = services.accounts
        self._stored = services.repositories.part(CredentialRepository)
        self._clock = services.recorder.clock
        self._ids = services.ids
        self._known: OrderedDict[str, _Known] = OrderedDict()
        """Credentials in memory, by id."""
        self._by_name: dict[tuple[str, str], str] = {}
        self.uses = LastUses("credentials", self._stored.touch, services.set_aside.loop("uses"))
        self._own_key = secrets.token_bytes(32)
        self._guesses = trio.CapacityLimiter(1)
        """One slow hash at a time: guesses must not use up the machine."""
        self._changed = trio.Event()

    # -- authentication

    async def authenticate(
        self, face: str, username: str, password: str, address: Address | None
    ) -> Admitted:
        """The holder of this name and password at a face.

        Raises:
            Unauthorized: the name is unknown, it is revoked, or the password is another.
            AddressNotAllowed: it may not be used from this address.
            Forbidden: its organization is not active.
        """
        known = self._find(face, username)
        if len(password) > PASSWORD_CHARACTERS_MAX:
            known, password = None, ""
        if not await self._is(shape_of(face), known, password) or known is None:
            if known is not None:
                # An unknown name was just looked up on disk; a known one in memory was not, and the
                # time until its refusal would reveal that it exists.
                self._stored.by_username(face, "")
            raise Unauthorized(_REVOKED)
        credential_id = known.admitted.credential.id
        admitted = self.admitted(credential_id)  # it may have been revoked during the hash
        allowed = admitted.principal.allowed_addresses
        if allowed is not None and (
            address is None or not any(address in each for each in allowed)
        ):
            raise AddressNotAllowed(None if address is None else str(address))
        self.uses.note(credential_id, self._clock.now_ms())
        return admitted

    def admitted(self, credential_id: str) -> Admitted:
        """Check a credential again that was admitted before: for sessions that stay open.

        Raises:
            Unauthorized: it is revoked.
            Forbidden: its organization is not active.
        """
        known = self._known.get(credential_id) or self._read(credential_id)
        if known is None:
            raise Unauthorized(_REVOKED)
        principal = known.admitted.principal
        if self._accounts.organization(principal.organization_id).status != "active":
            raise Forbidden("The organization of this credential is not active.")
        return known.admitted

    def signer(self, credential_id: str) -> bytes | None:
        """What signs calls for a credential; None: they are not signed, or it is revoked.

        Raises:
            SecretLost: it cannot be opened.
        """
        known = self._known.get(credential_id) or self._read(credential_id)
        sealed = None if known is None else known.proof.signer
        if sealed is None:
            return None
        try:
            return self._stored.signer(credential_id, sealed)
        except SecretLost:
            known = self._read(credential_id)  # another key may have sealed it since it was read
            stored = None if known is None else known.proof.signer
            if stored is None or stored == sealed:
                raise
            return self._stored.signer(credential_id, stored)

    async def changed(self) -> None:
        """Return once one was revoked or an organization changed: check the open sessions then."""
        await self._changed.wait()

    async def _is(self, shape: CredentialShape, known: _Known | None, password: str) -> bool:
        """Whether a password is the credential's. It takes as long if there is no credential."""
        password_bytes = password.encode("utf-8", "surrogatepass")
        if not shape.is_weak:
            known_hash = bytes(32) if known is None else known.proof.hash
            return hmac.compare_digest(hashlib.sha256(password_bytes).digest(), known_hash)
        quick = hmac.digest(self._own_key, password_bytes, "sha256")
        if known is not None and known.seen is not None and hmac.compare_digest(known.seen, quick):
            return True
        salt = bytes(SALT_BYTES) if known is None else known.proof.salt or bytes(SALT_BYTES)
        slow = await trio.to_thread.run_sync(_slow, password_bytes, salt, limiter=self._guesses)
        if known is None or not hmac.compare_digest(slow, known.proof.hash):
            return False
        credential_id = known.admitted.credential.id
        if credential_id in self._known:
            self._known[credential_id] = replace(known, seen=quick)
        return True

    def _find(self, face: str, username: str) -> _Known | None:
        credential_id = self._by_name.get((face, username))
        if credential_id is not None and (known := self._known.get(credential_id)) is not None:
            return known
        credential = self._stored.by_username(face, username)
        return None if credential is None else self._remember(credential)

    def _read(self, credential_id: str) -> _Known | None:
        try:
            credential = self._stored.credential(credential_id)
        except NotFound:
            return None
        return None if credential.revoked_at is not None else self._remember(credential)

    def _remember(self, credential: CompatCredential) -> _Known:
        allowed = credential.allowed_addresses
        principal = Principal(
            credential.organization_id,
            credential.id,
            KeyType.SECRET,
            credential.mode,
            allowed_addresses=None if allowed is None else ranges_of(allowed),
            face=credential.face,
        )
        known = _Known(Admitted(credential, principal), self._stored.proof(credential.id))
        self._known[credential.id] = known
        self._by_name[credential.face, credential.username] = credential.id
        if len(self._known) > REMEMBERED_MAX:
            _, oldest = self._known.popitem(last=False)
            self._forget_name(oldest)
        return known

    # -- by hand

    async def create(
        self,
        organization_id: str,
        face: str,
        username: str | None,
        mode: Mode,
        created_by: str,
        *,
        name: str | None = None,
        sender: str | None = None,
        allowed_addresses: tuple[str, ...] | None = None,
        hears: bool = False,
        by: AuditEntry | None = None,
    ) -> CreatedCredential:
        """Make a credential; its password exists only in the answer.

        Raises:
            NotFound: no such organization.
            Invalid: the face, its name or the username is invalid.
            Conflict: the username is taken.
        """
        if not FACE.fullmatch(face):
            raise Invalid("face", "invalid_face", "There is no face with this name.")
        if username is not None and (text := username_fault(face, username)):
            raise Invalid("username", "invalid_username", text)
        shape = shape_of(face)
        password = "".join(secrets.choice(shape.alphabet) for _ in range(shape.length))
        credential = CompatCredential(
            id=self._ids.new("crd"),
            organization_id=organization_id,
            face=face,
            username=username or _made(shape),
            last4=password[-4:],
            mode=mode,
            name=safe_name(name or "") or None,
            sender=sender,
            allowed_addresses=allowed_addresses,
            created_at=self._clock.now_ms(),
            created_by=created_by,
            last_used_at=None,
            revoked_at=None,
            hears=hears,
        )
        proof = await self._proof(shape, password)
        return CreatedCredential(await self._stored.add(by, credential, proof), password)

    async def _proof(self, shape: CredentialShape, password: str) -> Proof:
        password_bytes = password.encode()
        signer = (
            hashlib.sha1(password_bytes, usedforsecurity=False).digest() if shape.signs else None
        )
        if not shape.is_weak:
            return Proof(hashlib.sha256(password_bytes).digest(), None, signer)
        salt = secrets.token_bytes(SALT_BYTES)
        slow = await trio.to_thread.run_sync(_slow, password_bytes, salt, limiter=self._guesses)
        return Proof(slow, salt, signer)

    def of_organization(self, organization_id: str) -> list[CompatCredential]:
        """The credentials of an organization, the oldest first; revoked ones too.

        Raises:
            NotFound: no such organization.
        """
        self._accounts.organization(organization_id)
        return self._stored.of_organization(organization_id)

    def credential(self, credential_id: str) -> CompatCredential:
        """One credential, revoked or not.

        Raises:
            NotFound: no credential has this id.
        """
        return self._stored.credential(credential_id)

    async def revoke(self, credential_id: str, *, by: AuditEntry | None = None) -> CompatCredential:
        """Revoke a credential: at once, for good, and for sessions that are open.

        Raises:
            NotFound: no credential has this id.
        """
        now_ms = self._clock.now_ms()
        try:
            return await self._stored.revoke(by, credential_id, now_ms)
        finally:
            if (known := self._known.pop(credential_id, None)) is not None:
                self._forget_name(known)
            self._ring()

    def organization_changed(self, organization_id: str) -> None:
        """Read an organization's credentials again: it was suspended, resumed or deleted."""
        for credential_id, known in [*self._known.items()]:
            if known.admitted.credential.organization_id == organization_id:
                del self._known[credential_id]
                self._forget_name(known)
        self._ring()

    def _forget_name(self, known: _Known) -> None:
        credential = known.admitted.credential
        self._by_name.pop((credential.face, credential.username), None)

    def _ring(self) -> None:
        self._changed.set()
        self._changed = trio.Event()


def _slow(password: bytes, salt: bytes) -> bytes:
    return hashlib.scrypt(password, salt=salt, **_SCRYPT)


def _made(shape: CredentialShape) -> str:
    """A random name."""
    return f"{shape.made}{secrets.token_hex(16)}" if shape.made else f"u{secrets.token_hex(6)}"


async def write_uses(services: Services) -> None:
    """Write when credentials were used last: the service ends."""
    await services.part(Credentials).uses.write()


def forget(services: Services, organization_id: str) -> None:
    """Read an organization's credentials again."""
    services.part(Credentials).organization_changed(organization_id)
