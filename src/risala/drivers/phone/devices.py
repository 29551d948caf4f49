"""Which phone this carrier is: the private token that phones register with, the registration, and
another phone that wants its place.

Of the phone's own token only a hash is kept: it is enough to know the phone by, and a stolen
database does not open the carrier. A private token that the service made is kept sealed.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.drivers.phone.words import PhoneRegistration, SimCard
from risala.plugins.contract import DriverContext

TOKEN_BYTES: Final = 32
TYPED_CHARACTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
"""What a private token is made of. Somebody reads it from a screen and types it on a phone, so no
character looks like another one."""
TYPED_LENGTH: Final = 24
"""Characters of a private token that is made here: 118 bits."""
NAMELESS: Final = "a phone without a name"
_DEVICE: Final = "phone"
_CANDIDATE: Final = "candidate"
_PRIVATE: Final = "private_token"
_PROOFS: Final = "proof_key"


@dataclass(frozen=True, slots=True)
class RegisteredPhone:
    """A phone that has registered with the private token."""

    id: str
    digest: str
    """SHA-256 of its token, in hex."""
    name: str
    sims: tuple[SimCard, ...]
    registered_at_ms: int
    has_called: bool = False
    """Whether it has called with its token. Until then the answer to its registration may be lost,
    and it registers again."""


def called(phone: RegisteredPhone) -> str:
    """What a phone is called in sentences."""
    return phone.name or NAMELESS


def typed_token() -> str:
    """A new private token."""
    return "".join(secrets.choice(TYPED_CHARACTERS) for _ in range(TYPED_LENGTH))


def digest_of(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode()).hexdigest()


def is_same(digest: str, token: str) -> bool:
    """Whether a token has this digest; takes the same time for each token."""
    return hmac.compare_digest(digest, digest_of(token))


class PhoneBook:
    """The phone of a carrier, and the one that waits for the operator's yes.

    Args:
        private_token: what a phone registers with, as the settings have it; None: one is made, and
            kept sealed.
        now_ms: UTC epoch milliseconds.
    """

    def __init__(
        self, context: DriverContext, private_token: str | None, now_ms: Callable[[], int]
    ) -> None:
        self._context = context
        self._now_ms = now_ms
        self._lock = trio.Lock()
        self.makes_token = private_token is None
        """Whether the settings leave the private token to the service."""
        self.private_token = private_token or ""
        """What a phone registers with; empty until :attr:`opened`."""
        self.proof_key = self.private_token
        """Makes the ids that phones get, and the keys that they sign with. Another private token
        does not change it, where that is made here."""
        self.opened = trio.Event()
        notes = context.recall()
        self.phone = _read(notes.get(_DEVICE))
        self.candidate = _read(notes.get(_CANDIDATE))
        """The other phone that registered: nothing is for it until the operator lets it in."""

    async def open(self) -> None:
        """Have the private token and the key of proofs: of an earlier start, else new ones.

        Raises:
            NotStoredError: new ones could not be written.
        """
        if self.makes_token:
            kept = self._context.recall_secret()
            made = {_PRIVATE: typed_token(), _PROOFS: secrets.token_urlsafe(TOKEN_BYTES)}
            lacking = {name: text for name, text in made.items() if name not in kept}
            if lacking:
                await self._context.remember_secret(lacking)
            self.private_token, self.proof_key = (kept.get(name, made[name]) for name in made)
        self.opened.set()

    def may_register(self, token: str) -> bool:
        """Whether a caller has the private token."""
        return bool(self.private_token) and is_same(digest_of(self.private_token), token)

    def phone_of(self, token: str) -> RegisteredPhone | None:
        """The phone that has this token; None: no phone of this carrier has it."""
        return next(
            (
                each
                for each in (self.phone, self.candidate)
                if each is not None and is_same(each.digest, token)
            ),
            None,
        )

    async def register(
        self, registration: PhoneRegistration, private_token: str
    ) -> tuple[RegisteredPhone, str] | None:
        """Register a phone; the phone, and the token that it calls with. None: it has not the
        private token, or no longer.

        The first one is the carrier's phone. Another one waits for the operator.

        Raises:
            NotStoredError: it could not be written.
        """
        token = secrets.token_urlsafe(TOKEN_BYTES)
        phone = RegisteredPhone(
            secrets.token_hex(8),
            digest_of(token),
            registration.name,
            registration.sims,
            self._now_ms(),
        )
        async with self._lock:
            if not self.may_register(private_token):
                return None
            if self.phone is None or not self.phone.has_called:
                await self._context.remember({_DEVICE: _written(phone), _CANDIDATE: None})
                self.phone, self.candidate = phone, None
            else:
                await self._context.remember({_CANDIDATE: _written(phone)})
                self.candidate = phone
        return phone, token

    async def update(
        self, phone: RegisteredPhone, registration: PhoneRegistration | None = None
    ) -> None:
        """Note that a phone called with its token, and which SIMs it has now.

        Raises:
            NotStoredError: it could not be written.
        """
        sims = phone.sims if registration is None else registration.sims
        async with self._lock:
            present = self.phone_with(phone.id)
            if present is None or (present.has_called and present.sims == sims):
                return
            changed = replace(present, has_called=True, sims=sims)
            is_phone = present is self.phone
            await self._context.remember({_DEVICE if is_phone else _CANDIDATE: _written(changed)})
            if is_phone:
                self.phone = changed
            else:
                self.candidate = changed

    def phone_with(self, phone_id: str) -> RegisteredPhone | None:
        """The phone with this id, as it is now; None: it is no longer one of this carrier."""
        both = (self.phone, self.candidate)
        return next((each for each in both if each is not None and each.id == phone_id), None)

    async def let_in(self) -> RegisteredPhone | None:
        """Put the phone that waits in the place of the present one; None: no phone waits.

        Raises:
            NotStoredError: it could not be written.
        """
        async with self._lock:
            if (candidate := self.candidate) is None:
                return None
            await self._context.remember({_DEVICE: _written(candidate), _CANDIDATE: None})
            self.phone, self.candidate = candidate, None
            return candidate

    async def forget(self) -> None:
        """Forget all phones: the next one that registers is the carrier's.

        The app registers again by itself as long as its private token counts. So a token that was
        made here is replaced; one of the settings stays.

        Raises:
            NotStoredError: it could not be written.
        """
        nobody: dict[str, str | None] = {_DEVICE: None, _CANDIDATE: None}
        async with self._lock:
            if self.makes_token:
                token = typed_token()
                await self._context.remember_secret({_PRIVATE: token}, notes=nobody)
                self.private_token = token
            else:
                await self._context.remember(nobody)
            self.phone = self.candidate = None


def _written(phone: RegisteredPhone) -> str:
    return json.dumps(asdict(phone), separators=(",", ":"))


def _read(note: str | None) -> RegisteredPhone | None:
    if note is None:
        return None
    fields = json.loads(note)
    fields["sims"] = tuple(SimCard(**each) for each in fields["sims"])
    return RegisteredPhone(**fields)
