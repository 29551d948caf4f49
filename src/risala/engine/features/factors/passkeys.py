"""Passkeys: what a browser is asked, and whether its answer is right (WebAuthn level 2).

The library that checks answers takes a second to load and some 28 MB, so it is loaded with the
first answer, in a thread. Questions are written without it.
"""

from __future__ import annotations

import hmac
import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Any, Final

import trio

from risala.dataclass import dataclass
from risala.engine.features.factors.records import Factor, PasskeySite
from risala.engine.model.people import User
from risala.engine.people.tokens import PeopleSources
from risala.engine.rules.people.lifetimes import CODE_MS

ANSWER_MAX: Final = 16_384
"""Characters of a browser's answer: four times as long as that of any authenticator."""
USED_MAX: Final = 10_000
"""Questions that are remembered as answered. Only right answers get here, each with a signature of
a passkey that is known, so that no stranger can fill this."""
_RANDOM_BYTES: Final = 16
_EXPIRY_BYTES: Final = 8
_ALGORITHMS: Final = (-7, -257, -8)
"""COSE numbers of ES256, RS256 and EdDSA: what authenticators have, and the library checks."""


@dataclass(frozen=True, slots=True)
class NewPasskey:
    credential: bytes
    public_key: bytes
    counter: int


class Passkeys:
    def __init__(self, sources: PeopleSources) -> None:
        self._now_ms = sources.now_ms
        self._mark = sources.derived.passkey_mark
        self._used: dict[bytes, int] = {}

    # -- questions

    def to_make(self, user: User, site: PasskeySite, cookie: str, known: Sequence[Factor]) -> str:
        """What a browser is asked to make a passkey, as JSON for ``navigator.credentials``."""
        return json.dumps(
            {
                "challenge": _text(self._challenge(cookie)),
                "rp": {"id": site.host, "name": site.host},
                "user": {
                    "id": _text(user.id.encode()),
                    "name": user.email,
                    "displayName": user.name or user.email,
                },
                "pubKeyCredParams": [{"type": "public-key", "alg": alg} for alg in _ALGORITHMS],
                "excludeCredentials": [
                    {"type": "public-key", "id": _text(each.credential)}
                    for each in known
                    if each.credential
                ],
                "authenticatorSelection": {
                    "residentKey": "required",
                    "requireResidentKey": True,
                    "userVerification": "required",
                },
                "attestation": "none",
                "timeout": CODE_MS,
            }
        )

    def to_show(self, site: PasskeySite, cookie: str) -> str:
        """What a browser is asked to show any passkey that it has for these pages, as JSON."""
        return json.dumps(
            {
                "challenge": _text(self._challenge(cookie)),
                "rpId": site.host,
                "userVerification": "required",
                "timeout": CODE_MS,
            }
        )

    def _challenge(self, cookie: str) -> bytes:
        """A challenge that only this browser can answer, and for some minutes. Nothing is stored,
        so that strangers who open the page fill nothing."""
        until = (self._now_ms() + CODE_MS).to_bytes(_EXPIRY_BYTES, "big")
        content = until + secrets.token_bytes(_RANDOM_BYTES)
        return content + self._mark(content, cookie)

    def _is_ours(self, challenge: bytes, cookie: str) -> bool:
        content, mark = challenge[: _EXPIRY_BYTES + _RANDOM_BYTES], challenge[-32:]
        if len(challenge) != _EXPIRY_BYTES + _RANDOM_BYTES + 32:
            return False
        until = int.from_bytes(content[:_EXPIRY_BYTES], "big")
        return hmac.compare_digest(mark, self._mark(content, cookie)) and self._now_ms() < until

    def _use_up(self, challenge: bytes) -> bool:
        """Note that a challenge was answered; False: it was already, in a second request."""
        now_ms = self._now_ms()
        if challenge in self._used:
            return False
        kept = [(each, until) for each, until in self._used.items() if now_ms < until]
        self._used = dict([*kept, (challenge, now_ms + CODE_MS)][-USED_MAX:])
        return True

    # -- answers

    def credential_of(self, answer: str) -> bytes | None:
        """The id of the passkey that answers, which proves nothing yet."""
        return _bytes(_member(_parsed(answer), "rawId"))

    async def made(self, answer: str, site: PasskeySite, cookie: str) -> NewPasskey | None:
        """The passkey that a browser made; None: the answer is not right."""
        challenge = self._challenge_in(answer, cookie)
        if challenge is None:
            return None
        passkey = await trio.to_thread.run_sync(_check_made, answer, site, challenge)
        return passkey if passkey is not None and self._use_up(challenge) else None

    async def shown(
        self, answer: str, site: PasskeySite, cookie: str, factor: Factor
    ) -> int | None:
        """The new count of a passkey's signatures; None: the answer is not right."""
        challenge = self._challenge_in(answer, cookie)
        if challenge is None or factor.site != site.host:
            return None
        handle = _bytes(_member(_member(_parsed(answer), "response"), "userHandle"))
        if handle is not None and handle != factor.user_id.encode():
            return None
        count = await trio.to_thread.run_sync(_check_shown, answer, site, challenge, factor)
        return count if count is not None and self._use_up(challenge) else None

    def _challenge_in(self, answer: str, cookie: str) -> bytes | None:
        """The challenge that an answer is to; None: not one of ours to this browser."""
        client = _bytes(_member(_member(_parsed(answer), "response"), "clientDataJSON"))
        if client is None:
            return None
        challenge = _bytes(_member(_parsed(client.decode("utf-8", "replace")), "challenge"))
        return challenge if challenge and self._is_ours(challenge, cookie) else None


def _check_made(answer: str, site: PasskeySite, challenge: bytes) -> NewPasskey | None:
    import webauthn
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        verified = webauthn.verify_registration_response(
            credential=answer,
            expected_challenge=challenge,
            expected_rp_id=site.host,
            expected_origin=site.origin,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError):
        return None
    return NewPasskey(verified.credential_id, verified.credential_public_key, verified.sign_count)


def _check_shown(answer: str, site: PasskeySite, challenge: bytes, factor: Factor) -> int | None:
    import webauthn
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        verified = webauthn.verify_authentication_response(
            credential=answer,
            expected_challenge=challenge,
            expected_rp_id=site.host,
            expected_origin=site.origin,
            credential_public_key=factor.public_key,
            credential_current_sign_count=factor.counter,
            require_user_verification=True,
        )
    except (WebAuthnException, ValueError, KeyError, TypeError):
        return None
    return verified.new_sign_count


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: object) -> bytes | None:
    """Bytes from their text in base64url; None: it is no such text."""
    if not isinstance(text, str):
        return None
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return None


def _parsed(text: str) -> object:
    try:
        return json.loads(text) if len(text) <= ANSWER_MAX else None
    except (ValueError, RecursionError):
        return None


def _member(value: object, name: str) -> Any:  # noqa: ANN401 -- as the browser's JSON has it
    return value.get(name) if isinstance(value, dict) else None
