"""Which phone this carrier is: its registration, its token, and another phone that wants its place.

Of the phone's own token only a hash is kept: it is enough to know the phone by, and a stolen
database does not open the carrier.
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
_DEVICE: Final = "phone"
_CANDIDATE: Final = "candidate"


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


def digest_of(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode()).hexdigest()


def is_same(digest: str, token: str) -> bool:
    """Whether a token has this digest; takes the same time for each token."""
    return hmac.compare_digest(digest, digest_of(token))


class PhoneBook:
    """The phone of a carrier, and the one that waits for the operator's yes.

    Args:
        private_token: what a phone registers with.
        now_ms: UTC epoch milliseconds.
    """

    def __init__(
        self, context: DriverContext, private_token: str, now_ms: Callable[[], int]
    ) -> None:
        self._context = context
        self._private = digest_of(private_token)
        self._now_ms = now_ms
        self._lock = trio.Lock()
        notes = context.recall()
        self.phone = _read(notes.get(_DEVICE))
        self.candidate = _read(notes.get(_CANDIDATE))
        """Another phone that registered; it gets nothing until the operator lets it in."""

    def may_register(self, token: str) -> bool:
        """Whether a caller has the private token."""
        return is_same(self._private, token)

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

    async def register(self, registration: PhoneRegistration) -> tuple[RegisteredPhone, str]:
        """Register a phone that has the private token; the phone, and the token that it calls with.

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

        Raises:
            NotStoredError: it could not be written.
        """
        async with self._lock:
            await self._context.remember({_DEVICE: None, _CANDIDATE: None})
            self.phone = self.candidate = None


def _written(phone: RegisteredPhone) -> str:
    return json.dumps(asdict(phone), separators=(",", ":"))


def _read(note: str | None) -> RegisteredPhone | None:
    if note is None:
        return None
    fields = json.loads(note)
    fields["sims"] = tuple(SimCard(**each) for each in fields["sims"])
    return RegisteredPhone(**fields)
