"""Tokens of browsers, and what is derived from them: hashes, form tokens, codes.

A token is 256 random bits and exists only in its cookie or link; the journal has its hash.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Final

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.accounts.accounts import Accounts
from risala.engine.actors.actor import Ref
from risala.engine.actors.broadcast import Broadcast
from risala.engine.actors.set_aside import SetAsideItems
from risala.engine.journal.accounts.memberships import MembershipRepository
from risala.engine.journal.audit.trail import AuditRepository
from risala.engine.journal.people.signing_in import SignInRepository
from risala.engine.journal.people.user_changes import UserRepository
from risala.engine.journal.people.web_sessions import WebSessionRepository
from risala.engine.journal.repositories import Repositories
from risala.engine.limits.claims import LimitsMessage
from risala.engine.model.clock import Clock
from risala.engine.model.ids import IdSource
from risala.engine.model.people import AccessEnded, SessionKind
from risala.engine.rules.keyring import Codes, Ring, key_for
from risala.engine.rules.people.lifetimes import KNOWN_BROWSER_MS

TOKEN_BYTES: Final = 32
TOKEN_CHARACTERS: Final = 43
"""The length of a token as text; any other text is no token, and is not hashed."""
ADDRESS_HASH_DIGITS: Final = 32
"""Hexadecimal digits, so 128 bits: no two existing addresses share one."""
KNOWN_BROWSER_CHARACTERS_MAX: Final = 120
"""For the cookie of a known browser: 16 and 64 hexadecimal digits, and a time."""


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


def is_token(text: str) -> bool:
    return len(text) == TOKEN_CHARACTERS and text.isascii()


def digest(token: str) -> bytes:
    """A token's form in the journal: a token cannot be guessed, so a plain hash is right."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class FlowSecrets:
    """The secrets of one sign-in at an identity provider."""

    state: str
    """Shows that the answer comes to the browser that began."""
    nonce: str
    """Shows that the token was made for this sign-in."""
    verifier: str
    """Shows to the provider that the code comes from who asked for it (PKCE)."""


class Derived:
    """Derives values with the server key, each kind in its own domain."""

    def __init__(self, ring: Ring, now_ms: Callable[[], int]) -> None:
        self._ring = ring
        self._now_ms = now_ms
        self.sign_in_codes = Codes(ring, "sign-in")
        self.address_codes = Codes(ring, "change of address")

    def __repr__(self) -> str:
        return "<Derived ***>"

    def form_token(self, cookie: str) -> str:
        """The token in the forms of a page that belongs to this cookie."""
        return _form_token(self._ring().newest, cookie)

    def is_form_token(self, cookie: str, form_token: str) -> bool:
        """Compared in constant time; a former key is accepted as long as it is valid: the page may
        be older than the present key."""
        octets = form_token.encode("utf-8", "surrogatepass")
        fits = [
            hmac.compare_digest(_form_token(key, cookie).encode(), octets)
            for key in self._ring().holding(self._now_ms())
        ]
        return any(fits)

    def set_up_seed(self, user_id: str, nonce: str) -> bytes:
        """The secret of an authenticator app that is being set up: nothing of it is stored until
        its first code is right."""
        facts = f"{user_id} {nonce}".encode("utf-8", "surrogatepass")
        return hmac.digest(key_for(self._ring().newest, "authenticator set-up"), facts, "sha256")

    def passkey_mark(self, challenge: bytes, cookie: str) -> bytes:
        """What shows that a passkey's challenge is ours, and for the holder of this cookie."""
        key = key_for(self._ring().newest, "passkey challenges")
        return hmac.digest(key, challenge + cookie.encode("utf-8", "surrogatepass"), "sha256")

    def flow_secrets(self, flow: str) -> list[FlowSecrets]:
        """What a sign-in at an identity provider is held to, of each valid key, the newest first.
        Nothing of it is stored: it follows from the cookie of the browser that began."""
        return [_flow_secrets(key, flow) for key in self._ring().holding(self._now_ms())]

    def hashed_address(self, email: str) -> str:
        """The replacement for an e-mail address that no user has: always the same, and it does not
        reveal the address."""
        mac = hmac.new(key_for(self._ring().newest, "typed addresses"), email.encode(), "sha256")
        return f"#{mac.hexdigest()[:ADDRESS_HASH_DIGITS]}"

    def known_browser(self, kind: SessionKind, email: str, now_ms: int) -> str:
        """The value of the cookie for a browser that signed in with an address."""
        number, until = secrets.token_hex(8), now_ms + KNOWN_BROWSER_MS
        mark = _browser_mark(self._ring().newest, f"{kind} {email} {number} {until}")
        return f"{number}.{until}.{mark}"

    def browser_number(self, cookie: str, kind: SessionKind, email: str) -> str | None:
        """The number of this address's known browser; None: it never signed in with it, or long
        ago."""
        if len(cookie) > KNOWN_BROWSER_CHARACTERS_MAX or cookie.count(".") != 2:
            return None
        number, until, mark = cookie.split(".")
        now_ms = self._now_ms()
        if not (until.isascii() and until.isdigit() and now_ms < int(until)):
            return None
        facts = f"{kind} {email} {number} {until}"
        mark_octets = mark.encode("utf-8", "surrogatepass")
        # A former key is accepted too, as long as it is valid.
        fits = [
            hmac.compare_digest(_browser_mark(key, facts).encode(), mark_octets)
            for key in self._ring().holding(now_ms)
        ]
        return number if any(fits) else None


def _browser_mark(key: bytes, facts: str) -> str:
    return hmac.new(key_for(key, "known browsers"), facts.encode(), hashlib.sha256).hexdigest()


def _flow_secrets(key: bytes, flow: str) -> FlowSecrets:
    of = key_for(key, "identity flows")
    flow_octets = flow.encode("utf-8", "surrogatepass")
    made = [
        urlsafe_b64encode(hmac.digest(of, use + flow_octets, "sha256")).decode().rstrip("=")
        for use in (b"state ", b"nonce ", b"verifier ")
    ]
    return FlowSecrets(*made)


def _form_token(key: bytes, cookie: str) -> str:
    mac = hmac.new(key_for(key, "forms"), digest(cookie), hashlib.sha256).digest()
    return urlsafe_b64encode(mac).decode().rstrip("=")


# What the parts of people management need from the engine.


@dataclass(frozen=True, slots=True)
class PeopleSources:
    settings: Settings
    clock: Clock
    audit: AuditRepository
    users: UserRepository
    members: MembershipRepository
    sign_in: SignInRepository
    web_sessions: WebSessionRepository
    repositories: Repositories
    """For what features store of people."""
    ids: IdSource
    accounts: Accounts
    limits: Ref[LimitsMessage]
    derived: Derived
    ended: Broadcast[AccessEnded]
    """Notified of people who may no longer see what they watch."""
    owed: Callable[[], None]
    """Called when a mail is owed."""
    public_url: str
    """The base URL of the pages."""
    console_url: str
    """The base URL of the console."""
    has_mailer: bool
    set_aside: SetAsideItems

    def now_ms(self) -> int:
        return self.clock.now_ms()
