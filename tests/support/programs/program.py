"""A program's own request to its SMS provider, and which answers it takes for what.

Each is written from the program's source or documents, which `source` names, and not from ours.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from standardwebhooks import Webhook

from risala.engine.features.hooks.rules.answers import HookAnswer
from risala.engine.features.hooks.rules.requests import HookMessage, HookProof, HookRequest

AT_S = 1_795_766_400
SECRET = "kF3vT9sWq2ZxN7bYc4LmR8pHd6JgE5uA"
KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="
OTHER_KEY = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def is_2xx(answer: HookAnswer) -> bool:
    return 200 <= answer.status <= 299


@dataclass(frozen=True)
class Program:
    """One request of one program."""

    preset: str
    source: str
    """Repository, file, release or commit."""
    body: bytes
    reads: tuple[HookMessage, ...]
    """What it asks for."""
    takes: Callable[[HookAnswer], bool] = is_2xx
    """Whether the program takes an answer for yes."""
    tries_again: Callable[[HookAnswer], bool] = lambda _: False
    """Whether the program itself sends it again after an answer that is no yes."""
    proof: HookProof = HookProof.BEARER
    method: str = "POST"
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    """With ``{secret}`` where the secret is."""
    content_type: str = "application/json"
    suffix: str = ""

    def request(
        self,
        secret: str | None = None,
        *,
        at_s: int = AT_S,
        signed_at_s: int | None = None,
        request_id: str = "msg_1",
        keys: tuple[str, ...] | None = None,
        joined_by: str = " ",
    ) -> HookRequest:
        """The request as it comes, with that secret."""
        given = self.secret if secret is None else secret
        basic = base64.b64encode(f"risala:{given}".encode()).decode()
        headers = {
            name: value.format(secret=given, basic=basic) for name, value in self.headers.items()
        }
        if self.proof is HookProof.STANDARD_WEBHOOKS:
            signed_at = at_s if signed_at_s is None else signed_at_s
            moment = datetime.fromtimestamp(signed_at, UTC)
            marks = (
                Webhook(key).sign(request_id, moment, self.body.decode())
                for key in keys or (given,)
            )
            headers |= {
                "webhook-id": request_id,
                "webhook-timestamp": str(signed_at),
                "webhook-signature": joined_by.join(marks),
            }
        if self.proof in (HookProof.TIMED_SIGNATURE, HookProof.BODY_SIGNATURE):
            name, value = self._signed(given, at_s if signed_at_s is None else signed_at_s)
            headers[name] = value
        return HookRequest(
            method=self.method,
            query=self.query,
            headers=headers,
            body=self.body,
            content_type=self.content_type,
            path_secret=given if self.proof is HookProof.PATH else None,
            at_s=at_s,
            suffix=self.suffix,
        )

    def _signed(self, key: str, at_s: int) -> tuple[str, str]:
        """The header by which Zitadel or Authgear sign."""
        if self.proof is HookProof.BODY_SIGNATURE:
            mark = hmac.new(key.encode(), self.body, hashlib.sha256).hexdigest()
            return "x-authgear-body-signature", mark
        mark = hmac.new(key.encode(), f"{at_s}.".encode() + self.body, hashlib.sha256).hexdigest()
        return "zitadel-signature", f"t={at_s},v1={mark}"

    @property
    def secret(self) -> str:
        return KEY if self.proof is HookProof.STANDARD_WEBHOOKS else SECRET


def as_json(value: object) -> bytes:
    """JSON as Go and JavaScript write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def as_python_json(value: object) -> bytes:
    """JSON as Python's `requests` writes it."""
    return json.dumps(value).encode()


def parsed(answer: HookAnswer) -> object:
    """The JSON of an answer; None if it is none."""
    try:
        return json.loads(answer.body)
    except ValueError:
        return None


def member(answer: HookAnswer, *names: str) -> object:
    """A member of an answer's JSON; None if it is not there."""
    found = parsed(answer)
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found
