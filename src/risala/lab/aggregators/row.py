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
    """Of those that prove nothing but by the address."""
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
    """Where the number is in the request: a source, as presets have them; so for the next."""
    sender: str
    text: str
    answer: Any
    """The answer to a message, with holes."""
    receipt: AggregatorCallback
    inbound: AggregatorCallback | None = None
    """None: what phones send is not read."""
    status: int = 200
    callback: str = ""
    """Where the request says where receipts go; empty: the account is set up with an address."""
    validity: str = ""
    """Where its validity is; empty: it has none."""
    validity_unit_s: float = 1
    """How many seconds one of it is."""
    once: str = ""
    """Where a key is by which a request is taken once; empty: each is another message."""
    own_id: str = ""
    """Where our id of the message is that its receipts repeat; empty: the aggregator makes one."""
    looks: Mapping[str, Any] = field(default_factory=dict)
    """Answers to other questions, by their path."""
    lookup: str = ""
    """The path of a question for one message: a pattern, with its id as a group."""
    lookup_id: str = ""
    """Where the id is in that question, if not in its path."""
    lookup_answer: Any = None
    """The answer to that question, with holes; without it: as to the message, `delivered`."""
    tokens: str = ""
    """The path at which OAuth's tokens are had; empty: there are none."""
    sign: Sign = no_signature
    no_account: Any = None
    """The answer to who is not proved, with 401."""


def by_basic(headers: Headers, _query: Mapping[str, str]) -> bool:
    """Who calls has the user and the password."""
    pair = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    return headers.get("authorization") == f"Basic {pair}"


def by_header(name: str, value: str) -> Callable[[Headers, Mapping[str, str]], bool]:
    """Who calls has a header of this value."""

    def proved(headers: Headers, _query: Mapping[str, str]) -> bool:
        return headers.get(name) == value

    return proved


def by_query(_headers: Headers, query: Mapping[str, str]) -> bool:
    """Who calls has the user and the password in the query or the form."""
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
