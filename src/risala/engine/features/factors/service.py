"""Users' second factors: set up, shown, removed, and reset by an operator."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import b32encode
from collections.abc import Sequence
from dataclasses import field
from typing import Final

from risala.dataclass import dataclass
from risala.engine.accounts.accounts import safe_name
from risala.engine.features.factors.passkeys import Passkeys
from risala.engine.features.factors.records import (
    RECOVERY_CODES,
    Factor,
    FactorProof,
    FactorTry,
    PasskeySite,
    ProofKind,
    ShownFactor,
)
from risala.engine.features.factors.stored import FactorRepository
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Conflict, Invalid
from risala.engine.model.people import AccessEnded, User
from risala.engine.model.people_records import OwedMail
from risala.engine.model.records.people.users import FactorKind
from risala.engine.people.letters import Letters, Values, Words, moment
from risala.engine.rules.people.lifetimes import HOUR_MS
from risala.engine.services import Services
from risala.sms.typed import Purpose, typed, typed_code

SET_UP_MS: Final = HOUR_MS
"""How long the set-up of an app may take: somebody has to install it first."""
TYPED_MAX: Final = 64
"""Characters of a typed code that are read."""
_NONCE_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class AppSeed:
    """An authenticator app that is being set up."""

    nonce: str
    seed: str = field(repr=False)
    address: str = field(repr=False)
    """The address for the QR code."""


class Factors:
    def __init__(self, services: Services) -> None:
        people = services.people
        self._have = people.sources
        self._stored = services.repositories.part(FactorRepository)
        self._sessions = people.sessions
        self.passkeys = Passkeys(people.sources)

    def of_user(self, user_id: str) -> Sequence[Factor]:
        """A user's factors, the oldest first."""
        return self._stored.of_user(user_id)

    # -- set-up

    def begin_app(self, user_id: str, nonce: str | None = None) -> AppSeed:
        """The seed of an app to be set up.

        Args:
            nonce: of a set-up that goes on, after a wrong code.
        """
        sources = self._have
        if nonce is None:
            until = sources.now_ms() + SET_UP_MS
            nonce = f"{secrets.token_hex(_NONCE_BYTES)}.{until}"
        user = sources.users.user(user_id)
        seed = seed_of(sources.derived.set_up_seed(user_id, nonce))
        service = sources.settings.service.default_sender
        return AppSeed(nonce, seed, address_of(seed, user.email, service))

    async def add_app(
        self, user_id: str, nonce: str, code: str, name: str, session_id: str, by: AuditEntry
    ) -> tuple[Factor, tuple[str, ...]]:
        """Store an app whose code is right; with the recovery codes if it is the first factor.

        Raises:
            Invalid: the code is wrong, or the name is too long.
            Conflict: the set-up took too long, or there are too many factors.
        """
        sources = self._have
        until = nonce.partition(".")[2]
        if not (until.isascii() and until.isdigit() and sources.now_ms() < int(until[:20])):
            raise Conflict("This took too long. Begin again.")
        seed = self.begin_app(user_id, nonce).seed
        step = matching_step(seed, "".join(code[:TYPED_MAX].split()), sources.now_ms())
        if step is None:
            raise Invalid("code", "wrong_code", "This is not the code.")
        factor_id = sources.ids.new("fac")
        new = Factor(
            id=factor_id,
            user_id=user_id,
            kind=FactorKind.APP,
            name=safe_name(name),
            site="",
            credential=b"",
            public_key=b"",
            seed=self._stored.sealed(factor_id, seed),
            counter=step,
            created_at=sources.now_ms(),
            used_at=None,
        )
        return await self._add(new, session_id, by)

    def begin_passkey(self, user_id: str, site: PasskeySite, cookie: str) -> str:
        """What the browser is asked, as JSON."""
        user = self._have.users.user(user_id)
        return self.passkeys.to_make(user, site, cookie, self.of_user(user_id))

    async def add_passkey(
        self,
        user_id: str,
        shown: ShownFactor,
        cookie: str,
        name: str,
        session_id: str,
        by: AuditEntry,
    ) -> tuple[Factor, tuple[str, ...]]:
        """Store the passkey that a browser made; as :meth:`add_app`.

        Raises:
            Invalid: the answer is not right, or the name is too long.
            Conflict: it is here already, or there are too many factors.
        """
        sources, name = self._have, safe_name(name)
        made = None
        if shown.site is not None:
            made = await self.passkeys.made(shown.answer, shown.site, cookie)
        if made is None or shown.site is None:
            raise Invalid("answer", "wrong_passkey", "This passkey could not be checked.")
        new = Factor(
            id=sources.ids.new("fac"),
            user_id=user_id,
            kind=FactorKind.PASSKEY,
            name=name,
            site=shown.site.host,
            credential=made.credential,
            public_key=made.public_key,
            seed="",
            counter=made.counter,
            created_at=sources.now_ms(),
            used_at=None,
        )
        return await self._add(new, session_id, by)

    async def _add(
        self, new: Factor, session_id: str, by: AuditEntry
    ) -> tuple[Factor, tuple[str, ...]]:
        sources, codes = self._have, new_codes()
        is_first = not self.of_user(new.user_id)
        others = [
            each.id
            for each in sources.web_sessions.of_user(new.user_id, sources.now_ms())
            if each.id != session_id
        ]
        hashes = hashes_of(new.user_id, codes)
        try:
            added = await self._stored.add(by, new, hashes, session_id, new.created_at)
        finally:
            self._sessions.forget(new.user_id)
        if is_first:
            for gone in others:
                self._sessions.tell_ended(AccessEnded(new.user_id, session_id=gone))
        sources.owed()
        return added, codes if is_first else ()

    # -- later

    def is_needed(self, user_id: str) -> bool:
        """Whether a user must keep a factor: an operator, where operators need one."""
        user = self._have.users.user(user_id)
        return user.operator and self._sessions.operators_need_factor()

    async def remove(self, user_id: str, factor_id: str, by: AuditEntry) -> Factor:
        """Delete a factor.

        Raises:
            NotFound: the user has no such factor.
            Conflict: it is the last one, and they need one.
        """
        keep, now_ms = self.is_needed(user_id), self._have.now_ms()
        try:
            gone = await self._stored.remove(by, user_id, factor_id, now_ms, keep_one=keep)
        finally:
            self._sessions.forget(user_id)
        self._have.owed()
        return gone

    async def renew_codes(self, user_id: str, by: AuditEntry) -> tuple[str, ...]:
        """Make new recovery codes in place of the present ones.

        Raises:
            Conflict: the user has no factor.
        """
        codes, now_ms = new_codes(), self._have.now_ms()
        await self._stored.renew_codes(by, user_id, hashes_of(user_id, codes), now_ms)
        self._have.owed()
        return codes

    async def reset(self, user: User, by: AuditEntry) -> int:
        """Delete all factors of a user who lost them, and sign them out everywhere; returns how
        many there were."""
        try:
            count = await self._stored.reset(by, user.id, self._have.now_ms())
        finally:
            self._sessions.forget(user.id)
        if count:
            self._sessions.tell_ended(AccessEnded(user.id))
            self._have.owed()
        return count

    # -- shown

    async def tried(self, user_id: str, shown: ShownFactor, cookie: str) -> FactorTry:
        """What somebody showed, as far as it can be checked before the unit that uses it up.

        Args:
            cookie: the one that the page's question was bound to.
        """
        if shown.answer:
            return FactorTry(await self._passkey(user_id, shown, cookie), is_guessable=False)
        typed = typed_code(shown.typed[:TYPED_MAX])
        if len(typed) <= APP_DIGITS:
            return FactorTry(self._app(user_id, typed), is_guessable=True)
        code = hash_of(user_id, typed)
        return FactorTry(FactorProof(ProofKind.RECOVERY_CODE, code=code), is_guessable=False)

    def passkey_owner(self, answer: str) -> Factor | None:
        """The passkey that answers, which proves nothing yet."""
        credential = self.passkeys.credential_of(answer)
        return None if credential is None else self._stored.by_credential(credential)

    async def _passkey(self, user_id: str, shown: ShownFactor, cookie: str) -> FactorProof | None:
        factor = self.passkey_owner(shown.answer)
        if factor is None or factor.user_id != user_id or shown.site is None:
            return None
        count = await self.passkeys.shown(shown.answer, shown.site, cookie, factor)
        return None if count is None else FactorProof(ProofKind.PASSKEY, factor.id, count)

    def _app(self, user_id: str, typed: str) -> FactorProof | None:
        now_ms = self._have.now_ms()
        for factor in self.of_user(user_id):
            if factor.kind is not FactorKind.APP:
                continue
            seed = self._stored.seed_of(factor)
            step = None if seed is None else matching_step(seed, typed, now_ms)
            if step is not None:
                return FactorProof(ProofKind.APP, factor.id, step)
        return None


def letter(letters: Letters, owed: OwedMail, words: Words) -> Values:
    """What people are told of a change of somebody's factors."""
    factor = owed.details["factor"]
    return {
        "who": owed.details["who"],
        "when": moment(owed.details["at"], owed.language, letters.zone),
        "factor": words["factors"].get(factor, ""),
    }


# Codes of authenticator apps by time (TOTP, RFC 6238), and recovery codes: each of these lets its
# owner in once, in place of a factor that is lost.

SEED_BYTES: Final = 20
"""RFC 4226 §4, R6: the length that is recommended, and that every app takes."""
STEP_MS: Final = 30_000
"""RFC 6238 §5.2: the length of a step that every app assumes."""
SKEW_STEPS: Final = 1
"""A code is accepted one step early and one late: a phone's clock and a slow reader."""
APP_DIGITS: Final = 6
CHARACTERS: Final = 16
"""79 bits: a code cannot be guessed, so that a plain hash of it is right."""
_GROUP: Final = 4
_ALPHABET: Final = "abcdefghjkmnpqrstuvwxyz23456789"
"""Letters and digits without those that are read as another: i, l, o, 0, 1."""


def seed_of(secret: bytes) -> str:
    """A seed as apps take it, from secret bytes."""
    return b32encode(secret[:SEED_BYTES]).decode()


def matching_step(seed: str, code: str, now_ms: int) -> int | None:
    """The time step whose code this is; None: of none that counts now.

    All steps are compared, each in constant time.
    """
    # Imported here: an idle service needs no factor.
    import pyotp

    app, now = pyotp.TOTP(seed), now_ms // STEP_MS
    typed = typed_code(code).encode("utf-8", "surrogatepass")
    steps = range(max(0, now - SKEW_STEPS), now + SKEW_STEPS + 1)
    fits = [step for step in steps if hmac.compare_digest(app.generate_otp(step).encode(), typed)]
    return fits[-1] if fits else None


def address_of(seed: str, email: str, service: str) -> str:
    """The address that the QR code holds: with it an app knows the seed, and what it is for."""
    import pyotp

    return pyotp.TOTP(seed).provisioning_uri(name=email, issuer_name=service)


def new_codes() -> tuple[str, ...]:
    """A set of codes, as its owner reads them."""
    return tuple(_grouped(_random()) for _ in range(RECOVERY_CODES))


def hashes_of(user_id: str, codes: Sequence[str]) -> list[bytes]:
    return [hash_of(user_id, code) for code in codes]


def hash_of(user_id: str, code: str) -> bytes:
    """The form of a code in the journal. How it is grouped and in which case it is typed does not
    matter."""
    letters = "".join(each for each in typed(code, Purpose.HEADING) if each.isalnum())
    return hashlib.sha256(f"{user_id} {letters}".encode("utf-8", "surrogatepass")).digest()


def _random() -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(CHARACTERS))


def _grouped(code: str) -> str:
    return "-".join(code[at : at + _GROUP] for at in range(0, CHARACTERS, _GROUP))
