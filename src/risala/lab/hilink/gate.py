"""Who may ask a simulated stick: sessions, tokens and passwords, checked as firmwares do."""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections.abc import Mapping
from hashlib import pbkdf2_hmac, sha256
from hmac import compare_digest, digest
from typing import Final

from risala.lab.hilink.config import PASSWORD_TYPES, HilinkConfig

NO_RIGHTS: Final = 100003
BAD_REQUEST: Final = 100005
WRONG_PASSWORD: Final = 108006
LOCKED_OUT: Final = 108007
NO_SESSION: Final = 125002
WRONG_TOKEN: Final = 125003
TRIES: Final = 3
LOGIN_TOKENS: Final = 20
TOKENS_MAX: Final = 200
ITERATIONS: Final = 100
OPEN_PATHS: Final = frozenset(
    {
        "webserver/SesTokInfo",
        "webserver/token",
        "user/state-login",
        "user/login",
        "user/challenge_login",
        "user/authentication_login",
        "user/hilink_login",
        "monitoring/status",
        "device/basic_information",
    }
)
"""What a stick tells before anybody has signed in."""


class StickGate:
    """The session of a stick, which has one at a time."""

    def __init__(self, config: HilinkConfig) -> None:
        self._config = config
        self.session = ""
        self.tokens: list[str] = []
        self.is_in = False
        self.wrong_tries = 0
        self._challenge: tuple[str, str, bytes] | None = None

    @property
    def rotates(self) -> bool:
        """Whether a token is good for one order."""
        return self._config.rotates_tokens or self._config.login != "none"

    def forget(self) -> None:
        """The session ends, as at a restart."""
        self.session, self.tokens, self.is_in = "", [], False
        self._challenge = None

    def begin(self, cookie: str) -> tuple[str, str]:
        """The session and a token for it; a new session where the cookie is of none."""
        if not self.session or self.session not in cookie:
            self.forget()
            self.session = secrets.token_hex(32)
        return f"SessionID={self.session}", self.new_token()

    def new_token(self) -> str:
        token = secrets.token_hex(16)
        self.tokens = [*self.tokens, token][-TOKENS_MAX:]
        return token

    def fault(self, path: str, cookie: str, token: str | None) -> int:
        """Why a request is not done: a code, or 0. Its token is used up.

        Args:
            token: None: it is a question, which needs none.
        """
        if token is not None:
            if not self.session or self.session not in cookie:
                return NO_SESSION
            if token not in self.tokens:
                return WRONG_TOKEN
            if self.rotates:
                self.tokens.remove(token)
        if self._config.login == "none" or path in OPEN_PATHS:
            return 0
        return 0 if self.is_in and self.session in cookie else NO_RIGHTS

    def state(self) -> Mapping[str, object]:
        """What the stick says of signing in."""
        return {
            "State": 0 if self.is_in else -1,
            "Username": self._config.user if self.is_in else "",
            "password_type": PASSWORD_TYPES[self._config.login],
            "extern_password_type": int(self._config.login == "scram"),
            "firstlogin": 0,
        }

    # -- signing in ------------------------------------------------------------------------------

    def log_in(self, fields: Mapping[str, str], token: str) -> int:
        """Check a password; a code, or 0."""
        config = self._config
        if config.login == "base64":
            right = b64encode(config.password.encode()).decode()
        else:
            right = _hashed(f"{config.user}{_hashed(config.password)}{token}")
        proof = fields.get("Password", "")
        is_right = fields.get("Username") == config.user and compare_digest(
            proof.encode(), right.encode()
        )
        return self._let_in(is_right=is_right and config.login != "scram")

    def challenge(self, fields: Mapping[str, str]) -> Mapping[str, object] | None:
        """What a login by SCRAM is asked; None: it is none."""
        first = fields.get("firstnonce", "")
        if self._config.login != "scram" or not first:
            return None
        nonce, salt = first + secrets.token_hex(16), secrets.token_bytes(32)
        self._challenge = (first, nonce, salt)
        return {
            "salt": salt.hex(),
            "iterations": ITERATIONS,
            "servernonce": nonce,
            "modeselected": 1,
            "newType": 0,
        }

    def authenticate(self, fields: Mapping[str, str]) -> int:
        """Check the answer to a challenge; a code, or 0."""
        if self._challenge is None:
            return BAD_REQUEST
        first, nonce, salt = self._challenge
        self._challenge = None
        salted = pbkdf2_hmac("sha256", self._config.password.encode(), salt, ITERATIONS)
        key = digest(b"Client Key", salted, "sha256")
        signed = digest(f"{first},{nonce},{nonce}".encode(), sha256(key).digest(), "sha256")
        right = bytes(a ^ b for a, b in zip(key, signed, strict=True)).hex()
        is_right = fields.get("finalnonce") == nonce
        proof = fields.get("clientproof", "")
        return self._let_in(is_right=is_right and compare_digest(proof.encode(), right.encode()))

    def _let_in(self, *, is_right: bool) -> int:
        if self.wrong_tries >= TRIES:
            return LOCKED_OUT
        if not is_right:
            self.wrong_tries += 1
            return WRONG_PASSWORD
        self.wrong_tries, self.is_in = 0, True
        self.session, self.tokens = secrets.token_hex(32), []
        return 0


def _hashed(text: str) -> str:
    return b64encode(sha256(text.encode()).hexdigest().encode()).decode()
