"""What an aggregator's row in the table says: what it takes, answers and brings, and its proofs."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl

USER: Final = "laboratory"
PASSWORD: Final = "laboratory-password"  # noqa: S105 -- of a stand-in
TOKEN: Final = "laboratory-token"  # noqa: S105 -- of a stand-in
ACCESS_TOKEN: Final = "laboratory-access"  # noqa: S105 -- of a stand-in
SIGNING_SECRET: Final = "whsec_" + base64.b64encode(b"laboratory signing secret").decode()

Headers = Mapping[str, str]
Sign = Callable[[str, bytes], dict[str, str]]
"""Headers that prove a callback: of its address and body."""


def no_signature(_url: str, _body: bytes) -> dict[str, str]:
    """The headers of an aggregator that proves nothing but by the address: none."""
    return {}


@dataclass(frozen=True, slots=True)
class AggregatorCallback:
    """A callback: its body, with holes."""

    fields: Any
    """``{id}``, ``{to}``, ``{from}``, ``{text}`` are filled. A text is the body as it is."""
    form: bool = True
    """False: JSON."""
    method: str = "POST"
    path: str = ""
    escapes: Mapping[str, str] = field(default_factory=dict)
    """What the aggregator fills in an address that it was given; with holes."""


@dataclass(frozen=True, slots=True)
class Aggregator:
    """One aggregator's API."""

    name: str
    send: str
    """The path of a message: a pattern."""
    proved: Callable[[Headers, Mapping[str, str]], bool]
    """Whether headers and query prove the caller."""
    to: str
    """The source of the number in the request, as presets have them; so for the next."""
    sender: str
    text: str
    answer: Any
    """The answer to a message, with holes."""
    receipt: AggregatorCallback | None = None
    """None: it tells nothing of what it has taken."""
    inbound: AggregatorCallback | None = None
    """None: what phones send is not read."""
    status: int = 200
    callback: str = ""
    """The source of the address for receipts; empty: the account is set up with one."""
    flash: str = ""
    """The source of the word that makes a message a flash message; empty: there are none."""
    flash_word: str = "0"
    validity: str = ""
    """The source of the message's validity; empty: messages have none."""
    validity_unit_s: float = 1
    """How many seconds one of it is."""
    once: str = ""
    """The source of a key by which a request is taken once; empty: each is another message."""
    own_id: str = ""
    """The source of our id, which its receipts repeat; empty: the aggregator makes one."""
    looks: Mapping[str, Any] = field(default_factory=dict)
    """Answers to other questions, by their path."""
    lookup: str = ""
    """The path of a question for one message: a pattern, with its id as a group."""
    lookup_id: str = ""
    """The source of the id in that question, if it is not in its path."""
    lookup_answer: Any = None
    """The answer to that question, with holes; without it: as to the message, `delivered`."""
    tokens: str = ""
    """The path at which tokens are had; empty: there are none."""
    login: Any = None
    """The answer to a login by JSON that is right; None: tokens are OAuth's."""
    sign: Sign = no_signature
    no_account: Any = None
    """The answer to who is not proved, with 401."""


def by_basic(headers: Headers, _query: Mapping[str, str]) -> bool:
    """Whether the caller has the user and the password."""
    pair = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    return headers.get("authorization") == f"Basic {pair}"


def by_header(name: str, value: str) -> Callable[[Headers, Mapping[str, str]], bool]:
    """A proof by a header of this value."""

    def proved(headers: Headers, _query: Mapping[str, str]) -> bool:
        return headers.get(name) == value

    return proved


def by_query(_headers: Headers, query: Mapping[str, str]) -> bool:
    """Whether the caller has the user and the password in the query or the form."""
    return (query.get("username"), query.get("password")) == (USER, PASSWORD)


def now_s() -> float:
    """The time of signatures, in seconds since 1970."""
    return time.time()


def by_twilio(url: str, body: bytes) -> dict[str, str]:
    """By the whole address and the form, in the order of its names."""
    pairs = sorted(parse_qsl(body.decode(), keep_blank_values=True))
    content = url + "".join(name + value for name, value in pairs)
    digest = hmac.digest(PASSWORD.encode(), content.encode(), hashlib.sha1)
    return {"x-twilio-signature": base64.b64encode(digest).decode()}


def by_standard_webhooks(_url: str, body: bytes) -> dict[str, str]:
    """As Standard Webhooks say: by an id, the time and the body."""
    at_s = str(int(now_s()))
    key = base64.b64decode(SIGNING_SECRET.removeprefix("whsec_"))
    digest = hmac.digest(key, f"evt_1.{at_s}.".encode() + body, hashlib.sha256)
    return {
        "webhook-id": "evt_1",
        "webhook-timestamp": at_s,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def by_textbee(_url: str, body: bytes) -> dict[str, str]:
    """By the body alone."""
    digest = hmac.digest(SIGNING_SECRET.encode(), body, hashlib.sha256)
    return {"x-signature": digest.hex()}
